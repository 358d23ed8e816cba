/* The circuit of cells with membranes, each sample held for TICKS ticks, with nothing around it: the limit.

   While a sample is held, its currents are summed once and the rules of Vx and Vy keep one sum per cell. Where inputs
   spike in every tick (SPIKING), nothing stands still: currents are summed, and every synapse adds up what its rule asks
   for, tick by tick. Sizes and layout are those of loop.c. */
#include <math.h>
#include <stdint.h>

/* out = W'in, with four sums side by side: each addition to one and the same sum has to wait for the last. */
#define TRANSMIT(out, W, in, SOURCES, TARGETS)                                                      \
    {                                                                                               \
        double part[4][TARGETS] = {{0}};                                                            \
        int i = 0;                                                                                  \
        for (; i + 4 <= SOURCES; i += 4)                                                            \
            for (int u = 0; u < 4; u++)                                                             \
                _Pragma("omp simd")                                                                 \
                for (int j = 0; j < TARGETS; j++) part[u][j] += W[(i + u) * TARGETS + j] * in[i + u]; \
        for (; i < SOURCES; i++)                                                                    \
            _Pragma("omp simd")                                                                     \
            for (int j = 0; j < TARGETS; j++) part[0][j] += W[i * TARGETS + j] * in[i];             \
        for (int j = 0; j < TARGETS; j++) out[j] = (part[0][j] + part[1][j]) + (part[2][j] + part[3][j]); \
    }

/* asked += in taught' */
#define GATHER(asked, in, taught, SOURCES, TARGETS)                                                 \
    for (int i = 0; i < SOURCES; i++)                                                               \
        _Pragma("omp simd")                                                                         \
        for (int j = 0; j < TARGETS; j++) asked[i * TARGETS + j] += in[i] * taught[j];

/* W += asked, less what decays; then nothing is asked for any more */
#define CHANGE(W, asked, rate, decay, SIZE)                                                         \
    _Pragma("omp simd")                                                                             \
    for (int i = 0; i < SIZE; i++)                                                                  \
    {                                                                                               \
        W[i] += rate * (asked[i] / TICKS - decay * W[i]);                                           \
        asked[i] = 0;                                                                               \
    }

/* The circuit's own draw of uniform numbers (biorrr.models.random_draws), with seed 0: a fibre speaks with probability
   0.1, ten times as loud as its sample. All but the last word of the hash is the same for all fibres. */
static inline uint64_t mixed(uint64_t state, uint64_t word)
{
    state += 0x9E3779B97F4A7C15ull + word;
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ull;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBull;
    return state ^ (state >> 31);
}
#define SPIKE(out, in, stream, moment, SOURCES)                                                     \
    {                                                                                               \
        const uint64_t common = mixed(mixed(mixed(0, 0), stream), moment);                          \
        _Pragma("omp simd")                                                                         \
        for (int i = 0; i < SOURCES; i++)                                                           \
            out[i] = ((double)(mixed(common, i) >> 12) + 0.5) * 2.220446049250313e-16 < 0.1 ? 10 * in[i] : 0; \
    }

extern "C" void learn(const double *__restrict X, const double *__restrict Y, const int64_t *__restrict order,
                      int64_t samples, double *__restrict Vx, double *__restrict Vy, double *__restrict Q,
                      double *__restrict R, const double *__restrict eta0, const double *__restrict N0,
                      const double *__restrict relaxation, double s)
{
    double z[K] = {0}, a[K] = {0}, n[L] = {0}, inhibition[K] = {0}, plateau[K] = {0};
    static double asked_Q[L * K], asked_R[K * L];
    for (int i = 0; i < K * L; i++) asked_Q[i] = asked_R[i] = 0;
#if SPIKING
    static double x[M], y[N], asked_Vx[M * K], asked_Vy[N * K];
    for (int i = 0; i < M * K; i++) asked_Vx[i] = 0;
    for (int i = 0; i < N * K; i++) asked_Vy[i] = 0;
#endif
    for (int64_t t = 0; t < samples; t++)
    {
        const double eta_x = eta0[0] / (1 + t / N0[0]), eta_y = eta0[1] / (1 + t / N0[1]);
        const double eta_q = eta0[2] / (1 + t / N0[2]);
        double drive_z[K], drive_a[K], drive_n[L], drive_inhibition[K], taught[K];
#if !SPIKING
        const double *x = X + order[t] * M, *y = Y + order[t] * N;
        double sum_x[K] = {0}, sum_y[K] = {0};
        TRANSMIT(drive_z, Vx, x, M, K)
        TRANSMIT(drive_a, Vy, y, N, K)
#endif
        for (int tick = 0; tick < TICKS; tick++)
        {
#if SPIKING
            const double *shown_x = X + order[t] * M, *shown_y = Y + order[t] * N;
            SPIKE(x, shown_x, 1000, t * TICKS + tick, M)
            SPIKE(y, shown_y, 1001, t * TICKS + tick, N)
            TRANSMIT(drive_z, Vx, x, M, K)
            TRANSMIT(drive_a, Vy, y, N, K)
#endif
            for (int j = 0; j < K; j++) z[j] += relaxation[0] * (drive_z[j] - z[j]);
            for (int j = 0; j < K; j++) a[j] += relaxation[1] * (drive_a[j] - a[j]);
            TRANSMIT(drive_n, R, z, K, L)
            for (int j = 0; j < L; j++) n[j] += relaxation[2] * (drive_n[j] - n[j]);
            TRANSMIT(drive_inhibition, Q, n, L, K)
            for (int j = 0; j < K; j++)
            {
                inhibition[j] += relaxation[1] * (drive_inhibition[j] - inhibition[j]);
                plateau[j] += relaxation[3] * (a[j] - inhibition[j] - plateau[j]);
                taught[j] = z[j] - s * a[j];
            }
#if SPIKING
            GATHER(asked_Vx, x, plateau, M, K)
            GATHER(asked_Vy, y, taught, N, K)
#else
            for (int j = 0; j < K; j++) sum_x[j] += plateau[j];
            for (int j = 0; j < K; j++) sum_y[j] += taught[j];
#endif
            GATHER(asked_Q, n, z, L, K)
            GATHER(asked_R, z, n, K, L)
        }
#if SPIKING
        CHANGE(Vx, asked_Vx, eta_x, 0.0, M * K)
        CHANGE(Vy, asked_Vy, eta_y, (1 - s), N * K)
#else
        for (int j = 0; j < K; j++) sum_x[j] *= eta_x / TICKS;
        for (int j = 0; j < K; j++) sum_y[j] *= eta_y / TICKS;
        GATHER(Vx, x, sum_x, M, K)
        for (int i = 0; i < N; i++)
            _Pragma("omp simd")
            for (int j = 0; j < K; j++) Vy[i * K + j] += y[i] * sum_y[j] - eta_y * (1 - s) * Vy[i * K + j];
#endif
        CHANGE(Q, asked_Q, eta_q, 1.0, L * K)
        CHANGE(R, asked_R, eta_q, 1.0, K * L)
    }
}
