{# A step of many cells: calls such as exp come first, in a loop of their own, so that the other loop vectorises. #}
{# USES_VARIABLES { N } #}
{# ALLOWS_SCALAR_WRITE #}
{% extends 'common_group.cpp' %}
{% block maincode %}
    const size_t _vectorisation_idx = -1;
    {{scalar_code|autoindent}}
    const int _N = {{constant_or_scalar('N', variables['N'])}};
    {% set step = calls_first(vector_code) %}
    {% if step.count %}
    {% for place in range(step.count) %}
    alignas(64) static double _called_{{place}}[N];
    {% endfor %}
    for (int _idx = 0; _idx < _N; _idx++)
    {
        {{step.calls|autoindent}}
    }
    {% endif %}
    for (int _idx = 0; _idx < _N; _idx++)
    {
        const size_t _vectorisation_idx = _idx;
        {{step.rest|autoindent}}
    }
{% endblock %}
