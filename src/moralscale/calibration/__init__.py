"""Proof that fits are right: recovery with coverage, and simulation-based calibration.

Both simulate many small data sets with known truth and fit each with the same compiled model.
``snakemake calibration`` runs them; docs/calibration.md holds what was found.
"""
