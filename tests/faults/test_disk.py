"""A full disk and a read-only one: nothing is lost, the cause is named, it goes on when there is room."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .world import mounts_allowed

pytestmark = pytest.mark.faults
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("case", ["full", "read-only", "crashed", "forgetting", "inodes", "no-inodes"])
def test_nc_43_a_full_and_a_read_only_disk(tmp_path: Path, case: str) -> None:
    """NC-43."""
    if not mounts_allowed():
        if os.environ.get("CI"):
            pytest.fail("this machine allows no mount namespace: run CI as root, or with CAP_SYS_ADMIN")
        pytest.skip("NOT TESTED: full and read-only disks need a mount namespace of their own (run as root)")
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-m", "tests.faults.mounted", case, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
