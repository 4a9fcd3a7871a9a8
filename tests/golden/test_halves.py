"""A run's xplane.pb and its trace.json.gz give the same figures, as far as the JSON carries them.

What it lacks: when the profile began (its times count from the first event, so all are shifted alike),
the HLO protos (scopes and sources, and on XLA:CPU opcodes and with them classes), program ids, and on
XLA:CPU the link from an async op to its end; memory events; lengths of 0 are written as 1 ps."""
import functools
import sys

import pytest

from common import ROOT, TRACES, report, trace

sys.path.insert(0, str(ROOT / 'tests'))
from gen import clean, files, planted  # noqa: E402

SHORTER_BY_A_PS = 1  # a JSON event of no length lasts 1 ps
GPU = 'xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/'
CPU = 'jax_cpu/'


def halves(path):
    xplane = trace(path)
    return report(str(xplane)), report(str(xplane.with_name(xplane.name.replace('.xplane.pb', '.trace.json.gz'))))


def shift(made):
    """What to take from times, so that both count from the first event."""
    return made['devices'][0]['timeline_ns'] * 1000


def moved(rows, key, by):
    return [{**r, key: r[key] + by if r[key] is not None else None} for r in rows]


def pairs(folder):
    return [str(p.relative_to(TRACES)) for p in sorted((TRACES / folder).rglob('*.xplane.pb'))
            if p.with_name(p.name.replace('.xplane.pb', '.trace.json.gz')).exists()]


@pytest.mark.parametrize('path', pairs(GPU))
def test_gpu(path):
    xplane, text = halves(path)
    by = shift(text) - shift(xplane)
    for a, b in zip(xplane['devices'], text['devices'], strict=True):
        for key in ('name', 'kind', 'events', 'breakdown', 'self_ps', 'idle_causes', 'gap_count'):
            assert a[key] == b[key], key
        assert {k: v - by for k, v in a['window'].items()} == b['window']
    assert xplane['launch'] == text['launch']
    assert moved(xplane['gaps'], 'start_ps', -by) == text['gaps']
    for key in ('transfers', 'collectives', 'idle_labels', 'balance'):
        assert xplane[key] == text[key], key
    for a, b in zip(xplane['ops'], text['ops'], strict=True):
        # programs, whose instructions tell scopes, are in the xplane alone
        for key in a.keys() - {'category', 'scope', 'source', 'scopes', 'sources', 'slowest', 'splits', 'module', 'roof',
                               'operator', 'outermost_operator', 'operators', 'avoidable'}:
            assert a[key] == b[key], key
        assert a['slowest']['start_ps'] - by == b['slowest']['start_ps']
    for key in ('count', 'total_ps', 'late', 'lower_ps'):
        assert xplane['compile'][key] == text['compile'][key]
    assert xplane['memory'] and text['memory'] is None


@pytest.mark.parametrize('path', pairs(CPU + 'recompile') + pairs(CPU + 'async_dispatch'))
def test_cpu_without_async_ops(path):
    """Where no op outlives its launch, devices, steps, compiles and gaps are the same; that figures may
    miss something is said of the JSON all the same."""
    xplane, text = halves(path)
    by = shift(text) - shift(xplane)
    assert [d['breakdown'] for d in xplane['devices']] == [d['breakdown'] for d in text['devices']]
    assert [d['idle_causes'] for d in xplane['devices']] == [d['idle_causes'] for d in text['devices']]
    assert [(g['start_ps'] - by, g['dur_ps'], g['causes'], g['label']) for g in xplane['gaps']] == \
        [(g['start_ps'], g['dur_ps'], g['causes'], g['label']) for g in text['gaps']]
    for key in ('count', 'total_ps', 'late', 'late_ps', 'lower_ps', 'recompiled'):
        assert xplane['compile'][key] == text['compile'][key], key
    assert text['analysis']['partial'] and any(q['partial'] for q in text['quality'])
    assert not xplane['analysis']['partial']


@pytest.mark.parametrize('path', pairs(CPU + 'mnist_train') + pairs(CPU + 'three_runs') + pairs(CPU + 'multi_device'))
def test_cpu_with_async_ops(path):
    """The JSON knows the launches alone: less busy, never more, and it says that something is missing."""
    xplane, text = halves(path)
    for a, b in zip(xplane['devices'], text['devices'], strict=True):
        assert b['breakdown']['busy_ps'] <= a['breakdown']['busy_ps'] and a['events'] == b['events']
    for key in ('count', 'total_ps', 'late', 'recompiled'):
        assert xplane['compile'][key] == text['compile'][key], key
    assert text['analysis']['partial']


@pytest.mark.parametrize('path', pairs('xla_cpu_julia'))
def test_host_alone(path):
    """Events of no length last 1 ps in the JSON: that much of what they stand in is theirs."""
    xplane, text = halves(path)
    for a, b in zip(xplane['ops'], text['ops'], strict=True):
        assert (a['name'], a['calls']) == (b['name'], b['calls'])
        assert abs(a['self_ps'] - b['self_ps']) <= SHORTER_BY_A_PS * max(a['calls'], 10)
    for key in ('count', 'total_ps', 'late', 'lower_ps'):
        assert xplane['compile'][key] == text['compile'][key]


# ---- TPU: built scenes, as no real run of both halves is at hand -----------------------------------

OF_PEAK = {'F33', 'F34', 'F35', 'tpu_near_its_peak'}  # the device's peak is a stat of its plane, which JSON has not
OF_CAPTURE = {'F10', 'F11', 'F43'}  # their share is of the capture, whose begin and end the JSON does not tell
TIMES = {'start_ps', 'end_ps', 'max_start_ps', 'first_start_ps', 'last_start_ps', 'sample_start_ps', 'ready_ps'}


@functools.lru_cache(maxsize=None)
def scenes():
    """name → scene, of those with TPU chips alone."""
    made = {n: f().scene for n, f in planted.CASES.items()} | {n: f()[0] for n, f in clean.CASES.items()}
    return {n: s for n, s in made.items()
            if n not in OF_PEAK and all(h.devices and all(d.kind == 'tpu' for d in h.devices) for h in s.hosts)}


def parted(value, times, path=()):
    """What is said without times, which go to `times` by their path."""
    if isinstance(value, dict):
        return {k: parted(v, times, (*path, k)) for k, v in value.items()}
    if isinstance(value, list):
        return [parted(v, times, (*path, i)) for i, v in enumerate(value)]
    if value is not None and TIMES.intersection(path[-2:]) and path[0] != 'window' and 'window' not in path:
        times[path] = value
        return 'a time'
    return value


def built(name, form, folder):
    made = report(str(files.write(scenes()[name], form, folder / form)))
    for d in made['devices']:
        d['timeline_ns'] = None
    made['session'] = made['window']['capture_ps'] = None
    for f in made['findings']:
        if f['id'] in OF_CAPTURE:
            f['message'] = f['evidence']['value'] = f['impact']['share_of_window'] = f['impact']['window_ps'] = None
    times = {}
    return parted(made, times), times


@pytest.mark.parametrize('name', scenes())
def test_tpu(name, tmp_path):
    """Everything, findings with their places too, is the same but for when the profile began; clocks of
    several hosts, whose JSON files count from their own first events, are not told apart by them."""
    (xplane, since), (text, since_first) = (built(name, form, tmp_path) for form in ('xspace', 'xla_json'))
    assert since.keys() == since_first.keys() and len(since) > 20
    for key in xplane.keys() | text.keys():
        assert xplane[key] == text[key], key
    by = {at - since_first[path] for path, at in since.items()}
    assert len(by) <= len(scenes()[name].hosts), by
    assert any(f['status'] == 'fired' for f in text['findings']) == (name in planted.CASES)
