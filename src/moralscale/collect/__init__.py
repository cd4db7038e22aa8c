"""Ask judges what their journals do not answer yet, and read judgments out of the journals."""

from moralscale.collect.asking import Pace
from moralscale.collect.collecting import ask_all, collect, collect_from_files, parse_journal

__all__ = ["Pace", "ask_all", "collect", "collect_from_files", "parse_journal"]
