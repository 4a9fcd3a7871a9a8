"""Built profiles (tests/gen): one for every rule, in which one cause is planted and must come first, with
its place and what it costs computed from the scene itself; and profiles with nothing to find.

Definitions: docs/reference/findings.md#planted-causes. A finding's place is on the host's clock."""
import functools
import json
import pathlib
import sys
import tempfile
from collections import Counter

import pytest

import identities
from common import ROOT, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import clean, files, measure, planted  # noqa: E402
from gen.scene import MS, US, Scene, TpuChip  # noqa: E402
from rules import DEVICE_RULES  # noqa: E402

LEVELS = ['low', 'medium', 'high']


@functools.lru_cache(maxsize=None)
def scene_of(name):
    return planted.CASES[name]() if name in planted.CASES else clean.CASES[name]()


@functools.lru_cache(maxsize=None)
def written(name):
    made = scene_of(name)
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f'vp-{name}-'))
    if name in planted.CASES:
        return str(files.write(made.scene, made.form, folder, made.cut))
    return str(files.write(*made, folder))


@functools.lru_cache(maxsize=None)
def findings(name):
    return json.loads(view_profile('findings', '--format=json', written(name)).stdout)['findings']


@functools.lru_cache(maxsize=None)
def full(name):
    return json.loads(view_profile('report', '--format=json', written(name)).stdout)


def by_id(name):
    return {f['id']: f for f in findings(name)}


def shown(found):
    return [(f['id'], f['status'], f['severity'], f['impact']['time_ps'], f['title']) for f in found
            if f['status'] in ('fired', 'explained')]


# ---- the planted cause comes first ---------------------------------------------------------------

CASES = pytest.mark.parametrize('name', planted.CASES)


@CASES
def test_planted_cause_is_first(name):
    want, first = scene_of(name), findings(name)[0]
    assert (first['id'], first['status'], first['severity']) == (want.rule, 'fired', want.severity), \
        shown(findings(name))


@CASES
def test_impact(name):
    want, found = scene_of(name), by_id(name)[scene_of(name).rule]
    if want.impact is None:
        return
    least, most = want.impact
    assert least <= found['impact']['time_ps'] <= most, found
    assert found['impact']['gross_ps'] >= found['impact']['time_ps']


@CASES
def test_place(name):
    want, found = scene_of(name), by_id(name)[scene_of(name).rule]
    if want.rule == 'F23':
        return  # of the file, not of a time in it
    place = found['where'][0]
    assert want.device in (place['device'] or ''), found['where']
    if want.inside:
        assert want.inside[0] <= place['start_ps'] <= place['end_ps'] <= want.inside[1], found['where']


@CASES
def test_symptoms_are_explained(name):
    """What the planted cause brings with it is not told as another cause of the same time."""
    want, found = scene_of(name), by_id(name)
    for rule in want.explained:
        if found[rule]['status'] == 'explained':
            assert want.rule in found[rule]['explained_by'], found[rule]
        else:
            assert found[rule]['status'] in ('clear', 'not_evaluated'), shown(findings(name))


@CASES
def test_no_time_is_claimed_twice(name):
    """What rules claim of the one window of a device together is no more than the window."""
    fired = [f for f in findings(name) if f['status'] == 'fired' and f['impact']['time_ps'] is not None]
    for f in fired:
        assert f['impact']['time_ps'] <= f['impact']['window_ps'], f
    if len(scene_of(name).scene.host.devices) == 1 and len(scene_of(name).scene.hosts) == 1:
        windows = [f['impact']['window_ps'] for f in fired if f['id'] not in ('F10', 'F11')]
        spent = sum(f['impact']['time_ps'] for f in fired if f['id'] not in ('F10', 'F11'))
        assert spent <= max(windows, default=0), shown(findings(name))


def test_every_rule_is_planted():
    assert {scene_of(n).rule for n in planted.CASES} == DEVICE_RULES


# ---- what single ones must say -------------------------------------------------------------------


def test_host_bound_names_what_the_thread_did():
    for name in ('F3', 'F3-jax'):
        found, made = by_id(name)['F3'], full(name)
        assert 'tokenize_batch' in found['message']
        labels = [(l['label'], l['cause']) for l in made['idle_labels']]
        assert labels[0][0] == 'tokenize_batch'


def test_device_idle_does_not_guess_without_a_host():
    """Between the ops of one run the program was launched; of the rest nothing is known."""
    found, (device,) = by_id('F1'), full('F1')['devices']
    assert found['F8']['status'] == 'not_evaluated' and found['F8']['missing'], found['F8']
    assert found['F3']['status'] in ('clear', 'not_evaluated')
    causes = device['idle_causes']
    assert causes['latency'] + causes['unknown'] == device['breakdown']['idle_ps']
    assert causes['unknown'] == 11 * (200 + 30) * US  # between steps


def test_recompile_names_the_function():
    assert 'train_step' in by_id('F10')['F10']['message']
    compiled, = [f for f in full('F10')['compile']['functions'] if f['function'] == 'train_step']
    assert (compiled['compiles'], compiled['late'], compiled['repeat_ps']) == (2, 1, 30 * MS)
    assert full('F10')['compile']['count'] == 2
    assert full('F10')['compile']['total_ps'] == 35 * MS


def test_compile_before_the_steps():
    made = full('F11')['compile']
    assert (made['count'], made['total_ps'], made['before_steps_ps'], made['late']) == (1, 40 * MS, 40 * MS, 0)


def test_straggler_is_found_through_the_clocks():
    """The other host's clock is fast and its capture began later; the straggler stands on the first."""
    balance = full('F16-hosts')['balance']
    assert balance['aligned'] is True
    assert balance['matched'] == 12 and balance['straggler_last'] == 12
    assert balance['wait_ps'] == 12 * 600 * US
    for name in ('F16', 'F16-hosts'):
        notes, found = scene_of(name).notes, by_id(name)['F16']
        straggler = full(name)['balance']['straggler']
        assert (straggler['device'], straggler['host']) == (notes['device'], notes['host'])
        assert notes['device'][-5:] in found['message'].split(' waits ')[0], found['message']
    one = full('F16')['balance']
    assert (one['matched'], one['straggler_last'], one['wait_ps']) == (12, 12, 12 * 600 * US)
    assert one['straggler']['device'] == '/device:TPU:2'


def test_hot_op_names_the_op():
    for name in ('F17', 'F17-hotter'):
        assert 'flash_attention' in by_id(name)['F17']['message']
    assert 'gather_rows' in by_id('F18')['F18']['message']
    assert 'jit_encode_prompt' in by_id('F24')['F24']['message']


def test_cut_file_lowers_what_it_shows():
    """A quarter is missing: the rest is told a level lower than from the whole file, and says why."""
    whole, cut = by_id('F3')['F3'], by_id('F23')
    assert cut['F23']['severity'] == 'high'
    for f in findings('F23'):
        if f['status'] == 'fired' and f['id'] != 'F23':
            share = f['impact']['share_of_window']
            if share is not None:
                level = 'high' if share >= .1 else 'medium' if share >= .03 else 'low'
                assert LEVELS.index(f['severity']) == max(0, LEVELS.index(level) - 1), f
            assert f['caveats'], f
    assert whole['severity'] == 'high'
    quality = full('F23')['quality']
    assert any(q['code'] == 'truncated' and q['severity'] == 'error' and q['file'] for q in quality)


def test_transfer_direction():
    for name in ('F6', 'F6-jax', 'F6-tpu'):
        rows = [t for t in full(name)['transfers'] if t['count'] and t['direction'] != 'memset']
        assert [t['direction'] for t in rows] == ['h2d']
        assert rows[0]['count'] == 12
    row, = full('F6')['transfers']
    assert row['exposed_ps'] == row['busy_ps'] == row['total_ps'] == 12 * 1400 * US
    assert row['bytes'] == 12 * (16 << 20) and row['pageable'] == 0
    row, = full('F6-tpu')['transfers']
    assert row['bytes'] == 12 * (1 << 22)
    row, = full('F7')['transfers']
    assert (row['pageable'], row['pageable_ps'], row['count']) == (24, 12 * 400 * US, 24)


def test_a_fair_coin_is_no_straggler(tmp_path):
    """Two hosts whose chips are last by turns, 0.4 ms of 10 each time: one of two is last in half of the
    calls whoever they are, so that nobody can be named."""
    scene = Scene(hosts=2)
    chips = [TpuChip(scene, h, start=10 * MS) for h in scene.hosts]
    for n in range(16):
        since = chips[0].t
        for i, chip in enumerate(chips):
            chip.t = since
            with chip.step(n), chip.module(run=n):
                planted.fused(chip, 980 * US if (n * 7 // 4 + i) % 2 else 940 * US)
                chip.all_reduce(since + 9900 * US - chip.t, call=n + 1, group=2)
            chip.idle(30 * US)
    path = files.write(scene, 'xspace', tmp_path)
    found = {f['id']: f for f in json.loads(view_profile('findings', '--format=json', str(path)).stdout)['findings']}
    assert found['F16']['status'] != 'fired', found['F16']['message']


def test_every_finding_has_a_place():
    """A user goes from each to its time in the timeline; only notes about the file have none, and a program's memory
    plan, which is the same whenever it runs, has its name."""
    for name in planted.CASES:
        for f in findings(name):
            if f['status'] == 'fired' and f['id'] in ('F36', 'F37', 'F38', 'F39', 'F40'):
                assert f['where'][0]['track'] == 'jit_step', f
            elif f['status'] == 'fired' and f['id'] != 'F23':
                assert any(p['start_ps'] is not None for p in f['where']), (name, f['id'], f['message'])


# ---- profiles with nothing to find ---------------------------------------------------------------

CLEAN = pytest.mark.parametrize('name', clean.CASES)


@CLEAN
def test_clean_profile(name):
    loud = [f for f in findings(name) if f['status'] == 'fired' and f['severity'] != 'low']
    assert loud == [], shown(findings(name))


@CLEAN
def test_clean_profile_is_silent(name):
    """None of the ten has anything that a user should be told, even quietly."""
    assert shown(findings(name)) == []


def test_threads_that_step_side_by_side(tmp_path):
    """Each GPU's step is that of the thread that feeds it."""
    scene = clean.two_threads()
    made = json.loads(view_profile('report', '--format=json', str(files.write(scene, 'xspace', tmp_path))).stdout)
    for i, thread in enumerate(scene.host.threads):
        lengths = [e.dur for e in thread.events if 'step_num' in e.stats]
        assert [s['devices'][i]['dur_ps'] for s in made['steps']['list']] == lengths


def test_every_rule_can_be_clear():
    """… and where it is clear it was asked: on one clean profile at least, F23 too."""
    asked = {f['id'] for name in clean.CASES for f in findings(name) if f['status'] == 'clear'}
    assert asked == DEVICE_RULES


# ---- every built profile -------------------------------------------------------------------------

ALL = pytest.mark.parametrize('name', [*planted.CASES, *clean.CASES])


def hosts_of(name):
    return scene_of(name).scene.hosts if name in planted.CASES else scene_of(name)[0].hosts


def form_of(name):
    return scene_of(name).form if name in planted.CASES else scene_of(name)[1]


def known_devices(name):
    """(the scene's host and device, position and row of that device in the report)"""
    rows = full(name)['devices']
    for host in hosts_of(name):
        for device in host.devices:
            label = device.name if form_of(name) == 'xspace' else f'GPU {device.ordinal}'
            at, = [i for i, d in enumerate(rows) if d['name'] == label and
                   (form_of(name) != 'xspace' or d['host'] == host.name)]
            yield host, device, at, rows[at]


WHOLE = pytest.mark.parametrize('name', [n for n in [*planted.CASES, *clean.CASES] if n != 'F23'])


@pytest.mark.parametrize('name', [*planted.CASES, *clean.CASES])
def test_identities(name):
    identities.check(full(name))
    assert full(name)['findings'] == findings(name)


@WHOLE
def test_breakdown_is_that_of_the_scene(name):
    assert len(full(name)['devices']) == sum(len(h.devices) for h in hosts_of(name))
    for _, device, _, row in known_devices(name):
        want = measure.breakdown(device)
        assert {k: row['breakdown'][k] for k in want} == want


@WHOLE
def test_gaps_are_those_of_the_scene(name):
    """Their number and the longest; of GPU work whose launch is known, the three parts of each."""
    for host, device, at, row in known_devices(name):
        lengths = sorted((e - s for s, e in measure.idle(device)), reverse=True)
        mine = [g for g in full(name)['gaps'] if g['device_index'] == at]
        assert row['gap_count'] == len(lengths)
        assert [g['dur_ps'] for g in mine] == lengths[:len(mine)]
        assert bool(mine) == bool(lengths)
        if device.kind == 'gpu' and name != 'F23-unlinked':
            parts = [(e - s, late - s, call - late, e - call) for s, e, late, call in measure.gap_parts(host, device)]
            got = [(g['dur_ps'], g['host_late_ps'] + g['causes']['peer'], g['in_call_ps'], g['latency_ps'])
                   for g in mine]  # while the thread waits for another device it is not late
            assert not Counter(got) - Counter(parts)
            sums = {k: sum(p[i] for p in parts) for i, k in ((2, 'call'), (3, 'latency'))}
            assert {k: row['idle_causes'][k] for k in sums} == sums
            assert row['idle_causes']['unknown'] == 0


@WHOLE
def test_step_count(name):
    """Each planted step is there once, in order, and none is invented."""
    steps = full(name)['steps']['list']
    numbers = [s['number'] for s in steps if s['number'] is not None]
    assert numbers == sorted(numbers), numbers
    spans = [e for h in hosts_of(name) for t in h.threads for e in t.events
             if 'step_num' in e.stats or e.name.startswith('ProfilerStep#')]
    lines = [e for h in hosts_of(name)[:1] for d in h.devices[:1] for e in d.steps]
    if lines:
        assert len(steps) == len(lines)
        assert full(name)['steps']['source'] == 'line'
    elif spans:
        assert full(name)['steps']['source'] == ('profiler_step' if 'Profiler' in spans[0].name else 'annotation')
        if len(hosts_of(name)[0].devices) == 1:
            assert len(steps) == len(spans)
