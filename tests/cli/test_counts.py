"""scripts/test_counts: what scripts/test adds up of its runners' logs, and what it says was skipped."""
import subprocess
import sys

import pytest
from traces import ROOT

COUNTS = ROOT / "scripts" / "test_counts"


def counts(*args):
    done = subprocess.run([sys.executable, COUNTS, *args], capture_output=True, text=True, check=True)
    return done.stdout


def block(n, name, output, end):
    """As ctest writes it into Testing/Temporary/LastTest.log."""
    line = "-" * 58
    return (f"{n}/9 Testing: {name}\n{n}/9 Test: {name}\nCommand: \"/x/{name}\"\nOutput:\n{line}\n{output}<end of output>\n"
            f"Test time =   0.10 sec\n{line}\n{end}\n\"{name}\" time elapsed: 00:00:00\n{line}\n\n")


def cmocka(passed, failed=(), skipped=()):
    """As cmocka prints it; skipped: (name, what it said before)."""
    out = f"[==========] Running {passed + len(failed) + len(skipped)} test(s).\n"
    out += "".join(f"[ RUN      ] {n}\n{said}[  SKIPPED ] {n}\n" for n, said in skipped)
    out += f"[==========] {passed + len(failed) + len(skipped)} test(s) run.\n[  PASSED  ] {passed} test(s).\n"
    if skipped:
        out += f"[  SKIPPED ] {len(skipped)} test(s), listed below:\n" + "".join(f"[  SKIPPED ] {n}\n" for n, _ in skipped)
        out += f"\n {len(skipped)} SKIPPED TEST(S)\n"
    if failed:
        out += f"[  FAILED  ] {len(failed)} test(s), listed below:\n" + "".join(f"[  FAILED  ] {n}\n" for n in failed)
    return out


WIDE = "SKIP: not in tests/data: jax_cpu/big/x.pb\n"
FINE, BAD = "Test Passed.", "Test Failed."
BLOCKS = {
    "all pass": (cmocka(7), FINE, (7, 0, 0)),
    "one fails": (cmocka(2, ["f"]), BAD, (2, 1, 0)),
    "skips with a reason": (cmocka(3, skipped=[("a", WIDE), ("b", WIDE)]), FINE, (3, 0, 2)),
    "skips without one": (cmocka(3, skipped=[("a", "")]), FINE, (3, 0, 1)),
    "nothing but skips": (cmocka(0, skipped=[("a", WIDE)]), FINE, (0, 0, 1)),
    "says so and passes": (WIDE + cmocka(1), FINE, (1, 1, 0)),
    "says so twice": (cmocka(1, skipped=[("a", WIDE + WIDE)]), FINE, (1, 1, 1)),
    "says so without cmocka": (WIDE, FINE, (0, 1, 0)),
    "skips and fails": (cmocka(1, ["f"], [("a", WIDE)]), BAD, (1, 1, 1)),
    "two groups": (cmocka(1) + cmocka(4), FINE, (5, 0, 0)),
    "no cmocka": ("ok\n", FINE, (1, 0, 0)),
    "crashes": ("[==========] Running 2 test(s).\nAddressSanitizer: SEGV\n", BAD, (0, 1, 0)),
    "leaks after its tests": (cmocka(2) + "LeakSanitizer\n", BAD, (2, 1, 0)),
    "pytest": ("SKIPPED [2] tests/http/a.py:3: no nginx\n1 failed, 5 passed, 2 skipped in 3.0s\n", BAD, (5, 1, 2)),
}


@pytest.mark.parametrize("output,end,want", BLOCKS.values(), ids=BLOCKS)
def test_every_test_of_a_program_counts(tmp_path, output, end, want):
    (tmp_path / "unit.log").write_text("99% tests passed, 1 tests failed out of 9\n")
    (tmp_path / "last.log").write_text("Start testing\n" + block(1, "unit.x", output, end) +
                                       block(2, "unit.y", cmocka(10), FINE))
    p, f, s = want
    assert counts(tmp_path / "unit.log", tmp_path / "last.log") == f"{p + 10} {f} {s}\n"
    assert len((tmp_path / "unit.log.skips").read_text().splitlines()) == s


@pytest.mark.parametrize("text,want", [
    ("= 3 passed in 1s =\n", "3 0 0\n"), ("1 failed, 2 passed, 3 skipped, 1 error in 1s\n", "2 2 3\n"),
    ("2 passed, 1 failed\nsecond world\n9 passed, 0 failed, 4 skipped\n", "9 0 4\n"), ("Traceback\n", "0 0 0\n")])
def test_the_last_line_with_counts_counts(tmp_path, text, want):
    (tmp_path / "cli.log").write_text(text)
    assert counts(tmp_path / "cli.log") == want


def test_skips_are_named_by_suite_and_reason(tmp_path):
    """Files of the wide collection as one reason, by producer and repository; no skip is missing."""
    (tmp_path / "golden.log").write_text(
        "SKIPPED [4] tests/traces.py:27: not in tests/data: pytorch_cuda/R/a.json.gz\n"
        "SKIPPED [1] tests/traces.py:27: not in tests/data: pytorch_cuda/R/b.json.gz\n"
        "SKIPPED [1] tests/traces.py:27: not in tests/data: tf_gpu/Q/c.xplane.pb\n"
        "SKIPPED [2] tests/golden/x.py:9: SKIP: no reason to run: none\n1 passed, 8 skipped in 1s\n")
    (tmp_path / "browser.log").write_text("SKIP    the deep link: port 9001 is taken\n1 passed, 0 failed, 1 skipped\n")
    (tmp_path / "cli.log").write_text("1 passed, 2 skipped in 1s\n")
    (tmp_path / "http.log").write_text("1 passed in 1s\n")
    logs = [tmp_path / f"{name}.log" for name in ("golden", "browser", "cli", "http")]
    assert [counts(log) for log in logs] == ["1 0 8\n", "1 0 1\n", "1 0 2\n", "1 0 0\n"]
    assert counts("--skips", *logs).splitlines() == [
        "  golden: 6 × real profiles of the wide collection (../shared/traces, or VP_TRACES): "
        "pytorch_cuda/R (5), tf_gpu/Q",
        "  golden: 2 × no reason to run: none: tests/golden/x.py (2)",
        "  browser: 1 × port 9001 is taken: the deep link",
        "  cli: 2 × no reason given: cli (2)",
    ]


def test_what_failed_says_so(tmp_path):
    """A failed program's own words, and only those, however many other programs and tests passed."""
    said = ("[ RUN      ] fine\n[       OK ] fine\n[ RUN      ] odd\n[  ERROR   ] --- 0x2 != 0x1\n"
            "[   LINE   ] --- x.c:442: error: Failure!\n[  FAILED  ] odd\n")
    many = "".join(f"line {i}\n" for i in range(1000))
    pytest_said = ("...F\n===== FAILURES =====\nE   assert 1 == 2\n===== slowest 40 durations =====\n3.00s call x\n"
                   "1 failed, 3 passed in 3.0s\n")
    (tmp_path / "unit.log").write_text("50% tests passed, 3 tests failed out of 4\n")
    (tmp_path / "last.log").write_text(
        "Start testing\n" + block(1, "unit.odd", said, BAD) + block(2, "unit.fine", cmocka(10) + "well\n", FINE) +
        block(3, "unit.long", many, BAD) + block(4, "server.http", pytest_said, BAD))
    lines = counts("--failures", tmp_path / "unit.log", tmp_path / "last.log").splitlines()
    assert lines == [
        "-- unit.odd", *said.splitlines()[2:], "run alone: scripts/test unit.odd",
        "-- unit.long", *many.splitlines()[:60], "… 880 lines …", *many.splitlines()[-60:],
        "run alone: scripts/test unit.long",
        "-- server.http", "===== FAILURES =====", "E   assert 1 == 2"]
    (tmp_path / "cli.log").write_text(pytest_said)
    assert counts("--failures", tmp_path / "cli.log").splitlines() == ["===== FAILURES =====", "E   assert 1 == 2"]
    (tmp_path / "browser.log").write_text("FAILED  x\n9 passed, 1 failed\n")
    assert counts("--failures", tmp_path / "browser.log") == ""
