{# A compiled circuit, whole: one file lets the compiler see all of a tick at once. #}
{% for header in headers %}
#include <{{ header }}>
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
{% include "draws.cpp" %}
{% include "lanes.cpp" %}


// All that changes in a run, as memory.py lays it out.
struct Circuit
{
    {% for part, arrays in memory.parts.items() %}
    struct
    {
        {% for array in arrays %}
        alignas({{ 8 * line }}) _real {{ array.name }}[{{ array.size }}];
        {% endfor %}
    } {{ part }};
    {% endfor %}
    alignas({{ 8 * line }}) int64_t _replayed[_lanes];  // the input that is replayed
};
static_assert(sizeof(Circuit) == {{ 8 * memory.size }} * _lanes, "as memory.py lays it out");

{% for function in functions %}
static void {{ function.name }}(Circuit &_circuit{% for name in function.pointers %}, _real *__restrict const {{ "_of" if function.alone else "_at" }}_{{ name }}{% endfor %})
{
    {% if function.alone %}
    // Each lane has an input of its own: what else there is adds and changes nothing.
    for (int _lane = 0; _lane < _lanes; _lane++)
    {
        using _real = double;
        {% for name in function.pointers %}
        const Lane _at_{{ name }}(_of_{{ name }}, _lane);
        {% endfor %}
        {% for line in function.once %}
        {{ line }}
        {% endfor %}
        const int _i = _circuit._replayed[_lane];
        {% if function.total %}
        const Lane _total({{ function.total }}, _lane);
        {% endif %}
        #pragma omp simd
        for (int _j = 0; _j < {{ function.cells }}; _j++)
        {
            const size_t _synapse = (size_t)_i * {{ function.cells }} + _j;
            {% for line in function.each %}
            {{ line }}
            {% endfor %}
            {% if function.total %}
            _total[_j] = _added;
            {% endif %}
        }
    }
    {% else %}
    {% for line in function.once %}
    {{ line }}
    {% endfor %}
    {% if function.sources is none %}
    for (int _i = 0; _i < {{ function.cells }}; _i++)
    {
        {% for line in function.each %}
        {{ line }}
        {% endfor %}
    }
    {% elif function.grouped %}
    for (int _j = 0; _j < {{ function.cells }}; _j++)
    {
        _real _sum = 0;
        for (int _i = {{ function.sources[0] }}; _i < {{ function.sources[1] }}; _i++)
        {
            {% for line in function.each %}
            {{ line }}
            {% endfor %}
            _sum += _added;
        }
        {{ function.total }}[_j] = _sum;
    }
    {% elif function.total is none %}
    for (int _i = {{ function.sources[0] }}; _i < {{ function.sources[1] }}; _i++)
    {
        {{ simd }}
        for (int _j = 0; _j < {{ function.cells }}; _j++)
        {
            const size_t _synapse = (size_t)_i * {{ function.cells }} + _j;
            {% for line in function.each %}
            {{ line }}
            {% endfor %}
        }
    }
    {% elif function.cells == 1 and lanes == 1 %}
    _real _sum = 0;
    #pragma omp simd reduction(+:_sum)
    for (int _i = {{ function.sources[0] }}; _i < {{ function.sources[1] }}; _i++)
    {
        const int _j = 0;
        const size_t _synapse = _i;
        {% for line in function.each %}
        {{ line }}
        {% endfor %}
        _sum += _added;
    }
    {{ function.total }}[0] = _sum;
    {% else %}
    // Four sums side by side, since each addition to one and the same sum has to wait for the last.
    _real _sum[4][{{ function.cells }}] = {};
    const auto _add = [&](const int _i, _real *__restrict _part)
    {
        {{ simd }}
        for (int _j = 0; _j < {{ function.cells }}; _j++)
        {
            const size_t _synapse = (size_t)_i * {{ function.cells }} + _j;
            {% for line in function.each %}
            {{ line }}
            {% endfor %}
            _part[_j] += _added;
        }
    };
    int _i = {{ function.sources[0] }};
    for (; _i + 4 <= {{ function.sources[1] }}; _i += 4)
        for (int _row = 0; _row < 4; _row++) _add(_i + _row, _sum[_row]);
    for (; _i < {{ function.sources[1] }}; _i++) _add(_i, _sum[0]);
    for (int _j = 0; _j < {{ function.cells }}; _j++)
        {{ function.total }}[_j] = (_sum[0][_j] + _sum[1][_j]) + (_sum[2][_j] + _sum[3][_j]);
    {% endif %}
    {% endif %}
}

{% endfor %}
{% macro call(function) %}
{{ "if (%s) "|format(function.due|join(" && ")) if function.due }}{{ function.name }}(_circuit{% for array in function.pointers.values() %}, {{ array }}{% endfor %});
{%- endmacro %}
{% for name, functions in blocks %}
static __attribute__((noinline, flatten)) void {{ name }}(Circuit &_circuit)
{
    {% for function in functions %}
    {{ call(function) }}
    {% endfor %}
}

{% endfor %}
{% include "samples.cpp" %}
