"""Whether the program under test is another machine's, which scripts/aarch64 has run emulated."""
import os
import pathlib
import platform

import pytest

from traces import ROOT


def find_program():
    """VIEW_PROFILE, or what was built here."""
    named = os.environ.get("VIEW_PROFILE")
    if named:
        return pathlib.Path(named).resolve()
    for build in ("asan", "dev"):
        path = ROOT / "build" / build / "view_profile"
        if path.exists():
            return path
    raise pytest.UsageError("no view_profile: build it, or name it in VIEW_PROFILE")


def is_emulated():
    head = find_program().open("rb").read(20)
    return int.from_bytes(head[18:20], "little") == 0xB7 and platform.machine() != "aarch64"  # EM_AARCH64


def not_emulated(why):
    """Leaves the test out where the program is emulated."""
    if is_emulated():
        pytest.skip(f"SKIPPED: emulated, {why}")
