"""The rates printed in the supplement."""

import pytest

from biorrr.models.rates import Rate, Rates


@pytest.mark.parametrize(
    ("s", "k", "setting", "x", "ratio"),
    [
        (0, 1, "online", Rate(1.5, 500), 0.002),
        (0, 2, "online", Rate(3.5, 200), 0.002),
        (0, 4, "online", Rate(3, 7000), 0.002),
        (1, 1, "online", Rate(3, 100), 0.02),
        (1, 2, "online", Rate(2.5, 100), 0.02),
        (1, 4, "online", Rate(1.2, 1000), 0.02),
        (0, 1, "offline", Rate(25, 500), 0.002),
        (0, 2, "offline", Rate(24), 0.002),
        (0, 4, "offline", Rate(20), 0.002),
        (1, 1, "offline", Rate(10), 0.02),
        (1, 2, "offline", Rate(10), 0.02),
        (1, 4, "offline", Rate(8), 0.02),
    ],
)
def test_mediamill(s, k, setting, x, ratio):
    rates = Rates.paper("mediamill", s, k, setting)
    assert rates.x == x
    for rate in (rates.y, rates.q, rates.r):
        assert rate.N == x.N
        assert rate.eta0 == pytest.approx(ratio * x.eta0, rel=1e-12)


def test_image_table_and_backprop():
    cifar = Rates.paper("cifar100", s=0, k=8)
    assert (cifar.x, cifar.y, cifar.q) == (Rate(0.025, 4e4), Rate(0.001, 4e4), Rate(0.002, 4e4))
    backprop = Rates.paper("cifar100", s=0, k=8, algorithm="ann")
    assert backprop.x == backprop.y == Rate(0.0065, 1.1e4)
    assert backprop.q.eta0 == 0
    offline = Rates.paper("mediamill", s=0, k=1, setting="offline", algorithm="ann")
    assert offline.x == offline.y == Rate(1, 2e4)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"dataset": "mnst", "s": 0, "k": 1}, "dataset: must be one of mediamill, mnist"),
        ({"dataset": "mediamill", "s": 0.5, "k": 1}, r"s: must be one of 0, 1 .* \(got 0.5\)"),
        ({"dataset": "mnist", "s": 0, "k": 2}, r"k: must be one of 1 .* \(got 2\)"),
        (
            {"dataset": "mnist", "s": 0, "k": 1, "setting": "offline"},
            "setting: must be one of online",
        ),
        ({"dataset": "mediamill", "s": 1, "k": 1, "algorithm": "ann"}, "s: must be one of 0 "),
        (
            {"dataset": "mnist", "s": 0, "k": 1, "algorithm": "iqmd"},
            "algorithm: must be one of biorrr, ann",
        ),
    ],
)
def test_a_combination_the_paper_does_not_print_says_what_it_prints(asked, message):
    with pytest.raises(ValueError, match=message):
        Rates.paper(**asked)
