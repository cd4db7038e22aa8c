"""The study's published figures that the figures mark (arXiv 2606.11232)."""

from __future__ import annotations

BETA = 0.862
CONVERGENCE = 0.939
#: Elo; of the other three foundations the study says that they are close to 0.
FOUNDATION_RESIDUAL = {"care": -9.22, "loyalty": 9.58}
#: Mean composite Elo by intensity sum, on the study's own Elo scale.
INTENSITY_MEAN = {1: 1098.4, 2: 1063.4}
