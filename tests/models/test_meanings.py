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
