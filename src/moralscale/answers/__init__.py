"""Text of an answer to outcome, strictly."""

from moralscale.answers.parse import Answer, parse_answer

__all__ = ["Answer", "parse_answer"]
