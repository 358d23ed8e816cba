{#- The loop over samples: show each, do what its blocks say, keep what is due.

    Everything that a run reads and writes lies in the memory of its caller. -#}
// As cpp_kernel.py fills them in.
struct Port { const char *values; int64_t type, row_bytes, held, ticks; double gain; const double *mean; };
struct Slice { int64_t first, count; };  // of the circuit's memory
struct Records { int64_t count; const int64_t *samples; int64_t width; const Slice *slices; double *rows; };
struct Segment
{
    int64_t samples, duration, replays, replay_duration;
    const int64_t *shown;  // for each sample its row in the data, then -1 - i for each replay of an input i
    Records snapshots, traces;
    const Port *ports;
};

// Copies what is recorded, row after row, at the samples at which it is due.
struct Recorder
{
    const Records &records;
    const double *const memory;
    int64_t next = 0;
    double *row = records.rows;

    Recorder(const Records &records, const Circuit *circuit) : records(records), memory((const double *)circuit) {}
    bool due(int64_t sample)
    {
        if (next == records.count || records.samples[next] != sample) return false;
        next++;
        return true;
    }
    void keep()
    {
        for (const Slice *slice = records.slices; slice < records.slices + records.width; row += slice++->count)
            std::copy_n(memory + slice->first, slice->count, row);
    }
};

// Numbers that are nearly zero count as zero here: arithmetic with them is up to a hundred times slower.
struct WithoutSubnormals
{
#if defined(__SSE2__)
    const unsigned before = __builtin_ia32_stmxcsr();
    WithoutSubnormals() { __builtin_ia32_ldmxcsr(before | 0x8040); }
    ~WithoutSubnormals() { __builtin_ia32_ldmxcsr(before); }
#else
    WithoutSubnormals() {}
    ~WithoutSubnormals() {}
#endif
};

template <size_t size, class T> static void show(double *__restrict to, const Port &port, int64_t row)
{
    const T *__restrict values = (const T *)(port.values + row * port.row_bytes);
    const double *__restrict mean = port.mean;
    const double gain = port.gain;
    for (size_t i = 0; i < size; i++) to[i] = gain * ((double)values[i] - mean[i]);
}
template <size_t size> static void show(double *to, const Port &port, int64_t sample, int64_t tick)
{
    const int64_t row = port.ticks == port.held ? sample : (sample * port.held + tick) / port.ticks;
    switch (port.type)
    {
    {% for code, c_type in element_types %}
        case {{ code }}: show<size, {{ c_type }}>(to, port, row); break;
    {% endfor %}
    }
}

// Rows come in any order: without a word ahead, each sample would wait for memory.
static void announce(const Port &port, int64_t sample)
{
    if (port.ticks != port.held) return;
    const char *begin = port.values + sample * port.row_bytes;
    for (int64_t line = 0; line < std::min<int64_t>(port.row_bytes, {{ 64 * 32 }}); line += 64) __builtin_prefetch(begin + line);
}

// Show a sample, at one of its ticks.
static inline void show_sample(Circuit &_circuit, const Segment &segment, int64_t sample, int64_t tick)
{
    {% for port in ports %}
    {% if not port.moves %}
    if (tick == 0)
    {% endif %}
    {
        show<{{ port.size }}>({{ port.array }}, segment.ports[{{ loop.index0 }}], sample, tick);
        {{ port.active }} = {0, {{ port.size }}};
    }
    {% endfor %}
    {% if counts_ticks %}
    _circuit.clock.elapsed[0] = tick;
    {% endif %}
    _circuit.clock.moment[0] = _circuit.clock.sample[0] * segment.duration + tick;
}

// Show one input alone, at one of its ticks.
static inline void show_alone(Circuit &_circuit, int input, int64_t tick)
{
    {% for port in ports %}
    {% if not port.moves %}
    if (tick == 0)
    {% endif %}
    {
        // What was shown last is all there is to silence.
        std::fill({{ port.array }} + {{ port.active }}.begin, {{ port.array }} + {{ port.active }}.end, 0);
        {% if port.replayed %}
        {{ port.array }}[input] = 1;
        {{ port.active }} = {input, input + 1};
        {% else %}
        {{ port.active }} = {0, 0};
        {% endif %}
    }
    {% endfor %}
    {% if counts_ticks %}
    _circuit.clock.elapsed[0] = tick;
    {% endif %}
}

static bool is_finite(const Circuit &_circuit)
{
    double total = 0;
    {% for array, size in watched %}
    for (int i = 0; i < {{ size }}; i++) total += {{ array }}[i];
    {% endfor %}
    return std::isfinite(total);
}

// Simulate a segment; return the number of samples after which all was finite.
extern "C" int64_t simulate(Circuit *const circuit, const Segment *const segment)
{
    const WithoutSubnormals while_it_runs;
    Recorder snapshots(segment->snapshots, circuit), traces(segment->traces, circuit);
    for (int64_t sample = 0; sample < segment->samples; sample++)
    {
        const int64_t *const shown = segment->shown + sample * (1 + segment->replays);
        const bool traced = traces.due(sample);
        if (sample + 1 < segment->samples)
            for (int port = 0; port < {{ ports|length }}; port++) announce(segment->ports[port], shown[1 + segment->replays]);
        circuit->clock.sample[0] += 1;
        show_sample(*circuit, *segment, shown[0], 0);
        sample_onset(*circuit);
        for (int64_t tick = 0; tick < segment->duration; tick++)
        {
            if (tick > 0) show_sample(*circuit, *segment, shown[0], tick);
            sample_tick(*circuit);
            if (tick + 1 == segment->duration) sample_end(*circuit);
            if (traced) traces.keep();
        }
        for (int64_t replay = 1; replay <= segment->replays; replay++)
        {
            show_alone(*circuit, -1 - shown[replay], 0);
            replay_onset(*circuit);
            for (int64_t tick = 0; tick < segment->replay_duration; tick++)
            {
                if (tick > 0) show_alone(*circuit, -1 - shown[replay], tick);
                replay_tick(*circuit);
            }
            replay_end(*circuit);
        }
        if (!is_finite(*circuit)) return sample;
        if (snapshots.due(sample + 1)) snapshots.keep();
    }
    return segment->samples;
}
