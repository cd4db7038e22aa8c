"""What differs between providers, as data: addresses, names of settings, stop reasons, blocks.

A provider that speaks the chat completions protocol is a row of `QUIRKS` and nothing else. All of
it was read from client libraries and documents, so probe a model before trusting a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

_NONE: Mapping[str, Any] = MappingProxyType({})
#: The stop reason, in our words, of an answer that broke off through a fault of the server.
BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class BlockSign:
    """What shows that policy, not a fault, kept an answer back.

    Attributes
    ----------
    status : int
        HTTP status of such a response.
    codes : frozenset of str
        Error codes or types, any of which is enough.
    words : tuple of str
        Words of the message, in lower case, any of which is enough.
    metadata : str
        Key of the error's metadata whose presence is enough.
    """

    status: int
    codes: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class UsagePlaces:
    """Where a response counts its tokens: dotted paths, those of a tuple to be summed."""

    input: tuple[str, ...] = ("usage.prompt_tokens",)
    output: tuple[str, ...] = ("usage.completion_tokens",)
    reasoning: tuple[str, ...] = ("usage.completion_tokens_details.reasoning_tokens",)
    total: str = "usage.total_tokens"


@dataclass(frozen=True, slots=True)
class Quirks:
    """How one provider differs.

    Attributes
    ----------
    base_url : str
        Its address; empty where the judge must give one.
    timeout : float
        Seconds until a request is given up, unless the judge says otherwise.
    names : mapping
        Its names of common settings; a dotted name is a place in a nested mapping.
    always : mapping
        What is sent with every request.
    required : tuple of str
        Common settings without which it refuses a request, or cuts answers in silence.
    forbidden : mapping
        Settings that must not be sent, by name or ``model pattern:name``, each with the reason.
    thinking_off : tuple of (str, mapping or None)
        What switches reasoning off, by pattern of the model; None where nothing does.
    stops : mapping
        Stop reasons in the words of `Reply.stop`, or `BROKEN`; any other is a plain stop.
    blocks : tuple of BlockSign
        Errors that are blocks by policy.
    quota : tuple of str
        Codes and words of a 429 that will not pass by waiting.
    limits : frozenset of (int, str)
        Statuses beside 429 that ask for fewer requests, each with the error's status or code
        (empty: any).
    effective : tuple of str
        Fields of a response that tell what was in effect, the model first.
    usage : UsagePlaces
        Where tokens are counted.
    """

    base_url: str = ""
    timeout: float = 60.0
    names: Mapping[str, str] = _NONE
    always: Mapping[str, Any] = _NONE
    required: tuple[str, ...] = ()
    forbidden: Mapping[str, str] = _NONE
    thinking_off: tuple[tuple[str, Mapping[str, Any] | None], ...] = ()
    stops: Mapping[str, str] = _NONE
    blocks: tuple[BlockSign, ...] = ()
    quota: tuple[str, ...] = ("insufficient_quota", "exceeded your current quota", "billing")
    limits: frozenset[tuple[int, str]] = frozenset()
    effective: tuple[str, ...] = ("model", "provider", "service_tier", "system_fingerprint")
    usage: UsagePlaces = field(default_factory=UsagePlaces)


POLICY = BlockSign(400, frozenset({"invalid_prompt", "content_policy_violation", "content_filter"}))
INSPECTION = BlockSign(400, frozenset({"data_inspection_failed"}))
SAFETY = BlockSign(403, words=("safety_check",))
MODERATION = BlockSign(403, metadata="reasons")
CHAT_STOPS = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "blocked",
    "refusal": "refusal",
    "error": BROKEN,
}
MISTRAL_STOPS = {"model_length": "length"}
DEEPSEEK_STOPS = {"insufficient_system_resource": BROKEN}
ZHIPU_STOPS = {"sensitive": "blocked", "network_error": BROKEN}
THINKING_DISABLED = {"thinking": {"type": "disabled"}}
TEMPLATE_WITHOUT_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}

CHAT = Quirks(stops=CHAT_STOPS, blocks=(POLICY,))
OWN_SERVER = replace(CHAT, timeout=120.0)

#: Quirks by name of the provider.
QUIRKS: Mapping[str, Quirks] = MappingProxyType(
    {
        "openai": replace(
            CHAT,
            base_url="https://api.openai.com/v1",
            # The bound includes reasoning; reasoning models refuse the other name.
            names={"max_tokens": "max_completion_tokens"},
            thinking_off=(("*", {"reasoning_effort": "none"}),),
        ),
        "anthropic": Quirks(
            base_url="https://api.anthropic.com/v1",
            required=("max_tokens",),
            forbidden={"logprobs": "there are none", "seed": "there is none"},
            thinking_off=(("*", THINKING_DISABLED),),
            stops={
                "max_tokens": "length",
                "model_context_window_exceeded": "length",
                "refusal": "refusal",
            },
            blocks=(BlockSign(400, words=("content filtering",)),),
            quota=("credit balance", "billing"),
            effective=("model", "stop_details"),
            usage=UsagePlaces(
                input=(
                    "usage.input_tokens",
                    "usage.cache_creation_input_tokens",
                    "usage.cache_read_input_tokens",
                ),
                output=("usage.output_tokens",),
                reasoning=(),
                total="",
            ),
        ),
        "gemini": Quirks(
            base_url="https://generativelanguage.googleapis.com/v1beta",
            timeout=120.0,
            names={
                "max_tokens": "generationConfig.maxOutputTokens",
                "temperature": "generationConfig.temperature",
                "top_p": "generationConfig.topP",
                "top_k": "generationConfig.topK",
                "seed": "generationConfig.seed",
                "thinking_budget": "generationConfig.thinkingConfig.thinkingBudget",
                "thinking_level": "generationConfig.thinkingConfig.thinkingLevel",
            },
            always={
                "safetySettings": [
                    {"category": f"HARM_CATEGORY_{category}", "threshold": "BLOCK_NONE"}
                    for category in (
                        "HARASSMENT",
                        "HATE_SPEECH",
                        "SEXUALLY_EXPLICIT",
                        "DANGEROUS_CONTENT",
                    )
                ]
            },
            thinking_off=(
                ("*pro*", None),
                ("gemini-2.5*", {"generationConfig.thinkingConfig.thinkingBudget": 0}),
                ("*", None),
            ),
            stops={
                "MAX_TOKENS": "length",
                **dict.fromkeys(
                    (
                        "SAFETY",
                        "PROHIBITED_CONTENT",
                        "BLOCKLIST",
                        "RECITATION",
                        "SPII",
                        "OTHER",
                    ),
                    "blocked",
                ),
            },
            limits=frozenset({(503, "RESOURCE_EXHAUSTED")}),
            effective=("modelVersion", "responseId"),
            usage=UsagePlaces(
                input=("usageMetadata.promptTokenCount",),
                output=("usageMetadata.candidatesTokenCount", "usageMetadata.thoughtsTokenCount"),
                reasoning=("usageMetadata.thoughtsTokenCount",),
                total="",
            ),
        ),
        "xai": replace(
            CHAT, base_url="https://api.x.ai/v1", timeout=600.0, blocks=(POLICY, SAFETY)
        ),
        "deepseek": replace(
            CHAT,
            base_url="https://api.deepseek.com",
            timeout=300.0,
            stops={**CHAT_STOPS, **DEEPSEEK_STOPS},
            thinking_off=(("*", THINKING_DISABLED),),
        ),
        "mistral": replace(
            CHAT,
            base_url="https://api.mistral.ai/v1",
            names={"seed": "random_seed"},
            stops={**CHAT_STOPS, **MISTRAL_STOPS},
        ),
        "moonshot": replace(
            CHAT,
            base_url="https://api.moonshot.ai/v1",
            timeout=300.0,
            forbidden={
                "*thinking*:temperature": "thinking models pin it",
                "kimi-k2.[5-9]*:temperature": "thinking models pin it",
            },
            thinking_off=(("*thinking*", None), ("*", THINKING_DISABLED)),
            limits=frozenset({(503, "")}),
        ),
        "qwen": replace(
            CHAT,
            base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
            blocks=(POLICY, INSPECTION),
            thinking_off=(("*", {"enable_thinking": False}),),
        ),
        "zhipu": replace(
            CHAT,
            base_url="https://open.bigmodel.cn/api/paas/v4",
            names={"max_completion_tokens": "max_tokens"},
            stops={**CHAT_STOPS, **ZHIPU_STOPS},
            thinking_off=(("*", THINKING_DISABLED),),
        ),
        "together": replace(
            CHAT,
            base_url="https://api.together.xyz/v1",
            # Without it, answers are cut at 512 tokens.
            required=("max_tokens",),
            stops={**CHAT_STOPS, "eos": "stop"},
        ),
        "openrouter": replace(
            CHAT,
            base_url="https://openrouter.ai/api/v1",
            required=("provider",),
            forbidden={"models": "another model might answer in silence"},
            blocks=(POLICY, MODERATION),
            thinking_off=(("*", {"reasoning": {"enabled": False}}),),
        ),
        "ollama": replace(
            OWN_SERVER,
            base_url="http://127.0.0.1:11434/v1",
            thinking_off=(("*", {"reasoning_effort": "none"}),),
        ),
        "vllm": replace(
            OWN_SERVER,
            base_url="http://127.0.0.1:8000/v1",
            thinking_off=(("*", TEMPLATE_WITHOUT_THINKING),),
        ),
        "llamacpp": replace(
            OWN_SERVER,
            base_url="http://127.0.0.1:8080/v1",
            thinking_off=(("*", TEMPLATE_WITHOUT_THINKING),),
        ),
        # Whose server it is nobody says, so all that the others say is understood.
        "compatible": replace(
            CHAT,
            stops={**CHAT_STOPS, **MISTRAL_STOPS, **DEEPSEEK_STOPS, **ZHIPU_STOPS},
            blocks=(POLICY, INSPECTION, SAFETY, MODERATION),
            quota=(*CHAT.quota, "credit balance"),
        ),
    }
)
