"""Ask judges what their journals do not answer yet, and read judgments out of the journals."""

from moralscale.collect.collecting import ask_all, collect, collect_from_files, parse_journal
from moralscale.collect.money import Budgets
from moralscale.collect.pace import Pace

__all__ = ["Budgets", "Pace", "ask_all", "collect", "collect_from_files", "parse_journal"]
