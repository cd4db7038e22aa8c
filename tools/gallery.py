"""Make ``docs/gallery.md`` and its pictures, after ``snakemake figures``.

Pictures are small copies of those that a workflow left under ``results/`` and, of the calibration,
under ``docs/figures/``. Where it left none, the copy that stands is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

import pandas as pd
from PIL import Image

from moralscale.figures import AUDIT, CROSS_RUN, FIGURES, OF_RUN, POWER, SENSITIVITY, TABLED
from moralscale.figures.missingness import any_missing

ROOT = Path(__file__).resolve().parents[1]
PAGE, PICTURES = ROOT / "docs/gallery.md", ROOT / "docs/figures/gallery"
#: Share of the size, and colours: 120 dpi, which is enough for a screen.
_SHRINK, _COLOURS = 0.4, 128

INTRODUCTION = """\
# Gallery

Every figure of the package, in small. `snakemake figures` draws those of all runs and of runs side
by side, each as PDF and SVG with fonts embedded and as PNG of 300 dpi; `snakemake sensitivity`,
`snakemake compare` and `snakemake calibration` draw those that need further fits.

The section `figures` of the configuration sets the widths (config/README.md),
`moralscale.figures.style` everything else. Colours are Okabe and Ito's, which readers with any of
the usual colour deficiencies tell apart. Simulated data is marked in the top right corner. Figures
of the fits of one run have one scale, so that they can stand side by side.

`python tools/gallery.py` makes this page, from `results/` and the captions of the modules.
"""

#: Sections of the page: title, the figures, and where their pictures are.
SECTIONS = (
    ("Of a fit", FIGURES, "results/*/figures/bridged/*/*/{name}*.png"),
    ("Of a run", OF_RUN, "results/*/figures/{name}*.png"),
    ("Of several runs", CROSS_RUN, "results/comparison/**/{name}*.png"),
    ("Of a sensitivity analysis", SENSITIVITY, "results/*/figures/sensitivity/{name}*.png"),
    ("Of an estimator audit", AUDIT, "results/audit/figures/{name}*.png"),
    (
        "Of designs (`moralscale power --figure results/power`)",
        {"power": POWER},
        "results/{name}*.png",
    ),
    ("Of checks, of rules side by side, and of the calibration", TABLED, ""),
)
#: Where pictures of the last section are.
_TABLED = {
    "predictive": "results/*/checks/bridged/*/*/predictive*.png",
    "prior_predictive": "results/*/checks/prior/*/*.png",
    "comparison": "results/*/comparison/comparison*.png",
    "coverage": "docs/figures/calibration_coverage.png",
    "ranks": "docs/figures/calibration_ranks.png",
}


def main(root: Path) -> None:
    """Copy the pictures that there are below `root`, and write the page."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for _, figures, pattern in SECTIONS:
        for name in figures:
            for path in find(root, name, pattern or _TABLED[name])[:1]:
                shrink(path, PICTURES / f"{name}.png")
                print(path)
    PAGE.write_text(page(pictures(PICTURES)), encoding="utf-8")


def find(root: Path, name: str, pattern: str) -> list[Path]:
    """Pictures of a figure below `root`; a map of missing comparisons needs some to be missing."""
    paths = sorted(root.glob(pattern.format(name=name)))
    if name != "missingness":
        return paths
    tables = [path.parents[1] / "tables/missingness.csv" for path in paths]
    return [p for p, table in zip(paths, tables, strict=True) if any_missing(pd.read_csv(table))]


def shrink(path: Path, copy: Path) -> None:
    """Write a small copy of a picture."""
    picture = Image.open(path).convert("RGB")
    size = (round(_SHRINK * picture.width), round(_SHRINK * picture.height))
    small = picture.resize(size, Image.Resampling.LANCZOS)
    small.quantize(_COLOURS, dither=Image.Dither.NONE).save(copy, optimize=True)


def pictures(folder: Path) -> set[str]:
    """Names of the figures that have a picture."""
    return {path.stem for path in folder.glob("*.png")}


def page(shown: Collection[str]) -> str:
    """Return the text of the page, with a picture of the figures that are `shown`."""
    parts = [INTRODUCTION]
    for title, figures, _ in SECTIONS:
        parts.append(f"## {title}\n")
        for name, plot in figures.items():
            parts.append(f"### `{name}`\n")
            if name in shown:
                parts.append(f"![{name.replace('_', ' ')}](figures/gallery/{name}.png)\n")
            parts.append(f"{plot.caption}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
