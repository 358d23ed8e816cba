#!/usr/bin/env bash
# pythons.sh [fast|engines]: runs tests on every pair of Python and Brian2 that biorrr promises, where the Python is on
# this machine. `fast` runs all fast tests, `engines` those of exactness, of a user's own parts and of the engines. The
# environments are kept in the user's cache folder. PYTHONS="3.13:2.11" chooses pairs, or one whose version is not promised yet.
set -euo pipefail
cd "$(dirname "$0")/.."
home=${XDG_CACHE_HOME:-$HOME/.cache}/biorrr/pythons
case ${1:-fast} in
    fast) tests=(tests) ;;
    engines) tests=(
        tests/circuit/test_equations.py tests/circuit/test_held_samples.py tests/circuit/test_cpp_program.py
        tests/circuit/test_brian2_versions.py tests/circuit/test_brian2_neighbours.py tests/circuit/test_cache.py
        tests/circuit/test_departures.py tests/circuit/test_hierarchy.py tests/circuit/test_millivolts.py tests/own_parts
        tests/models tests/test_warnings.py) ;;
    *) echo "pythons.sh: must be told fast or engines (got $1)" >&2; exit 2 ;;
esac

find_python() {  # the program for a version such as 3.12: of pyenv, or on the PATH
    local found
    for found in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python "$(command -v "python$1" || true)"; do
        if [ -x "$found" ] && "$found" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            echo "$found"
            return
        fi
    done
}

failed=()
for pair in ${PYTHONS:-3.11:2.9 3.12:2.10 3.13:2.10 3.13:2.11}; do
    python=${pair%:*} brian2=${pair#*:}
    program=$(find_python "$python")
    if [ -z "$program" ]; then
        echo "Python $python: not on this machine, so not tested"
        continue
    fi
    echo "Python $python with Brian2 $brian2"
    place=$home/$python-brian2-$brian2
    [ -x "$place/bin/python" ] || "$program" -m venv "$place"
    "$place/bin/pip" install --quiet --no-compile --editable ".[test,docs,nwb]" "brian2==$brian2.*"
    # Tests start many processes, which may not be allowed to keep the bytecode they make.
    [ -e "$place/compiled" ] || "$place/bin/python" -m compileall -qq -j 0 "$place/lib" >/dev/null 2>&1 || true
    touch "$place/compiled"
    OMP_NUM_THREADS=1 "$place/bin/python" -m pytest -n auto --dist loadfile -o cache_dir="$place/pytest" "${tests[@]}" ||
        failed+=("Python $python with Brian2 $brian2")
done
[ ${#failed[@]} -eq 0 ] || { printf 'failed: %s\n' "${failed[@]}"; exit 1; }
