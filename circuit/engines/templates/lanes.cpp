{#- The numbers of a circuit: one for each lane. -#}
{% if lanes == 1 %}
enum { _lanes = 1 };
typedef double _real;
static inline bool any(bool x) { return x; }
{% else %}
// Several runs side by side, each in a lane of its own: a number of the circuit is a vector with one value per run.
enum { _lanes = {{ lanes }} };
typedef double Vector __attribute__((vector_size(8 * _lanes), may_alias));
typedef int64_t Mask __attribute__((vector_size(8 * _lanes), may_alias));
struct _real
{
    Vector v;
    _real() = default;
    _real(Vector v) : v(v) {}
    _real(double x) : v(x - Vector{}) {}
    _real operator-() const { return -v; }
    _real &operator+=(_real x) { v += x.v; return *this; }
};
{% for operator in "+-*/" %}
static inline _real operator{{ operator }}(_real x, _real y) { return x.v {{ operator }} y.v; }
{% endfor %}
{% for operator in ("<", "<=", ">", ">=", "==", "!=") %}
static inline Mask operator{{ operator }}(_real x, _real y) { return x.v {{ operator }} y.v; }
{% endfor %}
static inline bool any(Mask x)
{
    int64_t found = 0;
    for (int lane = 0; lane < _lanes; lane++) found |= x[lane];
    return found != 0;
}
// A function of each lane by itself.
template <class Function, class... Reals> static inline _real each(Function function, Reals... x)
{
    _real y;
    #pragma omp simd
    for (int lane = 0; lane < _lanes; lane++) ((double *)&y)[lane] = function(((const double *)&x)[lane]...);
    return y;
}
{% for name in elementwise %}
static inline _real {{ name }}(_real x) { return each([](double x) { return {{ name }}(x); }, x); }
{% endfor %}
static inline _real _brian_pow(_real x, _real y) { return each([](double x, double y) { return pow(x, y); }, x, y); }
static inline _real _brian_pow(_real x, double y) { return y == 2 ? x * x : _brian_pow(x, _real(y)); }
static inline _real _brian_mod(_real x, _real y) { return each([](double x, double y) { return _brian_mod(x, y); }, x, y); }
static inline _real _brian_floordiv(_real x, _real y) { return each([](double x, double y) { return _brian_floordiv(x, y); }, x, y); }
static inline _real _is(Mask x) { return x ? _real(1.0).v : _real(0.0).v; }
static inline _real _sign(_real x) { return _is(_real(0.0) < x) - _is(x < _real(0.0)); }
static inline _real _clip(_real x, _real low, _real high)
{
    const Vector y = x.v < low.v ? low.v : x.v;
    return y > high.v ? high.v : y;
}
static inline _real uniform_draw(_real seed, _real stream, _real moment, _real index)
{
    return each([](double s, double t, double m, double i) { return uniform_draw(s, t, m, i); }, seed, stream, moment, index);
}
static inline _real gaussian_draw(_real seed, _real stream, _real moment, _real index)
{
    return each([](double s, double t, double m, double i) { return gaussian_draw(s, t, m, i); }, seed, stream, moment, index);
}
static inline _real poisson_draw(_real mean, _real seed, _real stream, _real moment, _real index)
{
    return each([](double u, double s, double t, double m, double i) { return poisson_draw(u, s, t, m, i); }, mean, seed, stream, moment, index);
}
{% endif %}

// The values of one lane.
struct Lane
{
    double *first;
    Lane(_real *array, int lane) : first((double *)array + lane) {}
    double &operator[](size_t i) const { return first[i * _lanes]; }
};
