{# A compiled circuit, whole: one file lets the compiler see all of a tick at once. #}
{% for header in headers %}
#include <{{ header }}>
{% endfor %}

// Aligned, since a vector that straddles two lines of the cache costs two look-ups.
{% for array in arrays %}
namespace circuit { namespace {{ array.part }} { alignas(64) static double {{ array.name }}[{{ array.size }}]; } }
{% endfor %}
// The input fibres of a population that are not silent; the presentation of samples keeps this up to date.
{% for port in ports %}
static struct { int begin, end; } active_{{ port.population }}_{{ port.variable }};
{% endfor %}

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
{% include "sample_stream.cpp" %}

{% for step in steps %}
static void {{ step.name }}()
{
    {% for name, array in step.pointers.items() %}
    double *__restrict const _at_{{ name }} = {{ array }};
    {% endfor %}
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
{{ "if (%s) "|format(step.due|join(" && ")) if step.due }}{{ step.name }}();
{%- endmacro %}
// All that follows once the clock has found out which tick of a sample this is.
static inline __attribute__((always_inline)) void rest_of_tick(bool waking, bool onset)
{
    {% for step in steps[begun:] %}
    {{ call(step) }}
    {% endfor %}
}

// The same while a sample is held, between its first tick and its last: little happens then. What the clock broadcasts is
// stored once more, since the compiler then knows it.
static __attribute__((noinline, flatten)) void rest_of_tick_between()
{
    circuit::clock::waking[0] = 1;
    {% for flag in flags %}
    circuit::clock::{{ flag }}[0] = 0;
    {% endfor %}
    rest_of_tick(true, false);
}

__attribute__((flatten)) int main()
{
    for (;;)  // the presentation ends the program after the last sample
    {
        circuit::clock::waking[0] = present();
        const bool waking = circuit::clock::waking[0] != 0;
        {% for step in steps[:begun] %}
        {{ call(step) }}
        {% endfor %}
        if ({{ holds|lower }} && waking{% for flag in flags %} && circuit::clock::{{ flag }}[0] == 0{% endfor %})
            rest_of_tick_between();
        else
            rest_of_tick(waking, circuit::clock::onset[0] != 0);
    }
}
