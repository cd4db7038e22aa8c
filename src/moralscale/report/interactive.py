"""What the page's own script draws and filters: composites and scenes."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from moralscale.elo import ELO_PER_LOGIT
from moralscale.printing import DATA_TITLES, estimate
from moralscale.records import BetaMeaning
from moralscale.report.inputs import FIT, ReportInputs
from moralscale.report.tables import fits

#: Name of the panel among its judges.
PANEL = "mean over judges"
_ABOUT = ("index", "profile", "foundation_a", "foundation_b", "config", "scene_a", "scene_b")
_ENDS = ("", "_low", "_high")
#: What would end a script element, or a comment in it, before its time.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


@dataclass(frozen=True)
class Explorer:
    """The figure of composites: its data as JSON, and what its lists offer."""

    data: Markup
    interval: str
    fits: list[str]
    judges: list[str]
    foundations: list[str]
    configs: list[str]


@dataclass(frozen=True)
class SceneRow:
    """One scene of the table: words, and for every fit a printed cell and a number to sort by."""

    id: str
    foundation: str
    intensity: int
    anchor: bool
    text: str
    cells: list[tuple[str, float]]


@dataclass(frozen=True)
class SceneTable:
    """The table of scenes: titles of the fits, rows, and what its lists offer."""

    titles: list[str]
    rows: list[SceneRow]
    foundations: list[str]
    intensities: list[int]


def plotly() -> str:
    """Pack Plotly's own script, gzip in base64: a third of its size, and no markup."""
    return b64encode(gzip.compress(get_plotlyjs().encode("utf-8"), mtime=0)).decode("ascii")


def explorer(inputs: ReportInputs) -> Explorer | None:
    """Collect what the figure of composites shows; None where there are no composites."""
    table = inputs.composites
    if table is None or table.empty:
        return None
    about = table.drop_duplicates("index")[list(_ABOUT)].astype(str)
    judges = _judges(inputs.by_judge)
    by_fit = fits(table)
    found = [
        _fit(title, rows, inputs, list(about["index"]), judges) for title, rows in by_fit.items()
    ]
    texts = {}
    if inputs.scenes is not None:
        once = inputs.scenes.drop_duplicates("index")
        texts = dict(zip(once["index"], once["text"], strict=True))
    data = {
        "simulated": inputs.origin.value == "simulated",
        "composites": [_composite(row, texts) for row in about.to_dict("records")],
        "fits": found,
    }
    return Explorer(
        data=_json(data),
        interval=inputs.reporting.interval_name,
        fits=[_title(title) for title in by_fit],
        judges=[PANEL, *judges],
        foundations=list(dict.fromkeys([*about["foundation_a"], *about["foundation_b"]])),
        configs=list(dict.fromkeys(about["config"])),
    )


def scene_table(inputs: ReportInputs) -> SceneTable | None:
    """Tabulate scenes with their rating in every fit; None where there is no table of them."""
    if inputs.scenes is None or inputs.scenes.empty:
        return None
    table = inputs.scenes[inputs.scenes["unit"] == "elo"]
    by_fit = {title: rows.set_index("index") for title, rows in fits(table).items()}
    once = table.drop_duplicates("index")
    return SceneTable(
        titles=list(by_fit),
        rows=[_scene(row, list(by_fit.values())) for _, row in once.iterrows()],
        foundations=list(dict.fromkeys(once["foundation"].astype(str))),
        intensities=sorted(set(once["intensity"].astype(int))),
    )


def _scene(row: pd.Series, by_fit: list[pd.DataFrame]) -> SceneRow:
    found = [table.loc[row["index"]] for table in by_fit]
    return SceneRow(
        id=str(row["index"]),
        foundation=str(row["foundation"]),
        intensity=int(row["intensity"]),
        anchor=str(row["anchor"]) == "True",
        text=str(row["text"]),
        cells=[(estimate(here), float(here["mean"])) for here in found],
    )


def _judges(table: pd.DataFrame | None) -> list[str]:
    return [] if table is None else sorted(set(table["judge"]))


def _title(fit: str) -> str:
    data, *rest = fit.split(", ")
    return ", ".join([DATA_TITLES.get(data, data), *rest])


def _fit(
    title: str, rows: pd.DataFrame, inputs: ReportInputs, composites: list[str], judges: list[str]
) -> dict[str, Any]:
    """One fit: points and slope of the panel, then those of every judge."""
    key = rows.iloc[0][FIT]
    points = [_panel_points(rows, composites)]
    if inputs.by_judge is not None:
        mine = _of_fit(inputs.by_judge, key)
        points += [_points(mine[mine["judge"] == judge], composites) for judge in judges]
    estimates = _of_fit(inputs.estimates, key)
    slopes = estimates[(estimates["quantity"] == "slope_judge")].set_index("index")
    panel = estimates[estimates["quantity"] == "slope"]
    in_noise = BetaMeaning.of(str(key["data"])) is BetaMeaning.CHOICE_NOISE
    return {
        "title": _title(title),
        "unit": BetaMeaning.CHOICE_NOISE.value if in_noise else "",
        "points": points,
        "slopes": [_slope(panel), *(_slope(slopes.loc[slopes.index == name]) for name in judges)],
    }


def _of_fit(table: pd.DataFrame, key: pd.Series) -> pd.DataFrame:
    return table[(table[FIT] == key).all(axis=1)]


def _panel_points(rows: pd.DataFrame, composites: list[str]) -> list[list[float | None]]:
    ends = {"mean": "", "hdi_low": "_low", "hdi_high": "_high"}
    names = {("component_sum", "sum"): ("sum", ELO_PER_LOGIT)}
    names |= {("composite_strength", "elo"): ("rating", 1.0)}
    parts = []
    for (quantity, unit), (name, scale) in names.items():
        here = rows[(rows["quantity"] == quantity) & (rows["unit"] == unit)].set_index("index")
        here = here[list(ends)].astype(float) * scale
        parts.append(here.rename(columns={old: name + end for old, end in ends.items()}))
    return _points(pd.concat(parts, axis=1).rename_axis("composite").reset_index(), composites)


def _points(rows: pd.DataFrame, composites: list[str]) -> list[list[float | None]]:
    """Six lists over composites: component sum and rating, each with its interval."""
    here = rows.set_index("composite").reindex(composites)
    return [
        [None if np.isnan(value) else round(float(value), 1) for value in here[name + end]]
        for name in ("sum", "rating")
        for end in _ENDS
    ]


def _slope(rows: pd.DataFrame) -> list[float] | None:
    if rows.empty:
        return None
    return [round(float(rows.iloc[0][name]), 4) for name in ("mean", "hdi_low", "hdi_high")]


def _composite(row: Mapping[Hashable, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    scenes = [row["scene_a"], row["scene_b"]]
    return {
        "id": row["index"],
        "profile": row["profile"],
        "foundations": [row["foundation_a"], row["foundation_b"]],
        "config": row["config"],
        "acts": [texts.get(scene, scene) for scene in scenes],
    }


def _json(data: Any) -> Markup:
    """JSON that can stand inside a script element, whatever its texts say."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character, escape in _UNSAFE.items():
        text = text.replace(character, escape)
    return Markup(text)
