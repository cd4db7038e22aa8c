"""Online Elo over many orders of the same judgments."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from moralscale.elo import online_elo
from moralscale.errors import JudgmentError
from moralscale.rating.comparisons import Comparisons

#: What a first place scores under each of `bradley_terry.VERDICTS`.
SCORES = np.array([1.0, 0.0, 0.5])
#: Judgments that can be rated one by one within reason.
MOST = 50_000_000


def over_orders(
    comparisons: Comparisons, *, k: float, start: float, orders: int, seed: int
) -> NDArray[np.float64]:
    """Rate the judgments in random orders, each judgment as often as it was made.

    Judgments are brought into one order first, so that the order of the file does not matter.

    Returns
    -------
    ndarray, (order, contestant)
        Ratings in Elo.

    Raises
    ------
    JudgmentError
        There are too many judgments to play one by one.
    """
    rows = np.lexsort((comparisons.outcome, comparisons.second_idx, comparisons.first_idx))
    if comparisons.n is not None:
        if comparisons.n.sum() > MOST:
            raise JudgmentError(
                f"n comes to over {MOST:,} judgments, and Elo plays them one by one",
                where=comparisons.source,
                mend="use --method mle",
            )
        rows = np.repeat(rows, comparisons.n[rows])
    first, second = comparisons.first_idx[rows], comparisons.second_idx[rows]
    score, size = SCORES[comparisons.outcome[rows]], len(comparisons.contestants)
    rng = np.random.default_rng(seed)
    shuffled = (rng.permutation(len(rows)) for _ in range(orders))
    played = [
        online_elo(first, second, score, size, order=order, k=k, start=start) for order in shuffled
    ]
    return np.stack(played)
