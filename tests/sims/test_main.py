"""The command line: exit codes, one sentence for each error, and no waiting for what is not
asked."""

import re
import subprocess
import sys
import types
import warnings
from importlib.metadata import version

import pytest

from biorrr.errors import InputError
from biorrr.sims import main
from biorrr.sims.cli.options import command
from biorrr.sims.lab.items import StoppedError
from biorrr.sims.lab.settings import Settings, option


class Toast(Settings):
    slices: int = option(2, "slices of bread", short="n", at_least=1)
    dark: bool = option(False, "until it is black")
    tops: tuple[str, ...] = option(("butter",), "what goes on it")
    heat: str = option("low", "of the toaster", choices=("low", "high"))


@pytest.fixture
def toast(monkeypatch):
    """A command ``biorrr learn`` that is quick: it returns what it was called with, or raises
    ``toast.error``.
    """
    kitchen = types.SimpleNamespace(called=None, error=None)

    def run(settings, folder):
        """Make toast."""
        kitchen.called = settings, folder
        if kitchen.error:
            raise kitchen.error

    kitchen.command = command(Toast, run, "toast")
    monkeypatch.setattr(main, "find_command", lambda name: kitchen.command)
    return kitchen


def biorrr(capsys, *args):
    code = main.run(list(args))
    out, err = capsys.readouterr()
    return code, out, err


def test_help_and_version(capsys):
    for args in (["--help"], ["-h"], []):
        code, out, err = biorrr(capsys, *args)
        assert code == 0
        assert "Let the circuit learn data" in out
        assert not err
    assert biorrr(capsys, "--version") == (0, f"biorrr {version('biorrr')}\n", "")


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from biorrr.sims.main import run; run(['--help']); run(['learn', '--help']);"
        " heavy = 'numpy', 'scipy', 'brian2', 'matplotlib', 'xarray', 'sklearn', 'pooch';"
        " loaded = {name for name, one in sys.modules.items() if 'Lazy' not in str(type(one))};"
        " print([*filter(loaded.__contains__, heavy)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_mistyped_command_suggests_the_nearest(capsys):
    code, _, err = biorrr(capsys, "lern")
    assert code == 2
    assert err.startswith("biorrr: No such command 'lern'. Did you mean 'learn'?")
    assert err.endswith(" See biorrr --help.\n")


def test_mistyped_option_suggests_the_nearest(capsys, toast):
    code, _, err = biorrr(capsys, "learn", "--slice", "3")
    assert code == 2
    assert "--slices" in err
    assert "See biorrr learn --help." in err
    assert toast.called is None


def test_options_follow_from_the_settings(capsys, toast, tmp_path):
    args = [
        "-n",
        "3",
        "--dark",
        "--tops",
        "jam",
        "--tops",
        "honey",
        "--heat",
        "high",
        "--out",
        str(tmp_path / "here"),
    ]
    assert biorrr(capsys, "learn", *args)[0] == 0
    settings, folder = toast.called
    assert settings == Toast(slices=3, dark=True, tops=("jam", "honey"), heat="high")
    assert folder.path == tmp_path / "here"
    biorrr(capsys, "learn")
    settings, folder = toast.called
    assert settings == Toast()
    assert folder.path.parts[0] == "runs"
    assert folder.path.name.startswith("toast-")


def test_help_tells_defaults_and_choices(capsys, toast):
    code, out, _ = biorrr(capsys, "learn", "--help")
    assert code == 0
    for text in (
        "Make toast.",
        "-n, --slices",
        "slices of bread",
        "2",
        "low|high",
        "--set KEY=VALUE",
        "--force",
    ):
        assert text in out


def test_help_shows_values_as_the_user_writes_them(capsys):
    """Such as ``--rates NUMBER`` and [default: 0.1, 1], and never ``<list[float]>``."""
    for name in main.commands():
        said = " ".join(biorrr(capsys, name, "--help")[1].split())
        assert (
            re.findall(r"--[\w-]+ <[^>]*>|\[default: \([^]]*|\[default: [^]]*\d\.0\b", said) == []
        )
    said = " ".join(biorrr(capsys, "interneurons", "--help")[1].split())
    assert "--rates NUMBER" in said
    assert "[default: 0.0001, 0.0003, 0.001, 0.003, 0.01]" in said
    assert "--samples INTEGER" in said


def test_precedence_on_the_command_line(capsys, toast, tmp_path):
    config = tmp_path / "c.toml"
    config.write_text("slices = 5\nheat = 'high'\ndark = true")
    biorrr(
        capsys,
        "learn",
        "--config",
        str(config),
        "--set",
        "slices=6",
        "--set",
        "dark=false",
        "--slices",
        "7",
    )
    assert toast.called[0] == Toast(slices=7, heat="high", dark=False)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--slices", "0"], "slices: must be at least 1 (got 0); slices of bread"),
        (["--heat", "hihg"], "heat: must be one of low, high (got 'hihg'); did you mean 'high'?"),
        (["--set", "slice=1"], "slice: no such setting, of --set; did you mean 'slices'?"),
        (["--config", "none.toml"], "config: cannot read none.toml (No such file or directory)"),
    ],
)
def test_bad_settings_exit_2(capsys, toast, args, sentence):
    assert biorrr(capsys, "learn", *args) == (2, "", f"biorrr: {sentence}\n")
    assert toast.called is None


def test_bad_number_exits_2(capsys, toast):
    code, _, err = biorrr(capsys, "learn", "--slices", "two")
    assert code == 2
    assert "'--slices'" in err
    assert len(err.splitlines()) == 1


REPORT = "this is a fault of biorrr: please report it, with what --debug and `biorrr doctor` print"


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (InputError("s: must lie in [0, 1] (got 2)"), 1, "s: must lie in [0, 1] (got 2)"),
        (
            ValueError("operands could not be broadcast"),
            1,
            f"unexpected ValueError: operands could not be broadcast; {REPORT}",
        ),
        (StoppedError("diverged at sample 7", 1), 1, "diverged at sample 7"),
        (StoppedError("interrupted; 10 samples saved", 130), 130, "interrupted; 10 samples saved"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (PermissionError(13, "Permission denied", "/here"), 1, "/here: Permission denied"),
        (ZeroDivisionError("no"), 1, f"unexpected ZeroDivisionError: no; {REPORT}"),
    ],
)
def test_errors_are_one_sentence_and_a_code(capsys, toast, error, code, sentence):
    toast.error = error
    assert biorrr(capsys, "learn") == (code, "", f"biorrr: {sentence}\n")


def test_debug_shows_the_traceback(capsys, toast):
    toast.error = ZeroDivisionError("no")
    code, _, err = biorrr(capsys, "learn", "--debug")
    assert code == 1
    assert err.startswith("Traceback")
    assert "ZeroDivisionError: no" in err


def test_warnings_are_one_sentence(capsys, toast):
    toast.command = lambda: warnings.warn("the bread is old", stacklevel=1)
    assert biorrr(capsys, "learn") == (0, "", "biorrr: warning: the bread is old\n")


def test_a_warning_is_said_once(capsys, toast):
    def warn_again_and_again():
        for text in ("crumbs", "crumbs", "smoke"):
            with warnings.catch_warnings():  # forgets what has been said
                warnings.simplefilter("always")
                warnings.warn(text, stacklevel=1)

    toast.command = warn_again_and_again
    assert biorrr(capsys, "learn") == (0, "", "biorrr: warning: crumbs\nbiorrr: warning: smoke\n")


def test_data_lists_every_set(capsys, empty_cache):
    code, out, err = biorrr(capsys, "data")
    assert (code, err) == (0, "")
    for name in (
        "digits",
        "synthetic",
        "v1v2",
        "mediamill",
        "mnist",
        "fashion-mnist",
        "cifar10",
        "cifar100",
    ):
        assert f"\n{name}\n" in f"\n{out}"
    for text in (
        "licence  MIT",
        "cite     Semedo",
        f"looked for in: {empty_cache}",
        "downloaded when first used",
    ):
        assert text in out
    (empty_cache / "v1v2").mkdir(parents=True)
    (empty_cache / "v1v2/sample_data.mat").touch()
    assert f"found    {empty_cache}/v1v2/sample_data.mat" in biorrr(capsys, "data")[1]


def test_completion_proposes_commands_and_choices(toast, monkeypatch, capsys):
    def completed(line):
        monkeypatch.setenv("_BIORRR_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        with pytest.raises(SystemExit):
            main.run([])
        return capsys.readouterr().out.split()

    assert completed("biorrr le") == ["learn"]
    assert completed("biorrr learn --heat ") == ["low", "high"]
