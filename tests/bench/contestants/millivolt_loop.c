/* The circuit in millivolts, with nothing around its equations: the limit. Every output is a population of bursting
   pyramidal cells, every interneuron one of integrate-and-fire cells; each sample is held for TICKS ticks.

   Currents from inputs are summed once per sample, and all that is read from a sample once, when it ends. Sizes and
   layout are those of loop.c; CELLS and OTHERS cells stand for one output and for one interneuron. Constants that begin
   with PYR_ and SST_ are the parameters of the two kinds of cells, with the names they have there. */
#include <math.h>
#include <stdint.h>

/* The circuit's own draw of uniform numbers (biorrr.models.random_draws), with seed 0. All but the last word of the hash
   is the same for all cells. */
static inline uint64_t mixed(uint64_t state, uint64_t word)
{
    state += 0x9E3779B97F4A7C15ull + word;
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ull;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBull;
    return state ^ (state >> 31);
}
static inline uint64_t common(uint64_t stream, int64_t moment) { return mixed(mixed(mixed(0, 0), stream), moment); }
static inline double uniform(uint64_t common, uint64_t cell)
{
    return ((double)(mixed(common, cell) >> 12) + 0.5) * 2.220446049250313e-16;
}

static inline double clip(double value, double low, double high) { return fmin(fmax(value, low), high); }

/* out = W'in */
static inline void transmit(double *__restrict out, const double *__restrict W, const double *__restrict in, int sources, int targets)
{
    for (int j = 0; j < targets; j++) out[j] = 0;
    for (int i = 0; i < sources; i++)
        for (int j = 0; j < targets; j++) out[j] += W[i * targets + j] * in[i];
}

/* W += in taught', less what decays */
static inline void change(double *__restrict W, const double *__restrict in, const double *__restrict taught, double rate, double decay, int sources, int targets)
{
    for (int i = 0; i < sources; i++)
        for (int j = 0; j < targets; j++) W[i * targets + j] += rate * (in[i] * taught[j] - decay * W[i * targets + j]);
}

static struct { double Vs[CELLS], Vd[CELLS], w_s[CELLS], w_d[CELLS], noise_s[CELLS], noise_d[CELLS], since[CELLS], bursting[CELLS], open[CELLS]; } pyramidal[K];
static struct { double V[OTHERS], noise[OTHERS], since[OTHERS]; } interneurons[L];

extern "C" void learn(const double *__restrict X, const double *__restrict Y, const int64_t *__restrict order,
                      int64_t samples, double *__restrict Vx, double *__restrict Vy, double *__restrict Q,
                      double *__restrict R, const double *__restrict eta0, const double *__restrict N0)
{
    const double step_s = 1 - exp(-DT / PYR_tau_s), step_d = 1 - exp(-DT / PYR_tau_d);
    const double step_ws = 1 - exp(-DT / PYR_tau_ws), step_wd = 1 - exp(-DT / PYR_tau_wd);
    const double keep = exp(-DT / PYR_tau_noise), fresh = sqrt(12 * (1 - keep * keep));
    const double step = 1 - exp(-DT / SST_tau), keep_i = exp(-DT / SST_tau_noise);
    const double fresh_i = sqrt(12 * (1 - keep_i * keep_i)), filter = 1 - exp(-DT / FILTER);
    const double Hz = 1000.0 / DT, counted = TICKS - LATENCY;

    double z_heard[K] = {0}, n_heard[L] = {0}, inhibited[K] = {0};
    double usual_events[K], usual_bursts[K], usual_drive[K], usual_spikes[L];
    for (int j = 0; j < K; j++)
    {
        usual_events[j] = 5, usual_bursts[j] = 1.8, usual_drive[j] = 1;
        for (int c = 0; c < CELLS; c++)
        {
            pyramidal[j].Vs[c] = PYR_E_L + 15 * uniform(common(10, -1), j * CELLS + c);
            pyramidal[j].Vd[c] = PYR_E_L;
            pyramidal[j].w_s[c] = pyramidal[j].w_d[c] = pyramidal[j].noise_s[c] = pyramidal[j].noise_d[c] = 0;
            pyramidal[j].since[c] = 1000, pyramidal[j].bursting[c] = 0;
        }
    }
    for (int j = 0; j < L; j++)
    {
        usual_spikes[j] = 20;
        for (int c = 0; c < OTHERS; c++)
        {
            interneurons[j].V[c] = SST_E_L + 15 * uniform(common(11, -1), j * OTHERS + c);
            interneurons[j].noise[c] = 0, interneurons[j].since[c] = 1000;
        }
    }

    for (int64_t t = 0; t < samples; t++)
    {
        const double *x = X + order[t] * M, *y = Y + order[t] * N;
        double drive[K], a[K], expected[L], z[K], n[L], plateau[K];
        double events[K] = {0}, bursts[K] = {0}, spikes[L] = {0}, inhibition[K] = {0};
        double I_s[K], per_drive[K], strength[L] = {0}, unit[L];
        transmit(drive, Vx, x, M, K);
        transmit(a, Vy, y, N, K);
        for (int j = 0; j < K; j++)
        {
            I_s[j] = REST_SOMA + GAIN_SOMA * clip(drive[j], -8, 8);
            per_drive[j] = 1 / sqrt(usual_drive[j] + 1e-300);
        }
        for (int i = 0; i < K; i++)
            for (int j = 0; j < L; j++) strength[j] += R[i * L + j] * R[i * L + j];
        for (int j = 0; j < L; j++) strength[j] = sqrt(strength[j]) + 1e-300, unit[j] = strength[j] / SPIKE_GAIN;

        for (int tick = 0; tick < TICKS; tick++)
        {
            const bool counts = tick >= LATENCY;
            const uint64_t soma_noise = common(10, t * TICKS + tick), interneuron_noise = common(11, t * TICKS + tick);
            for (int j = 0; j < K; j++)
            {
                auto &p = pyramidal[j];
                const double I_d = REST_DENDRITE + GAIN_DENDRITE * clip((a[j] - inhibited[j]) * per_drive[j], -6, 6);
                double event_sum = 0, burst_sum = 0;
                /* Three loops, of which the first and the last vectorise. */
                #pragma omp simd
                for (int c = 0; c < CELLS; c++)
                {
                    const double drawn = uniform(soma_noise, j * CELLS + c), rest = 67108864.0 * drawn - floor(67108864.0 * drawn);
                    p.noise_s[c] = keep * p.noise_s[c] + PYR_sigma_s * fresh * (drawn - 0.5);
                    p.noise_d[c] = keep * p.noise_d[c] + PYR_sigma_d * fresh * (rest - 0.5);
                }
                for (int c = 0; c < CELLS; c++) p.open[c] = exp(-(p.Vd[c] - PYR_E_d) / PYR_D_d);
                #pragma omp simd reduction(+:event_sum, burst_sum)
                for (int c = 0; c < CELLS; c++)
                {
                    const double open = 1 / (1 + p.open[c]), late = p.since[c] + DT / 2;
                    const double arrived = late > PYR_c_delay && late < PYR_c_delay + PYR_c_lasts ? PYR_c_d : 0;
                    const double soma = PYR_E_L + PYR_tau_s / PYR_C_s * (PYR_g_s * open - PYR_b_s * p.w_s[c] + I_s[j] + p.noise_s[c]);
                    const double dendrite = PYR_E_L + PYR_tau_d / PYR_C_d * (PYR_g_d * open + arrived - PYR_a_d * p.w_d[c] + I_d + p.noise_d[c]);
                    const double since = p.since[c] + DT;
                    p.w_d[c] += step_wd * (p.Vd[c] - PYR_E_L - p.w_d[c]);
                    p.Vd[c] += step_d * (dendrite - p.Vd[c]);
                    const double Vs = since + DT / 2 > PYR_t_ref ? p.Vs[c] + step_s * (soma - p.Vs[c]) : PYR_V_r;
                    const double spike = Vs > PYR_V_T ? 1 : 0, event = since + DT / 2 > PYR_burst_gap ? spike : 0;
                    const double burst = (spike - event) * (1 - p.bursting[c]);
                    p.bursting[c] = (1 - event) * (p.bursting[c] + burst);
                    p.w_s[c] += spike - step_ws * p.w_s[c];
                    p.Vs[c] = Vs > PYR_V_T ? PYR_V_r : Vs;
                    p.since[c] = Vs > PYR_V_T ? 0 : since;
                    event_sum += event;
                    burst_sum += burst;
                }
                if (counts) events[j] += event_sum / CELLS, bursts[j] += burst_sum / CELLS;
                z_heard[j] += filter * ((Hz * event_sum / CELLS - usual_events[j]) / EVENT_GAIN - z_heard[j]);
            }
            transmit(expected, R, z_heard, K, L);
            for (int j = 0; j < L; j++)
            {
                auto &p = interneurons[j];
                const double I_in = REST_INTERNEURON + GAIN_INTERNEURON * clip(expected[j] / strength[j], -5, 5);
                double spike_sum = 0;
                #pragma omp simd reduction(+:spike_sum)
                for (int c = 0; c < OTHERS; c++)
                {
                    p.noise[c] = keep_i * p.noise[c] + SST_sigma * fresh_i * (uniform(interneuron_noise, j * OTHERS + c) - 0.5);
                    const double since = p.since[c] + DT;
                    const double relaxed = p.V[c] + step * (SST_E_L + SST_tau / SST_C * (I_in + p.noise[c]) - p.V[c]);
                    const double V = since + DT / 2 > SST_t_ref ? relaxed : SST_V_r;
                    p.V[c] = V > SST_V_T ? SST_V_r : V;
                    p.since[c] = V > SST_V_T ? 0 : since;
                    spike_sum += V > SST_V_T ? 1 : 0;
                }
                if (counts) spikes[j] += spike_sum / OTHERS;
                n_heard[j] += filter * (unit[j] * (Hz * spike_sum / OTHERS - usual_spikes[j]) - n_heard[j]);
            }
            transmit(inhibited, Q, n_heard, L, K);
            if (counts)
                for (int j = 0; j < K; j++) inhibition[j] += inhibited[j];
        }

        const double pace = fmax(1.0 / (t + 11), 1.0 / HOMEOSTASIS), drive_pace = fmax(1.0 / (t + 1), 1.0 / HOMEOSTASIS);
        for (int j = 0; j < K; j++)
        {
            const double E = Hz * events[j] / counted, B = Hz * bursts[j] / counted, pull = a[j] - inhibition[j] / counted;
            const double unusual = (B - usual_bursts[j] / usual_events[j] * E) / usual_events[j];
            z[j] = (E - usual_events[j]) / EVENT_GAIN;
            plateau[j] = sqrt(usual_drive[j]) * unusual / BURST_GAIN;
            usual_events[j] += pace * (E - usual_events[j]);
            usual_bursts[j] += pace * (B - usual_bursts[j]);
            usual_drive[j] += drive_pace * (pull * pull - usual_drive[j]);
        }
        for (int j = 0; j < L; j++)
        {
            const double rate = Hz * spikes[j] / counted;
            n[j] = unit[j] * (rate - usual_spikes[j]);
            usual_spikes[j] += pace * (rate - usual_spikes[j]);
        }
        if (t < 20) continue;
        const double eta_q = eta0[2] / (1 + t / N0[2]);
        change(Vx, x, plateau, eta0[0] / (1 + t / N0[0]), 0, M, K);
        change(Vy, y, z, eta0[1] / (1 + t / N0[1]), 1, N, K);
        change(Q, n, z, eta_q, 1, L, K);
        change(R, z, n, eta_q, 1, K, L);
    }
}
