/* The same equations as loop.c, with one pass over the weights per sample in place of two: each weight is changed by one
   sample and read for the next while it is at hand. Weights lie cell by cell, Vx[K][M] and Vy[K][N], so that loops go
   over inputs and fill whole vectors even where there are two cells. Rows of the sample after next are fetched ahead. */
#include <stdint.h>

/* W += taught in', less what decays; then out = W next. */
#define PASS(W, in, next, taught, decay, out, SOURCES)                                              \
    for (int j = 0; j < K; j++)                                                                     \
    {                                                                                               \
        double sum = 0, *__restrict w = W + j * SOURCES;                                            \
        _Pragma("omp simd reduction(+ : sum)")                                                      \
        for (int i = 0; i < SOURCES; i++)                                                           \
        {                                                                                           \
            w[i] += in[i] * taught[j] - decay * w[i];                                               \
            sum += w[i] * next[i];                                                                  \
        }                                                                                           \
        out[j] = sum;                                                                               \
    }

extern "C" void learn(const double *__restrict X, const double *__restrict Y, const int64_t *__restrict order,
                      int64_t samples, double *__restrict Vx, double *__restrict Vy, double *__restrict Q,
                      double *__restrict R, const double *__restrict eta0, const double *__restrict N0, double s)
{
    const double nothing[K] = {0};
    double z[K], a[K];
    if (samples == 0) return;
    PASS(Vx, (X + order[0] * M), (X + order[0] * M), nothing, 0.0, z, M)
    PASS(Vy, (Y + order[0] * N), (Y + order[0] * N), nothing, 0.0, a, N)
    for (int64_t t = 0; t < samples; t++)
    {
        const int64_t now = order[t], then = order[t + 1 < samples ? t + 1 : t], ahead = order[t + 2 < samples ? t + 2 : t];
        const double *x = X + now * M, *y = Y + now * N;
        for (int i = 0; i < M; i += 8) __builtin_prefetch(X + ahead * M + i);
        for (int i = 0; i < N; i += 8) __builtin_prefetch(Y + ahead * N + i);
        const double eta_x = eta0[0] / (1 + t / N0[0]), eta_y = eta0[1] / (1 + t / N0[1]);
        const double eta_q = eta0[2] / (1 + t / N0[2]);
        double n[L] = {0}, plateau[K], to_Vx[K], to_Vy[K];
        for (int i = 0; i < K; i++)
            for (int j = 0; j < L; j++) n[j] += R[i * L + j] * z[i];
        for (int j = 0; j < K; j++) plateau[j] = a[j];
        for (int i = 0; i < L; i++)
            for (int j = 0; j < K; j++) plateau[j] -= Q[i * K + j] * n[i];
        for (int j = 0; j < K; j++)
        {
            to_Vx[j] = eta_x * plateau[j];
            to_Vy[j] = eta_y * (z[j] - s * a[j]);
        }
        for (int i = 0; i < L; i++)
            for (int j = 0; j < K; j++)
            {
                Q[i * K + j] += eta_q * (z[j] * n[i] - Q[i * K + j]);
                R[j * L + i] += eta_q * (z[j] * n[i] - R[j * L + i]);
            }
        PASS(Vx, x, (X + then * M), to_Vx, 0.0, z, M)
        PASS(Vy, y, (Y + then * N), to_Vy, (eta_y * (1 - s)), a, N)
    }
}
