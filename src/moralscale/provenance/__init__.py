"""What a third party can check: manifests, their verification, archives."""

from moralscale.provenance.archive import archive_run
from moralscale.provenance.verifying import Verification, verify

__all__ = ["Verification", "archive_run", "verify"]
