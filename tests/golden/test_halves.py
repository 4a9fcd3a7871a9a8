"""A run's xplane.pb and its trace.json.gz give the same figures, as far as the JSON carries them.

What it lacks: when the profile began (its times count from the first event, so all are shifted alike),
the HLO protos (scopes and sources, and on XLA:CPU opcodes and with them classes), program ids, and on
XLA:CPU the link from an async op to its end; memory events; lengths of 0 are written as 1 ps."""
import pytest

from common import TRACES, needs_traces, report

pytestmark = needs_traces()

SHORTER_BY_A_PS = 1  # a JSON event of no length lasts 1 ps
GPU = 'xla_gpu_cuda/EnzymeAD__Reactant.jl/traces/plugins/profile/'
CPU = 'jax_cpu/'


def halves(path):
    xplane = TRACES / path
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
        for key in a.keys() - {'category', 'scope', 'source', 'slowest', 'splits', 'module'}:
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
