{# A summed variable of an all-to-all pathway: plain loops over sources and targets, no index arrays. #}
{# USES_VARIABLES { N } #}
{% extends 'common_group.cpp' %}
{% block maincode %}
    const size_t _vectorisation_idx = -1;
    {{scalar_code|autoindent}}
    double _sum[{{dense.targets}}] = {0};
    for (int _source = 0; _source < {{dense.sources}}; _source++)
    {
        {% if dense.silent_source %}
        // A silent source adds nothing: in replay all but one are.
        if ({{dense.silent_source}}[_source] == 0) continue;
        {% endif %}
        for (int _target = 0; _target < {{dense.targets}}; _target++)
        {
            const size_t _idx = (size_t)_source * {{dense.targets}} + _target;
            const size_t _vectorisation_idx = _idx;
            {{dense.direct(vector_code)|autoindent}}
            _sum[_target] += _synaptic_var;
        }
    }
    for (int _target = 0; _target < {{dense.targets}}; _target++) {{get_array_name(_target_var)}}[_target] = _sum[_target];
{% endblock %}
