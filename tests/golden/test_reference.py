"""Every intact file of the traces: the same integers as the independent reference script.

Devices are matched by name ("0" of a Kineto trace is our "GPU 0"); breakdown, op events, Σ self and the
sums of every raw op name must be equal to the picosecond."""
import concurrent.futures
import json
import subprocess

import pytest

from common import TRACES, by_reference, least, report, timelines

KEYS = ('window_ps', 'compute_ps', 'exposed_comm_ps', 'exposed_copy_ps', 'idle_ps', 'busy_ps', 'comm_ps', 'copy_ps',
        'overlap_comm_ps')


@pytest.fixture(scope='module')
def reference():
    """path → devices, by the reference over all files; files that it cannot read are left out."""
    by_size = sorted(timelines(), key=lambda p: p.stat().st_size)
    runs = [subprocess.Popen(by_reference('--ops', '100000', *half), stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True) for half in (by_size[::2], by_size[1::2])]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        outs = list(pool.map(lambda run: run.communicate()[0], runs))
    rows = [json.loads(line) for out in outs for line in out.splitlines()]
    return {r['file']: r['devices'] for r in rows if r.get('devices')}


def our_name(device):
    return device if device.startswith('/') else f'GPU {device}'


@pytest.mark.slow
def test_the_reference_reads_most_files(reference):
    assert len(reference) >= least(60, 25)


@pytest.mark.parametrize('path', timelines(), ids=lambda p: str(p.relative_to(TRACES)))
def test_same_integers(path, reference):
    want = reference.get(str(path))
    if want is None:
        pytest.skip('no device in it, or not intact: the reference has no figures')
    by_raw_name = report(path, '--group=raw')
    ours = {d['name']: d for d in by_raw_name['devices']}
    for device, figures in want.items():
        mine = ours[our_name(device)]
        assert mine['events'] == figures['events']
        assert {k: mine['breakdown'][k] for k in KEYS} == {k: figures[k] for k in KEYS}
        b = mine['breakdown']
        assert b['compute_ps'] + b['exposed_comm_ps'] + b['exposed_copy_ps'] + b['idle_ps'] == b['window_ps']
        rows = [o for o in by_raw_name['ops'] if o['device'] == mine['name']]
        assert sum(o['self_ps'] for o in rows) == figures['self_ps']
        totals, calls = {}, {}
        for o in rows:
            totals[o['name']] = totals.get(o['name'], 0) + o['total_ps']
            calls[o['name']] = calls.get(o['name'], 0) + o['calls']
        assert calls == {o['name'] or '(no name)': o['calls'] for o in figures['ops']}
        assert totals == {o['name'] or '(no name)': o['total_ps'] for o in figures['ops']}
        for o in figures['ops']:
            if 'self_ps' in o:
                assert sum(r['self_ps'] for r in rows if r['name'] == o['name']) == o['self_ps']
    mtia = {name for name in ours if name.startswith('MTIA')}  # the reference leaves these out
    assert set(ours) - mtia == {our_name(d) for d in want}
