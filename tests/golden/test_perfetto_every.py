"""Every timeline that the program hands over, with the tracks of its analysis, in both forms, taken by Perfetto's own
engine: nothing that its UI would show as an error, each track of the file with as many slices as the file has, as long
in sum, and idle tracks as long as the report says. The server gives the same bytes.

A few of each producer; VP_EVERY=1 takes all, members of archives and several hosts too, and prints a table."""
import collections
import functools
import gzip
import json
import os
import re
import subprocess
import urllib.parse
import urllib.request

import pytest
from common import PROGRAM, TRACES, least
from every_timeline import arguments, content, every, few, of_engine, of_json, of_xplane, sessions
from real_perfetto import checked, needs_perfetto
from test_perfetto_json import events_of

EVERY = os.environ.get('VP_EVERY') == '1'
FORMS = {'json': 'perfetto-json', 'pftrace': 'pftrace'}
# What `top` calls an op: on XLA's lines and streams of devices, by Kineto's categories, and with an HLO op where XLA:CPU
# left it on a thread of the host.
OPS = """SELECT IFNULL(p.name, '') AS process, IFNULL(p.pid, 0) AS pid, s.name AS op, COUNT(*) AS calls, SUM(s.dur) AS ns
FROM slice s JOIN thread_track k ON s.track_id = k.id JOIN thread t USING (utid) LEFT JOIN process p USING (upid)
WHERE s.dur >= 0 AND IFNULL(p.name, '') NOT GLOB '*(analysis*' AND CASE
WHEN p.name GLOB '*device:*' THEN (t.name GLOB '*XLA Ops*' AND t.name NOT GLOB '*Async*') OR t.name GLOB '*Stream #*'
WHEN LOWER(s.category) IN ('kernel', 'memcpy', 'memset', 'gpu_memcpy', 'gpu_memset') THEN 1
ELSE p.name GLOB '*host:CPU*' AND COALESCE(EXTRACT_ARG(s.arg_set_id, 'args.hlo_op'),
EXTRACT_ARG(s.arg_set_id, 'debug.hlo_op')) IS NOT NULL END
GROUP BY p.upid, s.name"""


@functools.lru_cache(maxsize=None)
def chosen():
    return every() if EVERY else few(every())


def export(*args):
    done = subprocess.run([PROGRAM, 'export', *args], capture_output=True, check=False)
    assert done.returncode == 0, (args, done.stderr.decode('utf-8', 'replace'))
    return done.stdout


@pytest.fixture(scope='module')
def exported(tmp_path_factory):
    """{(timeline, form): its file}"""
    folder, made = tmp_path_factory.mktemp('every'), {}
    for i, timeline in enumerate(chosen()):
        for form, word in FORMS.items():
            made[timeline, form] = folder / f'{i}.{form}'
            made[timeline, form].write_bytes(export('--to', word, *arguments(timeline)))
    return made


@pytest.fixture(scope='module')
def taken(exported):
    """{(timeline, form): what the engine says of it}"""
    return dict(zip(exported, checked(exported.values(), '--tracks', '--sql', OPS)))


def of_file(timeline):
    """{track: [slices, ns]}, or None: cut, refused by Python, or with slices of two events."""
    data = content(timeline)
    if data is None or timeline.kind == 'xplane':
        return data and of_xplane(data)
    events = events_of(data)
    return None if events is None else of_json(events)


@needs_perfetto
def test_nothing_of_it_is_an_error(taken):
    assert len(taken) > least(30, 20)
    bad = [(timeline.file, form, row) for (timeline, form), row in taken.items()
           if row.get('fatal') or row['bad']]
    assert not bad, [(file, form, row.get('fatal'), row['bad']) for file, form, row in bad]


@needs_perfetto
def test_each_track_holds_what_the_file_has(taken):
    table, compared, wrong = collections.defaultdict(collections.Counter), 0, []
    for timeline in chosen():
        want = of_file(timeline)
        for form in FORMS:
            row = taken[timeline, form]
            table[timeline.kind, form].update(timelines=1, slices=row['slices'], bad=sum(row['bad'].values()))
            if want is None:
                continue
            own, _ = of_engine(row, want)
            off = [(k, want.get(k), own.get(k)) for k in want.keys() | own.keys() if want.get(k) != own.get(k)]
            wrong += [(timeline.file, form, *each) for each in off]
            compared += 1
            table[timeline.kind, form].update(compared=1, tracks=len(want), events=sum(n for n, _ in want.values()),
                                              mismatches=len(off))
    for (kind, form), row in sorted(table.items()):
        print(kind, form, dict(row))
    assert compared > least(25, 15) and not wrong, wrong[:5]


@needs_perfetto
def test_both_forms_hold_the_same(taken):
    for timeline in chosen():
        mine, other = taken[timeline, 'json'], taken[timeline, 'pftrace']
        for what in ('slices', 'dur_ns', 'unfinished', 'counters'):
            assert mine[what] == other[what], (timeline.file, what)


@needs_perfetto
def test_idle_tracks_add_up_to_the_report(taken):
    devices_seen = 0
    for timeline in chosen():
        done = subprocess.run([PROGRAM, 'report', '--format', 'json', *arguments(timeline)],
                              capture_output=True, check=False)
        devices = json.loads(done.stdout)['devices'] if done.returncode == 0 else []
        if len({d['name'] for d in devices}) < len(devices):
            continue
        for form in FORMS:
            _, added = of_engine(taken[timeline, form], {})
            for device in devices:
                idle = sum(ns for (group, track), (_, ns) in added.items()
                           if track == 'Idle' and group.split(' (analysis')[0] == device['name'])
                assert abs(idle * 1000 - device['breakdown']['idle_ps']) <= 500, (timeline.file, form, device['name'])
                devices_seen += 1
    assert devices_seen > least(25, 15)


def ops_of(device, rows):
    """{name: its row} of one device of the report: XLA names its process, Kineto numbers it."""
    gpu = re.fullmatch(r'GPU (\d+)', device)
    process = re.sub(r'^(/host:CPU):\d+$', r'\1', device)
    return {r['op']: r for r in rows if (r['pid'] == int(gpu[1]) if gpu else r['process'] == process)}


@needs_perfetto
def test_the_top_op_is_the_same(taken):
    """Of total time, names as the file has them. Both ends of a slice are rounded to ns: at most 1 ns a call. Of one file
    a producer: in others, slices of one name are not what `top` calls an op, which lasts until its workers end (XLA:CPU),
    is measured by the device's own clock (TPU) and is told from its namesake in another program."""
    compared, wrong = 0, []
    for timeline in few(chosen()):
        done = subprocess.run([PROGRAM, 'top', '--format', 'json', '--group', 'raw', '--by', 'total', *arguments(timeline)],
                              capture_output=True, check=False)
        said = json.loads(done.stdout) if done.returncode == 0 else {'devices': [], 'analysis': {'has_devices': False}}
        if not said['analysis']['has_devices'] or len({d['name'] for d in said['devices']}) < len(said['devices']):
            continue
        for form in FORMS:
            rows = taken[timeline, form]['rows']
            for i, device in enumerate(said['devices']):
                first = next((o for o in said['ops'] if o['device_index'] == i), None)
                found = ops_of(device['name'], rows)
                if not first and not found:
                    continue
                same = found.get(first['name']) if first else None
                most = max((r['ns'] for r in found.values()), default=0)
                if not same or same['calls'] != first['calls'] or most - same['ns'] > first['calls'] \
                        or abs(same['ns'] * 1000 - first['total_ps']) > 1000 * first['calls']:
                    wrong.append((timeline.file, form, device['name'], first and (first['name'], first['calls'], first['total_ps']),
                                  same, most))
                compared += 1
    print('devices compared:', compared)
    assert compared > least(20, 10) and not wrong, (len(wrong), wrong[:5])


# ---- the server --------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def served(tmp_path_factory):
    """An address."""
    environment = {**os.environ, 'XDG_CACHE_HOME': str(tmp_path_factory.mktemp('cache'))}
    with subprocess.Popen([PROGRAM, 'serve', '--no-browser', '--port', '0', str(TRACES)], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        yield re.match(r'http://[0-9.]+:[0-9]+', server.stdout.readline()).group()
        server.terminate()


def got(address, session, name):
    path = f'{address}/trace/{urllib.parse.quote(session)}/{urllib.parse.quote(name)}'
    with urllib.request.urlopen(path) as answer:
        return answer.read()


@pytest.mark.slow
def test_the_server_gives_the_same(served, tmp_path):
    asked = 0
    for i, timeline in enumerate(t for t in chosen() if not t.alone):
        for form, word in FORMS.items():
            want = export('--to', word, *arguments(timeline))
            assert got(served, timeline.session, f'{timeline.host}.{form}') == want, (timeline, form)
            asked += 1
        packed = got(served, timeline.session, f'{timeline.host}.json.gz')
        assert gzip.decompress(packed) == export('--to', 'perfetto-json', *arguments(timeline)), timeline
    assert asked > least(25, 15)


@needs_perfetto
def test_all_hosts_of_a_run_in_one(served, tmp_path):
    several = [s for s in sessions() if len(s['hosts']) > 1]
    if not several:
        pytest.skip('SKIP: no session of several hosts is here')
    for session in several if EVERY else several[:1]:
        merged = got(served, session['id'], 'all.pftrace')
        assert merged == export(str(TRACES), session['id'])
        (tmp_path / 'all.pftrace').write_bytes(merged)
        singles = []
        for i, host in enumerate(session['hosts']):
            singles.append(tmp_path / f'{i}.pftrace')
            singles[-1].write_bytes(export('--host', host, str(TRACES), session['id']))
        whole, *parts = checked([tmp_path / 'all.pftrace', *singles], '--tracks')
        assert not whole.get('fatal') and not whole['bad'], (session['id'], whole)

        def own(row):
            return collections.Counter((t['slices'], t['dur_ns']) for t in row['tracks'] if t['pid'] is not None)

        assert not sum(map(own, parts), collections.Counter()) - own(whole)
        bundle = gzip.decompress(got(served, session['id'], 'all.tar.gz'))
        assert bundle == export('--to', 'bundle', str(TRACES), session['id'])
