"""
What all rules share: the validated configuration, names of files, wildcards.
"""

import os
import re
import sys
from dataclasses import asdict

from moralscale.audit.cells import grid
from moralscale.composition import get_rule
from moralscale.config import check_keys, load_config, load_judges, load_yaml
from moralscale.digest import code_digest
from moralscale.errors import MoralscaleError

from moralscale.prompts import load_template
from moralscale.providers import make_provider
from moralscale.records import Arena, Origin, foundations_of
from moralscale.scenes import load_scenes
from moralscale.scripting import USER_ERROR


def check_files(valid, source):
    """Check the files that a configuration names."""
    for run, settings in valid.runs.items():
        scenes = load_scenes(valid.scenes_of(run))
        if settings.panel:
            foundations = foundations_of(scenes["foundation"])
            where = f"{source}, panels.{settings.panel}"
            valid.panels[settings.panel].residuals_of(foundations, where=where)
        for name in valid.prompts_of(run):
            path, language = f"config/prompts/{name}.yaml", valid.language_of(run)
            load_template(path, language=language)
    named = {judge for run in valid.runs.values() for judge in run.judges}
    library = load_judges(valid.judges_file) if named else {}
    for judge in sorted(named):
        make_provider(judge, library[judge])
    for name in valid.fits.rules:
        get_rule(name, where=f"{source}, fits.rules")


def validated_config():
    """Check everything before the graph is built; an error is one line and exit code 2."""
    source = ", ".join(map(str, workflow.configfiles)) or "config"
    try:
        for path in workflow.configfiles:
            load_yaml(path)  # Snakemake's reader lets the last of two equal keys win
        valid = load_config(config, source=source)
        # A job on another machine sees no files but its inputs, and all was checked before.
        if workflow.is_main_process:
            check_files(valid, source)
    except MoralscaleError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(USER_ERROR)
    return valid


CONFIG = validated_config()
SETTINGS = CONFIG.model_dump(mode="json")
ARENAS = [arena.value for arena in Arena]
#: Figures of every fit: those of moralscale.figures, which is slow to import.
FIGURES = [
    "composites",
    "beta",
    "foundation_residuals",
    "intensity_sums",
    "scenes",
    "convergence",
    "position_bias",
]
#: Formats of every figure.
FIGURE_KINDS = ["pdf", "svg", "png"]
FITS = expand(
    "{data}/{composition}/{prior}",
    data=CONFIG.fits.data,
    composition=CONFIG.fits.rules,
    prior=CONFIG.fits.priors,
)


#: The fit that runs are compared by.
MAIN_FIT = next((fit for fit in FITS if fit.startswith("bridged/")), FITS[0])


wildcard_constraints:
    other="|".join(map(re.escape, CONFIG.runs)),
    run="|".join(map(re.escape, CONFIG.runs)),
    arena="|".join(ARENAS),
    judge="[A-Za-z0-9._-]+",
    data="study|bridged",
    composition="[a-z_]+",
    prior="[A-Za-z0-9._-]+",
    kind="prior|model|judge|foundation|prompt",
    alternative="[A-Za-z0-9._-]+",
    fit="(study|bridged)/[a-z_]+/[A-Za-z0-9._-]+",
    mark=r"(\.simulated)?",


def corpus_of(wildcards):
    """The corpus of a run."""
    return CONFIG.scenes_of(wildcards.run)


def about_run(wildcards):
    """What a posterior says of the run that it belongs to."""
    run = wildcards.run
    return {
        "run": run,
        "scenes": CONFIG.scenes_of(run),
        "language": CONFIG.language_of(run),
    }


def prompts_of(wildcards):
    """Names of the prompt templates of a run."""
    return list(CONFIG.prompts_of(wildcards.run))


def prompt_files(wildcards):
    """The prompt templates of a run."""
    return [f"config/prompts/{name}.yaml" for name in prompts_of(wildcards)]


def first_prompt(wildcards):
    """The prompt template that a probe uses."""
    return prompt_files(wildcards)[0]


def is_simulated(run):
    return CONFIG.runs[run].origin is Origin.SIMULATED


def is_imported(run):
    return CONFIG.runs[run].origin is Origin.IMPORTED


def import_settings(wildcards):
    """Which file of judgments a run imports, and what it means."""
    return SETTINGS["runs"][wildcards.run]["import"]


def imported_file(wildcards):
    """The file of judgments of a run that imports one."""
    return import_settings(wildcards)["file"] if is_imported(wildcards.run) else []


def imported_composites(wildcards):
    """The composites of a run that brings its own."""
    if not is_imported(wildcards.run):
        return []
    return import_settings(wildcards)["composites"] or []


def mark(run):
    """What marks the file names of figures of simulated data."""
    return ".simulated" if is_simulated(run) else ""


def truth_of(wildcards):
    """The planted truth, where there is one."""
    return f"results/{wildcards.run}/truth.nc" if is_simulated(wildcards.run) else []


def schedules(wildcards):
    """Schedules of the arenas in which anything is asked."""
    if is_imported(wildcards.run):
        return []
    counts = SETTINGS["design"]["judgments"]
    return [
        f"results/{wildcards.run}/design/{arena}.parquet"
        for arena in ARENAS
        if counts[arena]
    ]


def planned(wildcards):
    """What a run asks; of imported judgments, what somebody asked."""
    return schedules(wildcards) or [
        f"results/{wildcards.run}/judgments/judgments.parquet"
    ]


def shards(wildcards):
    """Judgments of every judge of a run, or of its file."""
    if is_imported(wildcards.run):
        return [f"results/{wildcards.run}/judgments/imported.parquet"]
    return expand(
        "results/{run}/judgments/shards/{judge}.parquet",
        run=wildcards.run,
        judge=CONFIG.judge_names(wildcards.run),
    )


def panel_of(wildcards):
    """The simulated panel of a run."""
    return SETTINGS["panels"][CONFIG.runs[wildcards.run].panel]


def judges_of(wildcards):
    """Names of the judges of a run."""
    return list(CONFIG.judge_names(wildcards.run))


def origin_of(wildcards):
    """Where the judgments of a run come from."""
    return CONFIG.runs[wildcards.run].origin.value


def judge_settings(wildcards):
    """How to reach a real judge, within the run's budget; nothing for a simulated one."""
    if is_simulated(wildcards.run):
        return {}
    settings = load_judges(CONFIG.judges_file)[wildcards.judge].model_dump(mode="json")
    budget = settings["budget"] or CONFIG.runs[wildcards.run].judge_budget
    return {**settings, "budget": budget}


def descriptions(wildcards):
    """How to reach the real judges of a run, by name."""
    library = load_judges(CONFIG.judges_file)
    return {
        name: library[name].model_dump(mode="json")
        for name in CONFIG.runs[wildcards.run].judges
    }


def probe_of(wildcards):
    """What one question to each judge showed, where the judges are real."""
    if CONFIG.runs[wildcards.run].origin is not Origin.LIVE:
        return []
    return f"results/{wildcards.run}/probe.json"


def check_keys_of_runs():
    """Before anything is asked: name every key that is missing for judges that are still to be asked."""
    still_open = {
        judge
        for run, source in CONFIG.runs.items()
        for judge in source.judges
        if not os.path.exists(f"results/{run}/judgments/shards/{judge}.parquet")
    }
    try:
        library = load_judges(CONFIG.judges_file) if still_open else {}
        check_keys({judge: library[judge] for judge in library if judge in still_open})
    except MoralscaleError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(USER_ERROR)


def settings_of_real_judges(wildcards):
    """Files that say how real judges are reached and what they cost."""
    if CONFIG.runs[wildcards.run].origin is not Origin.LIVE:
        return []
    return [CONFIG.judges_file, CONFIG.prices_file]


def run_budget(wildcards):
    """What all judges of a run may cost together."""
    return CONFIG.runs[wildcards.run].budget


def arena_total(wildcards):
    """Comparisons of an arena over all judges."""
    return SETTINGS["design"]["judgments"][wildcards.arena]


def of_fits(pattern):
    """An input function: `pattern` for every fit of a run."""

    def paths(wildcards):
        return expand(pattern, run=wildcards.run, fit=FITS)

    return paths


def fit_threads(wildcards):
    """Cores of a fit: one a chain, fewer where all fits together would want more than there are.

    Where other jobs run too, a fit that waits for several cores to be free waits for all of them.
    """
    chains = CONFIG.sampler.chains
    # Elsewhere a fit has cores of its own.
    if not (workflow.local_exec and workflow.is_main_process):
        return chains
    share = workflow.cores // (len(FITS) * len(CONFIG.runs))
    return min(chains, max(1, share))


def figure_paths(run, extension):
    """Figures of every fit of a run."""
    return expand(
        "results/{run}/figures/{fit}/{figure}{mark}.{extension}",
        run=run,
        fit=FITS,
        figure=FIGURES,
        mark=mark(run),
        extension=extension,
    )


def missingness_figure(run, extension):
    """The figure of missing comparisons of a run."""
    return f"results/{run}/figures/missingness{mark(run)}.{extension}"


def other_fits(wildcards):
    """Quantities of the fits of a run whose figures stand beside those of this one."""
    others = [fit for fit in FITS if fit != wildcards.fit]
    return expand(
        "results/{run}/fits/{fit}/quantities.nc", run=wildcards.run, fit=others
    )


def all_figures(run):
    """Figures of a run, in every format."""
    return [
        path
        for kind in FIGURE_KINDS
        for path in [
            missingness_figure(run, kind),
            slopes_figure(run, kind),
            *figure_paths(run, kind),
        ]
    ]


def slopes_figure(run, extension):
    """The figure that sets the study's estimators beside the joint model."""
    return f"results/{run}/figures/slopes{mark(run)}.{extension}"


def identification_figure(extension):
    """What sets simulated runs side by side, where a configuration has several."""
    if len(CONFIG.runs) < 2 or not all(map(is_simulated, CONFIG.runs)):
        return []
    return [f"results/comparison/figures/identification.simulated.{extension}"]


def run_comparisons(extension):
    """The first run beside each of the others."""
    first, *others = CONFIG.runs
    return [
        f"results/comparison/{first}/{other}/runs{mark(first) or mark(other)}.{extension}"
        for other in others
    ]


def jobs_share_files():
    """Whether jobs see the files that Snakemake sees, and it theirs."""
    usage = workflow.storage_settings.shared_fs_usage
    return "input-output" in {str(each) for each in usage}


def growing(amount):
    """A resource that doubles with every attempt: what was killed for want of it may then do."""

    def of_attempt(wildcards, attempt):
        return amount * 2 ** (attempt - 1)

    return of_attempt


def run_outputs(run):
    """What a run ends with; everything else is made on the way."""
    return [f"results/{run}/report.html", f"results/{run}/manifest.json"]


def figures_of_run(wildcards):
    """Every figure of a run, in every format, with the tables of what was predicted."""
    return all_figures(wildcards.run) + checking_figures(wildcards.run)


def checking_figures(run):
    """What posteriors and priors predict, of every fit of a run: tables and figures."""
    kinds = ("csv", "pdf", "svg", "png")
    return expand(
        "results/{run}/checks/{fit}/predictive{mark}.{kind}",
        run=run,
        fit=FITS,
        mark=mark(run),
        kind=kinds,
    ) + expand(
        "results/{run}/checks/prior/{composition}/{prior}.{kind}",
        run=run,
        composition=CONFIG.fits.rules,
        prior=CONFIG.fits.priors,
        kind=kinds,
    )


def report_figures(wildcards):
    """Pictures of a run, and the comparison of runs where there is one."""
    return [
        *identification_figure("png"),
        missingness_figure(wildcards.run, "png"),
        slopes_figure(wildcards.run, "png"),
        *figure_paths(wildcards.run, "png"),
    ]


def made(paths):
    """Those of the files that exist: what has a target of its own enters a report once it is made.

    From then on Snakemake keeps them up to date with the rest, and a change of which there are makes the
    report anew.
    """
    return [path for path in paths if os.path.exists(path)]


def further_outputs(wildcards):
    """What `snakemake compare` and `snakemake sensitivity` made of a run."""
    run = wildcards.run
    tables = ["comparison", "sensitivity_verdicts", "sensitivity", "power_scaling"]
    figures = ["comparison/comparison", "figures/sensitivity/tornado"]
    figures += ["figures/sensitivity/overlay"]
    return made(
        [f"results/{run}/tables/{table}.csv" for table in tables]
        + [f"results/{run}/{figure}{mark(run)}.png" for figure in figures]
    )


def audit_of_report(wildcards):
    """The whole audit where somebody made it; else the small one, where the default target or somebody makes it."""
    whole = made(audit_outputs("audit-full"))
    return whole or default_audit_outputs() or made(audit_outputs("audit"))


def recovery_of(wildcards):
    """Recovery of the planted truth, where there is one."""
    if not is_simulated(wildcards.run):
        return []
    return f"results/{wildcards.run}/tables/recovery.csv"


def leave_out(run):
    """Kinds of what a sensitivity analysis leaves out."""
    kinds = CONFIG.sensitivity.leave_out
    several = {
        "judge": len(CONFIG.judge_names(run)) != 1,  # a file of judgments names its own
        "foundation": True,
        "prompt": len(CONFIG.prompts_of(run)) > 1,
    }
    return [kind for kind in kinds if several[kind]]


def refit_values(wildcards):
    """The alternatives of a job; none are named where each one is left out in turn."""
    if wildcards.kind == "prior":
        return list(CONFIG.sensitivity.priors)
    return [] if wildcards.alternative == "each" else [wildcards.alternative]


def priors_of_refits(wildcards):
    """The prior files of refits under other priors."""
    if wildcards.kind != "prior":
        return []
    return expand("config/priors/{prior}.yaml", prior=CONFIG.sensitivity.priors)


def refit_folders(wildcards, only=None):
    """Folders of all refits of a run, or of one kind."""
    settings = CONFIG.sensitivity
    # Priors, and what is left out, are one job a kind: their models are one.
    jobs = [("prior", "each")] if settings.priors else []
    jobs += [("model", name) for name in settings.model]
    jobs += [(kind, "each") for kind in leave_out(wildcards.run)]
    folder = f"results/{wildcards.run}/sensitivity"
    return [f"{folder}/{kind}/{name}" for kind, name in jobs if only in (None, kind)]


def sensitivity_outputs(run):
    """Tables and figures of a sensitivity analysis."""
    return [
        f"results/{run}/tables/sensitivity_verdicts.csv",
        f"results/{run}/tables/power_scaling.csv",
        f"results/{run}/figures/sensitivity/tornado{mark(run)}.pdf",
    ]


AUDITS = {"audit": CONFIG.audit, "audit-full": CONFIG.audit_full}
AUDIT_FIGURES = ["estimates", "battles", "confounding"]


def audit_cells(wildcards):
    """Replicates of every cell of a grid."""
    return expand(
        "results/{audit}/cells/{cell}.parquet",
        audit=wildcards.audit,
        cell=[cell.name for cell in grid(AUDITS[wildcards.audit])],
    )


def audit_cell(wildcards):
    """Settings of a cell."""
    cells = {cell.name: cell for cell in grid(AUDITS[wildcards.audit])}
    return asdict(cells[wildcards.cell])


def audit_outputs(audit):
    """What an audit ends with."""
    return [
        f"results/{audit}/tables/audit.csv",
        f"results/{audit}/tables/sensitivity.csv",
        f"results/{audit}/tables/false_alarms.csv",
        f"results/{audit}/tables/laplace.csv",
        *expand(
            "results/{audit}/figures/{figure}.simulated.{extension}",
            audit=audit,
            figure=AUDIT_FIGURES,
            extension=["pdf", "svg", "png"],
        ),
    ]


def default_audit_outputs():
    """The small audit, where the configuration wants it beside its runs."""
    return audit_outputs("audit") if CONFIG.audit.with_runs else []


REPLICATES = {
    "recovery": CONFIG.calibration.recovery,
    "ranks": CONFIG.calibration.ranks,
}


def replicates_of(wildcards):
    """Numbers of the replicates of a job."""
    size, first = CONFIG.calibration.per_job, int(wildcards.job)
    return list(
        range(first * size, min((first + 1) * size, REPLICATES[wildcards.kind]))
    )


def calibration_jobs(kind):
    """What the jobs of a kind make."""
    number = -(-REPLICATES[kind] // CONFIG.calibration.per_job)
    return expand(
        "results/calibration/jobs/{kind}-{job}.csv", kind=kind, job=range(number)
    )


onstart:
    check_keys_of_runs()
