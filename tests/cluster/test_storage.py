"""The workflow with inputs and results on S3: a server on loopback."""

import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import boto3
import pytest
from small_run import CONFIG, small_project, tables_of
from test_workflow import snakemake

PREFIX = "s3://moral/project"
SERVE = "import sys; from moto.server import main; main(['-H', '127.0.0.1', '-p', sys.argv[1]])"
OUTCOMES = "results/small/tables/outcomes.csv"
#: What the run reads, and what was made of it before: all but answers and what follows from them.
STORED = (
    *("scenarios/tiny.csv", "config/priors", "config/prompts", "config/published.yaml"),
    *("results/small/design", "results/small/truth.nc"),
)


@contextmanager
def serving(port):
    """Serve S3 until the end of the block."""
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-c", SERVE, str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 300
        while not answers(url):
            assert server.poll() is None, "the S3 server stopped"
            assert time.monotonic() < end, "the S3 server does not answer"
            time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait()


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


@pytest.fixture
def bucket(unused_port, monkeypatch):
    """A bucket, and where it is."""
    for name in ("ACCESS_KEY", "SECRET_KEY"):
        monkeypatch.setenv(f"SNAKEMAKE_STORAGE_S3_{name}", "loopback")
    with serving(unused_port) as url:
        keys = {"aws_access_key_id": "loopback", "aws_secret_access_key": "loopback"}
        s3 = boto3.resource("s3", endpoint_url=url, region_name="us-east-1", **keys)
        yield url, s3.create_bucket(Bucket="moral")
        s3.meta.client.close()


def test_inputs_and_results_on_s3_give_the_same_tables(small, bucket, tmp_path):
    url, stored = bucket
    for name in STORED:
        paths = [small / name] if (small / name).is_file() else (small / name).iterdir()
        for path in paths:
            stored.upload_file(str(path), f"project/{path.relative_to(small)}")
    folder = small_project(tmp_path / "project")
    where = ("--default-storage-provider", "s3", "--default-storage-prefix", PREFIX)
    where += ("--storage-s3-endpoint-url", url)
    done = snakemake(folder, *where, *CONFIG, "--", OUTCOMES)
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    made = stored.Object(f"project/{OUTCOMES}").get()["Body"].read()
    assert made == tables_of(small)[OUTCOMES]
    # Answers are never on the way between two places: journals stay where they were written.
    assert len(list((folder / "results/small/journal").glob("*.jsonl"))) == 2
    assert not [each.key for each in stored.objects.all() if "journal" in each.key]
    again = snakemake(folder, *where, *CONFIG, "-n", "--", OUTCOMES)
    assert "Nothing to be done" in again.stdout + again.stderr
