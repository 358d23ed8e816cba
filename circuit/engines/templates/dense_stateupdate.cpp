{# Plasticity of an all-to-all pathway: plain loops over sources and targets, no index arrays. #}
{# USES_VARIABLES { N } #}
{# ALLOWS_SCALAR_WRITE #}
{% extends 'common_group.cpp' %}
{% block maincode %}
    const size_t _vectorisation_idx = -1;
    {{scalar_code|autoindent}}
    {{loops.broadcast(vector_code)|autoindent}}
    for (int _source = {{loops.begin}}; _source < {{loops.end}}; _source++)
    {
        #pragma omp simd
        for (int _target = 0; _target < {{loops.targets}}; _target++)
        {
            const size_t _idx = (size_t)_source * {{loops.targets}} + _target;
            const size_t _vectorisation_idx = _idx;
            {{loops.direct(vector_code)|autoindent}}
        }
    }
{% endblock %}
