"""The program under test: whether it is another machine's, which scripts/aarch64 has run emulated, and the one beside it
that no sanitizer watches."""
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


def find_plain():
    """For figures of memory, of which a sanitizer has its own: the program, or the release's where that is built, too, as
    scripts/test does; else None."""
    program = find_program()
    if not {"asan", "tsan", "ubsan"} & set(program.parts):
        return program
    plain = ROOT / "build" / "release" / "view_profile"
    return plain if plain.exists() and plain.with_name("view_profile-fetch").exists() else None


def plain_program():
    """The same; leaves the test out where there is none."""
    return find_plain() or pytest.skip("SKIP: a sanitizer's memory is its own, and build/release is not built")


def is_emulated():
    head = find_program().open("rb").read(20)
    return int.from_bytes(head[18:20], "little") == 0xB7 and platform.machine() != "aarch64"  # EM_AARCH64


def not_emulated(why):
    """Leaves the test out where the program is emulated."""
    if is_emulated():
        pytest.skip(f"SKIPPED: emulated, {why}")
