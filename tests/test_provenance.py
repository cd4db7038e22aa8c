"""Manifests, their verification, and archives: research objects that anybody can check."""

import json
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from moralscale.attempts import Attempt
from moralscale.cli.main import make_app
from moralscale.errors import ProvenanceError
from moralscale.journal import open_journal, read_attempts
from moralscale.manifest import git_state
from moralscale.provenance import archive_run, verify
from moralscale.provenance.describing import write_manifest

SAID = "what the provider said"
INPUTS = ("scenarios/scenes.csv", "config/priors/default.yaml")
OUTPUTS = (
    "judgments/judgments.parquet",
    "fits/bridged/compressed/default/posterior.nc",
    "tables/beta.csv",
    "figures/bridged/compressed/default/beta.simulated.pdf",
    "numbers/beta.tex",
    "checks/bridged/compressed/default/passed.txt",
    "probe.json",
)
WORKFLOW = ("workflow/Snakefile", "workflow/rules/fit.smk", "Snakefile", "requirements.lock")
RUN = "results/quick"


def attempt(number):
    return Attempt(
        key=f"{number:064x}",
        comparison_id=f"{number:016x}",
        time="2026-11-30T00:00:00.000+00:00",
        budget=1,
        provider="openai",
        model="m-1",
        endpoint="here",
        template="trolley",
        labels=("A", "B"),
        contestants=("x", "y", "a", "a"),
        repeat=1,
        system="",
        user="Which?",
        requested={},
        latency=0.5,
        stop="stop",
        text=SAID,
        raw={"choices": [SAID]},
    )


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def describe(folder, run="quick"):
    """Write the manifest of the run in a folder."""
    patch = pytest.MonkeyPatch()
    with patch.context() as here:
        here.chdir(folder)
        files = [*INPUTS, *(f"{RUN}/{name}" for name in OUTPUTS if "numbers" not in name)]
        write_manifest(
            f"{RUN}/manifest.json",
            [*files, f"{RUN}/numbers"],
            run=run,
            origin="live",
            config={"seed": 7},
            workflow=Path.cwd(),
        )


@pytest.fixture
def project(tmp_path):
    """A finished run, as small as can be: every kind of file that a run has."""
    folder = tmp_path / "project"
    for name in (*INPUTS, *WORKFLOW, *(f"{RUN}/{name}" for name in OUTPUTS)):
        write(folder / name, f"This is {name}.\n".encode())
    write(folder / RUN / "probe.json", json.dumps([{"judge": "j", "text": SAID}]).encode())
    write(folder / RUN / "logs/fit.log", b"sampled\n")
    write(folder / RUN / "logs/collect-j.log", SAID.encode())
    with open_journal(folder / RUN / "journal/j.jsonl") as journal:
        for number in range(3):
            journal.append(attempt(number))
    describe(folder)
    return folder


def flip(path, place=0.5):
    """Flip one bit of a byte of a file."""
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 1
    path.write_bytes(content)


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_finished_run_is_as_its_manifest_says(project):
    found = verify(project / RUN)
    assert found.passed
    assert found.checked == len(INPUTS) + len(OUTPUTS) + len(WORKFLOW) + 3
    manifest = json.loads((project / RUN / "manifest.json").read_text())
    assert manifest["seed"] == 7
    assert manifest["probe"] == [{"judge": "j"}]
    assert set(manifest["inputs"]) == set(INPUTS)
    assert set(manifest["workflow"]) == set(WORKFLOW)


def test_one_flipped_byte_is_caught_in_any_file_of_a_run(project):
    for path in files_of(project):
        if path.suffix == ".lock" and "journal" in path.parts:
            continue  # holds nothing but who writes now
        before = path.read_bytes()
        flip(path)
        if path.name == "manifest.json":
            with pytest.raises(ProvenanceError, match="manifest itself"):
                verify(project / RUN)
        else:
            assert verify(project / RUN).changed == (str(path.relative_to(project)),)
        path.write_bytes(before)
    assert verify(project / RUN).passed


def test_any_byte_of_the_manifest_itself_counts(project):
    path = project / RUN / "manifest.json"
    content = path.read_bytes()
    # A blank for a blank changes nothing that JSON says.
    for old, new in ((b"\n ", b"\n\t"), (b'"seed": 7', b'"seed": 8'), (b"}\n", b"} ")):
        path.write_bytes(content.replace(old, new, 1))
        with pytest.raises(ProvenanceError, match="manifest itself"):
            verify(project / RUN)


def test_what_is_gone_or_was_put_there_is_named(project):
    (project / RUN / "tables/beta.csv").unlink()
    write(project / RUN / "tables/gamma.csv", b"")
    (project / INPUTS[0]).unlink()
    found = verify(project / RUN)
    assert not found.passed
    assert found.missing == (f"{RUN}/tables/beta.csv",)
    assert found.unlisted == (f"{RUN}/tables/gamma.csv",)
    assert found.elsewhere == (INPUTS[0],)


def test_a_run_that_was_moved_away_alone_is_verified_without_its_inputs(project, tmp_path):
    moved = shutil.copytree(project / RUN, tmp_path / "a/b/renamed")
    found = verify(moved)
    assert found.passed
    assert set(found.elsewhere) == {*INPUTS, *WORKFLOW}


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_an_archive_can_be_verified_packed_and_unpacked(project, tmp_path, kind):
    packed, again = tmp_path / f"one.{kind}", tmp_path / f"two.{kind}"
    number = archive_run(project / RUN, packed)
    archive_run(project / RUN, again)
    assert packed.read_bytes() == again.read_bytes()
    assert verify(packed).passed
    shutil.unpack_archive(packed, tmp_path / "there", filter=None if kind == "zip" else "data")
    there = tmp_path / "there"
    assert len(files_of(there)) == number
    assert verify(there).passed
    assert verify(there / RUN).passed
    said = subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=there, check=False)
    assert said.returncode == 0
    for path in files_of(there):
        before = path.read_bytes()
        flip(path, 0.3)
        try:
            assert not verify(there).passed
        except ProvenanceError:
            assert path.name in {"manifest.json", "SHA256SUMS"}
        path.write_bytes(before)


def test_an_archive_without_raw_text_holds_no_word_of_a_provider(project, tmp_path):
    packed = tmp_path / "quick.tar"
    archive_run(project / RUN, packed, raw=False)
    assert SAID.encode() not in packed.read_bytes()
    assert verify(packed).passed
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path / "there", filter="data")
    journal = tmp_path / "there" / RUN / "journal/j.without-raw.jsonl"
    assert not journal.with_name("j.jsonl").exists()
    kept = list(read_attempts(journal))
    assert [each["key"] for each in kept] == [f"{number:064x}" for number in range(3)]
    assert all(each["user"] == "Which?" for each in kept)
    flip(journal)
    assert verify(tmp_path / "there" / RUN).changed == (f"{RUN}/journal/j.without-raw.jsonl",)


def test_nothing_is_packed_that_is_not_what_the_manifest_says(project, tmp_path):
    flip(project / RUN / "tables/beta.csv")
    with pytest.raises(ProvenanceError, match=r"beta\.csv"):
        archive_run(project / RUN, tmp_path / "quick.zip")
    with pytest.raises(ProvenanceError, match="unknown kind of archive"):
        archive_run(project / RUN, tmp_path / "quick.rar")
    with pytest.raises(ProvenanceError, match="is no URL"):
        archive_run(project / RUN, tmp_path / "quick.zip", licence="CC BY")
    assert not list(tmp_path.glob("*quick*"))


def test_an_archive_is_a_workflow_run_crate(project, tmp_path):
    archive_run(project / RUN, tmp_path / "quick.zip")
    with zipfile.ZipFile(tmp_path / "quick.zip") as packed:
        crate = json.loads(packed.read("ro-crate-metadata.json"))
        names = set(packed.namelist())
    graph = {entity["@id"]: entity for entity in crate["@graph"]}
    assert len(graph) == len(crate["@graph"])
    root, action = graph["./"], graph["#run"]
    parts = {part["@id"] for part in root["hasPart"]}
    assert parts == names - {"ro-crate-metadata.json", "SHA256SUMS"}
    assert "ComputationalWorkflow" in graph[root["mainEntity"]["@id"]]["@type"]
    assert action["instrument"] == root["mainEntity"]
    assert {each["@id"] for each in action["object"]} == set(INPUTS)
    assert f"{RUN}/tables/beta.csv" in {each["@id"] for each in action["result"]}
    for entity in crate["@graph"]:
        for reference in re.findall(r'\{"@id": "([^"]+)"\}', json.dumps(entity)):
            assert reference in graph or reference.startswith("https://")
    for name in parts:
        assert {"sha256", "contentSize", "encodingFormat"} <= graph[name].keys()


def test_inputs_from_outside_the_project_go_into_the_archive(project, tmp_path):
    outside = tmp_path / "votes.csv"
    outside.write_text("theirs")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(project)
        files = [str(outside), *(f"{RUN}/{name}" for name in OUTPUTS)]
        how = {"run": "quick", "origin": "imported", "config": {}, "workflow": project}
        write_manifest(f"{RUN}/manifest.json", files, **how)
    archive_run(project / RUN, tmp_path / "quick.zip")
    with zipfile.ZipFile(tmp_path / "quick.zip") as packed:
        (name,) = (name for name in packed.namelist() if name.endswith("votes.csv"))
        assert name.startswith("elsewhere/")
        assert packed.read(name) == b"theirs"
    outside.unlink()
    assert verify(tmp_path / "quick.zip").passed


def test_the_commit_of_the_workflow_is_kept(tmp_path):
    assert git_state(tmp_path) is None
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    (tmp_path / "a").write_text("1")
    for words in (["init", "-q"], ["add", "a"], [*who, "commit", "-q", "-m", "one"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    state = git_state(tmp_path)
    assert re.fullmatch("[0-9a-f]{40}", state["commit"])
    assert not state["changed"]
    (tmp_path / "a").write_text("2")
    assert git_state(tmp_path)["changed"]


def test_the_commands_say_what_was_found_and_end_with_2_on_a_mismatch(project, tmp_path):
    def run(*words):
        return CliRunner().invoke(make_app(), list(map(str, words)))

    done = run("verify", project / RUN)
    assert done.exit_code == 0
    assert "files are as the manifest says" in done.stdout
    done = run("archive", project / RUN, "--out", tmp_path / "out/quick.zip", "--without-raw")
    assert done.exit_code == 0
    assert verify(tmp_path / "out/quick.zip").passed
    flip(project / RUN / "tables/beta.csv")
    done = run("verify", project / RUN)
    assert f"changed    {RUN}/tables/beta.csv" in done.stdout
    assert isinstance(done.exception, ProvenanceError)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip", b"plain text"])
def test_what_is_no_archive_is_an_error_in_one_line(tmp_path, content):
    path = tmp_path / "quick.zip"
    path.write_bytes(content)
    with pytest.raises(ProvenanceError, match="not an archive"):
        verify(path)
    with pytest.raises(ProvenanceError, match="no such file"):
        verify(tmp_path / "nowhere")
    with pytest.raises(ProvenanceError, match="no manifest"):
        verify(tmp_path)
