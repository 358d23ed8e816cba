"""The meaning of a name: own before pre and post, and those before what is broadcast."""

from biorrr.models import Parts, Pathway, Population, Variable
from biorrr.models.meanings import Meaning, Meanings

PARTS = Parts(
    (
        Population(
            1, "modulator", (Variable("eta", per="circuit"), Variable("gain", per="circuit"))
        ),
        Population(2, "low", (Variable("x"),)),
        Population(3, "high", (Variable("z"), Variable("gain"))),
    ),
    (
        Pathway(
            "up",
            "low",
            "high",
            drives="z",
            change="eta * x_pre * z_post",
            variables=(Variable("trace", per="synapse"),),
        ),
    ),
)


def test_names_in_the_code_of_synapses_and_of_cells():
    names = Meanings(PARTS)
    up, high = PARTS["up"], PARTS["high"]
    assert names.find(up, "trace") == Meaning("own", "up", "trace")
    assert [names.find(up, name).key for name in ("w", "plastic")] == ["up.w", "up.plastic"]
    assert names.find(up, "x_pre") == Meaning("pre", "low", "x")
    assert names.find(up, "gain_post") == Meaning("post", "high", "gain")
    assert names.find(up, "gain") == Meaning("broadcast", "modulator", "gain")
    assert names.find(high, "gain") == Meaning("own", "high", "gain")
    for unknown in ("x", "z_pre", "pending", "eta_post"):
        assert names.find(up, unknown) is None
    assert names.find(high, "x_pre") is None


def test_an_area_has_names_of_its_own():
    """What is broadcast to area 2 comes before what is broadcast to all; cells above call z x."""
    modulator = Population(
        1, "modulator", [Variable(name, per="circuit") for name in ("eta", "eta_2", "rho")]
    )
    low = Population(2, "low", [Variable("z")], area=1, aliases=[("x", "z")])
    rule = "eta * rho * x_pre * v_post"
    up = Pathway("up", "low", "high", drives="v", current="w * x_pre", change=rule, area=2)
    parts = Parts((modulator, low, Population(3, "high", [Variable("v")], area=2)), (up,))
    names = Meanings(parts)
    assert names.find(up, "eta") == Meaning("broadcast", "modulator", "eta_2")
    assert names.find(low, "eta") == Meaning("broadcast", "modulator", "eta")
    assert names.find(up, "rho") == Meaning("broadcast", "modulator", "rho")
    assert names.find(up, "x_pre") == names.find(up, "z_pre") == Meaning("pre", "low", "z")
