"""What is asked: composites, and balanced schedules of who meets whom."""

from moralscale.design.composites import make_composites
from moralscale.design.schedule import comparison_ids, make_schedule, make_schedules

__all__ = ["comparison_ids", "make_composites", "make_schedule", "make_schedules"]
