from os import PathLike
from typing import Any

from . import Comparison, Report

_Run = str | PathLike[str] | Report

def assert_no_regression(run: _Run | list[_Run], baseline: _Run | list[_Run], *, max_regression: str = "5%",
                         max_p90_regression: str | None = None, fail_on: str | None = None,
                         allow_unverified: bool = False) -> Comparison: ...
def assert_no_findings(run: str | PathLike[str], *ids: str, severity: str = "high") -> None: ...

# Defined if pytest is installed.
view_profile_run: Any

def pytest_addoption(parser: Any) -> None: ...
