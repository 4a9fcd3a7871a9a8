"""Reports of profiles as Python objects. The functions run the program view_profile with
--format=json; the objects use its names. Names that end in _ps are integers in picoseconds;
properties return seconds."""
import dataclasses
import functools
import html
import json
import os
import shutil
import subprocess
import sysconfig
from typing import Any, List, Optional, Union

class ReadError(RuntimeError):
    """view_profile failed. `code` is its exit code, `command` its command line."""

    def __init__(self, message, code, command):
        super().__init__(message)
        self.code, self.command = code, command


def program():
    """The path of view_profile: $VIEW_PROFILE_PROGRAM, else the one of this package, else the one in PATH."""
    named = os.environ.get("VIEW_PROFILE_PROGRAM")
    if named:
        return named
    beside = os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin")  # location after `pip install --target`
    own = (os.path.join(place, "view_profile") for place in (beside, sysconfig.get_path("scripts")))
    found = next((path for path in own if os.access(path, os.X_OK)), None) or shutil.which("view_profile")
    if not found:
        raise ReadError("view_profile is not installed: pip install view-profile", 127, [])
    return found


def run(command, *args, codes=(0,)):
    """The standard output of `view_profile command args…`."""
    argv = [program(), command, *map(os.fspath, args)]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in codes:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ReadError(said[-1] if said else f"view_profile {command}: exit code {done.returncode}", done.returncode, argv)
    return done.stdout, done.returncode


def _fields(cls, row):
    names = {f.name for f in dataclasses.fields(cls)}
    return cls(**{k: v for k, v in row.items() if k in names}, row=row)


def _frame(rows):
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from None
    return pandas.DataFrame.from_records(rows)


class Rows(list):
    """A list with to_pandas(), which has one column per field of the report."""

    def to_pandas(self):
        return _frame([r.row for r in self])


@dataclasses.dataclass
class Op:
    """A row of `top`: device events with one name. `row` has every field of the report."""
    name: str
    category: str = ""
    device: str = ""
    calls: int = 0
    self_ps: int = 0
    total_ps: int = 0
    max_ps: int = 0
    scope: Optional[str] = None
    source: Optional[str] = None
    self_share_of_ops: Optional[float] = None
    row: dict = dataclasses.field(default_factory=dict, repr=False)

    @property
    def self_seconds(self):
        return self.self_ps / 1e12

    def __str__(self):
        share = "" if self.self_share_of_ops is None else f"  {100 * self.self_share_of_ops:.3g}% of op time"
        return f"{self.name}: {self.self_ps / 1e9:.6g} ms self in {self.calls} calls{share}"


@dataclasses.dataclass
class Finding:
    """The result of one rule: a sentence with a number, a place and advice. status: fired, explained,
    not_evaluated or clear."""
    id: str
    name: str = ""
    status: str = ""
    severity: str = ""
    title: str = ""
    message: str = ""
    suggestion: Any = None
    row: dict = dataclasses.field(default_factory=dict, repr=False)

    def __str__(self):
        return f"{self.id} {self.severity}: {self.message}"


@dataclasses.dataclass
class Report:
    """The report of one run. `data` is its JSON (see docs/reference/report.md)."""
    data: dict = dataclasses.field(repr=False)
    path: str = ""
    session: Optional[str] = None

    @property
    def name(self):
        return self.data["session"]["name"]

    @property
    def ops(self):
        return Rows(_fields(Op, r) for r in self.data["ops"])

    @property
    def findings(self):
        """The findings that fired, most important first."""
        return Rows(_fields(Finding, r) for r in self.data["findings"] if r["status"] == "fired")

    @property
    def devices(self):
        return self.data["devices"]

    @property
    def steps(self):
        return self.data.get("steps")

    @property
    def step_seconds(self):
        """The median step in seconds; None without steps."""
        median = (self.steps or {}).get("median_ps")
        return None if median is None else median / 1e12

    def to_pandas(self):
        return self.ops.to_pandas()

    def to_html(self):
        """The static page: self-contained, without scripts."""
        args = ["--format", "html", self.path] + ([self.session] if self.session else [])
        return run("report", *args)[0].decode()

    def _repr_html_(self):
        return framed(self.to_html(), f"report of {self.name}")

    def __str__(self):
        return "\n".join([f"{self.name}: {len(self.data['ops'])} ops, {len(self.findings)} findings",
                          *map(str, self.ops[:5]), *map(str, self.findings[:5])])


def framed(page, title):
    """A page in a sandboxed frame, which can neither run scripts nor access the notebook."""
    return (f'<iframe sandbox="" title="{html.escape(title)}" style="width:100%;height:600px;border:1px solid #8886" '
            f'srcdoc="{html.escape(page, quote=True)}"></iframe>')


@dataclasses.dataclass
class Run:
    """A run of a profile directory, as listed by `list`."""
    id: str
    name: str = ""
    path: str = ""
    row: dict = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass
class Comparison:
    """Two runs: `data` is the comparison's JSON, `text` its text. `regressed` is true if b exceeds a
    limit."""
    data: dict = dataclasses.field(repr=False)
    regressed: bool = False
    a: Union[str, List[str]] = ""
    b: Union[str, List[str]] = ""
    limits: List[str] = dataclasses.field(default_factory=list, repr=False)

    def to_pandas(self):
        """The ops of both runs with their changes."""
        return _frame(self.data["ops"])

    @functools.cached_property
    def text(self):
        return _compared(self, "text", "--color", "never")[0].decode()

    def __str__(self):
        return self.text

    def _repr_html_(self):
        return framed(run("compare", "--format", "html", *_sides(self))[0].decode(), "comparison")

    @property
    def verdict(self):
        """"regression", "improvement", "noise" or "unverified"."""
        return self.data["noise"]["verdict"]


def _sides(c):
    """The two runs, or the captures of each side as options."""
    if isinstance(c.a, str) and isinstance(c.b, str):
        return ["--", c.a, c.b]
    return [f"--{option}={x}" for option, side in (("base", c.a), ("new", c.b)) for x in ([side] if isinstance(side, str) else side)]


def _compared(c, form, *options):
    limits = [*c.limits, "--allow-unverified"] if c.limits else []
    return run("compare", "--format", form, *options, *limits, *_sides(c), codes=(0, GATE) if c.limits else (0,))


def _run_of(args, path, session):
    return [*args, path, *([session] if session else [])]


def sessions(path="."):
    """The runs of a profile directory or archive, newest first."""
    data = json.loads(run("list", "--format", "json", path)[0])
    return Rows(_fields(Run, r) for r in data["sessions"])


def report(path=".", session=None, *, step=None, group=None, host=None):
    """The report of the newest run below path, or of the run named by session."""
    args = ["--format", "json"]
    for option, value in (("--step", step), ("--group", group), ("--host", host)):
        if value is not None:
            args += [option, str(value)]
    return Report(json.loads(run("report", *_run_of(args, path, session))[0]), os.fspath(path), session)


def top(path=".", session=None, *, n=20, by="self", group="name", where="device", device=None, step=None, host=None):
    """A Report with the n slowest ops of each device."""
    args = ["--format", "json", "--top", str(n), "--by", by, "--group", group, "--where", where]
    for option, value in (("--device", device), ("--step", step), ("--host", host)):
        if value is not None:
            args += [option, str(value)]
    return Report(json.loads(run("top", *_run_of(args, path, session))[0]), os.fspath(path), session)


def findings(path=".", session=None):
    """The findings of a run that fired, most important first."""
    return report(path, session).findings


def _as_path(run_or_report):
    if isinstance(run_or_report, Report):
        if run_or_report.session:
            matching = [s for s in sessions(run_or_report.path) if run_or_report.session in (s.id, s.name)]
            return os.path.join(run_or_report.path, matching[0].path) if matching else run_or_report.path
        return run_or_report.path
    return os.fspath(run_or_report)


def _as_side(runs):
    return [_as_path(x) for x in runs] if isinstance(runs, (list, tuple)) else _as_path(runs)


def compare(a, b, *, max_regression=None, max_p90_regression=None, fail_on=None):
    """Compares run b with run a, per step. With a limit ("5%"), `regressed` is true if b exceeds it. Each
    side is a run or a list of captures of one program, which tell the noise between captures."""
    a, b = _as_side(a), _as_side(b)
    limits = []
    for option, value in (("--max-regression", max_regression), ("--max-p90-regression", max_p90_regression),
                          ("--fail-on", fail_on)):
        if value is not None:
            limits += [option, str(value)]
    c = Comparison({}, a=a, b=b, limits=limits)
    data, code = _compared(c, "json")
    c.data, c.regressed = json.loads(data), code == GATE
    return c


GATE = 1  # exit code of a comparison that exceeds a limit (docs/reference/cli.md#exit-codes)


def open_latest_profile(profile_dir=None, *, block=True):
    """Shows the newest profile below profile_dir in the browser until Ctrl-C. block=False returns the
    server process instead. The default directory is $XAX_PROFILE_DIR."""
    if profile_dir is None:
        profile_dir = os.environ.get("XAX_PROFILE_DIR")
        if not profile_dir:
            raise ValueError("No profile directory specified and XAX_PROFILE_DIR not set")
    profile_dir = os.path.expanduser(os.fspath(profile_dir))
    if not os.path.isdir(profile_dir):
        raise ValueError(f"Profile directory {profile_dir} does not exist")
    try:
        found = sessions(profile_dir)
    except ReadError as e:
        raise ValueError(f"No profiles found in {profile_dir}") from e
    if not found:
        raise ValueError(f"No profiles found in {profile_dir}")
    process = subprocess.Popen([program(), "serve", "--profile-dir", profile_dir, "--port", "0"], stdin=subprocess.DEVNULL)
    if not block:
        return process
    try:
        process.wait()
    except KeyboardInterrupt:
        process.wait()
    return None
