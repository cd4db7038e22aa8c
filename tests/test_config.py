"""Configuration: every fault is one line with file, key and mend, before anything runs."""

from __future__ import annotations

import copy
import datetime
import re

import pytest
import yaml

from moralscale.config import (
    Config,
    Judge,
    Panel,
    Sampler,
    load_config,
    load_judges,
    load_yaml,
    validate,
)
from moralscale.errors import ConfigError, suggestion
from moralscale.records import FOUNDATIONS, Origin

SOURCE = "config/mine.yaml"


@pytest.fixture(scope="module")
def default(project):
    return load_yaml(project / "config/config.yaml")


@pytest.fixture
def fault(default, project):
    """Load the default configuration with one key set; return the error's text."""

    def load(path, value):
        data = copy.deepcopy(default)
        node = data
        *parents, key = path.split("/")
        for parent in parents:
            node = node.setdefault(parent, {})
        node[key] = value
        with pytest.raises(ConfigError) as error:
            load_config(data, source=SOURCE, root=project)
        text = str(error.value)
        assert "\n" not in text
        assert text.startswith(SOURCE)
        return text.removeprefix(f"{SOURCE}, ")

    return load


def test_the_default_configuration_is_the_study(default, project):
    config = load_config(default, source="config/config.yaml", root=project)
    assert set(config.runs) == {"compressed", "noisy-additive"}
    counts = config.design.judgments
    assert counts.single + counts.composite == 29_134
    assert counts.composite == 1_200 * len(config.judge_names("compressed"))
    one, other = (config.panels[name] for name in ("compressed", "noisy-additive"))
    # Two panels that the study's two arenas cannot tell apart, and two different truths.
    assert one.slope == other.slope == 0.862
    assert one.slope / one.composite_consistency == pytest.approx(0.862)
    assert other.slope / other.composite_consistency == pytest.approx(1.0)
    assert one.residuals_of(FOUNDATIONS)["loyalty"] == 9.58
    assert one.residuals_of(FOUNDATIONS)["care"] == -9.22
    changes = {"composite_consistency": one.composite_consistency}
    assert other.model_copy(update=changes) == one


@pytest.mark.parametrize("name", ["config", "frontier", "import", "local", "quick"])
def test_shipped_configurations_are_valid(name, project):
    path = project / f"config/{name}.yaml"
    config = load_config(load_yaml(path), source=str(path), root=project)
    assert config.runs


def test_what_is_left_out_takes_its_default(default):
    config = validate(Config, {"runs": {"x": {"panel": "p"}}}, source=SOURCE)
    assert (config.sampler.backend, config.sampler.chains) == ("nutpie", 4)
    assert config.sampler == Sampler()
    assert (config.reporting.ci_prob, config.reporting.ci_kind) == (0.94, "hdi")
    assert (config.gates.rhat, config.gates.ess, config.gates.ebfmi) == (1.01, 400, 0.3)
    assert config.fits.data == ("study", "bridged")


def test_a_run_knows_its_judges_and_their_origin(default, project):
    config = load_config(default, source=SOURCE, root=project)
    names = config.judge_names("compressed")
    assert names[0] == "simulated-01"
    assert names[-1] == "simulated-10"
    assert config.runs["compressed"].origin is Origin.SIMULATED
    live = copy.deepcopy(default) | {"runs": {"mine": {"judges": ["smollm2-135m"]}}}
    config = load_config(live, source=SOURCE, root=project)
    assert config.judge_names("mine") == ("smollm2-135m",)
    assert config.runs["mine"].origin is Origin.LIVE


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        # misspelt keys
        ("sed", 1, "sed: unknown key 'sed'; did you mean 'seed'?"),
        (
            "panels/compressed/slpe",
            1,
            "panels.compressed.slpe: unknown key 'slpe'; did you mean 'slope'?",
        ),
        (
            "design/judgments/brdge",
            3,
            "design.judgments.brdge: unknown key 'brdge'; did you mean 'bridge'?",
        ),
        ("runs/mine/panl", "x", "runs.mine.panl: unknown key 'panl'; did you mean 'panel'?"),
        # misspelt names
        (
            "runs/mine/panel",
            "compresse",
            "runs.mine.panel: unknown panel 'compresse'; did you mean 'compressed'?",
        ),
        (
            "runs/mine/judges",
            ["smolm2-135m"],
            "runs.mine.judges: unknown judge 'smolm2-135m'; did you mean 'smollm2-135m'?",
        ),
        (
            "design/prompts",
            ["troley"],
            "design.prompts: unknown prompt 'troley'; did you mean 'trolley'?",
        ),
        (
            "fits/priors",
            ["dfault"],
            "fits.priors: unknown prior 'dfault'; did you mean 'default'?",
        ),
        # wrong types and values
        ("seed", "x", "seed: input should be a valid integer"),
        ("seed", 1.5, "seed: input should be a valid integer"),
        ("seed", -1, "seed: input should be greater than or equal to 0 (given: -1)"),
        ("runs", None, "runs: input should be a mapping (given: null)"),
        ("runs", {}, "runs: mapping should have at least 1 item"),
        ("runs/mine/judges", "smollm2-135m", "runs.mine.judges: input should be a list"),
        ("panels/compressed", None, "panels.compressed: input should be a mapping (given: null)"),
        ("panels/compressed/slope", "high", "panels.compressed.slope: input should be a valid num"),
        ("panels/compressed/slope", float("nan"), "panels.compressed.slope: input should be a fin"),
        ("panels/compressed/intercept", float("inf"), "panels.compressed.intercept: input should"),
        ("panels/compressed/composite_consistency", 0, "panels.compressed.composite_consistency:"),
        ("panels/compressed/convergence", 1.0, "panels.compressed.convergence: input should be l"),
        ("panels/compressed/judges", 0, "panels.compressed.judges: input should be greater"),
        ("sampler/chains", 1, "sampler.chains: input should be greater than or equal to 2"),
        (
            "sampler/backend",
            "stan",
            "sampler.backend: input should be 'nutpie', 'pymc' or 'numpyro'",
        ),
        ("fits/data", ["studyy"], "fits.data.0: input should be 'study' or 'bridged'"),
        (
            "sensitivity",
            {"priors": ["wide", "tigt"]},
            "sensitivity.priors: unknown prior 'tigt'; did you mean 'tight'?",
        ),
        ("sensitivity", {"runs": ["mne"]}, "sensitivity.runs: unknown run 'mne'; use one of"),
        (
            "sensitivity",
            {"priors": [], "model": [], "leave_out": []},
            "sensitivity: there is nothing to fit again; name priors, model or leave_out",
        ),
        ("fits/rules", [], "fits.rules: list should have at least 1 item"),
        ("reporting/ci_prob", 94, "reporting.ci_prob: input should be less than 1 (given: 94)"),
        ("reporting/rope_beta", [1.05, 0.95], "reporting.rope_beta: 1.05 is not below 0.95"),
        ("reporting/rope_elo", [0, 0], "reporting.rope_elo: 0 is not below 0"),
        # what contradicts itself
        ("runs/mine", {}, "runs.mine: give "),
        (
            "runs/mine",
            {"panel": "compressed", "judges": ["smollm2-135m"]},
            "runs.mine: give ",
        ),
        (
            "runs/mine/judges",
            ["own-server", "own-server"],
            "runs.mine.judges: 'own-server' is named twice; name it once",
        ),
        (
            "fits/rules",
            ["compressed", "compressed"],
            "fits.rules: 'compressed' is named twice; name it once",
        ),
        (
            "panels/compressed/residuals",
            dict.fromkeys(FOUNDATIONS, 1.0),
            "panels.compressed.residuals: foundation residuals sum to 5; shift them",
        ),
        (
            "runs/mine",
            {"panel": "compressed", "scenes": "scenarios/scenes.frr.csv"},
            "runs.mine.scenes: no such file: scenarios/scenes.frr.csv",
        ),
        (
            "runs/mine",
            {"panel": "compressed", "prompts": ["troley"]},
            "runs.mine.prompts: unknown prompt 'troley'; did you mean 'trolley'?",
        ),
        ("language", "French", "language: 'French' is no code of a language; write one such as"),
        (
            "design/judgments",
            {"bridge": 0},
            "design.judgments.bridge: no judgments in the bridge arena, which a fit in fits.data "
            "reads; ask for some, or fit `study` alone",
        ),
        ("design/judgments", {"composite": 0}, "design.judgments.composite: no judgments in the"),
        # files
        ("scenes", "scenarios/none.csv", "scenes: no such file: scenarios/none.csv; check the"),
        ("scenes", "scenarios", "scenes: no such file: scenarios; check the path"),
        # names that become paths
        ("runs/.", {"panel": "compressed"}, "runs: not a name"),
        ("panels/..", {}, "panels: not a name"),
        ("fits/rules", ["../../x"], "fits.rules.0: not a name"),
        ("fits/priors", ["a b"], "fits.priors.0: not a name"),
    ],
)
def test_a_fault_is_one_line_with_file_key_and_mend(path, value, message, fault):
    assert fault(path, value).startswith(message)


@pytest.mark.parametrize(
    "name", ["../out", "..", ".", "a/b", "", ".hidden", "-x", "x\n", "x" * 65, "ä", 7]
)
def test_a_run_cannot_leave_the_results_folder(name, default, project):
    data = copy.deepcopy(default)
    data["runs"][name] = {"panel": "compressed"}
    with pytest.raises(ConfigError, match=f"^{SOURCE}, runs: "):
        load_config(data, source=SOURCE, root=project)


@pytest.mark.parametrize("name", ["../out", "..", "a/b", "x\n"])
def test_an_imported_judge_cannot_be_called_what_could_be_a_path(name, default, project):
    run = {"import": {"file": "examples/simulated-judgments.csv", "judges": {"theirs": name}}}
    with pytest.raises(ConfigError, match="not a name"):
        load_config({**default, "runs": {"a": run}}, source=SOURCE, root=project)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ({"import": {"file": "none.csv"}}, "runs.a.import.file: no such file: none.csv"),
        ({"import": {"file": "examples"}}, "runs.a.import.file: no such file: examples"),
        (
            {"import": {"file": "README.md", "composites": "none.csv"}},
            "runs.a.import.composites: no such file",
        ),
        ({"import": {"file": "README.md"}, "judges": ["own-server"]}, "give one of `panel`"),
        ({"import": {"fil": "README.md"}}, "unknown key 'fil'; did you mean 'file'?"),
        ({"import": {"file": "README.md", "columns": {"jugde": "m"}}}, "jugde"),
        ({"import": {"file": "README.md", "outcomes": {"a": "won"}}}, "won"),
        ({"panel": "compressed", "budget": 3}, "only a run of real `judges` has a budget"),
    ],
)
def test_a_wrong_source_of_judgments_is_one_line(run, told, default, project):
    with pytest.raises(ConfigError) as error:
        load_config({**default, "runs": {"a": run}}, source=SOURCE, root=project)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_an_import_needs_no_judgments_by_design_and_survives_a_round_trip(project):
    run = {"import": {"file": "examples/simulated-judgments.csv"}}
    data = {"runs": {"a": run}, "design": {"judgments": {"single": 0}}}
    config = load_config(data, source=SOURCE, root=project)
    assert config.runs["a"].origin is Origin.IMPORTED
    assert config.judge_names("a") == ()
    assert load_config(config.model_dump(mode="json"), source=SOURCE, root=project) == config


def test_the_study_alone_needs_no_bridge(default, project):
    data = copy.deepcopy(default)
    data["design"] = {"judgments": {"bridge": 0}}
    data["fits"] = {"data": ["study"]}
    assert load_config(data, source=SOURCE, root=project).design.judgments.bridge == 0


def test_a_configuration_cannot_be_changed(default, project):
    config = load_config(default, source=SOURCE, root=project)
    with pytest.raises(Exception, match="frozen"):
        config.seed = 2


# Files


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: [1\n", "not valid YAML"),
        (b"? [a, b]\n: 3\n", "not valid YAML: a key is a list or a mapping"),
        (b"a: " + b"[" * 5000, "nested too deep"),
        (b"\xff\xfe\x00", "not valid YAML"),
        (b"- 1\n- 2\n", "not a mapping"),
        (b"", "not a mapping"),
    ],
)
def test_a_file_that_is_no_mapping_is_one_line(content, message, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as error:
        load_yaml(path)
    assert re.match(rf"{re.escape(str(path))}(, line \d+)?: {message}", str(error.value))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_or_a_folder_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.yaml: file not found; check the path"):
        load_yaml(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_yaml(tmp_path)


def test_a_missing_judges_file_is_named(default, project):
    data = copy.deepcopy(default) | {
        "judges_file": "config/nobody.yaml",
        "runs": {"mine": {"judges": ["x"]}},
    }
    with pytest.raises(ConfigError, match=r"nobody\.yaml: file not found"):
        load_config(data, source=SOURCE, root=project)


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        ({"../x": {"provider": "openai", "model": "m"}}, "../x: not a name"),
        ({"a b": {"provider": "openai", "model": "m"}}, "a b: not a name"),
        ({7: {"provider": "openai", "model": "m"}}, "7: input should be a valid string"),
        ({"x": {"provider": "openai"}}, "x, model: key 'model' is missing; add it"),
        ({"x": {"provider": "opnai", "model": "m"}}, "x, provider: input should be 'openai', '"),
        (
            {"x": {"provider": "openai", "model": "m", "base_ulr": "u"}},
            "x, base_ulr: unknown key 'base_ulr'; did you mean 'base_url'?",
        ),
        ({"x": None}, "x: input should be a mapping"),
        (
            {"x": {"provider": "openai", "model": "m", "unanswered": True}},
            "x, unanswered: true is no number; write one",
        ),
        ({"x": {"provider": "openai", "model": "a\nb"}}, "x, model: a name of a model holds no bl"),
    ],
)
def test_a_wrong_judge_is_one_line(judges, message, tmp_path):
    path = tmp_path / "judges.yaml"
    path.write_text(yaml.safe_dump(judges))
    with pytest.raises(ConfigError) as error:
        load_judges(path)
    assert str(error.value).startswith(f"{path}, {message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "key", ["sk-planted-7f", "planted 7", "7planted", ["planted"], "planted\n"]
)
def test_a_key_in_place_of_its_variable_is_not_shown(key):
    described = {"provider": "openai", "model": "m", "api_key_env": key}
    with pytest.raises(ConfigError, match=r"api_key_env: not the name of an env.*; put") as caught:
        validate(Judge, described, source="j.yaml, x")
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "_", "OPENAI_API_KEY", "key2"])
def test_names_of_variables_are_taken(name):
    described = {"provider": "openai", "model": "m", "api_key_env": name}
    assert validate(Judge, described, source="j.yaml, x").api_key_env == name


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), [1, {"a": float("-inf")}], datetime.date(2026, 1, 1), "\ud800"],
)
def test_settings_that_cannot_be_sent_are_refused(value):
    described = {"provider": "openai", "model": "m", "settings": {"top_p": value}}
    with pytest.raises(ConfigError, match=r"x, settings: 'top_p' cannot be sent; use"):
        validate(Judge, described, source="j.yaml, x")


def test_judges_are_read_by_name(tmp_path):
    path = tmp_path / "judges.yaml"
    path.write_text(
        "x.1: {provider: openai, model: m, thinking: off, settings: {temperature: 0.5}}\n"
    )
    judges = load_judges(path)
    assert list(judges) == ["x.1"]
    assert judges["x.1"].settings == {"temperature": 0.5}
    assert judges["x.1"].tries == 6
    assert judges["x.1"].thinking == "off"  # which YAML reads as false


def test_a_panel_is_the_published_one_by_default():
    panel = Panel()
    assert panel.slope == 0.862
    residuals = panel.residuals_of(FOUNDATIONS)
    assert list(residuals) == list(FOUNDATIONS)
    assert sum(residuals.values()) == pytest.approx(0)
    assert (panel.anchoring_of(shown=True), panel.anchoring_of(shown=False)) == (35, 0)


def test_residuals_are_those_of_the_corpus():
    six = ("care", "equality", "proportionality", "loyalty", "authority", "purity")
    assert Panel().residuals_of(six) == dict.fromkeys(six, 0.0)
    panel = Panel(residuals={"care": -5, "loyalty": 5})
    assert panel.residuals_of(("care", "loyalty")) == {"care": -5, "loyalty": 5}
    with pytest.raises(ConfigError, match=r"panels.x.residuals: no residual for 'purity'; add it"):
        panel.residuals_of(("care", "loyalty", "purity"), where="panels.x")
    with pytest.raises(ConfigError, match="unknown foundation 'caer'; did you mean 'care'"):
        Panel(residuals={"caer": 1, "loyalty": -1}).residuals_of(six)


def test_a_suggestion_is_the_nearest_name_or_all_of_them():
    assert suggestion("compresse", ["additive", "compressed"]) == "did you mean 'compressed'?"
    assert suggestion("zzz", ["a", "b"]) == "use one of a, b"
    assert suggestion("zzz", []) == "there are none yet"


def test_a_part_keeps_the_defaults_that_it_has_where_it_stands(default, project):
    whole = load_config(default, source="run.yaml", root=project).sensitivity
    asked = {"sampler": {"draws": 800}, "gates": {"ess": 60}}
    some = load_config(
        default | {"sensitivity": asked}, source="run.yaml", root=project
    ).sensitivity
    assert some.sampler == whole.sampler.model_copy(update={"draws": 800})
    assert some.gates == whole.gates.model_copy(update={"ess": 60})
    assert some.sampler.coordinates != Sampler().coordinates
