"""The back-propagated error of a network in the terms of a circuit with other filters."""

import numpy as np

from biorrr.analysis.plateau import backpropagated_error


def test_error_is_that_of_the_same_network_in_other_coordinates():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((200, 7)), rng.standard_normal((200, 4))
    Vx, Vy, G = (
        rng.standard_normal((7, 3)),
        rng.standard_normal((4, 3)),
        rng.standard_normal((3, 3)),
    )
    turned_Vy = Vy @ np.linalg.inv(G).T
    own = (
        Y - X @ Vx @ Vy.T
    ) @ turned_Vy  # the prediction is the same, what carries the error back is not
    np.testing.assert_allclose(backpropagated_error(X, Y, Vx, Vy, Vx @ G), own, rtol=1e-9)
