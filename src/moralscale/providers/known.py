"""Every provider's quirks, a row each.

A provider that speaks the chat completions protocol is a row of `QUIRKS` and nothing else. All of
it was read from client libraries and documents, so probe a model before trusting a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from moralscale.providers.quirks import BROKEN, BlockSign, Quirks, UsagePlaces

POLICY = BlockSign(400, frozenset({"invalid_prompt", "content_policy_violation", "content_filter"}))
INSPECTION = BlockSign(400, frozenset({"data_inspection_failed"}))
SENSITIVE = BlockSign(400, frozenset({"1300", "1301"}))
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
            blocks=(POLICY, SENSITIVE),
            quota=(*CHAT.quota, "arrears", "\u6b20\u8d39", "\u4f59\u989d\u4e0d\u8db3"),
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
