"""How language models weigh moral acts, alone and combined."""

__version__ = "0.1.0"
