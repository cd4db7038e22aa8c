"""What was spent, by tokens in journals and list prices, and whether there is money for more."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from moralscale.attempts import read_head
from moralscale.errors import BudgetError, ConfigError
from moralscale.journal import Journal, typed_faults
from moralscale.prices import BATCH_SHARE, Price, cost
from moralscale.usage import Used

#: Seconds after which the other judges' journals are looked at again.
LOOK = 5.0


@dataclass(frozen=True, slots=True)
class Budgets:
    """What may be spent, USD; None for no bound.

    Attributes
    ----------
    prices : mapping
        Price by model.
    judge : float, optional
        On one judge, over all runs of its job.
    run : float, optional
        On all judges whose journals lie in the same folder.
    """

    prices: Mapping[str, Price]
    judge: float | None = None
    run: float | None = None


class Purse:
    """The money of one judge's job.

    Parameters
    ----------
    budgets : Budgets
        Prices and bounds.
    journal : Journal
        The judge's journal, open: what it used before counts.
    model : str
        The model that is asked.

    Raises
    ------
    ConfigError
        There is a budget, and a model without a price.
    """

    def __init__(self, budgets: Budgets, journal: Journal, model: str) -> None:
        self._budgets, self._used = budgets, journal.used
        self._others = Others(journal.path) if budgets.run is not None else None
        if budgets.judge is not None or budgets.run is not None:
            _price(budgets.prices, model)
            self._spent_by_run()

    def spent(self) -> float | None:
        """Sum what this judge cost so far, USD; None where a price is not known."""
        return spent(self._used, self._budgets.prices)

    def check(self, in_flight: int) -> None:
        """Make sure that there is money for what is in flight.

        Parameters
        ----------
        in_flight : int
            Questions in flight, the next one included. Each is reckoned at the mean cost of those
            before it, so that the bound holds but for how much these differ.

        Raises
        ------
        BudgetError
            There is not.
        """
        budgets = self._budgets
        if budgets.judge is None and budgets.run is None:
            return
        own = self.spent() or 0.0
        coming = in_flight * own / self._used.answers if self._used.answers else 0.0
        if budgets.judge is not None and own + coming > budgets.judge:
            raise _spent(own, budgets.judge, "this judge")
        if budgets.run is not None:
            total = own + self._spent_by_run()
            if total + coming > budgets.run:
                raise _spent(total, budgets.run, "the run")

    def _spent_by_run(self) -> float:
        """Sum what the other judges of the run cost so far, USD."""
        if self._others is None:
            return 0.0
        self._others.look()
        for model, _, _ in self._others.used:
            _price(self._budgets.prices, model)
        return spent(self._others.used, self._budgets.prices) or 0.0


class Others:
    """Tokens in the other journals of a folder; what was read once is not read again."""

    def __init__(self, own: Path) -> None:
        self._own = own
        self._read: dict[Path, int] = {}
        self._looked = -LOOK
        self.used = Used()

    def look(self) -> None:
        """Read what was added since the last look, unless that was just now."""
        if time.monotonic() - self._looked < LOOK:
            return
        for path in sorted(self._own.parent.glob("*.jsonl")):
            if path != self._own:
                with typed_faults(path):
                    self._look_at(path)
        self._looked = time.monotonic()

    def _look_at(self, path: Path) -> None:
        with path.open("rb") as file:
            file.seek(self._read.get(path, 0))
            for line in file:
                if not line.endswith(b"\n"):
                    break
                # Who writes that journal tells of lines that are damaged.
                if found := read_head(line):
                    self.used.add(found[1])
                self._read[path] = self._read.get(path, 0) + len(line)


def spent(used: Used, prices: Mapping[str, Price]) -> float | None:
    """Price tokens, USD; None where a price is not known."""
    total = 0.0
    for model, transport, usage in used:
        part = cost(prices.get(model), usage)
        if part is None:
            return None
        total += part * (BATCH_SHARE if transport == "batch" else 1.0)
    return total


def _price(prices: Mapping[str, Price], model: str) -> Price:
    if model not in prices:
        what = f"there is a budget, and no price for the model '{model}'"
        mend = "add its price (0 where it costs nothing), or remove `budget`"
        raise ConfigError(what, where="prices", mend=mend)
    return prices[model]


def _spent(spent: float, budget: float, whose: str) -> BudgetError:
    what = f"spent {spent:.4g} USD of the budget of {budget:.4g} USD for {whose}"
    what += ", and the next answers would go beyond it"
    mend = "raise `budget` and run again: answers so far are kept and not paid again"
    return BudgetError(what, mend=mend)
