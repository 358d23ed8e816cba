"""The rooms and the arrows between them: every import in the tree is read and judged."""

import ast
import configparser
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("models", "circuit", "analysis", "sims")
MAY_IMPORT = {
    "models": (),
    "circuit": ("biorrr.models", "biorrr.files"),
    "analysis": ("biorrr.models.rates", "biorrr.models.auto_rates"),
    "sims": ("biorrr.models", "biorrr.circuit", "biorrr.analysis", "biorrr.files"),
}
# Where the name one imports is not the name one installs.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "tomli_w": "tomli-w"}

SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg")


class Imports(ast.NodeVisitor):
    """All (module, enclosing function) that a file imports, `from package import module` with both
    names.
    """

    def __init__(self):
        self.found, self.function = [], ""

    def visit_FunctionDef(self, node):
        outer, self.function = self.function, node.name
        self.generic_visit(node)
        self.function = outer

    def visit_Import(self, node):
        self.found += [(alias.name, self.function) for alias in node.names]

    def visit_ImportFrom(self, node):
        self.found += [
            ("." * node.level + f"{node.module or ''}.{alias.name}", self.function)
            for alias in node.names
        ]


def sources(*folders):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def imports(path):
    visitor = Imports()
    visitor.visit(ast.parse(path.read_text()))
    return visitor.found


def within(module, package):
    return f"{module}.".startswith(f"{package}.")


@pytest.mark.parametrize("room", ROOMS)
def test_arrows_point_downwards(room):
    allowed = (
        f"biorrr.{room}",
        "biorrr.errors",
        "biorrr.hints",
        "biorrr.interrupt",
        *MAY_IMPORT[room],
    )
    wrong = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in sources(room)
        for module, function in imports(path)
        if within(module, "biorrr")
        and not any(within(module, package) for package in allowed)
        # Methods that draw, fit or score hand over to analysis.
        and not (
            room == "circuit"
            and (
                function.startswith("plot_")
                or function
                in (
                    *("angles", "fit", "partial_fit", "score", "signal_strengths"),
                    *("summary", "theory_of"),
                )
            )
            and within(module, "biorrr.analysis")
        )
    ]
    assert not wrong


def test_rooms_are_imported_as_biorrr():
    """A bare or relative import would make a second copy of every class."""
    wrong = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in sources(*ROOMS, "tests")
        for module, _ in imports(path)
        if module.startswith(".") or module.split(".")[0] in (*ROOMS, "tests")
    ]
    assert not wrong


def test_errors_for_the_user_have_classes_of_their_own():
    """A plain ValueError is reported as a fault of biorrr: sentences are raised as one of
    ``biorrr.errors``.
    """
    plain = ("Exception", "ValueError", "TypeError", "RuntimeError", "ArithmeticError")
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources(*ROOMS)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and getattr(node.exc.func, "id", "") in plain
    ]
    assert not wrong


def test_models_are_descriptions():
    """Equations are text; what needs Brian2's own types asks for them in the function that makes
    them.
    """
    wrong = [
        path.name
        for path in sources("models")
        for module, function in imports(path)
        if within(module, "brian2") and not function
    ]
    assert not wrong


def test_every_package_is_declared():
    """A folder that setup.cfg does not list is missing from the wheel."""
    folders = {path.parent.relative_to(ROOT) for path in sources(*ROOMS)}
    declared = set(SETUP["options"]["packages"].split())
    assert {"biorrr", *("biorrr." + ".".join(folder.parts) for folder in folders)} == declared


def test_every_dependency_is_declared():
    requirements = "\n".join(
        [SETUP["options"]["install_requires"], *SETUP["options.extras_require"].values()]
    )
    declared = {line.split()[0] for line in requirements.splitlines() if line}
    used = {module.split(".")[0] for path in sources(*ROOMS) for module, _ in imports(path)}
    foreign = used - set(sys.stdlib_module_names) - {"biorrr"}
    assert {DISTRIBUTIONS.get(name, name) for name in foreign} <= declared


@pytest.mark.parametrize(
    ("room", "unloaded"),
    [
        ("analysis", ("brian2", "matplotlib")),
        ("models", ("brian2", "matplotlib", "scipy")),
        ("circuit", ("brian2", "matplotlib")),
        ("sims.main", ("brian2", "matplotlib", "scipy", "xarray")),
    ],
)
def test_importing_stays_light(room, unloaded):
    """All that a room offers is loaded, and none of what takes seconds to import comes along."""
    script = (
        f"import sys, biorrr.{room} as room\n"
        "for name in getattr(room, '__all__', ()): getattr(room, name)\n"
        f"print(*sorted(set({unloaded!r}) & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_datasets_leave_dask_to_those_who_use_it():
    """Where it is installed, xarray would import it to look at the first array; arrays of Dask's
    stay Dask's.
    """
    pytest.importorskip("dask.array")
    script = (
        "import sys, xarray as xr\n"
        "from biorrr.circuit.results.dataset import leave_dask_out\n"
        "leave_dask_out()\n"
        "data = xr.Dataset({'a': ('x', [1.0, 2.0])}, {'x': [3, 4]})\n"
        "joined = xr.concat([data, data.sel(x=[4])], 'x') + 1\n"
        "print(joined['a'].values.tolist(), 'dask' in sys.modules)\n"
        "import dask.array\n"
        "chunked = xr.DataArray(dask.array.ones(4, chunks=2), dims='x')\n"
        "print(chunked.chunks, data.chunk()['a'].chunks, float((chunked + 1).sum()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[2.0, 3.0, 3.0] False", "((2, 2),) ((2,),) 8.0"]


def test_rooms_are_found_in_the_root_of_a_clone_whatever_is_installed():
    """There ./biorrr stands before an installed package, which has no say then."""
    script = (
        "import sys\n"
        "sys.meta_path = [one for one in sys.meta_path if 'Editable' not in str(one)]\n"
        "import biorrr\n"
        f"for room in {ROOMS}: print(getattr(biorrr, room).__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = [Path(line).resolve() for line in done.stdout.split()]
    assert found == [ROOT / room / "__init__.py" for room in ROOMS]


def test_importing_biorrr_alone_imports_nothing_else():
    script = (
        "import sys; before = set(sys.modules); import biorrr\n"
        "print(*(name.split('.')[0] for name in set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) <= {"biorrr", "lazy_loader", *sys.stdlib_module_names}


def test_names_of_the_package_are_those_of_the_rooms():
    import biorrr
    from biorrr import ReducedRankRegression, analysis, circuit, models

    assert ReducedRankRegression is analysis.ReducedRankRegression
    for name in set(biorrr.__all__) - set(ROOMS):
        assert any(
            getattr(biorrr, name) is getattr(room, name, None)
            for room in (analysis, circuit, models)
        )
    assert biorrr.__version__ == version("biorrr")
    assert set(biorrr.__all__) <= set(dir(biorrr))
    with pytest.raises(AttributeError, match="attribute microcircuit"):
        _ = biorrr.microcircuit
