"""What has targets of its own: rules side by side, sensitivity, the audit of estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pandas as pd

from moralscale.figures import AUDIT, TABLED
from moralscale.figures.sensitivity import OVERLAY, TORNADO
from moralscale.figures.slopes import NAMES
from moralscale.printing import number
from moralscale.report.inputs import ReportInputs
from moralscale.report.tables import Table

#: Captions of the figures, in reading order.
CAPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "comparison": TABLED["comparison"].caption,
        "tornado": TORNADO,
        "overlay": OVERLAY,
        **{name: plot.caption for name, plot in AUDIT.items()},
    }
)
#: Methods of `compare.rank`, for readers.
METHODS = {"loo": "judgments left out (PSIS-LOO)", "kfold": "profiles held out"}
_ESTIMATORS = {**NAMES, "joint_laplace": "joint, Laplace", "joint_nuts": "joint, NUTS"}


@dataclass(frozen=True)
class Further:
    """A section that may be missing.

    Attributes
    ----------
    title, text : str
        Heading, and how to read it.
    target : str
        What ``snakemake`` is asked for to make it.
    figures : tuple of str
        Names of its figures.
    tables : mapping
        Tables in the open, by their caption.
    details : mapping
        Long tables, folded away, by their caption.
    """

    title: str
    text: str
    target: str
    figures: tuple[str, ...]
    tables: Mapping[str, Table]
    details: Mapping[str, Table]

    @property
    def made(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.tables or self.details)


def further_sections(inputs: ReportInputs) -> list[Further]:
    """Tabulate what was made of composition rules, sensitivity and audit."""
    return [_comparison(inputs.further), _sensitivity(inputs.further), _audit(inputs.further)]


def _comparison(found: Mapping[str, pd.DataFrame]) -> Further:
    tables = {}
    if "comparison" in found:
        table = found["comparison"].sort_values(["method", "rank"], ascending=[False, True])
        rows = [
            [
                METHODS.get(str(row["method"]), str(row["method"])),
                str(row["rule"]),
                f"{row['elpd']:.1f}",
                _plus_minus(row["elpd_diff"], row["dse"]),
                f"{row['weight']:.2f}",
                _plain(row["p"], 1),
                f"{int(row['units']):,}",
                _plain(row["bad_k"], 0),
                _plain(row["config_p"], 3),
            ]
            for _, row in table.iterrows()
        ]
        headers = ["method", "rule", "elpd", "below the best", "weight", "p", "units", "bad k"]
        tables[""] = Table([*headers, "p by configuration"], rows, 2)
    return Further(
        title="Composition rules side by side",
        text="How well each rule foretells judgments that it has not seen: expected log predictive "
        "density, its difference from the best with a standard error, and stacking weights. A rule "
        "within two standard errors of the best is not worse by this evidence. Bad k counts "
        "judgments for which PSIS-LOO cannot be trusted; p by configuration is a posterior "
        "predictive p-value of win rates.",
        target="compare",
        figures=("comparison",),
        tables=tables,
        details={},
    )


def _sensitivity(found: Mapping[str, pd.DataFrame]) -> Further:
    tables: dict[str, Table] = {}
    details: dict[str, Table] = {}
    if "sensitivity_verdicts" in found:
        verdicts = found["sensitivity_verdicts"]
        rows = [
            [str(row["label"]), str(row["family"]), str(row["verdict"]), _refits(row)]
            for _, row in verdicts.iterrows()
        ]
        tables[""] = Table(["quantity", "exchanged", "verdict", "refits"], rows, 3)
    if "sensitivity" in found:
        shifts = found["sensitivity"]
        rows = [
            [
                f"{row['kind']} {row['alternative']}",
                str(row["label"]),
                "kept" if str(row["passed"]) == "True" else "failed",
                number(row["base_mean"], row["unit"]),
                number(row["mean"], row["unit"]),
                f"[{number(row['hdi_low'], row['unit'])}, {number(row['hdi_high'], row['unit'])}]",
                _plus_minus(row["shift"], row["mcse_shift"], 2),
                f"{row['sd_ratio']:.2f}",
            ]
            for _, row in shifts.iterrows()
        ]
        headers = ["alternative", "quantity", "gates", "base", "mean", "interval", "shift, sd"]
        details["Every shift"] = Table([*headers, "sd, ratio"], rows, 3)
    if "power_scaling" in found:
        rows = [
            [
                f"{row['quantity']} {row['index']}".strip().replace("_", " "),
                str(row["diagnosis"]),
                f"{row['prior']:.3f}",
                f"{row['likelihood']:.3f}",
            ]
            for _, row in found["power_scaling"].iterrows()
        ]
        details["Power scaling of hyperpriors and of the likelihood"] = Table(
            ["quantity", "diagnosis", "prior", "likelihood"], rows, 2
        )
    return Further(
        title="Sensitivity",
        text="The main fit again under other priors, other options of the likelihood, and without "
        "each judge and each foundation. A shift is the change of a posterior mean in posterior "
        "standard deviations. Refits that failed their gates are listed and in no verdict.",
        target="sensitivity",
        figures=("tornado", "overlay"),
        tables=tables,
        details=details,
    )


def _audit(found: Mapping[str, pd.DataFrame]) -> Further:
    tables: dict[str, Table] = {}
    details: dict[str, Table] = {}
    if "audit/sensitivity" in found:
        tables["How far estimates of beta follow the truth"] = _any(found["audit/sensitivity"])
    if "audit/false_alarms" in found:
        tables["Anchoring and loyalty: false alarms and power"] = _any(found["audit/false_alarms"])
    if "audit/audit" in found:
        details["Bias, RMSE and coverage in every cell"] = _any(found["audit/audit"])
    return Further(
        title="Audit of the estimators",
        text="Simulated panels with known truth, estimated by two steps as in the study and by the "
        "joint model. An estimator that measures beta changes one for one with the planted beta "
        "(by beta 1) and not with how consistently composites are judged (by consistency 0). "
        "Alarms are shares of replicates whose 94% interval leaves zero out: false ones where "
        "nothing is planted, power where something is.",
        target="audit",
        figures=tuple(AUDIT),
        tables=tables,
        details=details,
    )


def _any(table: pd.DataFrame) -> Table:
    """Print a table whose columns this module does not know, words first."""
    read = {str(name): _numbers(table[name]) for name in table}
    numeric = [name for name, values in read.items() if values is not None]
    words = [name for name in read if name not in numeric]
    columns = [map(_word, table[name]) for name in words]
    columns += [map(_significant, values) for values in read.values() if values is not None]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Table([name.replace("_", " ") for name in [*words, *numeric]], rows, len(words))


def _numbers(column: pd.Series) -> pd.Series | None:
    """Read a column as numbers, nothing as missing; None where it holds words."""
    if pd.api.types.is_bool_dtype(column.dtype):
        return None
    said = column.where(column.astype(str) != "")
    numbers = pd.to_numeric(said, errors="coerce")
    return None if numbers.isna().gt(said.isna()).any() else numbers


def _word(value: object) -> str:
    yes = {"True": "yes", "False": "no"}
    return yes.get(str(value), _ESTIMATORS.get(str(value), str(value)))


def _significant(value: float) -> str:
    return "-" if pd.isna(value) else f"{value:.3g}"


def _plain(value: float, digits: int) -> str:
    return "-" if pd.isna(value) else f"{value:.{digits}f}"


def _plus_minus(value: float, error: float, digits: int = 1) -> str:
    return "-" if pd.isna(value) else f"{value:z.{digits}f} ± {error:.{digits}f}"


def _refits(row: pd.Series) -> str:
    failed = int(row["failed"])
    return f"{int(row['counted'])}" + (f", {failed} failed" if failed else "")
