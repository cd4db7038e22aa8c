"""Whether counts have one finite maximum likelihood estimate, and who is in the way if not.

The log-likelihood is concave, so there is one finite estimate unless it never falls in some
direction. For strengths alone Ford's condition says when: from every contestant a chain of wins
leads to every other (a tie is half a win of both). Position bias and ties add directions of their
own, which a linear programme finds (Konis, 2007).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import lsqr

from moralscale.bradley_terry.counts import FIRST, SECOND, TIE, Counts
from moralscale.errors import UnboundedError

#: Constraints up to which a linear programme is asked; beyond, Newton's method notices.
PROGRAMMABLE = 60_000
MEND = "use --method bayes, or add comparisons"
#: Names that an error shows of a group, and groups that it shows.
SHOWN, GROUPS = 4, 4


def check_estimable(counts: Counts, *, position_bias: bool) -> None:
    """Check that there is one finite maximum likelihood estimate.

    Raises
    ------
    UnboundedError
        Groups of contestants never meet, one wins or loses every judgment, or position bias or
        ties cannot be told from strengths. The error names who.
    """
    if not counts.outcomes[[FIRST, SECOND]].any():
        raise UnboundedError("every judgment is a tie", mend=MEND)
    _check_wins(counts)
    if position_bias:
        _check_orders(counts)
    if (position_bias or counts.has_ties) and not _crossed(counts, position_bias):
        _check_programme(counts, position_bias)


def _check_wins(counts: Counts) -> None:
    """Check Ford's condition."""
    size = len(counts.contestants)
    first, second, tied = counts.first_idx, counts.second_idx, counts.outcomes[TIE] > 0
    forth = (counts.outcomes[FIRST] > 0) | tied
    back = (counts.outcomes[SECOND] > 0) | tied
    winner = np.concatenate([first[forth], second[back]])
    loser = np.concatenate([second[forth], first[back]])
    ones = np.ones(len(winner), dtype=np.int8)
    beats = sparse.coo_array((ones, (winner, loser)), shape=(size, size)).tocsr()
    n_groups, group = connected_components(beats, directed=True, connection="weak")
    if n_groups > 1:
        sizes = np.bincount(group)
        order = np.argsort(-sizes, kind="stable")
        members = [np.flatnonzero(group == g) for g in order[:GROUPS]]
        shown = " | ".join(_names(counts, m) for m in members)
        more = f" | and {n_groups - GROUPS} more groups" if n_groups > GROUPS else ""
        raise UnboundedError(
            f"contestants fall into {n_groups} groups that never meet: {shown}{more}",
            mend="rate each group by itself, add comparisons between them, or use --method bayes",
        )
    n_strong, strong = connected_components(beats, directed=True, connection="strong")
    if n_strong > 1:
        raise UnboundedError(_separated(counts, winner, loser, strong), mend=MEND)


def _separated(
    counts: Counts,
    winner: NDArray[np.int64],
    loser: NDArray[np.int64],
    strong: NDArray[np.int32],
) -> str:
    """Say who is above or below everybody else without contradiction."""
    everybody = np.arange(len(counts.contestants))
    unbeaten = np.setdiff1d(everybody, loser)
    winless = np.setdiff1d(everybody, winner)
    said = []
    if len(unbeaten):
        said.append(f"{_named(counts, unbeaten)} {_verb(unbeaten, 'win')} every judgment")
    if len(winless):
        said.append(f"{_named(counts, winless)} {_verb(winless, 'lose')} every judgment")
    if not said:
        below = np.unique(strong[loser[strong[winner] != strong[loser]]])
        top = np.flatnonzero(strong == np.setdiff1d(strong, below)[0])
        said.append(f"{_named(counts, top)} never lose to any of the others")
    return "; ".join(said)


def _check_orders(counts: Counts) -> None:
    """Check that position bias is not a sum of strengths under another name."""
    if _meet(_codes(counts), _codes(counts, reverse=True)):
        return
    n = len(counts.first_idx)
    incidence = _incidence(counts, np.arange(n))
    fitted = lsqr(incidence, np.ones(n), atol=1e-12, btol=1e-12)[0]
    if np.abs(incidence @ fitted - 1).max() < 1e-6:
        raise UnboundedError(
            "position bias cannot be told from strengths: no pair is shown in both orders",
            mend="leave it out by --no-position-bias",
        )


def _crossed(counts: Counts, position_bias: bool) -> bool:
    """Look for pairs that contradict every direction; most data have some."""
    won = [counts.outcomes[k] > 0 for k in (FIRST, SECOND)]
    tied = counts.outcomes[TIE] > 0
    code, reverse = _codes(counts), _codes(counts, reverse=True)
    if position_bias and not all(_meet(code[w | tied], reverse[w | tied]) for w in won):
        return False
    if not counts.has_ties or (won[0] & won[1]).any():
        return True
    if position_bias:
        return False
    forth = np.concatenate([code[won[0]], reverse[won[1]]])
    back = np.concatenate([reverse[won[0]], code[won[1]]])
    return _meet(forth, back)


def _check_programme(counts: Counts, position_bias: bool) -> None:
    """Look for a direction in which no judgment becomes less likely and some become more."""
    constraints = _constraints(counts, position_bias)
    if constraints.shape[0] > PROGRAMMABLE:
        return
    found = linprog(
        -constraints.sum(axis=0),
        A_ub=-constraints,
        b_ub=np.zeros(constraints.shape[0]),
        bounds=(-1, 1),
        method="highs",
    )
    if not found.success or -found.fun < 1e-6:
        return
    size = len(counts.contestants)
    if position_bias and abs(found.x[size]) > 1e-9:
        side = "first" if found.x[size] > 0 else "second"
        raise UnboundedError(
            f"position bias has no finite estimate: strengths and a bias toward the {side} position"
            " together explain every judgment",
            mend="leave it out by --no-position-bias, or use --method bayes",
        )
    strength = found.x[:size]
    extreme = np.flatnonzero(strength >= strength.max() - 1e-9)
    raise UnboundedError(
        f"{_named(counts, extreme)} can be put above the others without end: no judgment"
        " contradicts it but by a tie",
        mend=MEND,
    )


def _constraints(counts: Counts, position_bias: bool) -> sparse.csr_array:
    """One row an outcome that was seen and one that could have been: what the first must keep.

    Columns are strengths, position bias and, where there are ties, log nu.
    """
    blocks = []
    for seen in (FIRST, SECOND, TIE):
        rows = np.flatnonzero(counts.outcomes[seen] > 0)
        others = (FIRST, SECOND, TIE) if counts.has_ties else (FIRST, SECOND)
        for other in others:
            if other == seen or not len(rows):
                continue
            eta = (_ETA[seen] - _ETA[other]) * _incidence(counts, rows)
            bias = np.full((len(rows), int(position_bias)), _ETA[seen] - _ETA[other])
            tie = float(seen == TIE) - float(other == TIE)
            log_nu = np.full((len(rows), int(counts.has_ties)), tie)
            blocks.append(sparse.hstack([eta, sparse.csr_array(np.hstack([bias, log_nu]))]))
    return sparse.vstack(blocks).tocsr()


#: What an outcome's log-probability takes of eta, before the norm.
_ETA = {FIRST: 0.5, SECOND: -0.5, TIE: 0.0}


def _incidence(counts: Counts, rows: NDArray[np.int64]) -> sparse.csr_array:
    """Difference of strengths of each pair: (row, contestant)."""
    n = len(rows)
    values = np.repeat([1.0, -1.0], n)
    at = np.tile(np.arange(n), 2)
    who = np.concatenate([counts.first_idx[rows], counts.second_idx[rows]])
    return sparse.coo_array((values, (at, who)), shape=(n, len(counts.contestants))).tocsr()


def _codes(counts: Counts, *, reverse: bool = False) -> NDArray[np.int64]:
    pair = counts.first_idx, counts.second_idx
    one, other = pair[::-1] if reverse else pair
    return one * len(counts.contestants) + other


def _meet(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    return bool(np.isin(one, other).any())


def _names(counts: Counts, members: Sequence[int] | NDArray[Any]) -> str:
    return names([counts.contestants[i] for i in members])


def _named(counts: Counts, members: NDArray[Any]) -> str:
    noun = "contestant" if len(members) == 1 else "contestants"
    return f"{noun} {_names(counts, members)}"


def _verb(members: NDArray[Any], verb: str) -> str:
    return f"{verb}s" if len(members) == 1 else verb


def names(members: Iterable[str]) -> str:
    """Name a group in a line: the first few, and how many more."""
    members = list(members)
    shown = ", ".join(f"'{_short(name)}'" for name in members[:SHOWN])
    more = len(members) - SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:37]}..."
