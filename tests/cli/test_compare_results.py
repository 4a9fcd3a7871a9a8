"""`compare` of benchmarks' results: its figures from the files' own, and the sign of its verdicts."""
import html
import json
import random
import re
import subprocess

import pytest

OPPOSITE = {"regression": "improvement", "improvement": "regression", "noise": "noise",
            "unverified": "unverified"}


def compare(place, *args):
    done = subprocess.run(["view_profile", "compare", *map(str, args)], cwd=place.dir, env=place.env,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def method(runs, first=None):
    entry = {"execution_time": sorted(runs)[len(runs) // 2], "success": True, "run_s": runs}
    if first:
        entry |= {"first_call_s": first, "warmup_s": 2 * first}
    return entry


def write(place, name, devices, methods):
    (place.dir / name).write_text(json.dumps({"gpu_count": devices, **methods}))
    return name


def noisy(rng, seconds, n):
    return [round(rng.gauss(seconds, 0.01 * seconds), 6) for _ in range(n)]


@pytest.mark.parametrize("seed", range(12))
def test_swapping_negates_every_difference_and_turns_every_verdict(place, seed):
    rng = random.Random(seed)
    files = []
    for side in "ab":
        methods = {m: method(noisy(rng, rng.choice([0.5, 1, 1.02, 2]), rng.choice([1, 3, 5])), rng.random())
                   for m in rng.sample(["u", "v", "w", "x"], 3)}
        if rng.random() < 0.5:
            methods["v"] = {"execution_time": 0.1, "success": False, "error": "no"}
        files.append(write(place, f"{side}.json", rng.choice([2, 4]), methods))
    there = json.loads(compare(place, *files, "--format", "json"))
    back = json.loads(compare(place, *reversed(files), "--format", "json"))
    assert len(there["pairs"]) == len(back["pairs"]) >= 2
    assert back["verdict"] == OPPOSITE[there["verdict"]]
    for p, q in zip(there["pairs"], back["pairs"]):
        assert (p["a"], p["b"]) == (q["b"], q["a"])
        assert q["verdict"] == OPPOSITE[p["verdict"]] and q["threshold_ps"] == p["threshold_ps"]
        for time in ("median", "mean", "p90", "first_call", "warmup", "export"):
            x, y = p[time], q[time]
            assert (x["a_ps"], x["b_ps"]) == (y["b_ps"], y["a_ps"])
            assert x["delta_ps"] == (None if y["delta_ps"] is None else -y["delta_ps"])
        if p["speed_up"]:
            assert p["speed_up"] * q["speed_up"] == pytest.approx(1, rel=1e-6)
        # the sign: B is slower exactly where it takes longer
        longer = p["median"]["delta_ps"]
        if p["verdict"] == "regression":
            assert longer is None or longer > p["threshold_ps"] and p["speed_up"] < 1
        elif p["verdict"] == "improvement":
            assert longer is None or -longer > p["threshold_ps"] and p["speed_up"] > 1
        elif p["verdict"] == "noise":
            assert abs(longer) <= p["threshold_ps"]


def test_figures_of_two_files(place):
    a = write(place, "a.json", 1, {"m": method([4.0, 4.1, 3.9], 7)})
    b = write(place, "b.json", 4, {"m": method([1.0, 1.1, 1.2], 9)})
    compared = json.loads(compare(place, a, b, "--format", "json"))
    assert compared["schema"] == "view_profile.compare_results/1"
    (pair,) = compared["pairs"]
    assert (pair["a"]["devices"], pair["b"]["devices"]) == (1, 4)
    assert pair["median"]["a_ps"] == 4_000_000_000_000 and pair["median"]["b_ps"] == 1_100_000_000_000
    assert pair["mean"]["b_ps"] == 1_100_000_000_000 and pair["p90"]["b_ps"] == 1_200_000_000_000
    assert pair["first_call"] == {"a_ps": 7 * 10**12, "b_ps": 9 * 10**12, "delta_ps": 2 * 10**12,
                                  "ratio": pytest.approx(9 / 7)}
    assert pair["speed_up"] == pytest.approx(4 / 1.1, rel=1e-6)
    assert pair["efficiency_percent"] == pytest.approx(100 / 1.1, rel=1e-6)
    assert pair["verdict"] == "improvement"
    # Student's t of 4 degrees of freedom at three sigma; deviations of 0.1 on both sides
    noise = 1.2533 * 6.62 * (0.01 * (1 / 3 + 1 / 3)) ** 0.5
    assert pair["threshold_ps"] == pytest.approx(noise * 1e12, rel=1e-3)


def test_one_file_is_its_methods_on_every_number_of_devices(place):
    logs = place.dir / "logs"
    for n, seconds in ((1, 4), (2, 2)):
        there = logs / f"{n}gpu_20260111_212641"
        there.mkdir(parents=True)
        write(place, there / f"profile_{n}gpu_results.json", n,
              {"slow": method([seconds, seconds * 1.001]), "fast": method([seconds / 2, seconds / 2.001])})
    for empty in ("1gpu_20260111_212700", "2gpu_20260111_212700"):  # newer, but its bench failed
        (logs / empty).mkdir()
    compared = json.loads(compare(place, "logs", "--format", "json"))
    assert [(p["a"]["method"], p["b"]["method"], p["a"]["devices"], p["b"]["devices"], p["verdict"])
            for p in compared["pairs"]] == [("slow", "fast", 1, 1, "improvement"),
                                            ("slow", "fast", 2, 2, "improvement")]
    assert [p["b"]["speed_up"] for p in compared["pairs"]] == [pytest.approx(1), pytest.approx(2, rel=1e-2)]


def test_page(place):
    a = write(place, "a.json", 2, {"<i>m": method([1.0, 1.01, 0.99], 3)})
    b = write(place, "b.json", 2, {"<i>m": method([2.0, 2.01, 1.99], 3)})
    compare(place, a, b, "--format", "html", "-o", "c.html")
    page = (place.dir / "c.html").read_text()
    assert not re.search(r"<script|style=|https?://|<i>m", page)
    rows = [[html.unescape(re.sub(r"<[^>]*>", "", cell)).strip()
             for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S)]
            for row in re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.S)]
    (run,) = [r for r in rows if r and r[0] == "<i>m" and "longer" in r[-1]]
    assert run[1:6] == ["2", "1.000", "2.000", "+1.000", "+100.00%"] and run[7] == "0.50"
    assert '<span class="badge bad">regression</span>' in page
