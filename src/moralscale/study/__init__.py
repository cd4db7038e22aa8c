"""The study's analyses by its own estimators, beside the joint model and published figures."""

from moralscale.study.analyses import ANALYSES, TwoStepTables, two_step_tables
from moralscale.study.comparison import estimators_of, read_planted, read_study, study_table

__all__ = [
    "ANALYSES",
    "TwoStepTables",
    "estimators_of",
    "read_planted",
    "read_study",
    "study_table",
    "two_step_tables",
]
