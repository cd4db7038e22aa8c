"""What every script of the workflow does around its one call."""

from __future__ import annotations

import errno
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
#: What the system says where nothing more can be written, or nothing at all.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


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
        With code 2, after a `MoralscaleError` or where the disk is full or may not be written;
        with 130, after an interrupt.
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
    except OSError as error:
        if error.errno not in _NO_ROOM + _FORBIDDEN:
            raise
        logger.error("error: %s", of_system(error))
        sys.exit(USER_ERROR)
    except KeyboardInterrupt:
        logger.error("interrupted: what was answered is kept; run the same command again")
        sys.exit(INTERRUPTED)
    finally:
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


def of_system(error: OSError) -> MoralscaleError:
    """Put what the operating system refused into a user's error."""
    mend = "check the path"
    if error.errno in _NO_ROOM:
        mend = "make room, then run the same command again"
    elif error.errno in _FORBIDDEN:
        mend = "give write permission, or name a folder elsewhere"
    where = str(error.filename or "output")
    return MoralscaleError(error.strerror or str(error), where=where, mend=mend)
