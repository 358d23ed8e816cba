{#- What happens between two ticks of a compiled circuit: keep what is due of the last one, present the next.

    One process simulates one segment. Everything it reads and writes lies in the folder $BIORRR_SEGMENT; it takes its
    weights from `state` and leaves by exit() once the last tick is done, so the length of a run is no part of the
    compiled code. -#}
// A program whose parent is killed ends too, at once, whatever it is doing.
static const struct Orphan
{
    static bool is_one() { return getenv("BIORRR_PARENT") && getppid() != atol(getenv("BIORRR_PARENT")); }
    static void look(int) { if (is_one()) _exit({{ EXIT.orphaned }}); }
    Orphan()  // before main()
    {
#ifdef __linux__
        // Sent when the thread that started us ends, which is the one that waits for us.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#else
        struct sigaction action = {};
        action.sa_handler = look;
        action.sa_flags = SA_RESTART;
        sigaction(SIGALRM, &action, NULL);
        const struct itimerval every_second = { {1, 0}, {1, 0} };
        setitimer(ITIMER_REAL, &every_second, NULL);
#endif
        look(0);  // it may have died before we could ask
    }
} orphan;

struct Quantity { double *values; size_t size; };

struct Segment
{
    // What comes first in the file `segment`, as standalone.py writes it; the vectors below follow in their order.
    struct { int64_t samples, held, replays, ticks_per_sample, snapshots, traced, traces; } head;
    struct Port { int64_t type, offset, held, ticks; double gain; } ports[{{ ports|length }}];
    struct Selection { int64_t quantity, first, count; };
    {% for port in ports %}
    std::vector<double> mean_{{ port.population }}_{{ port.variable }};
    {% endfor %}
    std::vector<int64_t> due, traced_samples, shown;  // samples after which weights are kept; samples traced; rows and replays
    std::vector<Quantity> state, weights, traces;
    const char *data[{{ ports|length }}];
    std::string folder;
    FILE *kept_weights, *kept_traces;
    int64_t sample = 0, phase = 0;  // of the next tick; a sample's own phases come before those of its replay
    bool traced = false;            // whether traces of the last tick are due
    size_t next_due = 0, next_recorded = 0;

    static void fail(const std::string &what)
    {
        fprintf(stderr, "%s: %s\n", what.c_str(), strerror(errno));
        _exit({{ EXIT.failed }});
    }
    FILE *open(const char *name, const char *mode)
    {
        FILE *file = fopen((folder + "/" + name).c_str(), mode);
        if (!file) fail(name);
        return file;
    }
    template <class T> static void read(FILE *file, T *values, size_t count)
    {
        if (fread(values, sizeof(T), count, file) != count) fail("segment cut short");
    }
    static void write(FILE *file, const Quantity &quantity)
    {
        if (fwrite(quantity.values, sizeof(double), quantity.size, file) != quantity.size) fail("cannot write");
    }
    const char *map(const char *name, size_t offset)
    {
        int file = ::open((folder + "/" + name).c_str(), O_RDONLY);
        struct stat facts;
        if (file < 0 || fstat(file, &facts)) fail(name);
        void *bytes = mmap(NULL, facts.st_size, PROT_READ, MAP_SHARED, file, 0);
        if (bytes == MAP_FAILED) fail(name);
        close(file);
        return (const char *)bytes + offset;
    }

    __attribute__((cold)) Segment()
    {
        folder = getenv("BIORRR_SEGMENT") ? getenv("BIORRR_SEGMENT") : ".";
        FILE *file = open("segment", "rb");
        read(file, &head, 1);
        read(file, ports, {{ ports|length }});
        {% for port in ports %}
        mean_{{ port.population }}_{{ port.variable }}.resize({{ port.size }});
        read(file, mean_{{ port.population }}_{{ port.variable }}.data(), {{ port.size }});
        {% endfor %}
        due.resize(head.snapshots);
        traced_samples.resize(head.traced);
        shown.resize(head.samples * (1 + head.replays));
        std::vector<Selection> selections(head.traces);
        read(file, due.data(), due.size());
        read(file, traced_samples.data(), traced_samples.size());
        read(file, selections.data(), selections.size());
        read(file, shown.data(), shown.size());
        fclose(file);

        state = {
        {% for quantity in state %}
            { circuit::{{ quantity.part }}::{{ quantity.name }}, {{ quantity.size }} },
        {% endfor %}
        };
        weights.assign(state.begin(), state.begin() + {{ n_weights }});
        const Quantity traceable[] = {
        {% for quantity in quantities %}
            { circuit::{{ quantity.part }}::{{ quantity.name }}, {{ quantity.size }} },
        {% endfor %}
        };
        for (const Selection &s : selections)
            traces.push_back({ traceable[s.quantity].values + s.first, (size_t)s.count });

        file = open("state", "rb");
        for (const Quantity &quantity : state) read(file, quantity.values, quantity.size);
        fclose(file);
        {% for port in ports %}
        data[{{ loop.index0 }}] = map("data-{{ loop.index0 }}", ports[{{ loop.index0 }}].offset);
        {% endfor %}
        kept_weights = open("snapshots", "wb");
        kept_traces = open("traces", "wb");
    }

    [[noreturn]] __attribute__((cold)) void leave(int code)
    {
        FILE *file = open("state.new", "wb");
        for (const Quantity &quantity : state) write(file, quantity);
        if (fwrite(&sample, sizeof(sample), 1, file) != 1) fail("cannot write");
        if (fclose(file) || fclose(kept_weights) || fclose(kept_traces)) fail("cannot write");
        _exit(code);
    }

    template <size_t size, class T> static void show(double *__restrict to, const char *from, int64_t row, double gain, const double *__restrict mean)
    {
        const T *__restrict values = (const T *)from + row * size;
        for (size_t i = 0; i < size; i++) to[i] = gain * ((double)values[i] - mean[i]);
    }
    template <size_t size> static void show(double *to, const char *from, int64_t type, int64_t row, double gain, const double *mean)
    {
        switch (type)
        {
        {% for code, c_type in element_types %}
            case {{ code }}: show<size, {{ c_type }}>(to, from, row, gain, mean); break;
        {% endfor %}
        }
    }

    // Rows come in any order: without a word ahead, each sample would wait for memory.
    template <size_t size> static void announce(const char *from, int64_t type, int64_t row)
    {
        static const size_t bytes[] = { {% for code, c_type in element_types %}sizeof({{ c_type }}), {% endfor %} };
        const char *begin = from + row * size * bytes[type];
        for (size_t line = 0; line < std::min<size_t>(size * bytes[type], {{ 64 * 32 }}); line += 64) __builtin_prefetch(begin + line);
    }

    double next()
    {
        {% if ports|rejectattr("lasts")|list == [] %}
        // While a sample is held nothing changes, and between its first tick and its last nothing is due.
        if (phase > 0 && phase + 1 < head.held && !traced)
        {
            phase++;
            return 1;
        }
        {% endif %}
        if (traced)
            for (const Quantity &quantity : traces) write(kept_traces, quantity);
        if (phase == 0)
        {
            if (sample > 0)
            {
                double total = 0;
                {% for part, variable, size in watched %}
                for (int i = 0; i < {{ size }}; i++) total += circuit::{{ part }}::{{ variable }}[i];
                {% endfor %}
                if (!std::isfinite(total)) leave({{ EXIT.diverged }});
            }
            for (; next_due < due.size() && due[next_due] == sample; next_due++)
                for (const Quantity &quantity : weights) write(kept_weights, quantity);
        }
        if (phase == 0 && sample == head.samples) leave({{ EXIT.done }});
        const bool waking = phase < head.held;
        const int64_t *const here = &shown[sample * (1 + head.replays)];
        if (waking)
        {
            const int64_t what = *here;
            {% for port in ports %}
            {{ "if (phase == 0)" if port.lasts }}
            {
                double *activity = circuit::{{ port.population }}::{{ port.variable }};
                const Port &port = ports[{{ loop.index0 }}];
                const int64_t row = port.ticks == port.held ? what : (what * port.held + phase) / port.ticks;
                show<{{ port.size }}>(activity, data[{{ loop.index0 }}], port.type, row, port.gain, mean_{{ port.population }}_{{ port.variable }}.data());
                active_{{ port.population }}_{{ port.variable }} = {0, {{ port.size }}};
                if (sample + 1 < head.samples && port.ticks == port.held)
                    announce<{{ port.size }}>(data[{{ loop.index0 }}], port.type, here[1 + head.replays]);
            }
            {% endfor %}
        }
        else
        {
            const int64_t ticks_each = (head.ticks_per_sample - head.held) / head.replays;
            const int64_t what = here[1 + (phase - head.held) / ticks_each];
            // What the last tick has left is all there is to silence.
            {% for port in ports %}
            {
                double *activity = circuit::{{ port.population }}::{{ port.variable }};
                std::fill(activity + active_{{ port.population }}_{{ port.variable }}.begin, activity + active_{{ port.population }}_{{ port.variable }}.end, 0);
                {% if port.replayed %}
                const int replayed = -1 - what;
                activity[replayed] = 1;
                active_{{ port.population }}_{{ port.variable }} = {replayed, replayed + 1};
                {% else %}
                active_{{ port.population }}_{{ port.variable }} = {0, 0};
                {% endif %}
            }
            {% endfor %}
        }
        traced = waking && next_recorded < traced_samples.size() && traced_samples[next_recorded] == sample;
        if (++phase == head.ticks_per_sample)
        {
            phase = 0;
            if (next_recorded < traced_samples.size() && traced_samples[next_recorded] == sample) next_recorded++;
            sample++;
        }
        return waking;
    }
};

static inline double present()
{
    static Segment segment;
    return segment.next();
}
