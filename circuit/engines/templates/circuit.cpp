{# A compiled circuit, whole: one file lets the compiler see all of a tick at once. #}
{% for header in headers %}
#include <{{ header }}>
{% endfor %}

// All that changes in a run, as memory.py lays it out.
struct Circuit
{
    {% for part, arrays in memory.parts.items() %}
    struct
    {
        {% for array in arrays %}
        alignas({{ 8 * line }}) double {{ array.name }}[{{ array.size }}];
        {% endfor %}
    } {{ part }};
    {% endfor %}
    // The input fibres of a population that are not silent; the presentation of samples keeps this up to date.
    {% for port in ports %}
    {{ "alignas(%d) "|format(8 * line) if loop.first }}struct { int begin, end; } active_{{ port.population }}_{{ port.variable }};
    {% endfor %}
};
static_assert(sizeof(Circuit) == {{ 8 * memory.size }}, "as memory.py lays it out");

// Several values of exp at once, where the C library has that (libmvec, in glibc since 2.22, for GCC on x86-64). It is
// tested there to within 4 units in the last place. Elsewhere a loop that calls exp is not vectorised.
#if defined(__x86_64__) && !defined(__clang__) && defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 22)
extern "C" __attribute__((simd("notinbranch"))) double exp(double) noexcept;
#endif

// Functions of the equation language that C++ has not, under the names that Brian2's translator uses or we give.
static const double pi = M_PI;
static inline double _brian_pow(double x, double y) { return pow(x, y); }
static inline double _brian_mod(double x, double y) { const double r = fmod(x, y); return r != 0 && (r < 0) != (y < 0) ? r + y : r; }
static inline double _brian_floordiv(double x, double y) { return floor((x - _brian_mod(x, y)) / y + 0.5); }
static inline double _int(double x) { return trunc(x); }
static inline double _is(bool x) { return x ? 1.0 : 0.0; }
static inline double _sign(double x) { return (0 < x) - (x < 0); }
static inline double _clip(double x, double low, double high) { const double y = x < low ? low : x; return y > high ? high : y; }
{{ draws }}

{% for step in steps %}
static void {{ step.name }}(Circuit &_circuit{% for name in step.pointers %}, double *__restrict const _at_{{ name }}{% endfor %})
{
    {% for line in step.once %}
    {{ line }}
    {% endfor %}
    {% if step.sources is none %}
    for (int _i = 0; _i < {{ step.cells }}; _i++)
    {
        {% for line in step.each %}
        {{ line }}
        {% endfor %}
    }
    {% elif step.grouped %}
    for (int _j = 0; _j < {{ step.cells }}; _j++)
    {
        double _sum = 0;
        for (int _i = {{ step.sources[0] }}; _i < {{ step.sources[1] }}; _i++)
        {
            {% for line in step.each %}
            {{ line }}
            {% endfor %}
            _sum += _added;
        }
        {{ step.total }}[_j] = _sum;
    }
    {% elif step.total is none %}
    for (int _i = {{ step.sources[0] }}; _i < {{ step.sources[1] }}; _i++)
    {
        #pragma omp simd
        for (int _j = 0; _j < {{ step.cells }}; _j++)
        {
            const size_t _synapse = (size_t)_i * {{ step.cells }} + _j;
            {% for line in step.each %}
            {{ line }}
            {% endfor %}
        }
    }
    {% elif step.cells == 1 %}
    double _sum = 0;
    #pragma omp simd reduction(+:_sum)
    for (int _i = {{ step.sources[0] }}; _i < {{ step.sources[1] }}; _i++)
    {
        const int _j = 0;
        const size_t _synapse = _i;
        {% for line in step.each %}
        {{ line }}
        {% endfor %}
        _sum += _added;
    }
    {{ step.total }}[0] = _sum;
    {% else %}
    // Four sums side by side, since each addition to one and the same sum has to wait for the last.
    double _sum[4][{{ step.cells }}] = {};
    const auto _add = [&](const int _i, double *__restrict _part)
    {
        #pragma omp simd
        for (int _j = 0; _j < {{ step.cells }}; _j++)
        {
            const size_t _synapse = (size_t)_i * {{ step.cells }} + _j;
            {% for line in step.each %}
            {{ line }}
            {% endfor %}
            _part[_j] += _added;
        }
    };
    int _i = {{ step.sources[0] }};
    for (; _i + 4 <= {{ step.sources[1] }}; _i += 4)
        for (int _row = 0; _row < 4; _row++) _add(_i + _row, _sum[_row]);
    for (; _i < {{ step.sources[1] }}; _i++) _add(_i, _sum[0]);
    for (int _j = 0; _j < {{ step.cells }}; _j++)
        {{ step.total }}[_j] = (_sum[0][_j] + _sum[1][_j]) + (_sum[2][_j] + _sum[3][_j]);
    {% endif %}
}

{% endfor %}
{% macro call(step) %}
{{ "if (%s) "|format(step.due|join(" && ")) if step.due }}{{ step.name }}(_circuit{% for array in step.pointers.values() %}, {{ array }}{% endfor %});
{%- endmacro %}
{% for name, steps in blocks %}
static __attribute__((noinline, flatten)) void {{ name }}(Circuit &_circuit)
{
    {% for step in steps %}
    {{ call(step) }}
    {% endfor %}
}

{% endfor %}
{% include "samples.cpp" %}
