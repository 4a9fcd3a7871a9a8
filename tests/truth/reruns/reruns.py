"""How often `compare --max-regression` is wrong: false alarms and power on real reruns of small programs.

    python reruns.py record DIR [--programs mlp,sorting] [--captures 7]
    python reruns.py measure DIR [--limit 5%] [--format text|md|json]

`record` needs JAX, and torch for torch_mlp, in the Python that runs it. It records each program of
programs.py several times, each time in a new process: the base, and versions that do 10% and 20% more
work. The versions alternate, so a change of the machine's speed meets all of them. A capture that exists
is not recorded again. RERUNS_FIRST=1 gives the steps priority on a machine that does other work.

`measure` needs only view_profile ($VIEW_PROFILE, else the one on the PATH). It compares the captures, one
and three a side, and counts how often the gate exits with 1: for base against base (false alarms), and
for base against a slower version (power). docs/ci.md quotes its output."""
import argparse
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
UNITS = {"base": 20, "10% slower": 22, "20% slower": 24}
PAIRS_MAX = 42  # of one program, version and number of captures a side


def program_names():
    done = subprocess.run([sys.executable, HERE / "programs.py", "list"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def capture_folder(root, program, version, number):
    return root / program / version.replace("% ", "-") / str(number)


def record(args):
    for number in range(args.captures):
        for program in args.programs or program_names():
            for version, units in UNITS.items():
                folder = capture_folder(args.dir, program, version, number)
                if (folder / "done").exists():
                    continue
                command = [sys.executable, HERE / "programs.py", program, str(units), folder / "profile"]
                done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})
                if done.returncode:
                    sys.exit(f"{program}, {version}: {done.stderr[-2000:]}")
                (folder / "done").touch()
                print(f"{program}, {version}, capture {number + 1} of {args.captures}", flush=True)


def view_profile(*args):
    return subprocess.run([os.environ.get("VIEW_PROFILE", "view_profile"), *map(str, args)], capture_output=True, text=True)


def reports(root, program, version):
    """The reports of all captures, written once a build."""
    made = []
    for number in itertools.count():
        folder = capture_folder(root, program, version, number)
        if not (folder / "done").exists():
            return made
        path = folder / "report.json"
        done = view_profile("report", "--format", "json", "-o", path, folder / "profile")
        if done.returncode:
            sys.exit(f"{folder}: {done.stderr}")
        made.append(path)


def sides(base, new, size):
    """Pairs of disjoint sides of so many captures; of base against itself in both orders."""
    same = base == new
    pairs = [(a, b) for a in itertools.combinations(range(len(base)), size)
             for b in itertools.combinations(range(len(new)), size) if not same or not set(a) & set(b)]
    random.Random(0).shuffle(pairs)
    return pairs[:PAIRS_MAX]


def count_alarms(base, new, size, limit):
    """How often the gate stops, how often the verdict is a regression, and of how many pairs."""
    stopped = slower = 0
    pairs = sides(base, new, size)
    for a, b in pairs:
        options = [x for i in a for x in ("--base", base[i])] + [x for i in b for x in ("--new", new[i])]
        done = view_profile("compare", "--quiet", "--format", "json", "--max-regression", limit, *options)
        if done.returncode not in (0, 1):
            sys.exit(f"{options}: {done.stderr}")
        stopped += done.returncode == 1
        slower += json.loads(done.stdout)["noise"]["verdict"] == "regression"
    return stopped, slower, len(pairs)


def spread_between(paths):
    """The deviation of the captures' median steps, as a share of their mean."""
    v = [json.loads(p.read_text())["steps"]["median_ps"] for p in paths]
    mean = sum(v) / len(v)
    return mean, (sum((x - mean) ** 2 for x in v) / (len(v) - 1)) ** 0.5 / mean


def measure(args):
    rows = []
    for program in args.programs or [p for p in program_names() if (args.dir / p).is_dir()]:
        made = {version: reports(args.dir, program, version) for version in UNITS}
        if len(made["base"]) < 2:
            continue
        mean, spread = spread_between(made["base"])
        row = {"program": program, "captures": len(made["base"]), "median_ms": mean / 1e9, "spread": spread,
               "alarms": {}}
        for size in (1, 3):
            for version in UNITS:
                if len(made["base"]) >= 2 * size:
                    row["alarms"][f"{version}, {size} a side"] = count_alarms(made["base"], made[version], size, args.limit)
        rows.append(row)
        print(f"measured {program}", file=sys.stderr, flush=True)
    show(rows, args.format)


def show(rows, form):
    if form == "json":
        print(json.dumps(rows, indent=1))
        return
    keys = [f"{version}, {size} a side" for version in UNITS for size in (1, 3)]
    cells = [["program", "step ms", "spread between captures", *keys]]
    for row in rows:
        cells.append([row["program"], f"{row['median_ms']:.1f}", f"{100 * row['spread']:.1f}%",
                      *(f"{row['alarms'][k][0]} of {row['alarms'][k][2]}" if k in row["alarms"] else "-" for k in keys)])
    total = [[sum(row["alarms"][k][i] for row in rows if k in row["alarms"]) for i in (0, 2)] for k in keys]
    cells.append(["all", "", "", *(f"{100 * s / n:.1f}%" if n else "-" for s, n in total)])
    if form == "md":
        cells.insert(1, ["---"] + ["---:"] * (len(cells[0]) - 1))
        print("\n".join(f"| {' | '.join(c)} |" for c in cells))
        return
    widths = [max(len(c[i]) for c in cells) for i in range(len(cells[0]))]
    print("\n".join("  ".join(x.ljust(w) for x, w in zip(c, widths)) for c in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "measure"])
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--programs", type=lambda v: v.split(","))
    parser.add_argument("--captures", type=int, default=7)
    parser.add_argument("--limit", default="5%")
    parser.add_argument("--format", choices=["text", "md", "json"], default="text")
    args = parser.parse_args()
    (record if args.action == "record" else measure)(args)


if __name__ == "__main__":
    main()
