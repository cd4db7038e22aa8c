"""Real judges, as in ``config/judges.yaml``."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from moralscale.config.section import Positive, Section


def _sendable(settings: dict[str, Any]) -> dict[str, Any]:
    for name, value in settings.items():
        try:
            json.dumps({name: value}, allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError):
            what = f"'{name}' cannot be sent; use texts, finite numbers, and lists of such"
            raise ValueError(what) from None
    return settings


def _off(value: Any) -> Any:
    # YAML reads `off` without quotes as false.
    return "off" if value is False else value


def _without_blanks(model: str) -> str:
    if model != "".join(model.split()) or not model.isprintable():
        raise ValueError("a name of a model holds no blanks; write it as its provider does")
    return model


class Judge(Section):
    """One real judge, as in ``config/judges.yaml``."""

    provider: Literal[
        "openai",
        "anthropic",
        "gemini",
        "xai",
        "deepseek",
        "mistral",
        "moonshot",
        "qwen",
        "zhipu",
        "together",
        "openrouter",
        "ollama",
        "vllm",
        "llamacpp",
        "compatible",
        "local",
    ] = Field(
        description="Whose protocol and habits (docs/protocol.md). `compatible`: any other server "
        "that speaks the chat completions protocol. `local`: a llama.cpp server that the run "
        "starts on loopback."
    )
    model: Annotated[str, AfterValidator(_without_blanks)] = Field(
        min_length=1, description="The provider's name of the model."
    )
    base_url: str = Field(
        "",
        description="Address of the API, up to and including its version; empty for the "
        "provider's own.",
    )
    api_key_env: str = Field(
        "",
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$",
        description="Environment variable that holds the key; empty where none is needed.",
    )
    settings: Annotated[dict[str, Any], AfterValidator(_sendable)] = Field(
        default={},
        description="Sampling settings (temperature, max_tokens, seed...). Common names are put "
        "into the provider's own, others are sent as they are.",
    )
    thinking: Annotated[Literal["default", "off"], BeforeValidator(_off)] = Field(
        "default", description="`off` asks the provider to answer without reasoning first."
    )
    transport: Literal["live", "batch"] = Field(
        "live",
        description="`batch`: the batch interface of OpenAI or Anthropic, at half the price and "
        "within a day.",
    )
    concurrency: int = Field(8, ge=1, le=512, description="Most requests in flight at once.")
    requests_per_minute: int | None = Field(
        None, ge=1, description="Most requests a minute; `null` for no bound."
    )
    tokens_per_minute: int | None = Field(
        None, ge=1, description="Most tokens a minute, in and out; `null` for no bound."
    )
    budget: float | None = Field(
        None, gt=0, description="Most that this judge may cost in a run, USD; `null` for no bound."
    )
    reasoning_tokens: int = Field(
        0, ge=0, description="Reasoning tokens to reckon with for each judgment in the estimate."
    )
    timeout: Positive | None = Field(
        None, description="Seconds until a request is given up; `null` for the provider's default."
    )
    tries: int = Field(6, ge=1, le=50, description="Tries of one request, the first included.")
    unanswered: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Largest share of comparisons that may stay without an answer before the "
        "judge's job fails.",
    )
