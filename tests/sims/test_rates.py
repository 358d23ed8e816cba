"""Rates as a user asks for them: auto, the paper's, or the paper's with another eta0 or N."""

from dataclasses import replace

import pytest

from biorrr.models import Rate, Rates
from biorrr.sims.experiments.compare import CompareSettings, default_direction
from biorrr.sims.experiments.learn import LearnSettings
from biorrr.sims.lab.settings import SettingsError


def test_the_printed_rates_with_another_eta0_or_n():
    assert LearnSettings().given_rates("digits", 0, 2) is None
    assert LearnSettings(rates="paper").given_rates("mediamill", 0, 1) == Rates.paper("mediamill", 0, 1)
    changed = LearnSettings(rates="paper", eta0=0.15, N=50.0).given_rates("mediamill", 0, 1)
    assert changed.x == Rate(0.15, 50)
    assert changed.y.eta0 == pytest.approx(0.002 * 0.15)  # in proportion
    assert changed.q.N == 50


def test_where_the_paper_prints_none_eta0_makes_rates_of_its_form():
    rates = LearnSettings(rates="paper", eta0=0.1).given_rates("digits", 1, 2)
    assert rates == Rates(Rate(0.1), Rate(0.1).scaled(0.02), Rate(0.1).scaled(0.02))
    with pytest.raises(SettingsError, match=r"prints none here .*; give eta0 as well, or take rates auto"):
        LearnSettings(rates="paper").given_rates("digits", 0, 2)


def test_rates_that_fit_themselves_take_no_eta0():
    with pytest.raises(SettingsError, match="eta0: only with rates paper"):
        LearnSettings(eta0=0.1).given_rates("digits", 0, 2)


def test_mediamill_is_raced_in_the_papers_direction_and_other_data_as_given():
    for settings, swapped in ((CompareSettings(), True), (CompareSettings(data="digits"), False)):
        directed = replace(settings, direction=default_direction(settings.data))
        assert [heat.swapped for heat in directed.heats] == [swapped]
    everything = CompareSettings(all=True, direction="both").heats
    assert {(heat.objective, heat.setting, heat.swapped) for heat in everything} == {
        (objective, setting, swapped)
        for objective, setting in (("rrmse", "online"), ("rrmse", "offline"), ("cca", "online"))
        for swapped in (False, True)
    }
