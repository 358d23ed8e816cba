"""Fills the pages with what the code itself says, and turns the TeX of their equations into MathML.

``<!-- code: name -->`` becomes what the function of that name below returns.
"""

from __future__ import annotations

import functools
import html
import importlib
import inspect
import logging
import math
import re
import runpy
import sys
import tempfile
from pathlib import Path

import numpy as np
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from biorrr.circuit import Microcircuit
from biorrr.sims.cli import live, options
from biorrr.sims.data import CATALOGUE
from biorrr.sims.lab.settings import WORDS, key_of, kinds, listed_fields
from biorrr.sims.main import commands as command_names
from biorrr.sims.main import find_command

sys.path.insert(0, str(Path(__file__).parent))
import gallery

REFERENCE = (
    "biorrr.circuit",
    "biorrr.models",
    "biorrr.analysis",
    "biorrr.analysis.communication",
    "biorrr.sims.data",
    "biorrr.sims.recordings",
)
# What people use first comes first on its page; other names follow in the order of the alphabet.
USED_FIRST = (
    *("Microcircuit", "Run", "Summary", "Hierarchy", "Circuit", "MicrocircuitRegressor", "Saving"),
    *("Rates", "Rate", "Departure", "Pathway", "Population", "Variable", "Step"),
    *("ReducedRankRegression", "ExactSolution", "excess", "principal_angles", "r2"),
    *("load", "Dataset"),
)
# Sphinx's roles, which MkDocs would show as they stand.
ROLE = re.compile(r":(?:class|func|meth|mod|data|attr|exc):<code>~?(?:biorrr\.)?([\w.]+)</code>")
ROOT = Path(__file__).parents[1]
LOG = logging.getLogger("mkdocs.hooks")

NEEDS_DATA = {
    "communication.ipynb": "v1v2"
}  # tutorials that are executed only where their data set is on this machine


def on_config(config, **_):
    """Leave tutorials unexecuted whose data are not here."""
    config.plugins["mkdocs-jupyter"].config["execute_ignore"] = [*filter(_lacks_data, NEEDS_DATA)]
    return config


def on_files(files, config):
    """Add the pages and pictures of the gallery; scripts are run unless notebooks are not."""
    drawn = config.plugins["mkdocs-jupyter"].config["execute"]
    pictures = {}
    for example in gallery.EXAMPLES if drawn else ():
        LOG.info("Running docs/examples/%s.py", example.name)
        try:
            pictures[example.name] = example.draw()
        except RuntimeError as error:
            raise PluginError(str(error)) from error
    for name, picture in pictures.items():
        files.append(File.generated(config, f"examples/{name}.png", content=picture))
    for example in gallery.EXAMPLES:
        files.append(
            File.generated(
                config,
                f"examples/{example.name}.md",
                content=example.page(example.name in pictures),
            )
        )
    files.append(File.generated(config, "examples/index.md", content=gallery.index(bool(pictures))))
    files.append(File.generated(config, "live.html", content=_circuit_of_digits()))
    return files


def _circuit_of_digits() -> str:
    """Return the page of a circuit that learns digits, as `biorrr live` writes it."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "live.html"
        live.command(out=page, show=False)
        return page.read_text(encoding="utf-8")


def _lacks_data(tutorial: str) -> bool:
    name = NEEDS_DATA.get(tutorial)
    return name is not None and not all(file.found() for file in CATALOGUE[name].origin.files)


def on_page_markdown(markdown: str, **_) -> str:
    """Called by MkDocs for the text of each page."""
    return re.sub(r"<!-- code: (\w+) -->", lambda marker: GENERATED[marker[1]](), markdown)


def on_page_content(content: str, page, **_) -> str:
    """Called by MkDocs for the HTML of each page."""
    from latex2mathml.converter import convert

    if _lacks_data(page.file.src_uri):
        name = NEEDS_DATA[page.file.src_uri]
        content = (
            '<div class="admonition note"><p class="admonition-title">Shown without its'
            f" results</p><p>This tutorial needs the data set <code>{name}</code>, which was not on"
            " the machine that built this page. <code>biorrr data</code> says where to get it and"
            " where to put it.</p></div>" + content
        )

    def mathml(equation: re.Match) -> str:
        return convert(
            html.unescape(equation["tex"]),
            display="block" if equation["tag"] == "div" else "inline",
        )

    content = ROLE.sub(r"<code>\1</code>", content)
    marked = r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.*?)\\[)\]]</(?P=tag)>'
    return re.sub(marked, mathml, content, flags=re.DOTALL)


def live_page() -> str:
    """A circuit that learns, in a frame of the page, and a link to it alone."""
    return (
        '<iframe class="live" src="live.html" title="A circuit that learns digits"></iframe>\n\n'
        "Four pyramidal neurons learn digits in your browser: press Start."
        " [Open the page alone](live.html){ target=_blank }, or write one of your own circuit with"
        ' `circuit.to_html("circuit.html", X, Y)` or `biorrr live`.'
    )


def description() -> str:
    """The circuit as it describes itself, with rates of a timetable: the paper's equations and
    nothing else.
    """
    from biorrr.models import Rate, Rates

    return _fenced(
        "text", Microcircuit(k=2, rates=Rates(Rate(0.1), Rate(0.1), Rate(0.1))).describe(64, 10)
    )


def brian2_script() -> str:
    """The Brian2 script of the paper's circuit with rates of a timetable, in full."""
    from biorrr.models import Rate, Rates

    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    Y = X[:, :2] @ rng.standard_normal((2, 3))
    circuit = Microcircuit(
        k=2, rates=Rates(Rate(0.01, 1e4), Rate(0.01), Rate(0.01)), engine="numpy"
    )
    run = circuit.run(X, Y, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        path = circuit.to_brian2(Path(folder, "my_circuit.py"), run=run)
        return _fenced("python", path.read_text(encoding="utf-8"))


def pathways() -> str:
    """The source of the four pathways, each current beside its rule."""
    from biorrr.models import (
        DistalSynapses,
        InterneuronToPyramidal,
        ProximalSynapses,
        PyramidalToInterneuron,
    )

    parts = (ProximalSynapses, DistalSynapses, PyramidalToInterneuron, InterneuronToPyramidal)
    return "\n\n".join(
        f"**{part().equation}**\n\n{_fenced('python', inspect.getsource(part))}" for part in parts
    )


def cells() -> str:
    """The source of the two kinds of neuron."""
    from biorrr.models import Interneurons, PyramidalNeurons

    return "\n\n".join(
        _fenced("python", inspect.getsource(part)) for part in (PyramidalNeurons, Interneurons)
    )


def rates() -> str:
    """How rates are fitted to the data, in the words of the policy, and as the neuromodulator
    computes it.
    """
    from biorrr.models import AdaptiveNeuromodulator, auto_rates

    code = "\n".join(inspect.cleandoc(step.code) for step in AdaptiveNeuromodulator().steps)
    policy = inspect.cleandoc(auto_rates.__doc__).partition("\n\n")[2].replace("::\n", ":\n")
    return f"{policy}\n\n{_fenced('text', code)}"


def phases() -> str:
    """What happens within a tick, in order."""
    from biorrr.models import PHASES

    return _table(
        ("phase", "what happens"), [(f"`{phase}`", meaning) for phase, meaning in PHASES.items()]
    )


def cell_parameters() -> str:
    """Parameters of the two kinds of cell in millivolts."""
    from biorrr.models import BurstingCells, SomatostatinCells

    rows = [
        (f"`{part.name}.{v.name}`", f"{v.value:g} {v.unit}", v.meaning)
        for part in (BurstingCells(), SomatostatinCells())
        for v in part.variables
        if v.role == "parameter" and not isinstance(v.value, str)
    ]
    return _table(("parameter", "value", "meaning"), rows)


def combinations() -> str:
    """Return the table of every departure in every kind of circuit."""
    path = Path(__file__).parents[1] / "tests" / "combinations" / "combinations.py"
    return str(runpy.run_path(str(path))["table"]())


def mistakes() -> str:
    """What some wrong circuits say of themselves."""
    from dataclasses import replace

    from biorrr.models import DistalSynapses, ProximalSynapses, PyramidalNeurons, Step

    early = replace(
        PyramidalNeurons(), steps=(Step("output", "plateau = a - inhibition", replays=True),)
    )
    wrong: tuple[tuple[str, dict], ...] = (
        (
            "a name that nobody declares",
            {"pathways": [replace(DistalSynapses(), change="slope * y_pre")]},
        ),
        (
            "a rule that is not local",
            {"pathways": [replace(ProximalSynapses(), change="eta_x * x_pre * Q")]},
        ),
        ("an order that cannot be satisfied", {"populations": [early]}),
    )
    said = []
    for what, settings in wrong:
        try:
            Microcircuit(k=2, **settings)
        except ValueError as error:
            said.append((what, str(error)))
    return _table(("mistake", "what it says"), said)


def locality() -> str:
    """The verdict on every rule."""
    return _fenced("text", str(Microcircuit(k=2).locality()))


def commands() -> str:
    """Every command with every setting."""
    return "\n\n".join(map(_command, command_names()))


def frame() -> str:
    """The options that all experiments share."""
    command = find_command("learn")
    fields = [*listed_fields(command.settings)]
    fields += [field for field, *_ in options.data_options(command.settings)]
    rows = _plain_options(command, {field.name for field in fields})
    return _table(("option", "meaning"), list(rows))


def data_sets() -> str:
    """The named data sets: what they are, whose, and on which terms."""

    def home(text: str) -> str:
        return f"[{text.split('/')[2]}]({text})" if text.startswith("http") else text

    sources = {name: one.origin for name, one in CATALOGUE.items()}
    rows = [
        (f"`{name}`", source.summary, home(source.home), source.licence)
        for name, source in sources.items()
    ]
    return _table(("name", "what", "from", "licence"), rows)


def citations() -> str:
    """What to cite for each data set."""
    return "\n".join(f"- `{name}`: {one.origin.citation}" for name, one in CATALOGUE.items())


def public_names(room: str) -> str:
    """Return a reference of every public name of a package, for mkdocstrings to fill in."""
    package = importlib.import_module(room)
    entries = []
    first = [name for name in USED_FIRST if name in package.__all__]
    others = sorted(set(package.__all__) - set(first), key=str.lower)
    for name in (*first, *others):
        home = getattr(getattr(package, name), "__module__", None)
        entries.append(
            f"::: {home}.{name}" if str(home).startswith("biorrr") else f"::: {room}.{name}"
        )
    return "\n\n".join(entries)


def _command(name: str) -> str:
    command = find_command(name)
    settings = getattr(command, "settings", None)
    # "\b" tells click not to wrap what follows; indented, Markdown shows that as code.
    about = (inspect.getdoc(command) or "").replace("\b\n", "").replace("<", "&lt;")
    if settings:
        rows = [_setting(field, *kinds(settings)[field.name]) for field in listed_fields(settings)]
        table = _table(("setting", "value", "default", "meaning"), rows)
    else:
        table = _table(("argument or option", "meaning"), list(_plain_options(command)))
    return f"## biorrr {name}\n\n{about}\n\n{table}"


def _setting(field, kind, optional: bool, many: bool, length: int | None) -> tuple[str, ...]:
    short = f", `-{field.metadata['short']}`" if field.metadata["short"] else ""
    low, high = field.metadata["bounds"]
    allowed = " or ".join(f"`{choice}`" for choice in field.metadata["choices"] or ()) or WORDS.get(
        kind, "data"
    )
    if (low, high) != (-math.inf, math.inf) and kind in (int, float):
        allowed += f", at least {low:g}" if high == math.inf else f" in [{low:g}, {high:g}]"
    default = (
        ""
        if field.default is None
        else ", ".join(map(str, field.default))
        if many
        else str(field.default)
    )
    return (
        f"`--{key_of(field.name)}`{short}",
        f"{length} times {allowed}" if length else allowed + (", repeatable" if many else ""),
        default,
        field.metadata["help"],
    )


def _plain_options(command, left_out=frozenset()):
    import typer

    single = typer.Typer(add_completion=False)
    single.command()(command)
    for parameter in typer.main.get_command(single).params:
        names = (
            parameter.opts
            if parameter.param_type_name == "option"
            else [parameter.metavar or parameter.name]
        )
        if "--help" not in names and parameter.name not in left_out:
            yield ", ".join(f"`{name}`" for name in names), getattr(parameter, "help", None) or ""


def _table(header: tuple[str, ...], rows) -> str:
    if not rows:
        return "No options."
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


GENERATED = {
    made.__name__: made
    for made in (
        live_page,
        description,
        brian2_script,
        pathways,
        cells,
        rates,
        locality,
        phases,
        mistakes,
        commands,
        frame,
        data_sets,
        citations,
        cell_parameters,
        combinations,
    )
}
GENERATED |= {
    f"reference_{room.replace('.', '_')}": functools.partial(public_names, room)
    for room in REFERENCE
}
