"""What each estimator reports when the truth is known: bias, coverage, sensitivity, false alarms.

`cells` are the points of a grid, `replicate` simulates and estimates at one of them, `tables` turns
replicates into tables.
"""

from moralscale.audit.cells import Cell, grid
from moralscale.audit.replicates import run_cell
from moralscale.audit.tables import audit_table, false_alarm_table, sensitivity_table

__all__ = ["Cell", "audit_table", "false_alarm_table", "grid", "run_cell", "sensitivity_table"]
