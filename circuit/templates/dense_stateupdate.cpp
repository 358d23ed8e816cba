{# Plasticity of an all-to-all pathway: plain loops over sources and targets, no index arrays. #}
{# USES_VARIABLES { N } #}
{# ALLOWS_SCALAR_WRITE #}
{% extends 'common_group.cpp' %}
{% block maincode %}
    const size_t _vectorisation_idx = -1;
    {{scalar_code|autoindent}}
    {% for gate in dense.gates %}
    if ({{gate}} == 0) return;
    {% endfor %}
    for (int _source = {{dense.begin}}; _source < {{dense.end}}; _source++)
    {
        #pragma omp simd
        for (int _target = 0; _target < {{dense.targets}}; _target++)
        {
            const size_t _idx = (size_t)_source * {{dense.targets}} + _target;
            const size_t _vectorisation_idx = _idx;
            {{dense.direct(vector_code)|autoindent}}
        }
    }
{% endblock %}
