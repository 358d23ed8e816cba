{#- Random numbers that depend only on where they are drawn: biorrr/models/random_draws.py in C++. -#}
static inline double uniform_draw(double seed, double stream, double moment, double index)
{
    const double words[4] = {seed, stream, moment, index};
    uint64_t state = 0;
    for (int i = 0; i < 4; i++)
    {
        state += {{ random._STEP }}ull + (uint64_t)(int64_t)words[i];
        state = (state ^ (state >> {{ random._SHIFTS[0] }})) * {{ random._FACTORS[0] }}ull;
        state = (state ^ (state >> {{ random._SHIFTS[1] }})) * {{ random._FACTORS[1] }}ull;
        state ^= state >> {{ random._SHIFTS[2] }};
    }
    return ((double)(state >> 12) + 0.5) * {{ 2.0 ** -52 }};
}
static inline double gaussian_draw(double seed, double stream, double moment, double index)
{
    const double radius = sqrt(-2 * log(uniform_draw(seed, stream, moment, 2 * index)));
    return radius * cos(2 * pi * uniform_draw(seed, stream, moment, 2 * index + 1));
}
static inline double poisson_draw(double mean, double seed, double stream, double moment, double index)
{
    if (!(mean > 0)) return mean * 0;
    if (mean > {{ random.LARGEST_MEAN }})
        return floor(mean + sqrt(mean) * gaussian_draw(seed, stream, moment, index) + 0.5);
    const double mode = floor(mean);
    double low = mode, high = mode, u = uniform_draw(seed, stream, moment, index);
    double above = exp(mode * log(mean) - mean - lgamma(mode + 1)), below = above;
    u -= above;
    while (u > 0 && above + below > 1e-18)
    {
        high += 1;
        above *= mean / high;
        u -= above;
        if (u <= 0) return high;
        if (low > 0)
        {
            below *= low / mean;
            low -= 1;
            u -= below;
            if (u <= 0) return low;
        }
    }
    return mode;
}
