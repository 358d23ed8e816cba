/* One area with apical feedback, with nothing around its equations: every sample settles by TICKS ticks of Chebyshev's
   semi-iteration, then all weights change. Sizes and layout as in loop.c; C is the gain of the plateau at the soma. */
#include <math.h>
#include <stdint.h>

static void transmit(double *__restrict out, const double *__restrict W, const double *__restrict in, int sources, int targets)
{
    for (int j = 0; j < targets; j++) out[j] = 0;
    for (int i = 0; i < sources; i++)
        for (int j = 0; j < targets; j++) out[j] += W[i * targets + j] * in[i];
}

static void change(double *__restrict W, const double *__restrict in, const double *__restrict taught, double decay, int sources, int targets)
{
    for (int i = 0; i < sources; i++)
        for (int j = 0; j < targets; j++) W[i * targets + j] += in[i] * taught[j] - decay * W[i * targets + j];
}

static double power(const double *W, int size)
{
    double sum = 0;
    for (int i = 0; i < size; i++) sum += W[i] * W[i];
    return sum;
}

extern "C" void learn(const double *__restrict X, const double *__restrict Y, const int64_t *__restrict order,
                      int64_t samples, double *__restrict Vx, double *__restrict Vy, double *__restrict Q,
                      double *__restrict R, const double *__restrict eta0, const double *__restrict N0, double c)
{
    for (int64_t t = 0; t < samples; t++)
    {
        const double *x = X + order[t] * M, *y = Y + order[t] * N;
        const double eta_x = eta0[0] / (1 + t / N0[0]), eta_y = eta0[1] / (1 + t / N0[1]);
        const double eta_q = eta0[2] / (1 + t / N0[2]);
        double basal[K], a[K], z[K] = {0}, velocity[K] = {0}, n[K], inhibition[K], plateau[K], chebyshev = 0;
        double to_Vx[K], to_Vy[K], to_Q[K], to_R[K];

        transmit(basal, Vx, x, M, K);
        transmit(a, Vy, y, N, K);
        const double stiffest = 1 + c * sqrt(power(Q, K * K) * power(R, K * K));
        const double middle = (stiffest + 1) / 2, breadth = (stiffest - 1) / 2;
        for (int tick = 0; tick < TICKS; tick++)
        {
            transmit(n, R, z, K, K);
            transmit(inhibition, Q, n, K, K);
            for (int j = 0; j < K; j++) plateau[j] = a[j] - inhibition[j];
            if (tick == TICKS - 1) break;
            const double onward = tick ? 1 / (2 * middle / breadth - chebyshev) : 0;
            const double inertia = onward * chebyshev, pace = tick ? 2 * onward / breadth : 1 / middle;
            chebyshev = tick ? onward : breadth / middle;
            for (int j = 0; j < K; j++)
            {
                velocity[j] = inertia * velocity[j] + pace * (basal[j] + c * plateau[j] - z[j]);
                z[j] += velocity[j];
            }
        }
        for (int j = 0; j < K; j++)
        {
            to_Vx[j] = eta_x * plateau[j];
            to_Vy[j] = eta_y * z[j];
            to_Q[j] = eta_q * z[j];
            to_R[j] = eta_q * n[j];
        }
        change(Vx, x, to_Vx, 0.0, M, K);
        change(Vy, y, to_Vy, eta_y, N, K);
        change(Q, n, to_Q, eta_q, K, K);
        change(R, z, to_R, eta_q, K, K);
    }
}
