{# What cells do in some ticks only: Brian2's own loop behind the conditions under which nothing happens. #}
{# USES_VARIABLES { N } #}
{# ALLOWS_SCALAR_WRITE #}
{% extends 'common_group.cpp' %}
{% block maincode %}
    {% for gate in loops.gates %}
    if ({{gate}}) return;
    {% endfor %}
    const size_t _vectorisation_idx = -1;
    {{scalar_code|autoindent}}
    const int _N = {{constant_or_scalar('N', variables['N'])}};
    for (int _idx = 0; _idx < _N; _idx++)
    {
        const size_t _vectorisation_idx = _idx;
        {{vector_code|autoindent}}
    }
{% endblock %}
