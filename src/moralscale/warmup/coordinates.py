"""The sampler's coordinates: what the map from them to a model's parameters is, and its arrays.

Coordinates u are meant to be standard normal, a posteriori. Spreads come first,
log_sd = centre + scale * u - softplus(-(u + bend))^2 / 2: where data do not keep a spread from 0,
its logarithm has an exponential tail to the left, which this makes a normal one. Then all else in
the order in which it can be told:

1. Weak effects, those of a judge that are thousands and that the data hardly tell one by one, are
   free: v = u.
2. Leading effects, those that judges share with a spread: v = centre + P (u - sd H w), where P P'
   is their posterior covariance at typical spreads and H w what they give way to the weak effects.
   They are turned to the axes of what the data say of all those of their spread, along which each
   is told by itself; their prior looks alike in all directions.
3. The rest follows what an effect is in log-odds, its spread times itself, by fixed patterns:
   v = centre + (root) (leading effects, u - sd H w).

Standardised effects are m(sd) + s(sd) v with s = (1 + i sd^2)^(-1/2) and
m = score * sd / (1 + i sd^2): mean and sd of an effect whose prior is standard normal and about
which the data know i. No information leaves it standardised; much of it centres it.

The density in u is that of the model, times the volume of the maps of spreads and effects: all else
is linear in u at given spreads and of constant volume.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Coordinates(NamedTuple):
    """A map between the sampler's coordinates and a model's parameters.

    Attributes
    ----------
    centre : (size,)
        v of u = 0.
    spread, spread_scale, spread_bend : (spread,)
        Places of the logarithms of spreads, how far one unit of u moves them, and how many units
        below the centre their tail begins.
    weak : (weak,)
        Places of the weak effects.
    weak_spread : int
        Place of their spread; -1 where there are none.
    lead : (lead,)
        Places of the leading effects.
    lead_root : (lead, lead)
        P, a root of their covariance.
    lead_mean, lead_sd : (lead,)
        In log-odds, at the spreads that were learnt at.
    turn : (lead, lead)
        The rotation that takes leading effects along their axes to the model's.
    shared : (shared,)
        Places of all else that judges share.
    root : (shared, lead and shared)
        How it follows the leading effects, in units of their sd, and a root of its covariance.
    local, local_scale : (local,)
        Places of what judges have of their own, and scales given what they share.
    follow_start, follow_at, follow : compressed rows (local by lead and shared)
        How they follow what is shared.
    yield_start, yield_at, yielded : compressed rows (weak by size)
        Curvature between weak effects and all others, by places, over the weak effects' spread.
    width : (size,)
        Scales of effects at the spreads that were learnt at, 1 for all others.
    effect, effect_spread : (effect,)
        Places of standardised effects, the weak ones first and then the leading ones, and of their
        spreads.
    score, information : (effect,)
        What the data say of an effect: slope at 0, and curvature.
    """

    centre: Array
    spread: Index
    spread_scale: Array
    spread_bend: Array
    weak: Index
    weak_spread: int
    lead: Index
    lead_root: Array
    lead_mean: Array
    lead_sd: Array
    turn: Array
    shared: Index
    root: Array
    local: Index
    local_scale: Array
    follow_start: Index
    follow_at: Index
    follow: Array
    yield_start: Index
    yield_at: Index
    yielded: Array
    width: Array
    effect: Index
    effect_spread: Index
    score: Array
    information: Array
