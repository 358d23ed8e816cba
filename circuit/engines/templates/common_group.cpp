{# One step of a tick. What Brian2's own template includes in every file stands once, in `objects.h`. #}
{% macro cpp_file() %}
{% for name in user_headers | sort %}
#include {{name}}
{% endfor %}
namespace {
    {{support_code_lines|autoindent}}
}
{{hashdefine_lines|autoindent}}

static void _run_{{codeobj_name}}()
{
    using namespace brian;
    %CONSTANTS%
    {{pointers_lines|autoindent}}
    {% block maincode %}
    {% endblock %}
}
{% endmacro %}
{% macro h_file() %}{% endmacro %}
{% macro before_run_cpp_file() %}{% endmacro %}
{% macro after_run_cpp_file() %}{% endmacro %}
