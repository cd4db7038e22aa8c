"""What each estimator reports when the truth is known: bias, coverage, sensitivity, false alarms.

``cells.grid`` lists the points of a grid, ``replicates.run_cell`` simulates and estimates at one of
them, and `tables` makes tables of replicates. Nothing is imported here, since the workflow lists
cells and needs no sampler for that.
"""
