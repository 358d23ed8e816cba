{#- What happens between two ticks of a compiled circuit: keep what is due of the last one, present the next.

    One process simulates one segment. Everything it reads and writes lies in the folder $BIORRR_SEGMENT; it takes its
    weights from `state` and leaves by exit() once the last tick is done, so the length of a run is no part of the
    compiled code. -#}
{% macro address(part, variable, dynamic) -%}
{{ "&brian::_dynamic_array_%s_%s[0]"|format(part, variable) if dynamic else "brian::_array_%s_%s"|format(part, variable) }}
{%- endmacro %}
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
    // The header, as circuit/standalone.py writes it.
    struct {
        int64_t ticks, ticks_per_sample, first_sample, every, snapshots, noisy, traced;
        int64_t x_type, x_offset, y_type, y_offset;
        double gain_x, gain_y;
    } head;
    std::vector<double> mean_x, mean_y;
    std::vector<int64_t> due, shown;  // samples before which weights are kept; what each tick presents
    std::vector<Quantity> state, weights, traces;
    const char *x, *y;
    const double *noise;
    std::string folder;
    FILE *kept_weights, *kept_traces;
    int64_t tick = 0, sample = 0, phase = 0;  // of the next tick; a sample's own phases come before those of its replay
    int64_t until_trace;                      // samples
    bool traced = false;                      // whether traces of the last tick are due
    size_t next_due = 0;

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

    Segment()
    {
        folder = getenv("BIORRR_SEGMENT") ? getenv("BIORRR_SEGMENT") : ".";
        FILE *file = open("segment", "rb");
        read(file, &head, 1);
        mean_x.resize({{ m }});
        mean_y.resize({{ n }});
        due.resize(head.snapshots);
        shown.resize(head.ticks);
        read(file, mean_x.data(), mean_x.size());
        read(file, mean_y.data(), mean_y.size());
        read(file, due.data(), due.size());
        read(file, shown.data(), shown.size());
        fclose(file);

        state = {
        {% for part, variable, dynamic, size in state %}
            { {{ address(part, variable, dynamic) }}, {{ size }} },
        {% endfor %}
        };
        weights.assign(state.begin(), state.begin() + {{ n_pathways }});
        Quantity traceable[] = {
        {% for part, variable, dynamic, size in traces %}
            { {{ address(part, variable, dynamic) }}, {{ size }} },
        {% endfor %}
        };
        for (int i = 0; i < {{ traces|length }}; i++)
            if (head.traced >> i & 1) traces.push_back(traceable[i]);

        file = open("state", "rb");
        for (const Quantity &quantity : state) read(file, quantity.values, quantity.size);
        fclose(file);
        x = map("X", head.x_offset);
        y = map("Y", head.y_offset);
        noise = head.noisy ? (const double *)map("noise", 0) : NULL;
        until_trace = head.every ? (head.every - head.first_sample % head.every) % head.every : INT64_MAX;
        kept_weights = open("snapshots", "wb");
        kept_traces = open("traces", "wb");
    }

    [[noreturn]] void leave(int code)
    {
        FILE *file = open("state.new", "wb");
        for (const Quantity &quantity : state) write(file, quantity);
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
        double *sensory = brian::_array_sensory_x, *instructive = brian::_array_instructive_y;
        if (traced)
            for (const Quantity &quantity : traces) write(kept_traces, quantity);
        if (phase == 0)
        {
            if (tick > 0)
            {
                double total = 0;
                for (int i = 0; i < {{ k }}; i++) total += brian::_array_pyramidal_z[i] + brian::_array_pyramidal_plateau[i];
                if (!std::isfinite(total)) leave({{ EXIT.diverged }});
            }
            for (; next_due < due.size() && due[next_due] == sample; next_due++)
                for (const Quantity &quantity : weights) write(kept_weights, quantity);
        }
        if (tick == head.ticks) leave({{ EXIT.done }});
        const int64_t what = shown[tick++];
        const bool waking = what >= 0;
        if (waking)
        {
            show<{{ m }}>(sensory, x, head.x_type, what, head.gain_x, mean_x.data());
            show<{{ n }}>(instructive, y, head.y_type, what, head.gain_y, mean_y.data());
            if (noise)
                for (int i = 0; i < {{ m }}; i++) sensory[i] += noise[sample * {{ m }} + i];
            _active_sensory = {0, {{ m }}};
            _active_instructive = {0, {{ n }}};
            const int64_t ahead = tick - 1 + head.ticks_per_sample;
            if (ahead < head.ticks && shown[ahead] >= 0)
            {
                announce<{{ m }}>(x, head.x_type, shown[ahead]);
                announce<{{ n }}>(y, head.y_type, shown[ahead]);
            }
        }
        else
        {
            // What the last tick has left is all there is to silence.
            std::fill(sensory + _active_sensory.begin, sensory + _active_sensory.end, 0);
            std::fill(instructive + _active_instructive.begin, instructive + _active_instructive.end, 0);
            const int replayed = -1 - what;
            sensory[replayed] = 1;
            _active_sensory = {replayed, replayed + 1};
            _active_instructive = {0, 0};
        }
        traced = waking && until_trace == 0;
        if (++phase == head.ticks_per_sample)
        {
            phase = 0, sample++;
            if (until_trace-- == 0) until_trace = head.every - 1;
        }
        return waking;
    }
};

static inline double present(double)
{
    static Segment segment;
    return segment.next();
}
