"""Panels of simulated judges with known truth."""

from moralscale.simulate.panel import simulate_panel

__all__ = ["simulate_panel"]
