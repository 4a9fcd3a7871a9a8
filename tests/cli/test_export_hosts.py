"""`view_profile export` of all hosts of a run: each is there as its own export is, and their clocks are one."""
import collections
import gzip
import io
import json
import pathlib
import subprocess
import sys
import tarfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
from common import trace  # noqa: E402
from gen import files  # noqa: E402
from gen.scene import MS, US, Scene, TpuChip  # noqa: E402
from pftrace_decode import Trace  # noqa: E402
from real_perfetto import checked, needs_perfetto  # noqa: E402

RANKS = "archives/facebookresearch__param"  # eight ranks of one PyTorch program
XPLANE = "jax_cpu/mnist_train/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb"


def export(place, *args):
    return subprocess.run(["view_profile", "export", *map(str, args)], cwd=place.dir, env=place.env,
                          capture_output=True, check=False)


def made(place, *args):
    done = export(place, *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def bundle(place, path, *args):
    """(members by name, in their order; the manifest; the tar's bytes)"""
    data = made(place, "--to", "bundle", *args, path)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        members = {m.name: tar.extractfile(m).read() for m in tar}
        assert all((m.mtime, m.uid, m.gid, m.mode, m.isreg()) == (0, 0, 0, 0o644, True) for m in tar)
    return members, json.loads(members.pop("perfetto_manifest.json"))["perfetto_manifest"], data


def run_of(place, hosts):
    """A run of hosts by name, with the bytes of their XSpaces."""
    run = place.dir / "plugins" / "profile" / "run"
    run.mkdir(parents=True)
    for name, data in hosts.items():
        (run / f"{name}.xplane.pb").write_bytes(data)
    return place.dir


def skewed(error_ps, collectives=True, start_ns=0, hosts=2):
    """Hosts that end each collective together; the last one's clock says error_ps more, and its capture begins
    start_ns later."""
    scene = Scene(hosts=hosts)
    scene.hosts[-1].clock_error = error_ps
    scene.hosts[-1].start_ns += start_ns
    chips = [TpuChip(scene, h) for h in scene.hosts]
    for n in range(12):
        since = chips[0].t
        for i, chip in enumerate(chips):
            chip.t = since
            with chip.step(n), chip.module(run=n):
                chip.op("fusion.1", MS + i * 10 * US)
                if collectives:
                    chip.all_reduce(since + 2 * MS - chip.t, call=n + 1, group=hosts)
            chip.idle(30 * US)
    return scene


def ends(document, name):
    """Of the events of that name, in ns."""
    return sorted(round(e["ts"] * 1000) + round(e["dur"] * 1000)
                  for e in json.loads(document)["traceEvents"] if e.get("ph") == "X" and e["name"] == name)


# ---- The bundle ----------------------------------------------------------------------------------


def test_members_are_what_each_host_is_exported_as(place):
    members, manifest, data = bundle(place, trace(RANKS))
    names = [f"worker{i}_step_12" for i in range(8)]
    assert list(members) == [f"{n}.json" for n in names]
    for name in names:
        assert members[f"{name}.json"] == made(place, "--to", "perfetto-json", "--host", name, trace(RANKS))
    assert manifest["version"] == 1
    assert [f["path"] for f in manifest["files"]] == list(members)
    assert [f["machine"]["name"] for f in manifest["files"]] == names
    assert bundle(place, trace(RANKS))[2] == data
    for name in ("b.tar.gz", "b.tgz"):
        made(place, "--to", "bundle", "-o", name, trace(RANKS))
        assert gzip.decompress((place.dir / name).read_bytes()) == data
    notes = [manifest["attributes"][f"view_profile.clock.{n}"] for n in names]
    assert notes[0] == "reference clock"
    assert all(n.endswith("by 5 common collectives") for n in notes[1:])


@pytest.mark.parametrize("error_ps,start_ns", [(40 * MS, 0), (-40 * MS, 0), (0, 7_000_000), (3 * MS, 86_400 * 10**9)])
def test_collectives_end_together(place, error_ps, start_ns):
    """Whatever the clocks say, and whenever each capture began."""
    files.write(skewed(error_ps, start_ns=start_ns), "xspace", place.dir)
    members, manifest, _ = bundle(place, place.dir)
    first, second = manifest["files"]
    offsets = [f.get("clocks", {}).get("offset_ns", 0) for f in (first, second)]
    assert min(offsets) == 0  # nothing is moved before the start of the trace
    synced, to = (second, first) if "clocks" in second else (first, second)
    assert synced["clocks"]["sync_to"] == {"file": to["path"]} and "clocks" not in to
    a, b = (ends(members[f["path"]], "all-reduce.1") for f in (first, second))
    assert len(a) == 12 and [t + offsets[0] for t in a] == [t + offsets[1] for t in b]
    late = error_ps + start_ns * 1000
    text = f"{'-' if late > 0 else '+'}{abs(late) // MS}.000 ms ± 0.000 ms by 12 common collectives"
    name = second["machine"]["name"]
    assert manifest["attributes"][f"view_profile.clock.{name}"] == text


def test_without_collectives_the_wall_clock_counts(place):
    files.write(skewed(0, collectives=False, start_ns=7_000_000), "xspace", place.dir)
    _, manifest, _ = bundle(place, place.dir)
    offsets = [f.get("clocks", {}).get("offset_ns", 0) for f in manifest["files"]]
    assert offsets[1] - offsets[0] == 7_000_000
    assert set(manifest["attributes"].values()) == {"not aligned (no common collectives); placed by the wall clock of the file"}


def test_names_of_hosts_make_safe_members(place):
    data = trace(XPLANE).read_bytes()
    names = ["a b", "a_b", "a\nb", "perfetto_manifest", "ü", "x" * 200, "-rf"]
    members, manifest, _ = bundle(place, run_of(place, {n: data for n in names}))
    assert len(members) == len(manifest["files"]) == len(names)
    for name in members:
        assert len(name) <= 100 and name.isascii() and name.endswith(".json") and name[0] not in ".-"
        assert all(c.isalnum() or c in "-_." for c in name)
    assert len({f["machine"]["name"] for f in manifest["files"]}) == len(names)
    assert {"a b", "a_b", "ü"} <= {f["machine"]["name"] for f in manifest["files"]}
    assert all(f["machine"]["name"].isprintable() for f in manifest["files"])


def test_a_damaged_host_leaves_its_neighbours(place):
    data = trace(XPLANE).read_bytes()
    run_of(place, {"a": data, "b": data[:-1000], "c": data})
    (place.dir / "plugins/profile/run/d.xplane.pb").write_bytes(data[:3])
    done = export(place, "--to", "bundle", "-o", "b.tar", place.dir)
    assert done.returncode == 0 and b"b.xplane.pb is damaged" in done.stderr
    with tarfile.open(place.dir / "b.tar") as tar:
        assert tar.getnames() == ["a.json", "b.json", "c.json", "perfetto_manifest.json"]
    for form in ("folded", "speedscope"):
        done = export(place, "--to", form, "-o", "sums", place.dir)
        assert done.returncode == 0 and done.stderr.count(b"b.xplane.pb") == 1 and done.stderr.count(b"d.xplane.pb") == 1


def test_a_bundle_of_one_host_and_of_none(place):
    members, manifest, _ = bundle(place, trace(XPLANE))
    assert list(members) == ["vm.json"] and manifest["files"] == [{"path": "vm.json", "machine": {"name": "vm"}}]
    assert not manifest["attributes"]
    (place.dir / "none").mkdir()
    done = export(place, "--to", "bundle", "-o", "x.tar", "none")
    assert done.returncode == 4 and not (place.dir / "x.tar").exists()


@pytest.mark.parametrize("words", [["--host", "a"], ["--window", "0..1s"], ["--max-events", "5"]])
def test_a_bundle_is_of_the_whole_run(place, words):
    done = export(place, "--to", "bundle", *words, "-o", "x.tar", trace(RANKS))
    assert done.returncode == 2 and b"a bundle always contains all hosts" in done.stderr and not (place.dir / "x.tar").exists()


# ---- The merged .pftrace -------------------------------------------------------------------------


def merged(place, path, *args):
    return Trace(made(place, "--to", "pftrace", *args, path))


def process_name(trace, track, host=None):
    name = trace.process_of(track).name
    return name if host is None else name.removesuffix(f" ({host})")


def slices_of(trace, host=None):
    """Everything of each slice, as (process, track, name, start, end, arguments); of one host, whose name is left
    out."""
    found = collections.Counter()
    for s in trace.of_file():
        if host is None or trace.process_of(s.track).name.endswith(f" ({host})"):
            found[process_name(trace, s.track, host), s.track.name, s.name, s.start, s.end,
                  json.dumps(s.args, sort_keys=True, default=repr)] += 1
    return found


def shifted(slices, by):
    return collections.Counter({(p, t, n, s + by, e + by, a): count for (p, t, n, s, e, a), count in slices.items()})


def first_of(slices):
    return min(s for _, _, _, s, _, _ in slices)


def flows_of(trace, host=None):
    """How many slices each flow has, whatever its number."""
    ids = collections.Counter(f for s in trace.of_file() for f in s.flows
                              if host is None or trace.process_of(s.track).name.endswith(f" ({host})"))
    return collections.Counter(ids.values())


def notes(trace):
    """(track, text, ns, args) by host."""
    group, = [t for t in trace.tracks.values() if t.name == "Host clocks"]
    found = {i.track.name: (i.track, i.name, i.start, i.args) for i in trace.instants}
    assert all(track.parent == group.uuid for track, *_ in found.values()) and not group.parent
    return found


def check_merged(place, whole, path, hosts):
    """Each host is in it as in its own .pftrace, moved as a whole; returns by how much."""
    moved = {}
    for host in hosts:
        alone = merged(place, path, "--host", host)
        mine, own = slices_of(whole, host), slices_of(alone)
        moved[host] = first_of(mine) - first_of(own)
        assert mine == shifted(own, moved[host]), host
        assert flows_of(whole, host) == flows_of(alone)
        assert (sorted((t.name.removesuffix(f" ({host})"), t.rank % 100000) for t in whole.tracks.values()
                       if t.kind == "process" and t.name.endswith(f" ({host})"))
                == sorted((t.name, t.rank) for t in alone.tracks.values() if t.kind == "process"))
        assert (sorted((t.name, at + moved[host], value) for t, at, value in alone.counters)
                == sorted((t.name, at, value) for t, at, value in whole.counters
                          if whole.process_of(t).name.endswith(f" ({host})")))
    assert sum(slices_of(whole).values()) == sum(sum(slices_of(whole, h).values()) for h in hosts)
    pids = [t.pid for t in whole.tracks.values() if t.kind == "process"]
    assert len(pids) == len(set(pids))
    threads = [(t.pid, t.tid) for t in whole.tracks.values() if t.kind == "thread"]
    assert len(threads) == len(set(threads)) and all(pid != tid for pid, tid in threads)
    return moved


@pytest.mark.parametrize("error_ps,start_ns", [(40 * MS, 0), (-40 * MS, 0), (0, 7_000_000), (3 * MS, 86_400 * 10**9)])
def test_hosts_are_merged_on_one_clock(place, error_ps, start_ns):
    files.write(skewed(error_ps, start_ns=start_ns, hosts=3), "xspace", place.dir)
    names = ["host-a", "host-b", "host-c"]
    whole = merged(place, place.dir)
    check_merged(place, whole, place.dir, names)
    calls = [sorted(s.end for s in whole.of_file() if s.name == "all-reduce.1"
                    and whole.process_of(s.track).name.endswith(f"({name})")) for name in names]
    assert len(calls[0]) == 12 and calls[0] == calls[1] == calls[2]
    late = error_ps + start_ns * 1000
    said = notes(whole)
    assert said["host-a"][1] == "host-a: reference clock"
    assert said["host-c"][1] == (f"host-c: {'-' if late > 0 else '+'}{abs(late) // MS}.000 ms ± 0.000 ms "
                                 "by 12 common collectives")
    assert said["host-c"][3] == {"offset_ps": -late, "error_ps": 0, "collectives": 12}


def test_the_wall_clock_without_collectives(place):
    files.write(skewed(0, collectives=False, start_ns=7_000_000), "xspace", place.dir)
    whole = merged(place, place.dir)
    moved = check_merged(place, whole, place.dir, ["host-a", "host-b"])
    assert moved["host-b"] - moved["host-a"] == 7_000_000
    assert {text.split(": ", 1)[1] for _, text, _, _ in notes(whole).values()} \
        == {"not aligned (no common collectives); placed by the wall clock of the file"}


def test_equal_hosts_do_not_share_pids(place):
    """A real run three times: every pid, tid, track, sequence and flow of one is that of the others, too."""
    data = trace(XPLANE).read_bytes()
    names = ["a", "b", "c (d)"]
    whole = merged(place, run_of(place, {n: data for n in names}))
    moved = check_merged(place, whole, place.dir, names)
    assert len(set(moved.values())) == 1
    ranks = [[t.rank for t in whole.tracks.values() if t.kind == "process" and t.name.endswith(f" ({n})")]
             for n in names]
    assert max(ranks[0]) < min(ranks[1]) and max(ranks[1]) < min(ranks[2])


@pytest.mark.slow
def test_many_hosts(place):
    tiny = skewed(0, hosts=1)
    tiny.hosts[0].devices[0].ops[3:] = []
    folder = files.write(tiny, "xspace", place.dir / "one")
    data = next(folder.rglob("*.xplane.pb")).read_bytes()
    names = [f"h{i:03}" for i in range(300)]
    whole = merged(place, run_of(place, {n: data for n in names}), "--session", "run")
    assert collections.Counter(whole.process_of(s.track).name.split(" (")[1] for s in whole.of_file()) \
        == {f"{n})": len(whole.of_file()) // 300 for n in names}
    assert sorted(notes(whole)) == names


@pytest.mark.slow
def test_a_damaged_host_among_three(place):
    data = trace(XPLANE).read_bytes()
    run_of(place, {"a": data, "b": data[:-1000], "c": data})
    run = place.dir / "plugins/profile/run"
    done = export(place, "-o", "m.pftrace", place.dir)
    assert done.returncode == 0 and b"b.xplane.pb is damaged" in done.stderr
    whole = Trace((place.dir / "m.pftrace").read_bytes())
    check_merged(place, whole, place.dir, ["a", "b", "c"])
    # one that turns out to hold nothing
    head = b"\x0a\x80\x80\x40" + b"\x12\x05/host"
    (run / "b.xplane.pb").write_bytes(head)
    done = export(place, "-o", "m.pftrace", place.dir)
    whole = Trace((place.dir / "m.pftrace").read_bytes())
    check_merged(place, whole, place.dir, ["a", "c"])
    assert done.returncode == 0


@pytest.mark.parametrize("words", [["--window", "0..1s"], ["--max-events", "5"]])
def test_a_part_is_of_one_host(place, words):
    data = trace(XPLANE).read_bytes()
    done = export(place, *words, "-o", "x.pftrace", run_of(place, {"a": data, "b": data}))
    assert done.returncode == 2 and b"--host" in done.stderr and not (place.dir / "x.pftrace").exists()


# ---- Perfetto itself -----------------------------------------------------------------------------


@needs_perfetto
def test_trace_processor_takes_all_of_it(place):
    for name in ("b.tar", "b.tgz"):
        made(place, "--to", "bundle", "-o", name, trace(RANKS))
    data = trace(XPLANE).read_bytes()
    made(place, "-o", "m.pftrace", run_of(place, {n: data for n in "abc"}))
    whole = Trace((place.dir / "m.pftrace").read_bytes())
    members = bundle(place, trace(RANKS))[0]
    count = sum(e.get("ph") == "X" for m in members.values() for e in json.loads(m)["traceEvents"])
    for row in checked([place.dir / f for f in ("b.tar", "b.tgz", "m.pftrace")]):
        assert not row.get("fatal") and not row["bad"] and not row["unfinished"], row
        if row["trace"].endswith("m.pftrace"):
            assert row["slices"] == len(whole.slices) + len(whole.instants)
            assert row["processes"] >= len({t.pid for t in whole.tracks.values() if t.kind == "process"})
        else:
            assert row["slices"] >= count
