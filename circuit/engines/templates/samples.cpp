{#- The loop over samples: show each, do what its blocks say, keep what is due.

    Everything that a run reads and writes lies in the memory of its caller. -#}
// As cpp_kernel.py fills them in.
struct Port { const char *values; int64_t type, row_bytes, duration, ticks; double gain; const double *mean; };
struct Records { int64_t count; const int64_t *samples; int64_t width; const int64_t *places; double *rows; };
struct Segment
{
    int64_t samples, duration, replays, replay_duration;
    // Of each lane: the row in the data of each sample, and the inputs that are replayed after it.
    const int64_t *const *rows, *const *replayed;
    Records snapshots, traces;
    const Port *ports;
    int64_t watched;   // lanes in which a run may diverge, as bits
    int64_t diverged;  // those in which one has
};

// Copies what is recorded, row after row, at the samples at which it is due.
struct Recorder
{
    const Records &records;
    const _real *const memory;
    int64_t next = 0;
    double *row = records.rows;  // NumPy's, which need not begin where vectors may

    Recorder(const Records &records, const Circuit *circuit) : records(records), memory((const _real *)circuit) {}
    bool due(int64_t sample)
    {
        if (next == records.count || records.samples[next] != sample) return false;
        next++;
        return true;
    }
    void keep()
    {
        for (int64_t column = 0; column < records.width; column++, row += _lanes)
            std::copy_n((const double *)(memory + records.places[column]), _lanes, row);
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

// What is presented to each lane: a sample, or a replay.
struct Presented
{
    const int64_t *const *lanes;
    int64_t at;
    int64_t operator[](int lane) const { return lanes[lane][at]; }
};

template <size_t size, class T> static void show(double *__restrict to, const Port &port, const int64_t *row)
{
    const T *values[_lanes];
    for (int lane = 0; lane < _lanes; lane++) values[lane] = (const T *)(port.values + row[lane] * port.row_bytes);
    const double *__restrict mean = port.mean;
    const double gain = port.gain;
    for (size_t i = 0; i < size; i++)
        for (int lane = 0; lane < _lanes; lane++) to[i * _lanes + lane] = gain * ((double)values[lane][i] - mean[i]);
}
template <size_t size> static void show(_real *to, const Port &port, Presented sample, int64_t tick)
{
    int64_t row[_lanes];
    for (int lane = 0; lane < _lanes; lane++)
        row[lane] = port.ticks == port.duration ? sample[lane] : (sample[lane] * port.duration + tick) / port.ticks;
    switch (port.type)
    {
    {% for c_type in element_types %}
        case {{ loop.index0 }}: show<size, {{ c_type }}>((double *)to, port, row); break;
    {% endfor %}
    }
}

// Rows come in any order: without a word ahead, each sample would wait for memory.
static void announce(const Port &port, Presented sample)
{
    if (port.ticks != port.duration) return;
    for (int lane = 0; lane < _lanes; lane++)
    {
        const char *begin = port.values + sample[lane] * port.row_bytes;
        for (int64_t line = 0; line < std::min<int64_t>(port.row_bytes, {{ 64 * 32 }}); line += 64) __builtin_prefetch(begin + line);
    }
}

// Show a sample, at one of its ticks.
static inline void show_sample(Circuit &_circuit, const Segment &segment, Presented sample, int64_t tick)
{
    {% for port in circuit.ports %}
    {{ "if (tick == 0) " if port.name not in circuit.moving_ports }}show<{{ circuit.sizes[port.name] }}>(_circuit.{{ port.key }}, segment.ports[{{ loop.index0 }}], sample, tick);
    {% endfor %}
    {% if "clock.elapsed" in circuit.by_key %}
    _circuit.clock.elapsed[0] = tick;
    {% endif %}
    _circuit.clock.moment[0] = _circuit.clock.sample[0] * segment.duration + tick;
}

// Show one input alone, after a sample or, from the second replay on, after another input.
static inline void show_alone(Circuit &_circuit, Presented replayed, bool first)
{
    {% for port in circuit.ports %}
    if (first) std::fill_n(_circuit.{{ port.key }}, {{ circuit.sizes[port.name] }}, 0.0);
    {% if port is sameas circuit.replayed_port %}
    for (int lane = 0; lane < _lanes; lane++)
    {
        const Lane input(_circuit.{{ port.key }}, lane);
        if (!first) input[_circuit._replayed[lane]] = 0;
        _circuit._replayed[lane] = replayed[lane];
        input[_circuit._replayed[lane]] = 1;
    }
    {% endif %}
    {% endfor %}
}

// Return the lanes, as bits, in which activity is not finite.
static int64_t infinite(const Circuit &_circuit)
{
    _real total = 0;
    {% for one in circuit.watched %}
    for (int i = 0; i < {{ one.size }}; i++) total += _circuit.{{ one.key }}[i];
    {% endfor %}
    int64_t found = 0;
    for (int lane = 0; lane < _lanes; lane++) found |= (int64_t)!std::isfinite(((const double *)&total)[lane]) << lane;
    return found;
}

// Simulate a segment, up to the sample in which a run diverges; return the number of samples.
extern "C" int64_t simulate(Circuit *const circuit, Segment *const segment)
{
    const WithoutSubnormals while_it_runs;
    Recorder snapshots(segment->snapshots, circuit), traces(segment->traces, circuit);
    for (int64_t sample = 0; sample < segment->samples; sample++)
    {
        const Presented presented{segment->rows, sample};
        const bool traced = traces.due(sample);
        if (sample + 1 < segment->samples)
            for (int port = 0; port < {{ circuit.ports|length }}; port++) announce(segment->ports[port], {segment->rows, sample + 1});
        circuit->clock.sample[0] += 1;
        show_sample(*circuit, *segment, presented, 0);
        sample_onset(*circuit);
        for (int64_t tick = 0; tick < segment->duration; tick++)
        {
            if (tick > 0) show_sample(*circuit, *segment, presented, tick);
            sample_tick(*circuit);
            if (tick + 1 == segment->duration) sample_end(*circuit);
            if (traced) traces.keep();
        }
        for (int64_t replay = 0; replay < segment->replays; replay++)
        {
            show_alone(*circuit, {segment->replayed, sample * segment->replays + replay}, replay == 0);
            replay_onset(*circuit);
            for (int64_t tick = 0; tick < segment->replay_duration; tick++)
            {
                {% if "clock.elapsed" in circuit.by_key %}
                circuit->clock.elapsed[0] = tick;
                {% endif %}
                replay_tick(*circuit);
            }
            replay_end(*circuit);
        }
        if (snapshots.due(sample + 1)) snapshots.keep();
        segment->diverged = infinite(*circuit) & segment->watched;
        if (segment->diverged) return sample + 1;
    }
    return segment->samples;
}

// Draw random permutations as NumPy's Generator.permuted does, from its own bits; `drawn` comes before it is exchanged, so
// that no jump depends on chance.
extern "C" void permute(int64_t count, const int64_t length, int64_t *to, uint32_t (*const bits)(void *), void *const state)
{
    std::vector<int64_t> drawn(length);
    for (; count > 0; count--, to += length)
    {
        for (int64_t i = length - 1; i > 0;)
        {
            drawn[i] = bits(state) & (UINT32_MAX >> __builtin_clz(i));
            i -= drawn[i] <= i;
        }
        for (int64_t i = 0; i < length; i++) to[i] = i;
        for (int64_t i = length - 1; i > 0; i--) std::swap(to[i], to[drawn[i]]);
    }
}
