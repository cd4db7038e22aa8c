"""The command line: one command a file, each a thin call of a public function."""

from moralscale.cli.main import main

__all__ = ["main"]
