"""Settings: one declaration makes options, checks and configs, and every refusal says what to
do."""

from contextlib import suppress
from dataclasses import fields, replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biorrr.sims.data import Data
from biorrr.sims.experiments import experiment_names, find_experiment
from biorrr.sims.lab.run_folder import FolderError, read_config
from biorrr.sims.lab.settings import Settings, SettingsError, config_text, option, resolve


class Recipe(Settings):
    cake: str = option("plain", "what to bake")
    eggs: int = option(3, "eggs in the dough", at_least=1)
    heat: float = option(0.5, "0 is off, 1 is full heat", at_least=0, at_most=1)
    sugar: float | None = option(None, "by taste unless given", at_least=0)
    dry_run: bool = option(False, "leave the oven cold")
    layers: tuple[int, ...] = option((1, 2), "heights of the layers", at_least=1)
    oven: str = option("gas", "kind of oven", choices=("gas", "electric"))


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_then_config_then_set_then_options(tmp_path):
    config = write(
        tmp_path / "c.toml", "eggs = 4\nheat = 1\nsugar = 0.25\ndry-run = true\nlayers = [3]"
    )
    assert resolve(Recipe) == Recipe()
    made = resolve(Recipe, config, ["heat=0.25", "dry_run=false"], {"heat": 0.75})
    assert made == Recipe(eggs=4, heat=0.75, sugar=0.25, dry_run=False, layers=(3,))
    assert resolve(Recipe, config, ["heat=0.25"]).heat == 0.25
    assert type(resolve(Recipe, config).heat) is float


def test_a_class_keyword_gives_an_inherited_setting_another_default():
    class Hotter(Recipe, heat=0.75, layers=(1, 2)):
        """A recipe that others share, with defaults of its own."""

    assert (Hotter().heat, Hotter().layers, Hotter().eggs) == (0.75, (1, 2), Recipe().eggs)
    assert Recipe().heat != 0.75
    with pytest.raises(SettingsError, match=r"heat: must lie in \[0, 1\] \(got 2.0\)"):
        Hotter(heat=2)


@pytest.mark.parametrize("written", ["layers=4,5", "layers=[4, 5]"])
def test_lists_of_set(written):
    assert resolve(Recipe, None, [written]).layers == (4, 5)


def test_text_of_set_may_hold_an_equals_sign():
    assert resolve(Recipe, None, ['cake={name="synthetic", m=3}']).cake == '{name="synthetic", m=3}'


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("egs=3", "egs: no such setting, of --set; did you mean 'eggs'?"),
        (
            "zzz=3",
            (
                "zzz: no such setting, of --set; the settings are cake, eggs, heat, sugar, dry-run,"
                " layers, oven"
            ),
        ),
        ("eggs", "set: must be key=value (got 'eggs')"),
        ("eggs=two", "eggs: must be a whole number (got 'two'); eggs in the dough"),
        ("eggs=2.0", "eggs: must be a whole number (got 2.0); eggs in the dough"),
        ("eggs=0", "eggs: must be at least 1 (got 0); eggs in the dough"),
        ("heat=1.5", "heat: must lie in [0, 1] (got 1.5); 0 is off, 1 is full heat"),
        ("heat=nan", "heat: must be a finite number (got nan); 0 is off, 1 is full heat"),
        ("heat=-inf", "heat: must be a finite number (got -inf); 0 is off, 1 is full heat"),
        ("sugar=-1", "sugar: must be at least 0 (got -1.0); by taste unless given"),
        ("dry-run=maybe", "dry-run: must be true or false (got 'maybe'); leave the oven cold"),
        ("layers=1,x", "layers: must be a whole number (got 'x'); heights of the layers"),
        (
            "oven=electrik",
            "oven: must be one of gas, electric (got 'electrik'); did you mean 'electric'?",
        ),
        ("oven=wood", "oven: must be one of gas, electric (got 'wood')"),
    ],
)
def test_what_set_refuses(assignment, message):
    with pytest.raises(SettingsError) as error:
        resolve(Recipe, None, [assignment])
    assert str(error.value) == message
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("egg = 3", "egg: no such setting, in {path}; did you mean 'eggs'?"),
        ("eggs = '3'", "eggs: must be a whole number (got '3'); eggs in the dough"),
        ("eggs = true", "eggs: must be a whole number (got True); eggs in the dough"),
        ("eggs = 3.0", "eggs: must be a whole number (got 3.0); eggs in the dough"),
        ("eggs = 0x" + "f" * 9000, "eggs: must fit 64 bits (got more); eggs in the dough"),
        ("heat = 'hot'", "heat: must be a finite number (got 'hot'); 0 is off, 1 is full heat"),
        ("cake = 3", "cake: must be text (got 3); what to bake"),
        ("cake = {a = 1}", "cake: must be text (got {{'a': 1}}); what to bake"),
        ("dry-run = 1", "dry-run: must be true or false (got 1); leave the oven cold"),
        ("layers = 3", "layers: must be a list of values (got 3); heights of the layers"),
        ("layers = []", "layers: must be a list of values (got []); heights of the layers"),
        ("layers = [[1]]", "layers: must be a whole number (got [1]); heights of the layers"),
        ("[cakes]\na = 1", "cakes: no such setting, in {path}; did you mean 'cake'?"),
    ],
)
def test_what_a_config_refuses(tmp_path, text, message):
    path = write(tmp_path / "c.toml", text)
    with pytest.raises(SettingsError) as error:
        resolve(Recipe, path)
    assert str(error.value) == message.format(path=path)


def test_configs_that_cannot_be_read(tmp_path):
    with pytest.raises(
        FolderError, match=r"config: cannot read .*none.toml \(No such file or directory\)"
    ):
        resolve(Recipe, tmp_path / "none.toml")
    with pytest.raises(FolderError, match=r"config: .*c.toml is not valid TOML \("):
        resolve(Recipe, write(tmp_path / "c.toml", "eggs 3"))
    (tmp_path / "c.toml").write_bytes(b"\xff")
    with pytest.raises(FolderError, match=r"config: .*c.toml is not valid TOML \("):
        resolve(Recipe, tmp_path / "c.toml")
    with pytest.raises(FolderError, match=r"config: .*c.toml is not valid TOML \("):
        resolve(Recipe, write(tmp_path / "c.toml", "eggs = " + "[" * 100_000))


def test_settings_are_checked_however_they_are_made():
    with pytest.raises(SettingsError, match="eggs: must be at least 1"):
        replace(Recipe(), eggs=0)


finite = st.floats(allow_nan=False, allow_infinity=False)
recipes = st.builds(
    Recipe,
    cake=st.text(st.characters(codec="utf-8")),
    eggs=st.integers(1, 2**62),
    heat=st.floats(0, 1),
    sugar=st.none() | finite.map(abs),
    dry_run=st.booleans(),
    layers=st.lists(st.integers(1, 99), min_size=1).map(tuple),
    oven=st.sampled_from(("gas", "electric")),
)


@given(recipe=recipes)
def test_saved_config_reads_back_to_the_same_settings(tmp_path_factory, recipe):
    path = tmp_path_factory.getbasetemp() / "round-trip.toml"
    path.write_bytes(config_text(recipe, {"experiment": "bake"}).encode())
    assert resolve(Recipe, path) == recipe
    assert read_config(path)["provenance"] == {"experiment": "bake"}


@given(
    text=st.text(max_size=60)
    | st.from_regex(r"(eggs|heat|oven|layers|cake) = .{0,20}", fullmatch=True)
)
def test_any_config_text_is_read_or_refused_in_words(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with suppress(SettingsError, FolderError):
        assert isinstance(resolve(Recipe, path), Recipe)


# -- the bounds of every option --------------------------------------------------------------------

BOUNDS = {
    (0, inf): "checkpoint draws gain lags minimum_rate noise rank ridge seed shuffles signal",
    (1, inf): "areas epochs k latents m n ranks samples seeds steps",
    (
        2,
        inf,
    ): ("bins folds rows source_units target_units trials"),  # one has no variance, no rest
    (0, 1): "s",
    (1e-6, inf): "gains",
    (1e-5, 0.5): "etas",
    (0.0001, inf): "bin",  # seconds
    (0.1, inf): "trace",
    (0.05, 3): "tau_plateau tau_x",  # seconds
    (0, 50): "delays",
}
OWN_BOUNDS = {
    ("hierarchy", "samples"): (1000, inf),
    ("interneurons", "k"): (2, inf),  # with one output there is no cell to spare
    ("interneurons", "samples"): (100, inf),
    ("theories", "draws"): (2, inf),
    ("timing", "samples"): (1000, inf),
}


def test_bounds_of_options():
    """Options of the same name have the same bounds, with few exceptions; the bounds of a new name
    belong here.
    """
    named = {name: bounds for bounds, names in BOUNDS.items() for name in names.split()}
    settings = {name: find_experiment(name).settings for name in experiment_names()}
    settings |= {kind.__name__: kind for kind in Data.kinds()}
    found = {
        (owner, field.name): field.metadata["bounds"]
        for owner, cls in settings.items()
        for field in fields(cls)
        if field.metadata.get("bounds", (-inf, inf)) != (-inf, inf)
    }
    assert {name for _, name in found} >= {*named}
    assert found == {
        key: OWN_BOUNDS.get(key, named.get(key[1], bounds)) for key, bounds in found.items()
    }
