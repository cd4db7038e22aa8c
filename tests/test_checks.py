"""Checks that gate a fit: each passes what is sound and stops what is not."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from moralscale.arrays import make_arrays
from moralscale.checks import check_fit, gate, to_table
from moralscale.checks.connectivity import check_connectivity
from moralscale.checks.convergence import check_convergence
from moralscale.checks.pareto import check_pareto
from moralscale.checks.posterior import check_posterior
from moralscale.checks.predicted import predictive_table
from moralscale.checks.predictive import check_predictive
from moralscale.checks.prior import QUANTILES, prior_draws, prior_table
from moralscale.checks.sampling import check_sampling
from moralscale.cli.main import main
from moralscale.composition import get_rule
from moralscale.config import Gates, Observation
from moralscale.elo import ELO_PER_LOGIT
from moralscale.errors import GateError, ModelError
from moralscale.estimands import Estimands
from moralscale.figures import TABLED
from moralscale.likelihood import replicate
from moralscale.model import build_model
from moralscale.posterior import arrays_of
from moralscale.posterior_file import save
from moralscale.priors import load_priors
from moralscale.records import Origin

N_COMPOSITES, N_JUDGES = 20, 3


@pytest.fixture(scope="module")
def made_of(tiny_scenes, few_composites):
    """Estimands of ten composites, over the tiny corpus."""
    return Estimands.from_composites(tiny_scenes, few_composites.iloc[:N_COMPOSITES])


@pytest.fixture(scope="module")
def make_fit(tiny_scenes, made_of):
    """Make a posterior around a known truth, and judgments from that truth made `sharper`."""

    def make(*, bridged=True, sharper=1.0, seed=0, n=6000, shift=0.0, ties=0.0):
        rng = np.random.default_rng(seed)
        truth = {
            "theta": rng.normal(size=(N_JUDGES, len(tiny_scenes))),
            "phi": rng.normal(size=(N_JUDGES, N_COMPOSITES)),
            "position_bias_judge": np.array([0.4, 0.0, -0.3]),
        }
        dims = {"theta": ("judge", "scene"), "phi": ("judge", "composite")}
        shape, sample = (2, 150), ("chain", "draw")
        posterior = xr.Dataset(
            {
                name: (
                    (*sample, *dims.get(name, ("judge",))),
                    value + 0.01 * rng.normal(size=(*shape, *value.shape)),
                )
                for name, value in truth.items()
            },
            {
                "judge": ["a", "b", "c"],
                "scene": tiny_scenes["id"].to_list(),
                "composite": [f"c{n}" for n in range(N_COMPOSITES)],
            },
        )
        if bridged:
            posterior["composite_consistency"] = (sample, np.full(shape, 0.8))
            posterior["bridge_consistency"] = (sample, np.full(shape, 1.2))
        if ties:
            posterior["tie_judge"] = ((*sample, "judge"), np.full((*shape, N_JUDGES), ties))
        once = len(tiny_scenes) + N_COMPOSITES
        blocks = [(0, len(tiny_scenes)), (len(tiny_scenes), once)]
        blocks += [(once, 2 * once)] * bridged
        arena, judge = rng.integers(len(blocks), size=n), rng.integers(N_JUDGES, size=n)
        slots = np.array([rng.choice(np.arange(*blocks[a]), 2, replace=False) for a in arena])
        first, second = (judge[:, None] * once * (1 + bridged) + slots).T
        observed = {
            "outcome": np.zeros(n, np.int8),
            "first_idx": first,
            "second_idx": second,
            "judge_idx": judge,
            "arena_idx": arena,
        }
        constant = made_of.to_dataset().assign(
            foundation_idx=("scene", np.zeros(len(tiny_scenes), int)),
            intensity=("scene", tiny_scenes["intensity"].to_numpy()),
        )
        stats = {"diverging": (sample, np.zeros(shape, bool))}
        stats["energy"] = (sample, rng.normal(size=shape))
        tree = xr.DataTree.from_dict(
            {
                "posterior": posterior,
                "sample_stats": xr.Dataset(stats),
                "observed_data": xr.Dataset({k: ("judgment", v) for k, v in observed.items()}),
                "constant_data": constant,
            }
        )
        options = Observation(ties="davidson" if ties else "left_out")
        tree.attrs["model"] = options.model_dump_json()
        mean = posterior.mean(sample)
        mean["theta"], mean["phi"] = sharper * mean["theta"], sharper * mean["phi"]
        mean["position_bias_judge"] = mean["position_bias_judge"] + shift
        drawn = replicate(mean, arrays_of(tree), options, rng)[0]
        tree["observed_data"]["outcome"].values[:] = drawn
        return tree

    return make


def make_estimates(**worst):
    table = pd.DataFrame(
        {"quantity": ["beta", "phi"], "index": ["", "x"], "rhat": 1.0, "ess_bulk": 900.0}
    ).assign(ess_tail=900.0)
    for column, value in worst.items():
        table.loc[1, column] = value
    return table


def failed(result):
    return set(result.table.loc[~result.table["passed"], "quantity"])


@pytest.mark.parametrize(
    ("worst", "fails"),
    [
        ({}, set()),
        ({"rhat": 1.02}, {"rhat"}),
        ({"ess_bulk": 399.0}, {"ess_bulk"}),
        ({"ess_tail": 10.0}, {"ess_tail"}),
        ({"rhat": np.inf, "ess_bulk": 0.0}, {"rhat", "ess_bulk"}),
    ],
)
def test_convergence_names_the_worst_quantity(worst, fails):
    result = check_convergence(make_estimates(**worst), Gates())
    assert failed(result) == fails
    assert result.passed is not bool(fails)
    assert all("phi x" in text for text in result.table.loc[~result.table["passed"], "text"])


def test_one_divergence_fails_a_fit_and_a_bound_of_one_allows_it(make_fit):
    fit = make_fit()
    assert check_sampling(fit, Gates()).passed
    fit["sample_stats"]["diverging"][1, 7] = True
    assert failed(check_sampling(fit, Gates())) == {"divergences"}
    assert check_sampling(fit, Gates(divergences=1)).passed


def test_an_energy_that_hardly_moves_fails_a_fit(make_fit):
    fit = make_fit()
    walk = np.cumsum(np.random.default_rng(0).normal(size=(2, 150)), axis=1)
    fit["sample_stats"]["energy"].values[:] = walk
    assert failed(check_sampling(fit, Gates())) == {"ebfmi"}


@pytest.mark.parametrize("bridged", [True, False])
def test_judgments_of_the_fitted_model_pass_the_predictive_checks(make_fit, bridged):
    result = check_predictive(make_fit(bridged=bridged), Gates(), seed=1)
    assert result.passed, result.text
    assert len(result.table) == 6


def test_ties_of_the_fitted_model_pass_and_too_many_do_not(make_fit):
    fit = make_fit(ties=0.5)
    result = check_predictive(fit, Gates(), seed=1)
    assert result.passed, result.text
    fit["posterior"]["tie_judge"].values[:] = 0.3
    assert "ties by judge and strength gap" in failed(check_predictive(fit, Gates(), seed=1))


@pytest.mark.parametrize("sharper", [0.6, 1.6])
def test_judges_more_or_less_decided_than_the_fit_says_are_noticed(make_fit, sharper):
    result = check_predictive(make_fit(sharper=sharper), Gates(), seed=1)
    assert "win rate by strength gap" in failed(result)
    assert "intransitive triples" in failed(result)


def test_judgments_without_a_triple_are_no_misfit_by_themselves(make_fit):
    result = check_predictive(make_fit(n=30), Gates(), seed=1)
    p = result.table.set_index("quantity")["value"]["intransitive triples"]
    assert p > 0.5  # none observed, and hardly any expected


def test_a_missed_position_bias_is_noticed(make_fit):
    found = failed(check_predictive(make_fit(shift=0.5), Gates(), seed=1))
    assert {"win rate by position", "win rate by judge and arena"} <= found


def test_a_missed_configuration_is_noticed(make_fit, made_of):
    fit = make_fit()
    of_first = made_of.config[:, 0] == 1
    fit["posterior"]["phi"].values[..., of_first] += 0.8
    assert "win rate by configuration" in failed(check_predictive(fit, Gates(), seed=1))


def test_the_predictive_table_holds_what_was_counted(make_fit):
    fit = make_fit()
    table = predictive_table(fit, seed=1)
    arrays = arrays_of(fit)
    single = arrays.arena_idx == 0
    row = table[(table["statistic"] == "win rate by position") & (table["arena"] == "single")]
    assert row["observed"].item() == pytest.approx(arrays.first_won[single].mean())
    assert row["n"].item() == single.sum()
    assert (table["low"] <= table["high"]).all()
    inside = (table["low"] <= table["observed"]) & (table["observed"] <= table["high"])
    assert inside.mean() > 0.8
    ratings = table[table["statistic"] == "elo by configuration"]
    assert list(ratings["group"]) == list(arrays.estimands.config_names)


def test_figures_of_what_is_predicted_stay_inside_their_edges(make_fit):
    label, numbers = "rating of a scene", [0.0, 1.0, 2.0, 3.0, 4.0]
    quantiles = dict(zip(QUANTILES, numbers, strict=True))
    prior = pd.DataFrame(
        [{"quantity": unit, "label": label, "unit": unit, **quantiles} for unit in ("elo", "ratio")]
    )
    tables = {"predictive": predictive_table(make_fit(n=600), seed=1), "prior_predictive": prior}
    for name, table in tables.items():
        figure = TABLED[name].draw(table, Origin.SIMULATED)
        figure.canvas.draw()
        box = figure.get_tightbbox()
        assert min(box.x0, box.y0) >= 0
        assert box.x1 <= figure.get_figwidth()
        assert box.y1 <= figure.get_figheight()


def test_prior_draws_say_how_wide_the_priors_are(
    few_judgments, tiny_scenes, few_composites, project
):
    one = few_judgments[few_judgments["judge"] == "judge-a"]  # a small model compiles fast
    arrays = make_arrays(one, tiny_scenes, few_composites, data="bridged")
    priors = load_priors(project / "config/priors/default.yaml")
    model = build_model(arrays, priors, get_rule("compressed"))
    draws = prior_draws(model, draws=400, seed=1)
    assert draws["beta"].mean().item() == pytest.approx(1.0, abs=0.1)  # Normal(1, 0.5)
    assert draws["beta"].std().item() == pytest.approx(0.5, abs=0.08)
    table = prior_table(draws, arrays.estimands).set_index("quantity")
    assert table.loc["intensity_slope", "q97"] == pytest.approx(1.88 * ELO_PER_LOGIT, rel=0.2)
    assert table.loc["theta_gap", "q03"] >= 50
    assert (table[list(QUANTILES)].diff(axis=1).iloc[:, 1:] >= 0).all(axis=None)


def test_the_command_prints_the_checks_and_ends_with_2_where_one_failed(make_fit, tmp_path, capsys):
    path = tmp_path / "posterior.nc"
    save(make_fit(n=500), path)
    loose = tmp_path / "loose.yaml"
    loose.write_text("gates: {rhat: 1.1, ess: 50}\n", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["check", str(path), "--config", str(loose), "--out", str(tmp_path / "checks.csv")])
    assert ended.value.code == 0
    assert f"{path}: all 13 checks passed" in capsys.readouterr().out.replace("\n", " ")
    assert pd.read_csv(tmp_path / "checks.csv")["passed"].all()
    with pytest.raises(SystemExit) as ended:
        main(["check", str(path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(f"error: {path}: ")


@pytest.mark.parametrize("looked_at", [1000, 3])
def test_pareto_k_of_a_narrow_posterior_is_small_and_of_a_lone_judgment_large(
    make_fit, monkeypatch, looked_at
):
    monkeypatch.setattr("moralscale.checks.pareto.INFLUENTIAL", looked_at)
    fit = make_fit(n=300)
    assert check_pareto(fit, Gates()).passed
    # A scene of which one judgment alone is known: its draws are wide.
    rng = np.random.default_rng(1)
    fit["posterior"]["theta"].values[..., 0, 0] = 6 * rng.standard_t(2, size=(2, 150))
    fit["observed_data"]["first_idx"].values[0] = 0
    fit["observed_data"]["second_idx"].values[0] = 1
    fit["observed_data"]["judge_idx"].values[0] = 0
    found = check_pareto(fit, Gates())
    assert failed(found) == {"pareto_k"}
    assert f"of the {min(looked_at, 300)} most influential judgments" in found.text


@pytest.mark.parametrize("bridged", [True, False])
def test_groups_that_never_met_are_warned_of_and_named(make_fit, bridged):
    fit = make_fit(bridged=bridged)
    assert check_connectivity(fit).passed
    arrays = arrays_of(fit)
    apart = np.flatnonzero(np.isin(np.stack(arrays.slots) % 71, [0, 1, 2]).any(axis=0))
    slots = apart % 2, 1 + apart % 2  # the first three scenes meet each other alone
    judge = arrays.judge_idx[apart] * arrays.n_slots
    for name, slot in zip(("first_idx", "second_idx"), slots, strict=True):
        fit["observed_data"][name].values[apart] = judge + slot
    fit["observed_data"]["arena_idx"].values[apart] = 0
    result = check_connectivity(fit)
    assert not result.passed
    assert "2 groups" in result.text
    assert "care-2-0, care-2-1, care-1-0" in result.text
    table = to_table([result])
    assert table["passed"].all()  # it warns, and stops nothing
    assert table["text"].str.startswith("warning: ").sum() == 1


def test_gate_passes_in_one_line_and_stops_with_what_failed(make_fit):
    fit = make_fit(n=500)
    results = check_fit(fit, make_estimates(), Gates(), seed=1)
    assert "all 13 checks passed" in gate(to_table(results), where="run, fit")
    results[0] = check_convergence(make_estimates(rhat=1.3), Gates())
    with pytest.raises(GateError, match=r"run, fit: largest rhat .* is 1\.3 \(phi x") as error:
        gate(to_table(results), where="run, fit")
    assert "ess" not in str(error.value).split(";")[0]


def test_a_posterior_alone_is_checked_with_its_projections(make_fit, tmp_path):
    fit, gates = make_fit(n=500), Gates(rhat=1.1, ess=50)
    save(fit, tmp_path / "posterior.nc")
    found = check_posterior(tmp_path / "posterior.nc", gates=gates, seed=1)
    table = found.set_index("quantity")
    assert table.loc["rhat", "passed"]
    # One chain sees other component sums: no parameter in the file says so, projections do.
    fit["posterior"]["theta"].values[1, :, :, ::2] += 1.0
    assert not check_posterior(fit, seed=1).set_index("quantity").loc["rhat", "passed"]


def test_a_posterior_without_its_composites_is_refused(make_fit):
    fit = make_fit()
    del fit["constant_data"]
    with pytest.raises(ModelError, match="no group 'constant_data'"):
        check_posterior(fit)
