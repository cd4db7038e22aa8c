"""The journal: nothing lost, nothing fused, one writer."""

import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from moralscale.attempts import Attempt, decoded, read_head, short_key
from moralscale.errors import JournalError
from moralscale.journal import open_journal, read_attempts, read_heads
from moralscale.standings import PLAIN, Standing, Standings


def attempt(number, *, error="", again=False, text="A"):
    return Attempt(
        key=hashlib.sha256(str(number).encode()).hexdigest(),
        comparison_id=f"{number:016x}",
        time="2026-01-01T00:00:00.000+00:00",
        budget=1,
        provider="openai",
        model="m",
        endpoint="http://127.0.0.1/v1",
        template="trolley",
        labels=("A", "B"),
        contestants=("s1", "s2", "a", "a"),
        repeat=1,
        system="",
        user="Whom?",
        requested={},
        latency=0.1,
        error=error,
        again=again,
        text=text,
        stop="" if error else "stop",
    )


def test_answers_are_found_again_and_errors_are_not_answers(tmp_path):
    path = tmp_path / "journal" / "judge.jsonl"
    with open_journal(path) as journal:
        journal.append(attempt(1))
        journal.append(attempt(2, error="TransientError"))
        journal.append(attempt(3, again=True))
    with open_journal(path) as journal:
        assert journal.answered(attempt(1).key) == (1, False)
        assert journal.answered(attempt(2).key) is None
        assert journal.answered(attempt(3).key) == (1, True)
        assert len(journal) == 2
    assert [record["comparison_id"][-1] for record in read_attempts(path)] == ["1", "2", "3"]


NASTY = 'm","error":"","budget":9,"comparison_id":"\\" \n\u00e9'


@pytest.mark.parametrize("change", [{}, {"model": NASTY}, {"user": NASTY}, {"again": True}])
@pytest.mark.parametrize("usage", [(0, 0, 0), (90, 3, 2), (2**31 - 1, 1, 1)])
def test_head_is_that_of_the_decoded_line(change, usage):
    one = replace(attempt(1), usage=usage, budget=4, **change)
    line = one.line()
    plain = json.dumps(json.loads(line)).encode() + b"\n"
    # Without its checksum at the end, a line is decoded as a whole.
    assert read_head(line) == read_head(plain) == (short_key(one.key), one.head())


def test_a_line_that_was_edited_counts_if_it_is_whole(tmp_path):
    path = tmp_path / "judge.jsonl"
    record = json.loads(attempt(1).line()) | {"error": "Removed"}
    path.write_bytes(json.dumps(record).encode() + b"\n" + attempt(2).line())
    with open_journal(path) as journal:
        assert journal.answered(attempt(1).key) is None
        assert journal.answered(attempt(2).key) == PLAIN


def test_every_damage_to_a_line_is_seen():
    """One flipped bit anywhere, or the end of one line with the start of another."""
    line = attempt(1).line()
    for place in range(0, len(line) - 1):
        damaged = line[:place] + bytes([line[place] ^ 0x10]) + line[place + 1 :]
        found = read_head(damaged)
        assert found is None or decoded(damaged) is not None
    assert read_head(line[:200] + line) is None
    assert read_head(line[:-1] + line) is None
    assert read_head(b"\0" * 4096 + b"\n") is None


def test_index_of_many_keys():
    index, known = Standings(), {}
    for n in range(300):
        # Bytes that are 0 at either end are bytes like any other.
        key = bytes([n % 7, 0]) + n.to_bytes(8, "big") + bytes([n % 3] * 6)
        known[key] = Standing(4, False) if n % 50 == 0 else PLAIN
        index.note(key, known[key])
        if n % 90 == 0:
            assert len(index) == len(known)
    assert all(index.of(key) == standing for key, standing in known.items())
    assert index.of(b"\xff" * 16) is None
    changed = next(key for key in known if known[key] == PLAIN)
    index.note(changed, Standing(1, True))
    index.note(changed, Standing(4, False))
    assert index.of(changed) == Standing(4, False)
    assert len(index) == 300


def test_tokens_of_all_attempts_are_summed(tmp_path):
    path = tmp_path / "judge.jsonl"
    with open_journal(path) as journal:
        journal.append(replace(attempt(1), usage=(90, 3, 0)))
        journal.append(replace(attempt(1, again=True), usage=(90, 8, 8)))
        journal.append(replace(attempt(2, error="TransientError")))
        journal.append(replace(attempt(3), usage=(50, 1, 0), transport="batch"))
        live = list(journal.used)
    with open_journal(path) as journal:
        assert list(journal.used) == live
        assert journal.used.answers == 3
    assert {(model, kind): (u.input, u.output, u.reasoning) for model, kind, u in live} == {
        ("m", "live"): (180, 11, 8),
        ("m", "batch"): (50, 1, 0),
    }
    assert len(list(read_heads(path))) == 4


@pytest.mark.parametrize("kept", [1, 40, -2])
def test_torn_tail_is_moved_aside(tmp_path, kept):
    path = tmp_path / "judge.jsonl"
    whole, torn = attempt(1).line(), attempt(2).line()[:kept]
    path.write_bytes(whole + torn)
    with open_journal(path) as journal:
        assert len(journal) == 1
        journal.append(attempt(3))
    assert path.read_bytes() == whole + attempt(3).line()
    assert (tmp_path / "judge.jsonl.torn").read_bytes() == torn + b"\n"


def test_missing_newline_is_added(tmp_path):
    path = tmp_path / "judge.jsonl"
    path.write_bytes(attempt(1).line() + attempt(2).line().rstrip(b"\n"))
    with open_journal(path) as journal:
        assert len(journal) == 2
        journal.append(attempt(3))
    assert len(list(read_attempts(path))) == 3
    assert not (tmp_path / "judge.jsonl.torn").exists()


def test_tail_longer_than_a_block_is_found(tmp_path):
    path = tmp_path / "judge.jsonl"
    torn = attempt(2, text="x" * 400_000).line()[:-10]
    path.write_bytes(attempt(1).line() + torn)
    with open_journal(path) as journal:
        assert len(journal) == 1
    assert path.read_bytes() == attempt(1).line()


@pytest.mark.parametrize(
    "damage",
    [
        b"not json\n",
        b"\n",
        b"[]\n",
        b'{"key":"zz"}\n',
        attempt(1).line().replace(b'"key"', b'"kex"'),
        attempt(1).line().replace(attempt(1).key.encode(), b"z" * 64),
    ],
)
def test_damaged_line_is_named(tmp_path, damage):
    path = tmp_path / "judge.jsonl"
    content = attempt(1).line() + damage + attempt(2).line()
    path.write_bytes(content)
    with pytest.raises(JournalError, match=r"judge\.jsonl, line 2: not a line of a journal"):
        with open_journal(path):
            pass
    assert path.read_bytes() == content


def test_unfinished_line_is_not_read(tmp_path):
    path = tmp_path / "judge.jsonl"
    path.write_bytes(attempt(1).line() + b'{"key"')
    assert len(list(read_attempts(path))) == 1
    assert list(read_attempts(tmp_path / "none.jsonl")) == []


def test_no_text_breaks_a_line(tmp_path):
    path = tmp_path / "judge.jsonl"
    text = "a\nb\r\u2028\x85\x1c Ⓑ \ud800"
    with open_journal(path) as journal:
        journal.append(attempt(1, text=text))
    assert path.read_bytes().count(b"\n") == 1
    assert next(read_attempts(path))["text"] == text


def _try_to_open(path, results):
    try:
        with open_journal(path):
            results.put("opened")
    except JournalError as error:
        results.put(str(error))


def test_second_writer_is_told_who_holds_the_lock(tmp_path):
    path = tmp_path / "judge.jsonl"
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    with open_journal(path) as journal:
        journal.append(attempt(1))
        other = context.Process(target=_try_to_open, args=(path, results))
        other.start()
        told = results.get(timeout=300)
        other.join()
    assert f"process {os.getpid()} on" in told
    with open_journal(path) as journal:
        assert len(journal) == 1


def test_lock_of_a_killed_process_is_free(tmp_path):
    path = tmp_path / "judge.jsonl"
    code = (
        "import sys, time\n"
        "from moralscale.journal import open_journal\n"
        f"with open_journal({str(path)!r}):\n"
        "    print('open', flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"open\n"
        process.kill()
    with open_journal(path) as journal:
        journal.append(attempt(1))


def test_failed_write_leaves_no_half_line(tmp_path):
    path = tmp_path / "judge.jsonl"
    code = (
        "import resource, signal, sys\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from test_journal import attempt\n"
        "from moralscale.errors import JournalError\n"
        "from moralscale.journal import open_journal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with open_journal(sys.argv[1]) as journal:\n"
        "    journal.append(attempt(1))\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "    try:\n"
        "        journal.append(attempt(2))\n"
        "    except JournalError as error:\n"
        "        print(error)\n"
    )
    command = [sys.executable, "-c", code, str(path), os.path.dirname(__file__)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "cannot write" in told
    assert path.read_bytes() == attempt(1).line()


@pytest.mark.parametrize("taken", ["judge.jsonl", "judge.jsonl.lock"])
def test_a_folder_in_place_of_a_file_is_told(tmp_path, taken):
    (tmp_path / taken).mkdir()
    with pytest.raises(JournalError, match=rf"{taken}: .* Is a directory; make this file"):
        with open_journal(tmp_path / "judge.jsonl"):
            pass


def test_a_file_in_place_of_the_folder_is_told(tmp_path):
    (tmp_path / "journal").write_text("")
    with pytest.raises(JournalError, match=r"journal: .* File exists; make this file"):
        with open_journal(tmp_path / "journal" / "judge.jsonl"):
            pass


def test_a_journal_that_is_a_folder_cannot_be_read(tmp_path):
    with pytest.raises(JournalError, match="Is a directory"):
        list(read_attempts(tmp_path))


def test_errors_of_the_job_are_not_those_of_the_journal(tmp_path):
    with pytest.raises(FileNotFoundError):
        with open_journal(tmp_path / "judge.jsonl"):
            (tmp_path / "none").read_bytes()


def test_line_is_plain_json():
    record = json.loads(attempt(1).line())
    assert record["contestants"] == ["s1", "s2", "a", "a"]
    assert record["usage"] == [0, 0, 0]
