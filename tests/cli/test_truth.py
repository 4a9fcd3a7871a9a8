"""What the program says about profiles whose causes are known: tests/truth/README.md."""
import pathlib
import sys

import pytest

TRUTH = pathlib.Path(__file__).resolve().parents[1] / "truth"
sys.path.insert(0, str(TRUTH))
import judge  # noqa: E402

ROWS = judge.truth()
BLESS = "tests/truth/judge.py EXE --bless"


def recorded():
    return sorted(p.name for p in judge.RECORDED.iterdir())


def rank(cause):
    """Smaller is better."""
    named = {"-": 0, "first": 1, "unnamed": 999, "no": 1000}
    return named[cause] if cause in named else int(cause)


def is_better(verdict, expected):
    """True if no field of a verdict became worse."""
    _, cause, saving, gate, high = expected
    return (rank(verdict.cause) <= rank(cause) and (verdict.saving, saving) != ("no", "yes") and
            (verdict.gate, gate) != ("no", "yes") and set(verdict.high.split(",")) <= {"none", *high.split(",")})


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if k % 4 else [])
                                  for k, name in enumerate(recorded())])
def test_verdict(program, name):
    expected = judge.frozen()[name]
    verdict = judge.judge(program, judge.RECORDED / name, ROWS[name])
    if verdict.row() != expected:
        change = f"better than expected; accept it: {BLESS}" if is_better(verdict, expected) else "worse than expected"
        pytest.fail(f"{change}\n{judge.FIELDS}\n{verdict.row()}\n{expected}\n{verdict.first}")


def test_tables_are_complete():
    """Each program has a row, each recording is one of a program, and has a verdict."""
    assert set(ROWS) == {p.stem for p in (TRUTH / "programs").glob("*.py")}
    assert set(recorded()) == set(judge.frozen()) <= set(ROWS)


def test_recordings_are_small():
    """A clone contains them."""
    assert sum(p.stat().st_size for p in judge.RECORDED.rglob("*") if p.is_file()) < 15_000_000
