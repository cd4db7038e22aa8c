"""The grid of an audit: which truths are planted, and at which designs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product

from moralscale.config import Audit, Panel
from moralscale.errors import ModelError
from moralscale.records import FOUNDATIONS

#: Composites of a full design, whose battles stand to those of scenes as in the study.
_COMPOSITES = 160
_SCENES = 229
#: Convergence between judges. The study's 0.939 is beyond the reach of some panels of few judges
#: (0.937 was the most of one in some hundreds), and one of them would stop a whole cell.
_CONVERGENCE = 0.9
#: The study's slope: the beta around which other settings vary.
_MIDDLE = 0.862


@dataclass(frozen=True)
class Cell:
    """A truth, a design, and how often it is tried.

    Attributes
    ----------
    beta, consistency, noise : float
        Planted compression, consistency of choices between composites, and choice noise in all
        arenas (1 is the simulator's own; 2 halves all log-odds).
    battles : int
        Battles per item and judge, in either of the study's arenas.
    judges : int
    bridge : int
        Bridge battles a judge; 0 for the study's design.
    anchoring, loyalty : float
        Planted anchoring contrast at equal component sum, and foundation residual of loyalty (minus
        that of care), Elo.
    flips : float
        Share of intensity labels that the analysis has wrong, by one step.
    cheap, joint, nuts : int
        Replicates of the two-step estimators, of the joint one by Laplace, and by NUTS.
    """

    beta: float = _MIDDLE
    consistency: float = 1.0
    noise: float = 1.0
    battles: int = 15
    judges: int = 10
    bridge: int = 0
    anchoring: float = 0.0
    loyalty: float = 0.0
    flips: float = 0.0
    cheap: int = 50
    joint: int = 0
    nuts: int = 0

    @property
    def name(self) -> str:
        """A file name that all of it goes into."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def counts(self) -> dict[str, int]:
        """Comparisons by arena, over all judges."""
        return {
            "single": self.battles * self.judges * _SCENES // 2,
            "composite": self.battles * self.judges * _COMPOSITES // 2,
            "bridge": self.bridge * self.judges,
        }

    def panel(self, foundations: Sequence[str] = FOUNDATIONS) -> Panel:
        """Give the settings of the panel to simulate, before choice noise.

        Raises
        ------
        ModelError
            The corpus has no loyalty or no care.
        """
        if not {"care", "loyalty"} <= set(foundations):
            raise ModelError(
                "the audit plants a residual of loyalty against care, and this corpus has not both",
                where="scenes",
                mend="audit with scenarios/scenes.csv, or another corpus that has both",
            )
        shown = self.consistency * self.loyalty
        residuals = {f: {"loyalty": shown, "care": -shown}.get(f, 0.0) for f in foundations}
        return Panel(
            judges=self.judges,
            slope=self.beta * self.consistency,
            composite_consistency=self.consistency,
            convergence=_CONVERGENCE,
            residuals=residuals,
            anchoring=self.consistency * self.anchoring,
        )


def grid(audit: Audit) -> tuple[Cell, ...]:
    """List the cells of an audit, without and with bridge battles, each once.

    Beta and consistency vary at the study's size, crossed or each alone; around their middle every
    other setting varies alone; then anchoring and foundation effects, none and some, with and
    without wrong intensity labels. Cells in which beta and consistency are both off their middle
    have the two-step estimators only.
    """
    found = {cell.name: cell for cell in _cells(audit)}
    return tuple(found.values())


def _cells(audit: Audit) -> Iterator[Cell]:
    few = {"cheap": audit.replicates, "joint": audit.joint_replicates}
    many = {"cheap": audit.replicates, "joint": audit.share_replicates}
    sampled = {**many, "nuts": audit.nuts_replicates}
    judges, plain = audit.judges[0], audit.consistencies[0]
    for bridge in (0, audit.bridge):
        for count in audit.judges:
            yield Cell(judges=count, bridge=bridge, **sampled)
        middle = {"judges": judges, "bridge": bridge}
        for beta, consistency in product(audit.betas, audit.consistencies):
            off = (beta != _MIDDLE) + (consistency != plain)
            if off == 1:
                yield Cell(beta=beta, consistency=consistency, **middle, **few)
            elif off == 2 and audit.cross:
                yield Cell(beta=beta, consistency=consistency, **middle, **{**few, "joint": 0})
        for beta, battles in product((audit.betas[0], audit.betas[-1]), audit.battles):
            if audit.cross or not bridge:
                yield Cell(beta=beta, battles=battles, **middle, **few)
        for noise in audit.noises:
            yield Cell(noise=noise, **middle, **few)
    for anchoring, flips in product((0.0, audit.anchoring), (0.0, audit.flips)):
        if anchoring or flips:
            yield Cell(
                judges=judges,
                bridge=audit.bridge,
                anchoring=anchoring,
                loyalty=audit.residual if anchoring else 0.0,
                flips=flips,
                **many,
            )
