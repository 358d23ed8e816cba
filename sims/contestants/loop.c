/* The circuit's equations (Eqs. 6 to 8, R with weights of its own) with nothing around them: the limit.

   Sizes M, N, K, L are known to the compiler, as they are in the circuit's program. Weights are laid out as the
   synapses of the circuit are, source by source: Vx[M][K], Vy[N][K], Q[L][K], R[K][L]. */
#include <stdint.h>

#ifdef __cplusplus
extern "C"
#endif
void learn(const double *__restrict X, const double *__restrict Y, const int64_t *__restrict order, int64_t samples,
           double *__restrict Vx, double *__restrict Vy, double *__restrict Q, double *__restrict R,
           const double *__restrict eta0, const double *__restrict N0, double s)
{
    for (int64_t t = 0; t < samples; t++)
    {
        const double *x = X + order[t] * M, *y = Y + order[t] * N;
        const double eta_x = eta0[0] / (1 + t / N0[0]), eta_y = eta0[1] / (1 + t / N0[1]);
        const double eta_q = eta0[2] / (1 + t / N0[2]);
        double z[K] = {0}, a[K] = {0}, n[L] = {0}, inhibition[K] = {0}, taught[K], heard[K];

        for (int i = 0; i < M; i++)
            for (int j = 0; j < K; j++) z[j] += Vx[i * K + j] * x[i];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < K; j++) a[j] += Vy[i * K + j] * y[i];
        for (int i = 0; i < K; i++)
            for (int j = 0; j < L; j++) n[j] += R[i * L + j] * z[i];
        for (int i = 0; i < L; i++)
            for (int j = 0; j < K; j++) inhibition[j] += Q[i * K + j] * n[i];

        for (int j = 0; j < K; j++) taught[j] = eta_x * (a[j] - inhibition[j]), heard[j] = eta_y * (z[j] - s * a[j]);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < K; j++) Vx[i * K + j] += x[i] * taught[j];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < K; j++) Vy[i * K + j] += y[i] * heard[j] - eta_y * (1 - s) * Vy[i * K + j];
        for (int i = 0; i < L; i++)
            for (int j = 0; j < K; j++) Q[i * K + j] += eta_q * (z[j] * n[i] - Q[i * K + j]);
        for (int i = 0; i < K; i++)
            for (int j = 0; j < L; j++) R[i * L + j] += eta_q * (n[j] * z[i] - R[i * L + j]);
    }
}
