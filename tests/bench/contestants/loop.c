/* The circuit's equations (Eqs. 6 to 8, R with weights of its own) with nothing around them: the limit.

   Sizes M, N, K, L are known to the compiler, as they are in the circuit's program. Weights are laid out as the
   synapses of the circuit are, source by source: Vx[M][K], Vy[N][K], Q[L][K], R[K][L]. */
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

/* W += in taught', less what decays */
#define CHANGE(W, in, taught, decay, SOURCES, TARGETS)                                              \
    for (int i = 0; i < SOURCES; i++)                                                               \
        _Pragma("omp simd")                                                                         \
        for (int j = 0; j < TARGETS; j++) W[i * TARGETS + j] += in[i] * taught[j] - decay * W[i * TARGETS + j];

extern "C" void learn(const double *__restrict X, const double *__restrict Y, const int64_t *__restrict order,
                      int64_t samples, double *__restrict Vx, double *__restrict Vy, double *__restrict Q,
                      double *__restrict R, const double *__restrict eta0, const double *__restrict N0, double s)
{
    for (int64_t t = 0; t < samples; t++)
    {
        const double *x = X + order[t] * M, *y = Y + order[t] * N;
        const double eta_x = eta0[0] / (1 + t / N0[0]), eta_y = eta0[1] / (1 + t / N0[1]);
        const double eta_q = eta0[2] / (1 + t / N0[2]);
        double z[K], a[K], n[L], inhibition[K], to_Vx[K], to_Vy[K], to_Q[K], to_R[L];

        TRANSMIT(z, Vx, x, M, K)
        TRANSMIT(a, Vy, y, N, K)
        TRANSMIT(n, R, z, K, L)
        TRANSMIT(inhibition, Q, n, L, K)
        for (int j = 0; j < K; j++)
        {
            to_Vx[j] = eta_x * (a[j] - inhibition[j]);
            to_Vy[j] = eta_y * (z[j] - s * a[j]);
            to_Q[j] = eta_q * z[j];
        }
        for (int j = 0; j < L; j++) to_R[j] = eta_q * n[j];
        CHANGE(Vx, x, to_Vx, 0.0, M, K)
        CHANGE(Vy, y, to_Vy, (eta_y * (1 - s)), N, K)
        CHANGE(Q, n, to_Q, eta_q, L, K)
        CHANGE(R, z, to_R, eta_q, K, L)
    }
}
