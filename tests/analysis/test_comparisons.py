"""What the paper compares with: what each publication promises of its algorithm."""

import numpy as np
import pytest
from scipy import linalg

from biorrr.analysis import IQMD, MSGCCA, SAA, CappedMSG, CCALin, ExactSolution, TwoLayerANN
from biorrr.analysis.regression.exact_solution import covariances, symmetric_power
from biorrr.models.rates import Rate, Rates


@pytest.fixture
def data(rng):
    X = rng.standard_normal((800, 7)) * np.linspace(0.5, 2, 7)
    Y = X @ rng.standard_normal((7, 6)) / 2 + rng.standard_normal((800, 6))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def squared_error(Vx, Vy, C):
    """Mean squared error of Vy Vx'x, up to what does not depend on the weights; the ridge is in
    C."""
    return np.trace(Vy @ Vx.T @ C.xx @ Vx @ Vy.T) - 2 * np.trace(Vy.T @ C.xy.T @ Vx)


class TestTwoLayerANN:
    def test_steps_follow_the_gradient_of_the_ridge_regressions_error(self, data, rng):
        X, Y = data
        Vx0, Vy0 = rng.standard_normal((7, 2)) / 5, rng.standard_normal((6, 2)) / 5
        starts = {"Vx0": Vx0, "Vy0": Vy0}
        eta = 1e-3
        rates = Rates(Rate(eta), Rate(eta), Rate(0))
        C = covariances(X, Y, 0.3)
        ann = TwoLayerANN(2, ridge=0.3, online=False, rates=rates, steps=1, **starts).fit(X, Y)
        h = 1e-6
        for V0, V, error in (
            (Vx0, ann.Vx_, lambda V: squared_error(V, Vy0, C)),
            (Vy0, ann.Vy_, lambda V: squared_error(Vx0, V, C)),
        ):
            steps = np.eye(V0.size).reshape(-1, *V0.shape) * h
            gradient = np.array([error(V0 + e) - error(V0 - e) for e in steps]).reshape(
                V0.shape
            ) / (2 * h)
            np.testing.assert_allclose((V - V0) / eta, -gradient / 2, rtol=1e-5, atol=1e-7)

    def test_the_compiled_loop_is_backprop(self, data, rng):
        X, Y = data
        Vx, Vy = rng.standard_normal((7, 3)) / 5, rng.standard_normal((6, 3)) / 5
        rates = Rates(Rate(0.01, 100), Rate(0.02), Rate(0))
        ann = TwoLayerANN(3, ridge=0.2, rates=rates, Vx0=Vx, Vy0=Vy).partial_fit(X, Y)
        for t, (x, y) in enumerate(zip(X, Y, strict=True)):
            z = Vx.T @ x
            error = y - Vy @ z
            Vx, Vy = (
                Vx + rates.x(t) * (np.outer(x, Vy.T @ error) - 0.2 * Vx @ (Vy.T @ Vy)),
                Vy + rates.y(t) * (np.outer(error, z) - 0.2 * Vy @ (Vx.T @ Vx)),
            )
        np.testing.assert_allclose(ann.Vx_, Vx, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(ann.Vy_, Vy, rtol=1e-12, atol=1e-12)

    def test_its_ridge_is_not_weight_decay(self, data):
        X, Y = data
        ann = TwoLayerANN(2, ridge=3.0, online=False, random_state=0).fit(X, Y)
        C = covariances(X, Y, 3.0)
        A = linalg.solve(
            C.xx, C.xy
        )  # ridge regression; its best rank-2 part in the metric of Cxx is the prediction
        U, sigma, Wt = linalg.svd(symmetric_power(C.xx, 0.5) @ A)
        best = symmetric_power(C.xx, -0.5) @ (U[:, :2] * sigma[:2]) @ Wt[:2]
        np.testing.assert_allclose(ann.Vx_ @ ann.Vy_.T, best, atol=1e-6)


class TestIQMD:
    def test_no_iteration_raises_the_error_and_convergence_is_exponential(self, data):
        X, Y = data
        C, solution = covariances(X, Y, 0.1), ExactSolution(X, Y, 0, 0.1)
        ratios = solution.eigenvalues[1:] / solution.eigenvalues[:-1]
        k = int(ratios.argmax()) + 1  # where convergence is slowest
        iqmd = IQMD(
            k, ridge=0.1, online=False, steps=40, tol=0, snapshots=range(1, 41), random_state=0
        )
        path = iqmd.fit(X, Y).path_
        best = [squared_error(Vx, C.xy.T @ Vx @ linalg.inv(Vx.T @ C.xx @ Vx), C) for Vx in path.Vx]
        assert (np.diff(best) < 1e-12).all()
        # A power iteration on M: angles shrink by the ratio of eigenvalues, the excess by its
        # square.
        excess = solution.excess(path.Vx)
        ratio = ratios.max() ** 2
        steps = (excess > 1e-11) & (path.t > 5)
        assert steps.sum() >= 5
        measured = np.exp(np.polyfit(path.t[steps], np.log(excess[steps]), 1)[0])
        assert measured == pytest.approx(ratio, rel=0.05)

    @pytest.mark.parametrize("ridge", [0.0, 0.5])
    def test_running_covariances_are_those_of_all_samples_so_far(self, data, ridge):
        X, Y = data
        X, Y = X[:700], Y[:700]  # a hundred rounds of the ridge
        online = IQMD(2, ridge=ridge, random_state=0).partial_fit(X, Y)
        worth = np.square(X).mean() + ridge  # what it starts from
        inverse = linalg.inv(X.T @ X + (700 * ridge + worth) * np.eye(7))
        np.testing.assert_allclose(online._inverse, inverse, rtol=1e-8, atol=1e-12)
        # and so the prediction is that of the batch algorithm
        offline = IQMD(2, ridge=ridge, online=False, random_state=0).fit(X, Y)
        np.testing.assert_allclose(
            online.Vx_ @ online.Vy_.T, offline.Vx_ @ offline.Vy_.T, atol=0.02
        )


class TestCanonicalDirections:
    @pytest.mark.parametrize("cls", [CCALin, SAA])
    @pytest.mark.parametrize("ridge", [0.0, (0.5, 0.1)])
    def test_they_are_white_and_carry_the_canonical_correlations(self, data, cls, ridge):
        X, Y = data
        C = covariances(X, Y, ridge)
        cca = cls(3, ridge=ridge, random_state=0).fit(X, Y)
        np.testing.assert_allclose(cca.Vx_.T @ C.xx @ cca.Vx_, np.eye(3), atol=1e-10)
        np.testing.assert_allclose(cca.Wy_.T @ C.yy @ cca.Wy_, np.eye(3), atol=1e-10)
        correlations = linalg.svdvals(cca.Vx_.T @ C.xy @ cca.Wy_)
        np.testing.assert_allclose(
            correlations**2, ExactSolution(X, Y, 1, ridge).eigenvalues[:3], rtol=1e-4
        )

    def test_ccalin_finds_all_components_there_are(self, data):
        X, Y = data
        cca = CCALin(6, random_state=0).fit(X, Y)
        assert ExactSolution(X, Y, 1).excess(cca.Vx_) < 1e-6

    def test_saa_leaves_its_shift_just_above_the_first_correlation(self, data):
        X, Y = data
        rho = np.sqrt(ExactSolution(X, Y, 1).eigenvalues[0])
        for gap in (0.1, 0.02):
            assert (
                rho
                < SAA(2, gap=gap, tol=0, steps=100, random_state=0).fit(X, Y).shift_
                < rho + 3 * gap
            )


class TestMSG:
    @pytest.mark.parametrize(
        ("make", "rank"), [(MSGCCA, 6), (CappedMSG, 6), (lambda k: CappedMSG(k, cap=2), 2)]
    )
    def test_m_stays_where_singular_values_are_at_most_1_and_sum_to_at_most_k(
        self, data, make, rank
    ):
        X, Y = data
        msg = make(2)
        for start in range(100, 800, 100):
            msg.partial_fit(X[start - 100 : start], Y[start - 100 : start])
            sigma = msg._sigma
            assert len(sigma) <= rank
            assert (sigma > 0).all()
            assert (sigma <= 1).all()
            assert sigma.sum() <= 2 + 1e-9
            for W in (msg._U, msg._V):
                np.testing.assert_allclose(W.T @ W, np.eye(len(sigma)), atol=1e-9)

    def test_a_warm_up_of_100_samples_only_estimates_covariances(self, data):
        X, Y = data
        msg = CappedMSG(1, ridge=0.1).partial_fit(X[:100], Y[:100])
        assert not msg.Vx_.any()
        msg.partial_fit(X[100:101], Y[100:101])
        C = covariances(X[:100], Y[:100], 0.1)
        x = linalg.solve(C.xx, X[100])  # the first step, unwhitened: eta x y', of rank one
        assert abs(x @ msg.Vx_[:, 0]) == pytest.approx(np.linalg.norm(x) * np.linalg.norm(msg.Vx_))
        size = np.linalg.norm(symmetric_power(C.xx, -0.5) @ X[100]) * np.linalg.norm(
            symmetric_power(C.yy, -0.5) @ Y[100]
        )
        np.testing.assert_allclose(msg._sigma, min(0.1 * size, 1))

    def test_a_cap_below_k_is_refused(self, data):
        with pytest.raises(ValueError, match=r"cap: must be at least k = 2 \(got 1\)"):
            CappedMSG(2, cap=1).fit(*data)
