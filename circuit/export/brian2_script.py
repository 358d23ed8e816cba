"""A plain Brian2 script of a circuit and of one of its runs.

The script has one Brian2 group per part. Everything in the program runs in Brian2's slot "groups",
in one order that suits samples and replays. What belongs to a part of the time, such as the end of
a sample that is held, has a clock of its own or is multiplied by a variable that says when.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
import numpy as np

from biorrr.circuit.compile.operations import ORDER, Operation
from biorrr.circuit.regression import RegressionCircuit
from biorrr.circuit.simulation.job import Job
from biorrr.errors import InputError
from biorrr.files import whole_file
from biorrr.models import BLOCKS, Pathway, Population, random_draws
from biorrr.models.expressions import names_in, renamed
from biorrr.models.meanings import Meaning
from biorrr.models.physical_units import dimension_of

TEMPLATES = Path(__file__).parent / "templates"
_CITATION = """\
The microcircuit of Golkar, Lipshutz, Bahroun, Sengupta and Chklovskii, "A simple normative network
approximates local non-Hebbian learning in the cortex", NeurIPS 2020, or a variant of it. Neurons
with two compartments receive x at the soma and y at the distal dendrite. The plateau potential,
what inhibition leaves of the distal current, teaches the synapses of x: reduced-rank regression."""
_PLAIN = "A circuit of populations of cells and of pathways between them that learn by local rules."
# Names that the script has for itself.
_TAKEN = frozenset(
    """
    Clock Function Network NeuronGroup Synapses network_operation prefs second np sys math
    data parameters where shuffle first last rows fibres tick sample_clock presented
    presentation present network draw drawn count uniform_draw gaussian_draw poisson_draw
    volt amp siemens farad hertz
    """.split()  # noqa: SIM905
)
_TIMES = ("sample", "moment", "elapsed")  # what the clock counts


def write_script(path: str | os.PathLike, job: Job) -> Path:
    """Write the script of ``job``; return its path."""
    path = Path(path)
    text = _Script(job).text(path.name)
    with whole_file(path) as aside:
        Path(aside).write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True)
class _Gate:
    """The ticks in which an operation happens, out of those of a sample and of its replays.

    Parameters
    ----------
    sample, replay
        Ticks of a sample and of a replayed input.
    """

    sample: frozenset[int]
    replay: frozenset[int]

    def named(self, duration: int, replay_duration: int) -> str:
        """Return the name of the variable that is 1 in these ticks, and 0 in the others."""
        words = []
        for what, ticks, length in (
            ("sample", self.sample, duration),
            ("replay", self.replay, replay_duration),
        ):
            if len(ticks) == length:
                words.append(f"in_{what}")
            else:
                words += [f"{what}_begins"] * (0 in ticks) + [f"{what}_ends"] * (
                    length - 1 in ticks
                )
        return "_and_".join(words)


class _Script:
    """The script of one job, piece by piece."""

    def __init__(self, job: Job) -> None:
        _check(job)
        self.job, self.blueprint = job, job.blueprint
        self.parts, self.meanings = job.blueprint.parts, job.blueprint.meanings
        self.replay, self.timing = job.presentation.replay, job.blueprint.timing
        self.gates = self._gates()
        self.schedule = _in_order(self._blocks(), list(self.gates))
        self.constants: dict[str, tuple[float, str, str]] = {}  # value, dimension and meaning
        self.heard: dict[str, dict[str, Meaning]] = {part.name: {} for part in self.shown}
        for pathways in (False, True):  # cells first: synapses hear with them
            for one in self.schedule:
                if isinstance(self.parts[one.part], Pathway) == pathways:
                    self._hear(one)

    # -- time --------------------------------------------------------------------------------------

    def _blocks(self) -> list[tuple[str, str, tuple[Operation, ...]]]:
        program = self.blueprint.program
        chains = [("sample", program.sample)] + [("replay", program.replay)] * (self.replay > 0)
        off = {
            p.name
            for p in self.parts.pathways
            if p.plastic and not self.job.state[f"{p.name}.plastic"][0]
        }
        return [
            (
                chain,
                name,
                tuple(o for o in block if not (o.part in off and "plastic" in o.silencers)),
            )
            for chain, blocks in chains
            for name, block in blocks
        ]

    def _gates(self) -> dict[Operation, _Gate]:
        """Return the ticks of each operation."""
        lengths = {"sample": self.timing.duration, "replay": self.timing.replay_duration}
        found: dict[Operation, dict[str, set[int]]] = {}
        for chain, name, block in self._blocks():
            ticks = {"onset": {0}, "tick": {*range(lengths[chain])}, "end": {lengths[chain] - 1}}
            for operation in block:
                when = found.setdefault(operation, {"sample": set(), "replay": set()})
                when[chain] |= ticks[name]
        return {
            one: _Gate(frozenset(when["sample"]), frozenset(when["replay"]))
            for one, when in found.items()
        }

    def gate(self, operation: Operation) -> tuple[str, str]:
        """Return the clock of ``operation`` and, where that is not enough, its gate."""
        when = self.gates[operation]
        always = len(when.sample) == self.timing.duration and (
            not self.replay or len(when.replay) == self.timing.replay_duration
        )
        if operation.fills or always:
            return "tick", ""
        if when.sample == {0} and not when.replay:
            return "sample_clock", ""
        return "tick", self._named_gate(when)

    def _named_gate(self, gate: _Gate) -> str:
        return gate.named(self.timing.duration, self.timing.replay_duration)

    # -- names -------------------------------------------------------------------------------------

    @property
    def shown(self) -> list[Population | Pathway]:
        """Parts that have a group: all but a clock that only counts."""
        active = {one.part for one in self.blueprint.program.operations}
        return [p for p in self.parts.everything if p.name != "clock" or p.name in active]

    def _hear(self, operation: Operation) -> None:
        """Note what the code of ``operation`` hears from parts that broadcast."""
        part = self.parts[operation.part]
        for name in names_in(operation.code).read:
            found = self.meanings.find(part, name)
            if found is None or found.key not in self.blueprint.by_key:
                continue
            variable, spelt = self.blueprint.by_key[found.key].variable, self.spelt(part, name)
            if variable.per == "circuit" and variable.role == "parameter":
                value = float(self.job.state[found.key][0])
                self.constants[spelt] = value, dimension_of(variable.unit), variable.meaning
            elif found.place == "broadcast" and not spelt.endswith(("_pre", "_post")):
                self.heard[part.name][spelt] = found
        gate = self.gate(operation)[1]
        if gate and self._spelt_by_cells(part, gate) is None:
            self.heard[part.name][gate] = Meaning("gate", "", gate)

    def _spelt_by_cells(self, part: Population | Pathway, name: str) -> str | None:
        """Return how a pathway reads ``name`` where its cells hear it already."""
        if isinstance(part, Pathway):
            for end, side in ((part.target, "post"), (part.source, "pre")):
                if name in self.heard[end]:
                    return f"{name}_{side}"
        return None

    def spelt(self, part: Population | Pathway, name: str) -> str:
        """Return how the script writes the variable that ``part`` calls ``name``."""
        found = self.meanings.find(part, name)
        if found is None or found.place == "own":
            return name
        if found.place in ("pre", "post"):
            return f"{found.variable}_{found.place}"
        name, constant = found.variable, self.meanings.role(found.key) == "parameter"
        if isinstance(part, Population):
            return name
        ends = ((part.target, "post"), (part.source, "pre"))
        for end, side in ends:
            if found.part == end and not constant:
                return f"{name}_{side}"
        others = {(q.part, q.name) for q in self.blueprint.arrays if q.part != found.part}
        if others & {(end, name) for end, _ in ends}:
            return f"{name}_heard"  # which differs from a variable of its cells
        return name if constant else self._spelt_by_cells(part, name) or name

    def code(self, operation: Operation, code: str) -> str:
        """Return ``code`` of ``operation`` with names as the script has them."""
        part = self.parts[operation.part]
        return renamed(code, {n: self.spelt(part, n) for n in names_in(code).read})

    # -- groups ------------------------------------------------------------------------------------

    def _lines(self, part: Population | Pathway) -> Iterator[str]:
        """Yield the equations of ``part``."""
        read = {key for one in self.schedule for key in one.reads}
        for array in self.blueprint.arrays:
            variable = array.variable
            left_out = variable.role == "parameter" and (
                variable.per == "circuit" or array.key not in read
            )
            if array.part != part.name or array.name == "plastic" or left_out:
                continue
            flags = ["shared"] * (variable.per in ("population", "pathway"))
            flags += ["constant"] * (variable.role == "parameter")
            flagged = f" ({', '.join(flags)})" if flags else ""
            meaning = variable.meaning if variable.meaning != array.name else ""
            yield _commented(f"{array.name} : {dimension_of(variable.unit)}{flagged}", meaning)
        for name, found in self.heard[part.name].items():
            unit, meaning = "1", "1 when it is time, else 0"
            if found.place != "gate":
                variable = self.blueprint.by_key[found.key].variable
                unit, meaning = variable.unit, variable.meaning
            # Brian2 refuses some statements of cells that mix what is shared with what is not.
            flag = " (shared)" if isinstance(part, Pathway) else ""
            yield _commented(f"{name} : {dimension_of(unit)}{flag}", meaning)
        units = {array.key: array for array in self.blueprint.arrays}
        for one in self.schedule:
            if one.part == part.name and one.fills:
                filled = units[next(iter(one.writes))]
                code = self.code(one, one.code)
                yield _commented(
                    f"{one.fills}_post = {code} : {dimension_of(filled.variable.unit)} (summed)",
                    filled.variable.meaning,
                )

    def _values(self, part: Population | Pathway) -> Iterator[str]:
        """Yield what sets initial values of ``part``."""
        declared = " ".join(self._lines(part))
        for quantity in self.blueprint.state:
            if quantity.part == part.name and quantity.name != "w":
                values = self.job.state[quantity.key]
                if np.any(values != 0) and f"{quantity.name} :" in declared:
                    yield f"{_named(part)}.{quantity.name}_ = {_written(values)}"
        for name, found in self.heard[part.name].items():
            if found.place != "gate" and found.part != "clock" and found.key in self.job.state:
                yield f"{_named(part)}.{name}_ = {_written(self.job.state[found.key])}"

    def _group(self, part: Population | Pathway) -> dict[str, object]:
        group = {
            "name": _named(part),
            "meaning": " ".join((part.meaning or part.name).split()),
            "lines": list(self._lines(part)),
            "starts": list(self._values(part)),
        }
        if isinstance(part, Population):
            return {**group, "size": part.size}
        turn = self.blueprint.orientations[part.name]
        pairs = ""
        if part.wiring == "groups":
            many = f"np.arange({max(turn.sources, turn.targets)})"
            few = f"{many} // {self.blueprint.group(part.name)}"
            pairs = f"i={few}, j={many}" if turn.targets > turn.sources else f"i={many}, j={few}"
        ends = {end: _named(self.parts[getattr(part, end)]) for end in ("source", "target")}
        words = f"{part.weight}: {part.meaning or part.name}" if part.weighted else part.name
        equation = f"; {part.equation}" if part.equation else ""
        return {**group, **ends, "pairs": pairs, "meaning": f"{words}{equation}"}

    # -- order -------------------------------------------------------------------------------------

    def _scheduled(self) -> Iterator[str]:
        """Yield what happens in a tick, in order."""
        place = 0
        for one in self.schedule:
            part, (clock, gate) = self.parts[one.part], self.gate(one)
            if one.fills:
                yield f'{_named(part)}.summed_updaters["{one.fills}_post"].order = {place}'
            else:
                gate = self._spelt_by_cells(part, gate) or gate
                code = self.code(one, inspect.cleandoc(one.code))
                own = {array.name for array in self.blueprint.arrays if array.part == part.name}
                lines = textwrap.indent("\n".join(_statements(code, gate, own)), "    ")
                timed = f'clock={clock}, when="groups", order={place}'
                yield f'{_named(part)}.run_regularly(\n    """\n{lines}\n    """,\n    {timed},\n)'
            place += 1
            copies = list(self._copies(one))
            if copies:
                body = textwrap.indent("\n".join(copies), "    ")
                name = self._broadcast(one)
                timed = f'clock=tick, when="groups", order={place}'
                yield f"\n\n@network_operation({timed})\ndef {name}():\n{body}\n\n"
                place += 1

    def _broadcast(self, one: Operation) -> str:
        speakers = [each for each in self.schedule if list(self._copies(each))]
        return f"broadcast_{speakers.index(one) + 1}" if len(speakers) > 1 else "broadcast"

    def _copies(self, one: Operation) -> Iterator[str]:
        """Yield what hands on what ``one`` writes to the parts that hear it."""
        for part, heard in self.heard.items():
            for name, found in heard.items():
                if found.place != "gate" and found.key in one.writes:
                    source = f"{_named(self.parts[found.part])}.{found.variable}_[0]"
                    yield f"{_named(self.parts[part])}.{name}_ = {source}"

    # -- the loop ----------------------------------------------------------------------------------

    def _set_times(self, chain: str, variables: Sequence[str]) -> Iterator[str]:
        """Yield what sets the clock's ``variables``, and gates, in a tick of a ``chain``."""
        duration = self.timing.duration
        values = {"sample": "sample", "elapsed": "elapsed" if self._long(chain) else "0"}
        values["moment"] = f"sample * {duration} + elapsed" if duration > 1 else "sample"
        holders = {p: dict(h) for p, h in self.heard.items()}
        if "clock" in holders:
            for name in _TIMES:
                if self.parts["clock"].has(name):
                    holders["clock"][name] = Meaning("own", "clock", name)
        for part, heard in holders.items():
            target = _named(self.parts[part])
            for name, found in heard.items():
                if found.part == "clock" and found.variable in variables:
                    yield f"{target}.{name} = {values[found.variable]}"
                elif found.place == "gate" and "elapsed" in variables:
                    gate = next(g for g in self.gates.values() if self._named_gate(g) == name)
                    ticks, length = getattr(gate, chain), self._length(chain)
                    value = str(int(len(ticks) == length))
                    if 0 < len(ticks) < length:
                        value = f"elapsed in {tuple(sorted(ticks))}"
                        if len(ticks) == 1:
                            value = f"elapsed == {min(ticks)}"
                    yield f"{target}.{name} = {value}"

    def _length(self, chain: str) -> int:
        return self.timing.duration if chain == "sample" else self.timing.replay_duration

    def _long(self, chain: str) -> bool:
        return chain == "replay" or self.timing.duration > 1

    def _inputs(self, fibre: bool, often: bool) -> Iterator[str]:
        """Yield what presents a sample, or one ``fibre`` of the first port."""
        for place, port in enumerate(self.blueprint.ports):
            if often == (port.name in self.blueprint.moving_ports):
                target = f"{_named(self.parts[port.population])}.{port.variable}_"
                yield f"{target} = 0" if fibre else f"{target} = {_data_of(port.name)}[row]"
                if fibre and place == 0:
                    yield f"{target}[fibre] = 1"

    # -- all of it ---------------------------------------------------------------------------------

    def text(self, name: str) -> str:
        """Return the script, whose file is called ``name``."""
        job, presentation, timing = self.job, self.job.presentation, self.timing
        order = presentation.order
        codes = [one.code for one in self.schedule]
        called = {function for code in codes for function in names_in(code).called}
        draws = called & set(random_draws.DRAWS)
        schedule = list(self._scheduled())
        groups = [self._group(p) for p in self.shown if isinstance(p, Population)]
        synapses = [self._group(p) for p in self.shown if isinstance(p, Pathway)]
        dimensions = {v.unit for q in self.blueprint.arrays for v in [q.variable]} - {"1"}
        units = {dimension_of(unit) for unit in dimensions} - {"second"}
        given = None if isinstance(order, str) else order
        microcircuit = isinstance(job.circuit, RegressionCircuit)
        broadcasts = [self._broadcast(one) for one in self.schedule if list(self._copies(one))]
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        return environment.get_template("brian2_script.txt").render(
            name=name,
            title="A cortical microcircuit" if microcircuit else "A circuit",
            text=_CITATION if microcircuit else _PLAIN,
            departures=job.circuit.departures_in_words(),
            draws=draws,
            draw_code=_draw_code(draws),
            where=any("where(" in line for line in schedule),
            units=sorted(units),
            ports=[
                {
                    "data": _data_of(port.name),
                    "file": port.name.upper() if port.name in ("x", "y") else port.name,
                    "size": self.blueprint.sizes[port.name],
                    "centred": job.feeds[port.name].centred,
                    "gain": job.feeds[port.name].gain,
                }
                for port in self.blueprint.ports
            ],
            parameters=[
                _commented(f'"{key}": {_number(value)}{_times(dimension)},', meaning)
                for key, (value, dimension, meaning) in self.constants.items()
            ],
            shuffles=self.replay or (isinstance(order, str) and order == "shuffle"),
            order=order if given is None else _listed(given),
            order_length=0 if given is None else len(given),
            seed=presentation.seed,
            samples=presentation.n_samples,
            replayed_size=presentation.m,
            replay=self.replay,
            start=job.start,
            stop=job.stop,
            duration=timing.duration,
            replay_duration=timing.replay_duration,
            period=job.ticks_per_sample,
            groups=groups,
            synapses=synapses,
            schedule=schedule,
            onset_lines=[*self._set_times("sample", ("sample",)), *self._inputs(False, False)],
            tick_lines=[
                *self._inputs(False, True),
                *self._set_times("sample", ("moment", "elapsed")),
            ],
            replay_onset_lines=list(self._inputs(True, False)),
            replay_tick_lines=[*self._inputs(True, True), *self._set_times("replay", ("elapsed",))],
            weights=[line for p in self.parts.weighted for line in self._weights(p)],
            saved=[self._saved(p) for p in self.parts.weighted],
            objects=textwrap.fill(
                ", ".join(
                    [*(str(g["name"]) for g in (*groups, *synapses)), *broadcasts, "present"]
                ),
                94,
                initial_indent="    ",
                subsequent_indent="    ",
            ),
        )

    def _weights(self, pathway: Pathway) -> Iterator[str]:
        matrix = self.blueprint.orientations[pathway.name].matrix(
            self.job.state[f"{pathway.name}.w"]
        )
        turned = ".T" if pathway.target_by_source else ""
        name = f"{pathway.weight}0"
        yield f"{name} = np.array({_listed(matrix)}).reshape{matrix.shape}"
        yield f"{_named(pathway)}.w = {name}{turned}.ravel()"

    def _saved(self, pathway: Pathway) -> str:
        turn = self.blueprint.orientations[pathway.name]
        turned = ".T" if pathway.target_by_source else ""
        shape = f"({turn.sources}, {turn.targets})"
        return f"{pathway.weight}=np.reshape({_named(pathway)}.w, {shape}){turned},"


def _check(job: Job) -> None:
    """Refuse runs that a script cannot repeat."""
    if job.events:
        raise InputError(
            "run: has events, which a script does not repeat; give a run without events"
        )
    if any(feed.ticks != feed.held for feed in job.feeds.values()):
        raise InputError(
            "run: has signals in time, which a script does not read; give a run with tables"
        )


def _in_order(
    blocks: Iterable[tuple[str, str, tuple[Operation, ...]]], every: list[Operation]
) -> list[Operation]:
    """Return operations in one order that suits samples and replays alike."""
    before: dict[Operation, set[Operation]] = {one: set() for one in every}
    place: dict[Operation, tuple[int, int]] = {}
    chains: dict[str, list[Operation]] = {"sample": [], "replay": []}
    for chain, name, block in blocks:
        chains[chain] += block
        for one in block:
            place.setdefault(one, (BLOCKS.index(name), ORDER[one.phase]))
    for listed in chains.values():
        for later, one in enumerate(listed):
            before[one] |= {other for other in listed[:later] if other.depends_on(one)}
    left = sorted(every, key=lambda one: place[one])
    done: list[Operation] = []
    while left:
        ready = next((one for one in left if before[one] <= set(done)), None)
        if ready is None:
            raise InputError(
                "to_brian2: a sample and a replay of this circuit do things in different orders,"
                f" among them {left[0].name}, and a script has one; set ridge=(0, ridge), so that"
                " nothing is replayed"
            )
        left.remove(ready)
        done.append(ready)
    return done


def _statements(code: str, gate: str, own: set[str]) -> Iterator[str]:
    """Yield statements, of which those that change what the part has do so only while ``gate`` is
    1.
    """
    same: set[str] = set()  # names that may be one array with another
    for node in ast.parse(code).body:
        assigned = node.target if isinstance(node, ast.AugAssign) else node.targets[0]  # type: ignore[attr-defined]
        name, value = assigned.id, ast.unparse(node.value)  # type: ignore[attr-defined,union-attr]
        # Brian2 adds in place: after `a = b`, `a += 1` would change b too.
        if isinstance(node, ast.AugAssign) and name not in same and not (gate and name in own):
            yield ast.unparse(node)
            continue
        if isinstance(node, ast.AugAssign):
            if isinstance(node.op, ast.Add) and gate and name == "w":
                yield f"w += {gate} * ({value})"
                continue
            value = ast.unparse(ast.BinOp(ast.Name(name), node.op, node.value))
        if gate and name in own:
            value = f"where({gate} > 0, {value}, {name})"
        # Brian2 rearranges assignments of an expression that reads the name itself.
        if name in names_in(value).read:
            yield f"_new_{name} = {value}"
            value = f"_new_{name}"
        if value.isidentifier():
            same |= {name, value}
        yield f"{name} = {value}"


def _draw_code(draws: set[str]) -> str:
    """Return the source of random ``draws``."""
    if not draws:
        return ""
    chosen = [draw for draw in random_draws.DRAWS if draw in draws or draw != "poisson_draw"]
    names = ["_STEP", "_FACTORS", "_SHIFTS"] + ["LARGEST_MEAN"] * ("poisson_draw" in draws)
    pieces = ["\n".join(f"{name} = {getattr(random_draws, name)!r}" for name in names)]
    pieces += [inspect.getsource(random_draws._poisson)] * ("poisson_draw" in draws)
    pieces += [inspect.getsource(getattr(random_draws, name)) for name in chosen]
    listed = ", ".join(chosen)
    pieces.append(
        f"for draw in ({listed},):\n"
        "    count = draw.__code__.co_argcount\n"
        "    drawn = Function(draw, arg_units=[1] * count, return_unit=1, stateless=True)\n"
        '    drawn.implementations.add_implementation("numpy", draw)\n'
        "    parameters[draw.__name__] = drawn"
    )
    return "\n\n".join(piece.replace(" -> np.ndarray", "").strip() + "\n" for piece in pieces)


def _named(part: Population | Pathway) -> str:
    """Return the Python name of a part's group."""
    return f"{part.name}_group" if part.name in _TAKEN else part.name


def _data_of(port: str) -> str:
    return port.upper() if port in ("x", "y") else f"{port}_data"


def _commented(line: str, meaning: str) -> str:
    return f"{line}  # {meaning}" if meaning else line


def _times(dimension: str) -> str:
    return "" if dimension == "1" else f" * {dimension}"


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else f"float('{float(value)}')"


def _written(values: np.ndarray) -> str:
    """Return flat values, as one number where they are equal."""
    if np.all(values == values[0]):
        return _number(values[0])
    return f"np.array({_listed(values)})"


def _listed(values: np.ndarray) -> str:
    """Return all of ``values`` as a list, exact to the last digit, in lines."""
    text = ", ".join(map(repr, np.ravel(values).tolist()))
    if len(text) < 60:
        return f"[{text}]"
    lines = textwrap.fill(text, 94, initial_indent="    ", subsequent_indent="    ")
    return f"[\n{lines},\n]"
