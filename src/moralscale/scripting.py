"""What every script of the workflow does around its one call."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moralscale.errors import MoralscaleError

#: Exit code of an error that a user can mend.
USER_ERROR = 2
#: Exit code of a job that was interrupted, as shells give it.
INTERRUPTED = 130


@contextmanager
def job(log: str | Path | None = None) -> Iterator[None]:
    """Log to a file and to standard error; end a user's error in one line.

    Parameters
    ----------
    log : path, optional
        The job's log file.

    Raises
    ------
    SystemExit
        With code 2, after a `MoralscaleError`; with 130, after an interrupt.
    """
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if log is not None:
        Path(log).parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(log, mode="w", encoding="utf-8"))
    logger = logging.getLogger("moralscale")
    logger.setLevel(logging.INFO)
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
    try:
        yield
    except MoralscaleError as error:
        logger.error("error: %s", error)
        sys.exit(USER_ERROR)
    except KeyboardInterrupt:
        logger.error("interrupted: what was answered is kept; run the same command again")
        sys.exit(INTERRUPTED)
    finally:
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()
