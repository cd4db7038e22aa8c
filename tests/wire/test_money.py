"""Budgets: what was spent counts over runs and judges, and the job stops before it is exceeded."""

from dataclasses import replace

import pytest
from servers import Reaction, completion, steady

from moralscale.collect import Budgets
from moralscale.errors import BudgetError, ConfigError
from moralscale.journal import read_attempts
from moralscale.prices import cost, load_prices
from moralscale.records import Usage

#: Each answer of the server takes 90 tokens in and 3 out: 0.0012 USD.
EACH = 0.0012
PRICES = """
models:
  judge-1: {input: 10.0, output: 100.0, read: 2026-11-30, source: made up}
  judge-2: {input: 20.0, output: 200.0, read: 2026-11-30, source: made up}
"""


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES)
    return load_prices(path)


def paid(collecting):
    return sum(any(attempt["usage"]) for attempt in read_attempts(collecting.path))


def test_a_budget_stops_the_job_and_a_larger_one_goes_on(collecting, server, judge, prices):
    told = r"spent 0\.0(1|2)\d* USD of the budget of 0\.02 USD .*; raise `budget` and run again"
    with pytest.raises(BudgetError, match=told):
        collecting.run(judge, n=40, budgets=Budgets(prices, judge=0.02))
    first = paid(collecting)
    # The mean cost is reckoned for what is in flight, and here all answers cost the same.
    assert 16 - judge.concurrency < first <= 16
    with pytest.raises(BudgetError):
        collecting.run(judge, n=40, budgets=Budgets(prices, judge=0.03))
    assert first < paid(collecting) <= 25
    table = collecting.run(judge, n=40, budgets=Budgets(prices, judge=0.05))
    assert table["outcome"].notna().all()
    assert len(server.requests) == paid(collecting) == 40


def test_answers_that_are_dearer_than_before_exceed_it_by_no_more_than_was_in_flight(
    collecting, server, judge, prices
):
    dear = completion("A")
    dear["usage"] = {"prompt_tokens": 900, "completion_tokens": 30}

    def react(number, request):
        return Reaction(body=dear) if number > 10 else steady(number, request)

    server.react = react
    with pytest.raises(BudgetError):
        collecting.run(judge, n=40, budgets=Budgets(prices, judge=0.05))
    used = [a["usage"] for a in read_attempts(collecting.path)]
    spent = sum(cost(prices["judge-1"], Usage(*usage)) for usage in used)
    assert 0.05 - judge.concurrency * 10 * EACH < spent <= 0.05 + judge.concurrency * 10 * EACH
    assert len(server.requests) < 20


def test_truncated_answers_cost_too(collecting, server, judge, prices):
    server.react = lambda number, request: Reaction(body=completion("", "length"))
    with pytest.raises(BudgetError):
        collecting.run(judge, n=40, budgets=Budgets(prices, judge=0.02))
    assert len(server.requests) <= 16


def test_the_budget_of_a_run_is_shared(collecting, server, judge, prices):
    other = replace(collecting, path=collecting.path.with_name("judge-2.jsonl"))
    other.run(judge.model_copy(update={"model": "judge-2"}), n=10)
    with pytest.raises(BudgetError, match=r"of the budget of 0\.05 USD for the run"):
        collecting.run(judge, n=60, budgets=Budgets(prices, run=0.05))
    # Ten answers of the other judge cost 0.024 USD.
    assert 0 < paid(collecting) <= (0.05 - 0.024) / EACH
    table = collecting.run(judge, n=60, budgets=Budgets(prices, judge=1, run=0.1))
    assert table["outcome"].notna().all()


@pytest.mark.parametrize("bound", [{"judge": 1.0}, {"run": 1.0}])
def test_a_budget_needs_a_price(collecting, server, judge, prices, bound):
    unknown = judge.model_copy(update={"model": "judge-3"})
    with pytest.raises(ConfigError, match="no price for the model 'judge-3'; add its price"):
        collecting.run(unknown, n=3, budgets=Budgets(prices, **bound))
    assert server.requests == []


def test_enough_is_enough(collecting, server, judge, prices):
    """Where `unanswered` allows for it, a spent budget is no failure."""
    table = collecting.run(judge, n=20, budgets=Budgets(prices, judge=0.02), unanswered=0.5)
    assert 0 < table["outcome"].isna().sum() <= 10
    with pytest.raises(BudgetError):
        collecting.run(judge, n=60, budgets=Budgets(prices, judge=0.02), unanswered=0.5)
