"""The published schemas are what the field tables say, real documents follow them, and wrong ones do not."""
import copy
import json
import re
import shutil
import subprocess
import sys

import pytest
import report_schema
from traces import ROOT

DOCS = ROOT / "docs" / "reference" / "report.md"
PROFILE = "jax_tpu/vllm-project__tpu-inference/profiles"


def run(program, *args):
    return subprocess.run([program, *map(str, args)], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def report(program, traces):
    return report_schema.parse(run(program, "report", "--quiet", "--format", "json", traces / PROFILE))


@pytest.mark.parametrize("name", report_schema.names())
def test_schema_is_current(program, name):
    assert (report_schema.SCHEMAS / f"{name}.schema.json").read_text() == run(program, "help", "--print-schema", name), \
        "run scripts/docs"


def test_reference_is_current(program):
    assert DOCS.read_text() == run(program, "help", "--print-reference"), "run scripts/docs"


def test_reference_names_each_schema():
    assert re.findall(r"^## view_profile\.(\w+)/1$", DOCS.read_text(), re.M) == \
        ["report", "findings", "memory", "op", "compare", "history", "trend"]
    assert report_schema.names() == ["compare", "findings", "history", "memory", "op", "report", "trend"]


def test_links_of_the_reference_resolve():
    text = DOCS.read_text()
    headings = [h.replace(" ", "-") for h in re.findall(r"^### (.+)$", text, re.M)]
    assert len(headings) == len(set(headings))
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= set(headings)


def test_an_unknown_schema_is_a_usage_error(program):
    done = subprocess.run([program, "help", "--print-schema", "nothing"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such document" in done.stderr


@pytest.mark.parametrize("args,schema", [
    (["report"], "report"), (["report", "--group", "raw"], "report"), (["report", "--top", "3"], "report"),
    (["top"], "report"), (["top", "--where", "host"], "report"), (["findings"], "findings"), (["memory"], "memory")])
def test_what_commands_write(program, traces, args, schema):
    document = report_schema.parse(run(program, *args, "--quiet", "--format", "json", traces / PROFILE))
    assert document["schema"] == f"view_profile.{schema}/1"
    report_schema.check(document)


def test_what_comparisons_and_histories_have(program, traces, tmp_path):
    history = tmp_path / "history.jsonl"
    for _ in range(2):
        run(program, "compare", "--quiet", "--append", history, traces / PROFILE, traces / PROFILE)
    lines = [report_schema.parse(line) for line in history.read_text().splitlines()]
    compared = report_schema.parse(run(program, "compare", "--format", "json", traces / PROFILE, traces / PROFILE))
    assert compared["schema"] == "view_profile.compare/1"
    report_schema.check(compared)
    trend = report_schema.parse(run(program, "trend", "--format", "json", history))
    assert [d["schema"] for d in (*lines, trend)] == [*["view_profile.history/1"] * 2, "view_profile.trend/1"]
    for document in (*lines, trend):
        report_schema.check(document)


def broken(report, change):
    changed = copy.deepcopy(report)
    change(changed)
    return report_schema.faults(changed)


@pytest.mark.parametrize("change,path", [
    (lambda r: r.update(more=1), ""),
    (lambda r: r.pop("ops"), ""),
    (lambda r: r.pop("scopes"), ""),
    (lambda r: r["ops"][0].update(calls=-1), "ops/0/calls"),
    (lambda r: r["ops"][0].update(calls=1.5), "ops/0/calls"),
    (lambda r: r["ops"][0].update(more=1), "ops/0"),
    (lambda r: r["ops"][1].pop("self_ps"), "ops/1"),
    (lambda r: r["ops"][1].update({"class": "other"}), "ops/1/class"),
    (lambda r: r["devices"][0]["idle_causes"].pop("sync"), "devices/0/idle_causes"),
    (lambda r: r["devices"][0]["idle_causes"].update(more=1), "devices/0/idle_causes"),
    (lambda r: r["devices"][0].update(breakdown=None), "devices/0/breakdown"),
    (lambda r: r["scopes"][0]["children"][0].update(path=1), "scopes/0/children/0/path"),
    (lambda r: r["findings"][0].update(status="maybe"), "findings/0/status"),
    (lambda r: r["launch"]["devices"][0].pop("device_index"), "launch/devices/0"),
    (lambda r: r.update(schema="view_profile.findings/1"), ""),
])
def test_a_wrong_report_fails(report, change, path):
    found = broken(report, change)
    assert found
    assert all(fault.startswith(path + ": ") for fault in found) or not path


def test_a_part_of_a_report_may_lack_the_whole_parts(report):
    assert broken(report, lambda r: (r.update(complete=False), r.pop("scopes"))) == []


def test_readers_may_meet_unknown_keys(report):
    """The published schema allows them; only the tests' strict form does not."""
    import jsonschema
    changed = copy.deepcopy(report)
    changed["more"] = changed["ops"][0]["more"] = changed["devices"][0]["idle_causes"]["more"] = 1
    jsonschema.validate(changed, report_schema.published("report"), jsonschema.Draft202012Validator)


def test_parsing_validates(report):
    text = json.dumps(report)
    assert json.loads(text) == report
    with pytest.raises(AssertionError, match="violations"):
        json.loads(text.replace('"calls"', '"called"'))


def test_the_examples_of_the_reference_run(report, tmp_path):
    """jq and Python, as the page has them."""
    text = DOCS.read_text()
    (tmp_path / "run.json").write_text(json.dumps(report))
    shutil.copy(report_schema.SCHEMAS / "report.schema.json", tmp_path)
    (jq,) = re.findall(r"^\$ (jq .*)$", text, re.M)
    lines = subprocess.run(["bash", "-c", jq], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == [op["name"] for op in report["ops"][:5]]
    validate, shares = [subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=True)
                        for block in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)]
    assert validate.stdout == ""
    assert len(shares.stdout.splitlines()) == len(report["devices"])
