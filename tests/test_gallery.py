"""Figures of tables, and the gallery: what can be read, and that the page is up to date."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.text import Text

import gallery
from moralscale.config import FigureWidths
from moralscale.figures import CAPTIONS, CROSS_RUN, OF_RUN, SENSITIVITY, TABLED, save
from moralscale.printing import KEY
from moralscale.records import FOUNDATIONS, INTENSITIES, Origin

NARROW = FigureWidths(column=3, wide=4, page=5.5)
LABELS = [
    (name, index, unit, f"{label} {index}".strip())
    for name, unit, label in KEY
    for index in (FOUNDATIONS if name == "foundation_residual" else [""])
]


def shifts():
    kinds = [("prior", "no-pooling"), ("judge", "judge-1"), ("foundation", "care")]
    rows = [
        (kind, alternative, *label, (-1) ** row * (0.1 + row * 0.6), True)
        for row, label in enumerate(LABELS)
        for kind, alternative in kinds
    ]
    names = ["kind", "alternative", "quantity", "index", "unit", "label", "shift", "passed"]
    return pd.DataFrame(rows, columns=names)


def refits():
    rng = np.random.default_rng(0)
    sample = ("chain", "draw")
    base = xr.Dataset(
        {name: (sample, rng.normal(0.9, 0.1, (2, 50))) for name in ("beta", "alpha")},
        {"chain": [0, 1], "draw": np.arange(50), "foundation": ["ubuntu", "honour"]},
    )
    residual = rng.normal(0, 0.1, (2, 50, 2))
    base["foundation_residual"] = ((*sample, "foundation"), residual, {"unit": "log-odds"})
    for name in ("wide", "tight", "strong-pooling"):
        attrs = {"kind": "prior", "alternative": name}
        other = (base + 0.05).map(lambda draws: draws.assign_attrs(base[draws.name].attrs))
        tree = xr.DataTree.from_dict({"base": base, "alternative": other})
        tree.attrs = attrs
        yield tree


def runs():
    table = pd.DataFrame(LABELS, columns=["quantity", "index", "unit", "label"])
    for run, mean in (("a", 0.8), ("b", 0.9), ("difference", 0.1)):
        for name, value in (("mean", mean), ("low", mean - 0.2), ("high", mean + 0.2)):
            table[f"{name}_{run}"] = value
    table.attrs = {"a": "compressed", "b": "noisy-additive", "interval": "94% HDI"}
    table.attrs |= {"origin_a": Origin.SIMULATED, "origin_b": Origin.LIVE}
    return table


def missing():
    cells = pd.DataFrame(
        [(f, i) for f in FOUNDATIONS for i in INTENSITIES], columns=["foundation", "intensity"]
    )
    judges = [f"judge-{k}" for k in range(6)]
    counts = pd.concat(cells.assign(judge=j, arena="single", planned=20, used=11) for j in judges)
    tests = pd.DataFrame(
        [(j, "declined", content, 0.0001) for j in judges for content in cells],
        columns=["judge", "kind", "content", "p_adjusted"],
    )
    return counts, tests


def rules():
    table = pd.DataFrame({"rule": ["compressed", "saturating_sum"], "rank": [0, 1]})
    table = table.assign(elpd_diff=[0.0, -80.0], dse=[0.0, 9.0], weight=[0.95, 0.05])
    return pd.concat([table.assign(method=name) for name in ("loo", "kfold")])


def coverage():
    table = pd.DataFrame(LABELS, columns=["quantity", "index", "unit", "label"])
    return table.assign(coverage=0.94, low=0.90, high=0.97)


def ranks():
    table = pd.DataFrame(LABELS, columns=["quantity", "index", "unit", "label"])
    table = pd.concat([table.assign(rank=rank, passed=True) for rank in range(0, 100, 5)])
    return table


def prior():
    rows = [(label, unit) for _, _, unit, label in LABELS if unit in ("elo", "ratio")]
    table = pd.DataFrame([*rows, ("the stronger wins", "percent")], columns=["label", "unit"])
    return table.assign(q03=-400.0, q25=-100.0, median=0.0, q75=100.0, q97=400.0)


def predictive():
    rows = [("win rate by strength gap", arena, "1", 1.0, 0.7) for arena in ("single", "bridge")]
    rows += [("win rate by position", "single", "", np.nan, 0.5)]
    rows += [("win rate by judge", "", f"judge-{k}", np.nan, 0.5) for k in range(10)]
    rows += [("elo by configuration", "", name, np.nan, 1000.0) for name in ("+2/-1", "+1/+1")]
    rows += [("intransitive triples", "single", "", np.nan, 400.0)]
    table = pd.DataFrame(rows, columns=["statistic", "arena", "group", "x", "observed"])
    return table.assign(low=table["observed"] * 0.9, high=table["observed"] * 1.1)


DRAWN = {
    "missingness": lambda w: OF_RUN["missingness"].draw(*missing(), Origin.SIMULATED, widths=w),
    "runs": lambda w: CROSS_RUN["runs"].draw(runs(), widths=w),
    "tornado": lambda w: SENSITIVITY["tornado"].draw(
        shifts(), Origin.SIMULATED, threshold=0.5, widths=w
    ),
    "overlay": lambda w: SENSITIVITY["overlay"].draw(list(refits()), Origin.SIMULATED, widths=w),
    "comparison": lambda w: TABLED["comparison"].draw(rules(), Origin.SIMULATED, widths=w),
    "coverage": lambda w: TABLED["coverage"].draw(coverage(), widths=w),
    "ranks": lambda w: TABLED["ranks"].draw(ranks(), widths=w),
    "predictive": lambda w: TABLED["predictive"].draw(predictive(), Origin.SIMULATED, widths=w),
    "prior_predictive": lambda w: TABLED["prior_predictive"].draw(prior(), widths=w),
}


@pytest.mark.parametrize("name", DRAWN)
def test_figures_of_tables_can_be_read_at_the_narrowest(name):
    figure = DRAWN[name](NARROW)
    figure.canvas.draw()
    assert figure.get_figwidth() <= NARROW.page
    box = figure.get_tightbbox()  # inches
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()
    shown = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert min(text.get_fontsize() for text in shown) >= 6
    assert not [text.get_text() for text in shown if "_" in text.get_text()]
    titles = [ax.title.get_window_extent() for ax in figure.axes]
    titles += [ax._left_title.get_window_extent() for ax in figure.axes]
    titles = [box for box in titles if box.width > 1]
    assert not any(a.overlaps(b) for n, a in enumerate(titles) for b in titles[:n])


def test_the_tornado_names_what_moves_most_as_what_it_is():
    told = [text.get_text() for text in DRAWN["tornado"](FigureWidths()).axes[0].texts]
    assert "no-pooling, +1.3" in told or "no-pooling, \N{MINUS SIGN}0.7" in told


# The gallery


def test_the_gallery_is_up_to_date():
    shown = gallery.pictures(gallery.PICTURES)
    assert shown <= set(CAPTIONS)
    assert gallery.PAGE.read_text(encoding="utf-8") == gallery.page(shown), (
        "run `python tools/gallery.py`"
    )
    for name, caption in CAPTIONS.items():
        assert f"### `{name}`\n" in gallery.page(shown)
        assert caption in gallery.page(shown)


def test_pictures_of_the_gallery_are_small():
    sizes = [path.stat().st_size for path in gallery.PICTURES.glob("*.png")]
    assert len(sizes) >= 10
    assert sum(sizes) <= 1_000_000


def test_the_gallery_takes_pictures_that_show_something(tmp_path):
    results = tmp_path / "results"
    for run, used in (("a", 20), ("b", 19)):
        counts = pd.DataFrame({"judge": ["j"], "planned": [20], "used": [used]})
        (results / run / "tables").mkdir(parents=True)
        counts.to_csv(results / run / "tables/missingness.csv", index=False)
        save(DRAWN["overlay"](NARROW), results / run / "figures/missingness")
    pattern = "results/*/figures/{name}*.png"
    (found,) = gallery.find(tmp_path, "missingness", pattern)
    assert found == results / "b/figures/missingness.png"
    gallery.shrink(found, Path(tmp_path, "small.png"))
    assert Path(tmp_path, "small.png").stat().st_size < found.stat().st_size / 3
