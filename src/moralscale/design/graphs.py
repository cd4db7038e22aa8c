"""Comparison graphs for `design`: who meets whom, balanced, without barred pairs, in one piece.

A judge's schedule is a directed multigraph over contestants, one edge a comparison, pointing from
the option shown first to the one shown second. `deal` fixes how often each contestant is shown
first and second. `spread` and `connect` then only ever exchange the seconds of comparisons,

    a -> b, c -> d   becomes   a -> d, c -> b,

which leaves all those numbers as dealt: balance holds by construction and is never searched for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.random import PCG64
from numpy.typing import NDArray

from moralscale.design.bits import Ints, below, permutation

Bools = NDArray[np.bool_]


def deal(sides: Sequence[Ints], sizes: Sequence[int], bits: PCG64) -> list[tuple[Ints, Ints]]:
    """How often each judge sees each contestant first and second.

    Contestants are dealt like cards: in one random order, round after round, each judge going on
    where the one before stopped, each contestant first and second by turns. Any stretch of such a
    sequence is balanced, so every judge's numbers are, and those of all judges together.

    Parameters
    ----------
    sides : sequence of array
        Disjoint contestant indices that together are ``range(n)``: one side whose members meet
        each other, or two sides that meet across.
    sizes : sequence of int
        Comparisons of each judge.
    bits : PCG64
        Random bits for the order.

    Returns
    -------
    list of (array, array)
        For each judge, times shown first and second, each of shape (n,).

    Notes
    -----
    At an even number of deals the turns of one side cancel: those who lead by one showing first are
    as many as those who trail. With two sides and an odd number, the lone leader of one side
    needs a trailer on the other, and `_even_out` turns a contestant round where it is not so.
    """
    n = sum(len(side) for side in sides)
    orders = [side[permutation(bits, len(side))] for side in sides]
    turn = np.zeros(n, dtype=np.int64)
    for order, opening in zip(orders, (1, -1), strict=False):
        turn[order] = np.where(np.arange(len(order)) % 2 == 0, opening, -opening)
    lead = np.zeros(n, dtype=np.int64)
    step, dealt, hands = 2 // len(sides), 0, []
    for size in sizes:
        times = np.zeros(n, dtype=np.int64)
        for order in orders:
            at = (dealt + np.arange(size * step)) % len(order)
            times += np.bincount(order[at], minlength=n)
        gap = np.where(lead != 0, -np.sign(lead), turn) * (times % 2)
        gap = _even_out(gap, lead)
        lead += gap
        dealt += size * step
        hands.append(((times + gap) // 2, (times - gap) // 2))
    return hands


def _even_out(gap: Ints, lead: Ints) -> Ints:
    """Turn contestants round until `gap` sums to zero, those without a lead before others."""
    surplus = int(gap.sum()) // 2
    fitting = np.flatnonzero(gap == np.sign(surplus))
    chosen = fitting[np.argsort(np.abs(lead[fitting]), kind="stable")][: abs(surplus)]
    gap = gap.copy()
    gap[chosen] *= -1
    return gap


def spread(first: Ints, second: Ints, allowed: Bools, bits: PCG64) -> Ints:
    """Reorder `second` so that no row is barred and pairs recur as evenly as may be.

    The sum over unordered pairs of squared multiplicities is brought down by exchanges that never
    raise it; a barred row costs more than all of them. The least sum means multiplicities that
    differ by at most 1: no pair twice while there are enough pairs.

    Parameters
    ----------
    first, second : array, shape (m,)
        Contestants of each comparison.
    allowed : array, shape (n, n)
        Symmetric: who may meet whom.
    bits : PCG64
        Random bits for the exchanges.

    Returns
    -------
    array, shape (m,)
        `second`, reordered. Barred rows are left only where no way round them was found.
    """
    meetings = _Meetings(first.tolist(), second.tolist(), allowed)
    n, m = len(allowed), len(first)
    bad = [row for row in range(m) if meetings.is_bad(row)]
    # Above one meeting a pair, a shortage shows in no single row, so rows are also taken at random.
    short = meetings.are_short()
    pick = below(bits, m)
    for trial in range(100 * m + 50 * n * n):
        if not bad and not short:
            break
        # Any bad row, not the latest: a pair that must recur would keep others from their turn.
        if bad:
            at = next(pick) % len(bad)
            bad[at], bad[-1] = bad[-1], bad[at]
        # Two rows at a time do not reach every graph: it takes three to turn a triangle round.
        rows = {bad.pop() if bad else next(pick): None, next(pick): None}
        if trial % 4 == 3:
            rows[next(pick)] = None
        gain = meetings.exchange(list(rows))
        bad += [row for row in reversed(rows) if meetings.is_bad(row)]
        if gain and not bad:
            short = meetings.are_short()
    return np.array(meetings.second, dtype=np.int64)


class _Meetings:
    """Rows of a schedule, with the multiplicity of every unordered pair in them."""

    def __init__(self, first: list[int], second: list[int], allowed: Bools) -> None:
        m, pairs = len(first), max(int(np.count_nonzero(allowed)) // 2, 1)
        self.first, self.second, self.allowed = first, second, allowed
        self.low, self.high, self.heavy = m // pairs, -(-m // pairs), 4 * m
        self.barred = (~allowed).tolist()
        self.met = Counter(map(self._key, first, second))

    def _key(self, a: int, b: int) -> int:
        return min(a, b) * len(self.barred) + max(a, b)

    def is_bad(self, row: int) -> bool:
        """Whether the row is barred, or its pair meets more often than evenness needs."""
        a, b = self.first[row], self.second[row]
        return self.barred[a][b] or self.met[self._key(a, b)] > self.high

    def are_short(self) -> bool:
        """Whether an allowed pair meets less often than evenness needs."""
        if self.low == 0:
            return False
        a, b = np.nonzero(np.triu(self.allowed, 1))
        return any(self.met[k] < self.low for k in (a * len(self.allowed) + b).tolist())

    def exchange(self, rows: list[int]) -> bool:
        """Pass seconds round the rows unless that raises the cost; tell whether it lowers it."""
        ones, old = [self.first[row] for row in rows], [self.second[row] for row in rows]
        new = old[1:] + old[:1]
        cost = self._change(zip(ones, old, strict=True), -1)
        cost += self._change(zip(ones, new, strict=True), 1)
        if cost > 0:
            self._change(zip(ones, new, strict=True), -1)
            self._change(zip(ones, old, strict=True), 1)
            return False
        for row, b in zip(rows, new, strict=True):
            self.second[row] = b
        return cost < 0

    def _change(self, pairs: Iterable[tuple[int, int]], by: int) -> int:
        """Count pairs up or down; return what that adds to the cost."""
        cost = 0
        for a, b in pairs:
            key = self._key(a, b)
            before = self.met[key]
            self.met[key] = before + by
            cost += by * self.heavy if self.barred[a][b] else (before + by) ** 2 - before**2
        return cost


def connect(
    first: Ints, second: Ints, allowed: Bools, group: Ints, bits: PCG64
) -> tuple[Ints, int]:
    """Join the pieces of a comparison graph by exchanges.

    A row that closes a cycle and a row of another piece exchange their seconds: the first piece
    holds without the row, and both ends of the other row now hang on it. Each exchange joins two
    pieces and makes two pairs that have not met before.

    Parameters
    ----------
    first, second : array, shape (m,)
        Contestants of each comparison.
    allowed : array, shape (n, n)
        Who may meet whom.
    group : array, shape (m,)
        Rows exchange seconds only within a group (a judge).
    bits : PCG64
        Random bits for the choice of rows.

    Returns
    -------
    second : array, shape (m,)
        Reordered within groups.
    pieces : int
        Pieces that are left; 1 where the graph is connected.
    """
    second = second.copy()
    while True:
        label, spare = _pieces(first, second, len(allowed))
        pieces = int(label.max()) + 1
        if pieces == 1:
            return second, 1
        rows = _joining_rows(first, second, allowed, group, label, spare, bits)
        if rows is None:
            return second, pieces
        second[list(rows)] = second[list(reversed(rows))]


def _joining_rows(
    first: Ints, second: Ints, allowed: Bools, group: Ints, label: Ints, spare: Ints, bits: PCG64
) -> tuple[int, int] | None:
    """Two rows whose exchange joins two pieces, or None."""
    for row in spare[permutation(bits, len(spare))].tolist():
        fits = (label[first] != label[first[row]]) & (group == group[row])
        fits &= allowed[first[row], second] & allowed[first, second[row]]
        others = np.flatnonzero(fits)
        if len(others):
            return row, int(others[next(below(bits, len(others)))])
    return None


def _pieces(first: Ints, second: Ints, n: int) -> tuple[Ints, Ints]:
    """Piece of each contestant, shape (n,), and the rows that close a cycle."""
    parent = list(range(n))

    def root(x: int) -> int:
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    spare = []
    for row, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        a, b = root(a), root(b)
        if a == b:
            spare.append(row)
        parent[a] = b
    label = np.unique([root(x) for x in range(n)], return_inverse=True)[1]
    return label, np.array(spare, dtype=np.int64)
