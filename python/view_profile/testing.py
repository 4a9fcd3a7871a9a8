"""For tests: a regression gate on two profiles, and a pytest fixture that records a test.

    def test_step(view_profile_run):
        with view_profile_run() as p:
            train(10)
        assert_no_regression(p.run, "baselines/train", max_regression="10%")
"""
import os

from ._reports import compare, report

try:
    import pytest
except ImportError:  # the gate works without pytest
    pytest = None


def assert_no_regression(run, baseline, *, max_regression="5%", max_p90_regression=None, fail_on=None,
                         allow_unverified=False):
    """Raises AssertionError with the comparison if the steps of run are slower than those of baseline by
    more than the limit and more than the noise, or if that is unknown. Either side may be a list of
    captures. Returns the comparison."""
    c = compare(baseline, run, max_regression=max_regression, max_p90_regression=max_p90_regression, fail_on=fail_on)
    if c.regressed:
        raise AssertionError(f"{run} is slower than {baseline}:\n{c.text}")
    if c.verdict == "unverified" and not allow_unverified:
        raise AssertionError(f"{run} cannot be compared with {baseline}:\n{c.text}")
    return c


def assert_no_findings(run, *ids, severity="high"):
    """Raises AssertionError if one of these rules fired (without ids: any rule of this severity)."""
    fired = [f for f in report(run).findings if (f.id in ids or f.name in ids if ids else f.severity == severity)]
    if fired:
        raise AssertionError("\n".join(f"{f}\n  fix: {f.suggestion}" for f in fired))


if pytest is not None:
    @pytest.fixture
    def view_profile_run(tmp_path, request):
        """A function that records a part of the test into tmp_path/profiles or --view-profile-dir/<test>."""
        from ._session import profile
        root = request.config.getoption("--view-profile-dir", default=None)
        name = "".join(c if c.isalnum() or c in "._-" else "_" for c in request.node.name)
        directory = os.path.join(root, name) if root else tmp_path / "profiles"

        def begin(backend="auto", **options):
            return profile(directory, backend, **options)
        return begin

    def pytest_addoption(parser):
        parser.addoption("--view-profile-dir", default=None, metavar="DIR",
                         help="keep the profiles recorded by view_profile_run below DIR")
