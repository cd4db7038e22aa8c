"""Three real judges side by side: one answers, one's key is refused, one's budget is spent."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest
import yaml

from moralscale.journal import read_attempts

ROOT = Path(__file__).parents[2]


class Provider(BaseHTTPRequestHandler):
    """Answers `A` to everyone whose key is good."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar = Counter()

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked[request["model"]] += 1
        good = self.headers["authorization"] == "Bearer sk-good"
        answer = {
            "choices": [{"finish_reason": "stop", "message": {"content": "A"}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        }
        body = json.dumps(answer if good else {"error": {"message": "no such key"}}).encode()
        self.send_response(200 if good else 401)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def address():
    with ThreadingHTTPServer(("127.0.0.1", 0), Provider) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


@pytest.fixture
def project(tmp_path, address):
    for name in ("config", "scenarios", "workflow"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("Snakefile", "environment.yml"):
        shutil.copy(ROOT / name, tmp_path)
    write = {
        "config/three.yaml": {
            "runs": {"three": {"judges": ["fine", "locked-out", "dear"]}},
            "judges_file": "config/three-judges.yaml",
            "prices_file": "config/three-prices.yaml",
            "design": {"judgments": {"single": 240, "composite": 180, "bridge": 0}},
            "fits": {"data": ["study"]},
        },
        "config/three-judges.yaml": {
            name: {
                "provider": "compatible",
                "model": name,
                "base_url": address,
                "api_key_env": f"KEY_{n}",
            }
            for n, name in enumerate(["fine", "locked-out", "dear"])
        },
        # An answer takes 100 tokens in and 10 out: 0.002 USD.
        "config/three-prices.yaml": {
            "models": {"dear": {"input": 10, "output": 100, "read": "2026-11-30", "source": "-"}}
        },
    }
    write["config/three-judges.yaml"]["dear"]["budget"] = 0.03
    for name, content in write.items():
        (tmp_path / name).write_text(yaml.safe_dump(content).replace("'2026-11-30'", "2026-11-30"))
    return tmp_path


def snakemake(folder, keys):
    target = "results/three/tables/outcomes.csv"
    arguments = [target, "--cores", "2", "--keep-going", "--configfile", "config/three.yaml"]
    command = [sys.executable, "-m", "snakemake", *arguments]
    keys = {f"KEY_{n}": key for n, key in enumerate(keys)}
    environment = os.environ | keys
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done, {
        path.stem.removeprefix("collect-"): path.read_text()
        for path in (folder / "results/three/logs").glob("collect-*.log")
    }


def test_one_judge_stops_and_the_others_go_on(project):
    Provider.asked.clear()
    done, logs = snakemake(project, ["sk-good", "sk-bad", "sk-good"])
    assert done.returncode != 0
    assert logs, done.stderr
    results = project / "results/three"
    assert [path.stem for path in (results / "judgments/shards").iterdir()] == ["fine"]
    table = pd.read_parquet(results / "judgments/shards/fine.parquet")
    assert (table["outcome"] == "first").all()
    told = "HTTP 401: no such key; check the key in KEY_1"
    assert logs["locked-out"].splitlines()[-1].endswith(told)
    assert "of the budget of 0.03 USD for this judge" in logs["dear"].splitlines()[-1]
    assert "sk-" not in "".join(logs.values()) + done.stderr
    paid = len(list(read_attempts(results / "journal/dear.jsonl")))
    assert Provider.asked == {"fine": 140, "locked-out": 1, "dear": paid}
    assert 0 < paid <= 15

    judges = project / "config/three-judges.yaml"
    judges.write_text(judges.read_text().replace("budget: 0.03", "budget: 0.5"))
    done, _ = snakemake(project, ["sk-good"] * 3)
    assert done.returncode == 0, done.stderr[-3000:]
    assert Provider.asked == {"fine": 140, "locked-out": 141, "dear": 140}
    outcomes = pd.read_csv(results / "tables/outcomes.csv")
    assert outcomes.groupby("arena")["valid"].sum().to_dict() == {"single": 240, "composite": 180}
