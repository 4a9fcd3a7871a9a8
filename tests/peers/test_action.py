"""The GitHub Action of this repository, action.yml, by its own steps: its expressions are evaluated, its scripts run by bash as a runner runs
them, its cache is a directory and its API a server here. Two branches, a pull request, and what can go wrong."""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

import pytest

yaml = pytest.importorskip("yaml", reason="SKIPPED: no PyYAML here")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import traces  # noqa: E402

PROGRAM = pathlib.Path(os.environ.get("VIEW_PROFILE", ROOT / "build" / "asan" / "view_profile"))
RUNS = traces.TRACES / "jax_cpu" / "three_runs" / "plugins" / "profile"
SLOW, FAST = RUNS / "2026_11_21_06_34_02", RUNS / "2026_11_21_06_34_00"  # 18.7 and 1.5 ms a step
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


class Api(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self, code, value):
        text = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        state = self.server.state
        state["asked"].append(("GET", self.path))
        page, size = (int(re.search(rf"{word}=(\d+)", self.path)[1]) for word in ("[?&]page", "per_page"))
        self.answer(200, state["comments"][(page - 1) * size:page * size])

    def change(self):
        state = self.server.state
        state["asked"].append((self.command, self.path))
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != "Bearer of-the-job":
            return self.answer(403, {"message": "Resource not accessible by integration"})
        if self.command == "POST":
            assert self.path == "/repos/me/model/issues/7/comments"
            url = f"http://127.0.0.1:{self.server.server_port}/repos/me/model/issues/comments/{len(state['comments'])}"
            state["comments"].append({"url": url, "body": body["body"]})
            return self.answer(201, {})
        comment = state["comments"][int(self.path.rpartition("/")[2])]
        if comment.get("foreign"):
            return self.answer(403, {})
        comment["body"] = body["body"]
        return self.answer(200, {})

    do_POST = do_PATCH = change


@pytest.fixture
def api():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.state = {"comments": [], "asked": []}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class Job:
    """One run of the action in a workflow."""

    def __init__(self, tmp, api, event, branch="main", base_ref="", token="of-the-job", **inputs):
        Job.number = getattr(Job, "number", 0) + 1
        self.temp, self.cache = tmp / f"job{Job.number}", tmp / "cache"
        self.temp.mkdir()
        self.cache.mkdir(exist_ok=True)
        self.summary, self.said = self.temp / "summary.md", ""
        self.summary.touch()
        event_file = self.temp / "event.json"
        event_file.write_text(json.dumps({"pull_request": {"number": 7}} if event == "pull_request" else {}))
        defaults = {name: given.get("default", "") for name, given in ACTION["inputs"].items()}
        assert {name for name, given in ACTION["inputs"].items() if given.get("required")} <= set(inputs)
        self.known = {"github.action_path": str(ROOT), "github.event_name": event, "github.base_ref": base_ref, "github.ref_name": branch,
                      "github.token": token, "github.run_id": str(Job.number), "github.run_attempt": "1", "runner.temp": str(self.temp)}
        self.known |= {f"inputs.{k}": self.filled(str(v)) for k, v in (defaults | inputs).items()}
        assert PROGRAM.exists()
        self.env = {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "HOME": str(self.temp), "GITHUB_STEP_SUMMARY": str(self.summary),
                    "GITHUB_EVENT_PATH": str(event_file), "GITHUB_REPOSITORY": "me/model",
                    "GITHUB_API_URL": f"http://127.0.0.1:{api.server_port}", **{k: os.environ[k] for k in os.environ if k.endswith("SAN_OPTIONS")}}
        self.code = self.steps()
        self.outputs = {name: self.filled(given["value"]) for name, given in ACTION["outputs"].items()}

    def value(self, expression):
        """What is in ${{ }}: names, texts, ==, && and ||."""
        words = re.findall(r"'[^']*'|[\w.-]+|==|!=|&&|\|\|", expression)
        assert "".join(words) == expression.replace(" ", ""), expression
        known = {"==": "==", "!=": "!=", "&&": " and ", "||": " or "}
        return eval("".join(known.get(w) or (repr(w[1:-1]) if w[0] == "'" else repr(self.known.get(w, ""))) for w in words))  # of our own file

    def filled(self, text):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda m: str(self.value(m[1].strip())), text)

    def steps(self):
        for n, step in enumerate(ACTION["runs"]["steps"]):
            if "if" in step and not self.value(step["if"]):
                continue
            code = self.use(step) if "uses" in step else self.script(n, step)
            if code:
                self.failed = step["name"]
                return code
        return 0

    def use(self, step):
        path, key = pathlib.Path(self.filled(step["with"]["path"])), self.filled(step["with"]["key"])
        if step["uses"].startswith("actions/cache/save@"):
            shutil.copytree(path, self.cache / key)
            return 0
        assert step["uses"].startswith("actions/cache/restore@")
        keys = [key, *self.filled(step["with"]["restore-keys"]).split()]
        kept = sorted((p for k in keys for p in self.cache.glob(f"{k}*")), key=lambda p: int(p.name.split("-")[-2]))
        if kept:
            shutil.copytree(kept[-1], path, dirs_exist_ok=True)
        return 0

    def script(self, n, step):
        output, text = self.temp / f"output{n}", self.temp / f"step{n}.sh"
        output.touch()
        assert "${{" not in step["run"]  # an input in a script's text would be a script
        text.write_text(step["run"])
        env = {**self.env, "GITHUB_OUTPUT": str(output), **{k: self.filled(v) for k, v in step.get("env", {}).items()}}
        assert step["shell"] == "bash"
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", text], env=env, cwd=self.temp, capture_output=True, text=True, timeout=300)
        self.said += done.stdout + done.stderr
        for line in output.read_text().splitlines():
            key, _, value = line.partition("=")
            self.known[f"steps.{step.get('id')}.outputs.{key}"] = value
        return done.returncode


def test_a_pull_request_is_held_against_its_base(tmp_path, api):
    first = Job(tmp_path, api, "push", profile=FAST)
    assert first.code == 0 and first.outputs["verdict"] == "no base" and not first.outputs["page"]
    assert "nothing to compare with" in first.summary.read_text() and api.state["asked"] == []
    slower = Job(tmp_path, api, "pull_request", branch="7/merge", base_ref="main", profile=SLOW)
    assert slower.code == 1 and slower.failed == "Gate" and slower.outputs["verdict"] == "regression", slower.said
    assert "::error" in slower.said and "Regression" in slower.summary.read_text()
    assert "<html" in pathlib.Path(slower.outputs["page"]).read_text()
    assert json.loads(pathlib.Path(slower.outputs["report"]).read_text())["schema"].startswith("view_profile.report")
    (comment,) = api.state["comments"]
    assert comment["body"].startswith("<!-- view_profile step_time -->\n### step time") and "Regression" in comment["body"]
    # Mended: its own comment is replaced, and the base is still that of main.
    mended = Job(tmp_path, api, "pull_request", branch="7/merge", base_ref="main", profile=FAST)
    assert mended.code == 0 and mended.outputs["verdict"] in ("noise", "unchanged", "same"), mended.outputs
    assert len(api.state["comments"]) == 1 and "Regression" not in comment["body"] and [m for m, _ in api.state["asked"]].count("PATCH") == 1
    # Another branch has no base, and another name is another comparison.
    assert Job(tmp_path, api, "pull_request", branch="8/merge", base_ref="old", profile=SLOW).outputs["verdict"] == "no base"
    named = Job(tmp_path, api, "pull_request", branch="7/merge", base_ref="main", profile=SLOW, name="GPU $(touch x) `y`")
    assert named.outputs["verdict"] == "no base" and "$(touch x)" in named.summary.read_text() and not list(tmp_path.rglob("x"))


def test_a_base_that_is_named_and_no_gate(tmp_path, api):
    job = Job(tmp_path, api, "push", profile=SLOW, **{"base": FAST, "max-regression": ""})
    assert job.code == 0 and job.outputs["verdict"] == "regression" and not list((tmp_path / "cache").iterdir())
    assert Job(tmp_path, api, "push", profile=FAST, **{"base": SLOW, "fail-on": "low"}).outputs["verdict"] == "improvement"


def test_a_gate_on_memory(tmp_path, api):
    """The slow run's program was planned to take 9.1 instead of 2.5 MiB."""
    job = Job(tmp_path, api, "push", profile=SLOW, **{"base": FAST, "max-regression": "", "fail-on-peak": "5%"})
    assert job.code == 1 and "peak memory" in job.summary.read_text()
    assert Job(tmp_path, api, "push", profile=FAST, **{"base": SLOW, "max-regression": "", "fail-on-peak": "0%"}).code == 0


def test_a_comment_that_github_refuses_is_a_warning(tmp_path, api):
    """As in pull requests from forks, whose token may only read."""
    job = Job(tmp_path, api, "pull_request", token="of-a-fork", profile=FAST, base=SLOW)
    assert job.code == 0 and "::warning" in job.said and api.state["comments"] == []
    quiet = Job(tmp_path, api, "pull_request", profile=FAST, base=SLOW, comment="false")
    assert quiet.code == 0 and api.state["comments"] == []


def test_a_comment_of_somebody_else_under_our_mark(tmp_path, api):
    """And behind a hundred others, on the second page."""
    api.state["comments"] += [{"url": "x", "body": None}] * 120
    url = f"http://127.0.0.1:{api.server_port}/repos/me/model/issues/comments/120"
    api.state["comments"].append({"url": url, "body": "<!-- view_profile step_time -->", "foreign": True})
    assert Job(tmp_path, api, "pull_request", profile=FAST, base=SLOW).code == 0
    assert len(api.state["comments"]) == 122 and "### step time" in api.state["comments"][-1]["body"]


def test_what_cannot_be_read_fails(tmp_path, api):
    (tmp_path / "empty").mkdir()
    job = Job(tmp_path, api, "push", profile=tmp_path / "empty")
    assert job.code not in (0, 1) and job.failed == "Report"
    job = Job(tmp_path, api, "push", profile=FAST, base=tmp_path / "empty")
    assert job.code not in (0, 1) and job.failed == "Compare"
