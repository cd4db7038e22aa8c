"""A finished run as a Workflow Run RO-Crate: JSON-LD that says what made what.

Written after the profiles Process Run Crate 0.5, Workflow Run Crate 0.5 and Workflow RO-Crate 1.0
(https://www.researchobject.org/workflow-run-crate/), on RO-Crate 1.1.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

METADATA, README = "ro-crate-metadata.json", "README.md"
CONTEXT = [
    "https://w3id.org/ro/crate/1.1/context",
    "https://w3id.org/ro/terms/workflow-run/context",
]
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
WORKFLOW = "workflow/Snakefile"
SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
CODE_LICENCE = "https://www.apache.org/licenses/LICENSE-2.0"
#: Kinds of files that the standard library does not know.
FORMATS = {
    ".jsonl": "application/jsonl",
    ".lock": "text/plain",
    ".md": "text/markdown",
    ".nc": "application/x-netcdf",
    ".parquet": "application/vnd.apache.parquet",
    ".smk": "text/plain",
    ".rst": "text/x-rst",
    ".toml": "application/toml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
ORIGINS = {
    "simulated": "SIMULATED judgments of a panel whose truth was planted",
    "live": "judgments of language models that were asked",
    "imported": "judgments that others collected",
}


@dataclass(frozen=True)
class Part:
    """A file of a crate: its name there, section of the manifest, size in bytes and SHA-256."""

    name: str
    section: str
    size: int
    sha256: str


def crate_metadata(
    manifest: Mapping[str, Any], parts: Iterable[Part], *, licence: str
) -> dict[str, Any]:
    """Describe a run as a research object.

    Parameters
    ----------
    manifest : mapping
        The run's manifest.
    parts : iterable of Part
        All files of the crate.
    licence : str
        URL of the licence of the data.

    Returns
    -------
    dict
        JSON-LD, the same for the same manifest and parts.
    """
    parts = list(parts)
    graph = [
        _descriptor(),
        _root(manifest, parts, licence),
        *(_profile(url, *named) for url, named in PROFILES.items()),
        _workflow(manifest, parts),
        {
            "@id": SNAKEMAKE,
            "@type": "ComputerLanguage",
            "name": "Snakemake",
            "version": manifest["versions"]["snakemake"],
            "identifier": {"@id": "https://snakemake.readthedocs.io"},
            "url": {"@id": "https://snakemake.readthedocs.io"},
        },
        *_parameters(),
        _action(manifest, parts),
        *(_licence(url) for url in sorted({licence, CODE_LICENCE})),
        *(_file(part) for part in parts if part.name not in {WORKFLOW, README}),
        *({**_file(part), "about": {"@id": "./"}} for part in parts if part.name == README),
    ]
    return {"@context": CONTEXT, "@graph": graph}


def readme(manifest: Mapping[str, Any]) -> str:
    """Say what an archive is and how to check it, in Markdown."""
    run = manifest["run"]
    return f"""# Run {run} of moralscale

{ORIGINS[manifest["origin"]]}: what was asked and answered, posteriors, checks, tables, figures and
report (`results/{run}/`), what they were made of, and the workflow that made them (`workflow/`).

`sha256sum -c SHA256SUMS`, or with moralscale installed `moralscale verify .`, checks every file.
`results/{run}/manifest.json` names versions, seed and configuration; `ro-crate-metadata.json`
describes all of it as a Workflow Run RO-Crate.
"""


def identifier(name: str) -> str:
    """Name a file as a relative URI."""
    return quote(name, safe="/+=,@~")


def _descriptor() -> dict[str, Any]:
    return {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": [
            {"@id": "https://w3id.org/ro/crate/1.1"},
            {"@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0"},
        ],
    }


def _root(manifest: Mapping[str, Any], parts: list[Part], licence: str) -> dict[str, Any]:
    origin = ORIGINS[manifest["origin"]]
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Run {manifest['run']} of moralscale",
        "description": f"How language models weigh moral acts, alone and combined: {origin}, "
        "and the joint hierarchical Bradley-Terry model of them.",
        "datePublished": manifest["ended"],
        "license": {"@id": licence},
        "conformsTo": _refs(PROFILES),
        "hasPart": _refs(identifier(part.name) for part in parts),
        "mainEntity": {"@id": WORKFLOW},
        "mentions": {"@id": "#run"},
    }


def _profile(url: str, name: str, version: str) -> dict[str, Any]:
    return {"@id": url, "@type": "CreativeWork", "name": name, "version": version}


def _licence(url: str) -> dict[str, Any]:
    name = "Apache License 2.0" if url == CODE_LICENCE else f"Licence {url}"
    return {"@id": url, "@type": "CreativeWork", "name": name, "url": url}


def _workflow(manifest: Mapping[str, Any], parts: list[Part]) -> dict[str, Any]:
    git = manifest["git"] or {}
    (part,) = (part for part in parts if part.name == WORKFLOW)
    commit = f"+{git['commit']}{'.changed' if git['changed'] else ''}" if git else ""
    return {
        **_file(part),
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "conformsTo": {"@id": BIOSCHEMAS},
        "name": "moralscale",
        "version": f"{manifest['versions']['moralscale']}{commit}",
        "license": {"@id": CODE_LICENCE},
        "programmingLanguage": {"@id": SNAKEMAKE},
        "softwareRequirements": ", ".join(f"{k} {v}" for k, v in manifest["versions"].items()),
        "input": {"@id": "#inputs"},
        "output": {"@id": "#outputs"},
    }


def _parameters() -> list[dict[str, Any]]:
    profile = {"@id": "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"}
    texts = {
        "inputs": "corpus, prompts, priors and the files of an import",
        "outputs": "schedules, judgments, posteriors, checks, tables, figures and report",
    }
    return [
        {
            "@id": f"#{name}",
            "@type": "FormalParameter",
            "additionalType": "File",
            "conformsTo": profile,
            "name": name,
            "description": text,
            "valueRequired": True,
        }
        for name, text in texts.items()
    ]


def _action(manifest: Mapping[str, Any], parts: list[Part]) -> dict[str, Any]:
    def of(*sections: str) -> list[dict[str, str]]:
        return _refs(identifier(part.name) for part in parts if part.section in sections)

    return {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Run {manifest['run']}",
        "description": f"Python {manifest['python']}, {manifest['platform']}, seed "
        f"{manifest['seed']}, package digest {manifest['code']}",
        "instrument": {"@id": WORKFLOW},
        "object": of("inputs"),
        "result": of("outputs", "records", "manifest"),
        "startTime": manifest["started"],
        "endTime": manifest["ended"],
        "actionStatus": "http://schema.org/CompletedActionStatus",
    }


def _file(part: Part) -> dict[str, Any]:
    described: dict[str, Any] = {
        "@id": identifier(part.name),
        "@type": "File",
        "name": part.name,
        "contentSize": str(part.size),
        "sha256": part.sha256,
        "encodingFormat": _format(part.name),
    }
    parameter = {"inputs": "#inputs", "outputs": "#outputs"}.get(part.section)
    if parameter:
        described["exampleOfWork"] = {"@id": parameter}
    return described


def _format(name: str) -> str:
    """Media type of a file, by its name alone and the same on every machine."""
    suffix = PurePosixPath(name).suffix
    known = FORMATS.get(suffix) or mimetypes.MimeTypes().types_map[True].get(suffix)
    return known or "text/plain"


def _refs(names: Iterable[str]) -> list[dict[str, str]]:
    return [{"@id": name} for name in names]
