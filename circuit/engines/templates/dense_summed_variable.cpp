{# A summed variable of an all-to-all pathway: plain loops over sources and targets, no index arrays. #}
{# USES_VARIABLES { N } #}
{% extends 'common_group.cpp' %}
{% block maincode %}
    const size_t _vectorisation_idx = -1;
    {{scalar_code|autoindent}}
    {{loops.broadcast(vector_code)|autoindent}}
    {% if loops.targets == 1 %}
    double _sum = 0;
    #pragma omp simd reduction(+:_sum)
    for (int _source = {{loops.begin}}; _source < {{loops.end}}; _source++)
    {
        const int _target = 0;
        const size_t _idx = _source, _vectorisation_idx = _source;
        {{loops.direct(vector_code)|autoindent}}
        _sum += _synaptic_var;
    }
    {{get_array_name(_target_var)}}[0] = _sum;
    {% else %}
    // Four sums side by side, since each addition to one and the same sum has to wait for the last.
    double _sum[4][{{loops.targets}}] = {};
    const auto _add = [&](const int _source, double *__restrict _part)
    {
        #pragma omp simd
        for (int _target = 0; _target < {{loops.targets}}; _target++)
        {
            const size_t _idx = (size_t)_source * {{loops.targets}} + _target;
            const size_t _vectorisation_idx = _idx;
            {{loops.direct(vector_code)|autoindent}}
            _part[_target] += _synaptic_var;
        }
    };
    int _source = {{loops.begin}};
    for (; _source + 4 <= {{loops.end}}; _source += 4)
        for (int _i = 0; _i < 4; _i++) _add(_source + _i, _sum[_i]);
    for (; _source < {{loops.end}}; _source++) _add(_source, _sum[0]);
    for (int _target = 0; _target < {{loops.targets}}; _target++)
        {{get_array_name(_target_var)}}[_target] = (_sum[0][_target] + _sum[1][_target]) + (_sum[2][_target] + _sum[3][_target]);
    {% endif %}
{% endblock %}
