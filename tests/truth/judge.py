#!/usr/bin/env python3
"""Compares what view_profile says about the recorded programs with what is known about them (README.md).

  tests/truth/judge.py EXE [DIR] [--truth FILE] [--bless] [--long]

DIR (tests/truth/recorded) has one folder for each program, with the profiles of both sides and measured.json, as
scripts/record_truth writes them. The profile of a side may also be a folder, with a measured.json of its own:
NAME/before/profile, NAME/before/measured.json."""
import argparse
import csv
import dataclasses
import json
import pathlib
import re
import subprocess
import sys

TRUTH = pathlib.Path(__file__).resolve().parent
RECORDED = TRUTH / "recorded"
VERDICTS = TRUTH / "verdicts.tsv"
FIELDS = ("name", "cause", "saving", "gate", "high")
POINTS = 15  # largest difference between a predicted and a measured saving, in percent of the step


@dataclasses.dataclass
class Verdict:
    """What the program says about one recorded program."""
    name: str
    clean: bool
    cause: str = "-"  # "first", the rank of the finding that names the cause, "unnamed" or "no"; "-" for clean programs
    saving: str = "-"  # "yes" if the predicted saving of the cause is within POINTS of the measured one
    gate: str = "-"  # "yes" if compare fails for after -> before and passes for before -> after
    high: str = "-"  # findings of severity high on clean programs
    measured: float | None = None
    predicted: float | None = None
    first: str = ""  # the first finding
    codes: tuple = ()

    def row(self):
        return tuple(getattr(self, field) for field in FIELDS)


def read_table(path):
    with open(path, encoding="utf-8", newline="") as f:
        return {row["name"]: row for row in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)}


def truth(path=TRUTH / "truth.tsv"):
    """Rows by name of the program."""
    return read_table(path)


def frozen():
    """The verdicts that the tests expect, as tuples of FIELDS by name."""
    return {name: tuple(row[field] for field in FIELDS) for name, row in read_table(VERDICTS).items()}


def profile_of(folder, side):
    """The profile of one side, a file or a folder; None if it was not recorded."""
    if (folder / side).is_dir():
        files = [p for p in (folder / side / "profile").rglob("*") if p.is_file()]
        return files[0] if len(files) == 1 else folder / side / "profile"
    return next(iter(sorted(folder.glob(f"{side}.*.gz"))), None)


def step_ms(folder, side):
    """The measured time of a step."""
    if (folder / side).is_dir():
        return json.loads((folder / side / "measured.json").read_text())["median_s"] * 1e3
    return json.loads((folder / "measured.json").read_text())[side]["median_ms"]


def fired_findings(program, profile):
    argv = [program, "findings", "--format", "json", profile]
    findings = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)["findings"]
    return [f for f in findings if f["status"] == "fired"]


def is_expected(finding, row):
    """True if a finding is of the kind of the cause."""
    return finding["id"] in row["expected"].split(",")


def names_cause(finding, row):
    """True if it also names the part of the user's program."""
    return is_expected(finding, row) and re.search(row["fragment"], json.dumps(finding)) is not None


def predicted_share(finding):
    """The predicted saving, as a share of the time; None if the finding has none."""
    return finding["impact"]["share_of_window"]


def compare_code(program, a, b):
    done = subprocess.run([program, "compare", a, b, "--max-regression", "5%"], capture_output=True, check=False)
    return done.returncode


def judge_pair(program, folder, row, verdict):
    """Judges a program that has a mended side."""
    before, after = profile_of(folder, "before"), profile_of(folder, "after")
    found = fired_findings(program, before)
    verdict.measured = 1 - step_ms(folder, "after") / step_ms(folder, "before")
    verdict.cause, verdict.saving = "unnamed" if any(is_expected(f, row) for f in found) else "no", "no"
    ranks = [k for k, finding in enumerate(found) if names_cause(finding, row)]
    if ranks:
        verdict.cause = str(ranks[0] + 1) if ranks[0] else "first"
        verdict.predicted = predicted_share(found[ranks[0]])
        if verdict.predicted is not None and abs(verdict.predicted - verdict.measured) * 100 <= POINTS:
            verdict.saving = "yes"
    verdict.codes = compare_code(program, after, before), compare_code(program, before, after)
    verdict.gate = "yes" if verdict.codes == (1, 0) else "no"
    return found


def judge(program, folder, row):
    """The verdict about one recorded program."""
    verdict = Verdict(row["name"], clean=row["cause"] == "-")
    if verdict.clean:
        found = fired_findings(program, profile_of(folder, "before"))
        verdict.high = ",".join(f["id"] for f in found if f["severity"] == "high") or "none"
    else:
        found = judge_pair(program, folder, row, verdict)
    if found:
        verdict.first = f"{found[0]['id']} {found[0]['severity']}: {found[0]['message']}"
    return verdict


def percent(share):
    return "-" if share is None else f"{share * 100:.1f}%"


def totals(verdicts):
    """Lines with the shares of good verdicts."""
    pairs, clean = [v for v in verdicts if not v.clean], [v for v in verdicts if v.clean]
    for text, of, good in (("cause is the first finding", pairs, [v for v in pairs if v.cause == "first"]),
                           ("cause is found and named", pairs, [v for v in pairs if v.cause not in ("no", "unnamed")]),
                           (f"saving within {POINTS} points", pairs, [v for v in pairs if v.saving == "yes"]),
                           ("gate is right", pairs, [v for v in pairs if v.gate == "yes"]),
                           ("clean without high findings", clean, [v for v in clean if v.high == "none"])):
        if of:
            yield f"{text:28} {len(good):3} of {len(of):3} ({len(good) / len(of):.0%})"


def print_table(verdicts, long):
    print(f"{'program':22} {'cause':>7} {'predicted':>9} {'measured':>8} {'within':>6} {'gate':>4} {'codes':>6} {'high':10} "
          "first finding")
    for v in verdicts:
        first = v.first if long else v.first[:90]
        print(f"{v.name:22} {v.cause:>7} {percent(v.predicted):>9} {percent(v.measured):>8} {v.saving:>6} {v.gate:>4} "
              f"{','.join(map(str, v.codes)) or '-':>6} {v.high:10} {first}")
    print(*totals(verdicts), sep="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="EXE", help="view_profile")
    parser.add_argument("folder", metavar="DIR", nargs="?", type=pathlib.Path, default=RECORDED)
    parser.add_argument("--truth", metavar="FILE", type=pathlib.Path, default=TRUTH / "truth.tsv",
                        help="table of causes (default: tests/truth/truth.tsv)")
    parser.add_argument("--bless", action="store_true", help="write the verdicts that the tests expect (verdicts.tsv)")
    parser.add_argument("--long", action="store_true", help="print findings in full")
    options = parser.parse_args()
    rows = truth(options.truth)
    verdicts = []
    for folder in sorted(p for p in options.folder.iterdir() if p.is_dir()):
        if folder.name in rows:
            verdicts.append(judge(options.program, folder, rows[folder.name]))
        else:
            print(f"{folder.name}: not in {options.truth}", file=sys.stderr)
    print_table(verdicts, options.long)
    if options.bless:
        VERDICTS.write_text("\n".join("\t".join(row) for row in [FIELDS, *(v.row() for v in verdicts)]) + "\n")


if __name__ == "__main__":
    main()
