"""Which failures are worth another try, and how to mend those that are not."""

from __future__ import annotations

from typing import Any

from moralscale.errors import ProviderError
from moralscale.providers.base import Response, WirePermanentError, WireTransientError
from moralscale.providers.quirks import BlockSign, Quirks

#: Statuses that pass by themselves; every 5xx does too.
PASSING = frozenset({408, 409, 429})
#: Keys of a body that holds an answer.
_ANSWERS = frozenset({"choices", "candidates", "promptFeedback", "content"})
#: Longest message of a provider that is shown.
SHOWN = 400
#: Settings of reasoning, as messages name them.
THINKING = ("reasoning_effort", "thinking_budget", "thinkingbudget", "enable_thinking", "thinking")


def is_block(response: Response, quirks: Quirks) -> bool:
    """Whether a response says that policy, not a fault, keeps the answer back."""
    error = error_of(response.body)
    if not error:
        return False
    status = _effective_status(response, quirks)
    return any(sign.status == status and _shows(sign, error) for sign in quirks.blocks)


def _shows(sign: BlockSign, error: dict[str, Any]) -> bool:
    inner, metadata = error.get("innererror"), error.get("metadata")
    codes = {error.get("code"), error.get("type")}
    codes.add(inner.get("code") if isinstance(inner, dict) else None)
    words = f"{error.get('message', '')} {error.get('code', '')}".lower()
    return (
        not sign.codes.isdisjoint(code for code in codes if isinstance(code, str))
        or any(word in words for word in sign.words)
        or (isinstance(metadata, dict) and sign.metadata in metadata)
    )


def fault(response: Response, quirks: Quirks, *, where: str, key_name: str = "") -> ProviderError:
    """Turn a response that holds no answer into an error.

    Parameters
    ----------
    response : Response
        What came; for a status of 200 its ``error.code`` counts as the status.
    quirks : Quirks
        The provider's words for a spent quota and for too many requests.
    where : str
        Judge and address, for the message.
    key_name : str, optional
        Environment variable that holds the key.

    Returns
    -------
    ProviderError
        Transient for 408, 409, 429 (but for a spent quota), 5xx, and a success that says nothing;
        otherwise permanent.
    """
    status = _effective_status(response, quirks)
    message = message_of(response.body)
    if _says_nothing(response, status):
        what = f"HTTP {response.status} without an answer (no choices)"
        mend = "check base_url and model"
        return WireTransientError(what, where=where, mend=mend, response=response)
    what = f"HTTP {response.status}: {message[:SHOWN]}" if message else f"HTTP {response.status}"
    spent = _is_spent(response, status, quirks)
    if (status in PASSING or status >= 500) and not spent and not response.final:
        limited = _is_limit(response, status, quirks)
        return WireTransientError(what, where=where, response=response, rate_limited=limited)
    mend = _mend(402 if spent else status, message, key_name)
    return WirePermanentError(what, where=where, mend=mend, response=response)


def _is_spent(response: Response, status: int, quirks: Quirks) -> bool:
    """Whether the account has nothing left, which waiting does not mend."""
    words = _haystack(response.body)
    return status in (400, 402, 403, 429) and any(word in words for word in quirks.quota)


def _is_limit(response: Response, status: int, quirks: Quirks) -> bool:
    error = error_of(response.body)
    told = {"", str(error.get("status", "")), str(error.get("code", ""))}
    return status == 429 or any((status, word) in quirks.limits for word in told)


def error_of(body: Any) -> dict[str, Any]:
    """Find the error object of a response body, in any of its shapes; empty where there is none."""
    if not isinstance(body, dict):
        return {}
    error = body.get("error")
    if isinstance(error, dict):
        return error
    if isinstance(error, str):
        return {**body, "message": error}
    return {} if _ANSWERS & body.keys() else body


def message_of(body: Any) -> str:
    """Return the provider's own message on one line; empty where it sent none."""
    if isinstance(body, str):
        return " ".join(body.split())
    error = error_of(body)
    for name in ("message", "detail", "msg"):
        if error.get(name):
            return " ".join(str(error[name]).split())
    return ""


def _effective_status(response: Response, quirks: Quirks) -> int:
    if response.status != 200:
        return response.status
    error = error_of(response.body)
    for code in (error.get("code"), error.get("status")):
        if str(code).isdigit() and 400 <= int(str(code)) <= 599:
            return int(str(code))
    words = _haystack(response.body)
    if any(word in words for word in quirks.quota):
        return 402
    return 400 if "invalid" in words or "not_found" in words else 503


def _says_nothing(response: Response, status: int) -> bool:
    """Whether a success holds neither an answer nor a word on why there is none."""
    if response.status == 200:
        return status == 503 and not message_of(response.body)
    return 200 < response.status < 300 and not response.body


def _haystack(body: Any) -> str:
    error = error_of(body)
    return " ".join(str(error.get(name, "")) for name in ("code", "type", "message")).lower()


def _mend(status: int, message: str, key_name: str) -> str:
    lower = message.lower()
    if status == 401:
        return (
            f"check the key in {key_name}" if key_name else "name the key's variable: api_key_env"
        )
    if status == 402:
        return "top up the account or raise its limit, then run again: answers so far are kept"
    if status == 403:
        return "check that the key may use this model"
    if status == 404:
        return "check `model` and `base_url` of the judge"
    if 300 <= status < 400:
        return "set `base_url` to the final address: redirects are not followed"
    if "max_completion_tokens" in lower:
        return "use `max_completion_tokens` in place of `max_tokens` in the judge's settings"
    for name in ("temperature", "top_p", "top_k", "max_tokens", "seed", *THINKING):
        if name in lower:
            return f"change or remove `{name}` in the judge's settings"
    return "change the judge's settings"
