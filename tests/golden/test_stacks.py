"""`export --to folded` and `--to speedscope`: all of the report's op time by stacks, and nothing else, in the
words of the formats that other programs read."""
import collections
import gzip
import json
import sys

import pytest

from common import ROOT, report, trace, view_profile
from identities import strict
from test_one_step import RESNET, chosen

sys.path.insert(0, str(ROOT / 'tests'))
from gen import xspace  # noqa: E402
from gen.scene import MS, Scene, TpuChip  # noqa: E402
from test_hostile_names import EVIL  # noqa: E402

TF_GPU = 'tf_gpu/openxla__xprof/demo/plugins/profile/GPU-multi-worker/34.83.195.179_6003.xplane.pb'
FILES = [RESNET, TF_GPU, 'jax_cpu/three_runs', 'jax_cpu/multi_device', 'xla_gpu_cuda', 'jax_tpu', 'jax_gpu_rocm', 'viztracer']
UNITS = {'none', 'nanoseconds', 'microseconds', 'milliseconds', 'seconds', 'bytes'}


def export(form, path, *options):
    return view_profile('export', f'--to={form}', *options, str(trace(path))).stdout


def folded(path, *options):
    """[(frames, ns)] of every line."""
    text = export('folded', path, *options)
    assert text.endswith('\n')
    lines = [line.rpartition(' ') for line in text[:-1].split('\n')]
    return [(tuple(frames.split(';')), int(ns)) for frames, _, ns in lines]


def top(path, *options):
    return json.loads(view_profile('top', '--format=json', '--top=100000', *options, str(trace(path))).stdout)


def in_ns(ps):
    return (ps + 500) // 1000


def of_devices(made, lines):
    """ns of the lines by device; devices of one name count as one, rounded each by itself."""
    hosts = len(made['session']['hosts']) > 1
    want, got = collections.Counter(), collections.Counter()
    for d in made['devices']:
        want[(d['host'], d['name']) if hosts else (d['name'],)] += in_ns(d['self_ps'])
    for frames, ns in lines:
        got[frames[:2] if hosts else frames[:1]] += ns
    return +want, +got


@pytest.mark.parametrize('options', [(), ('--where=host',)])
@pytest.mark.parametrize('path', FILES)
def test_a_device_adds_up_to_its_op_time(path, options):
    lines, made = folded(path, *options), top(path, *options)
    want, got = of_devices(made, lines)
    assert got == want and sum(got.values()) > 0
    assert len({frames for frames, _ in lines}) == len(lines), 'a stack stands twice'
    assert all(ns > 0 for _, ns in lines)


@pytest.mark.parametrize('path', FILES[:-1])
def test_an_op_adds_up_to_its_rows(path):
    """The rows of --group=stack are those of the ops, parted by scope; and the lines are these rows, each
    within a nanosecond."""
    lines, made = folded(path), top(path, '--group=stack')
    assert made['analysis']['has_devices'] and made['analysis']['group'] == 'stack'
    named, parted, got = collections.Counter(), collections.Counter(), collections.Counter()
    for o in top(path)['ops']:
        named[o['device_index'], o['class'], o['name']] += o['self_ps']
    rows = collections.Counter()
    for o in made['ops']:
        assert o['scopes'] in (0, 1)
        parted[o['device_index'], o['class'], o['name']] += o['self_ps']
        rows[o['device_index'], o['scope'], o['name']] += o['self_ps']
    assert parted == named and len(named) > 1
    for (_, scope, name), self_ps in rows.items():
        got[(scope or '').replace(';', ':'), name.replace(';', ':')] += self_ps / 1000
    skip = 2 if len(made['session']['hosts']) > 1 else 1
    for frames, ns in lines:
        scope = '/'.join(frames[skip:-1])
        got['' if scope == '(no scope)' else scope, frames[-1]] -= ns
    assert max(abs(ns) for ns in got.values()) <= len(made['devices'])


def walk(scopes, above=()):
    for s in scopes:
        frames = (*above, s['name'].replace(';', ':'))
        yield frames, s['total_ps']
        yield from walk(s['children'], frames)


@pytest.mark.parametrize('path', FILES)
def test_a_scope_adds_up_to_its_total(path):
    """All lines that go through a framework path, or a call path where there is no device."""
    made, lines = top(path, '--group=scope'), folded(path)
    skip = 2 if len(made['session']['hosts']) > 1 else 1
    below, n = collections.Counter(), collections.Counter()
    for frames, ns in lines:
        for depth in range(skip + 1, len(frames) + 1):
            below[frames[skip:depth]] += ns
            n[frames[skip:depth]] += 1
    for frames, total_ps in walk(made['scopes']):
        if total_ps > 10**6 and below[frames]:
            assert abs(below[frames] * 1000 - total_ps) <= 1000 * n[frames], frames
            del below[frames]
        else:
            assert total_ps <= 10**6, frames
    left = {frames for frames in below if below[frames] > 1000}
    assert not made['scopes'] or all(frames[:-1] in dict(walk(made['scopes'])) for frames in left)


def check_speedscope(made):
    """https://www.speedscope.app/file-format-schema.json, as far as a sampled profile goes."""
    assert made['$schema'] == 'https://www.speedscope.app/file-format-schema.json'
    assert set(made) <= {'$schema', 'shared', 'profiles', 'name', 'activeProfileIndex', 'exporter'}
    frames = made['shared']['frames']
    assert all(set(f) == {'name'} and isinstance(f['name'], str) for f in frames)
    assert len({f['name'] for f in frames}) == len(frames)
    for p in made['profiles']:
        assert set(p) == {'type', 'name', 'unit', 'startValue', 'endValue', 'samples', 'weights'}
        assert p['type'] == 'sampled' and p['unit'] in UNITS and isinstance(p['name'], str)
        assert len(p['samples']) == len(p['weights']) > 0
        assert all(s and all(0 <= f < len(frames) for f in s) for s in p['samples'])
        assert all(isinstance(w, int) and w >= 0 for w in p['weights'])
        assert p['startValue'] == 0 and p['endValue'] == sum(p['weights'])


@pytest.mark.parametrize('options', [(), ('--where=host',)])
@pytest.mark.parametrize('path', FILES)
def test_speedscope_says_the_same(path, options):
    made = strict(export('speedscope', path, *options))
    check_speedscope(made)
    names = [f['name'].replace(';', ':') for f in made['shared']['frames']]
    lines = folded(path, *options)
    skip = 2 if len(top(path, *options)['session']['hosts']) > 1 else 1
    assert [(tuple(names[f] for f in s), w) for p in made['profiles'] for s, w in zip(p['samples'], p['weights']) if w] \
        == [(frames[skip:], ns) for frames, ns in lines]
    assert len({p['name'] for p in made['profiles']}) == len({frames[:skip] for frames, _ in lines})


def test_one_step_and_one_device():
    n = chosen(report(RESNET))[1]['number']
    for option in (f'--step={n}', '--device=GPU 0'):
        lines, made = folded(RESNET, option), top(RESNET, option)
        want, got = of_devices(made, lines)
        assert got == {k: v for k, v in want.items() if option.startswith('--step') or k == ('GPU 0',)}
    assert sum(ns for _, ns in folded(RESNET, f'--step={n}')) < sum(ns for _, ns in folded(RESNET))


@pytest.fixture(scope='module')
def hostile(tmp_path_factory):
    made = Scene()
    names = EVIL + ['a;b', ';', 'x 12', ' ', 'nul\x01', '\\x3b', 'é', '\U0001f600']
    for _ in range(2):
        chip = TpuChip(made)
        for n in range(3):
            with chip.step(n), chip.module('m'):
                for i, name in enumerate(names):
                    chip.op(name, MS * (1 + i), 'loop fusion', scope='jit(f)/' + names[i - 1])
    path = tmp_path_factory.mktemp('hostile') / 'a;b <x> 7.xplane.pb'
    path.write_bytes(xspace.encode(made.host))
    return path


def test_names_are_text(hostile):
    text = export('folded', hostile)
    assert not any(ord(c) < 32 or ord(c) == 127 for c in text.replace('\n', '')) and '\u202e' not in text
    lines, made = folded(hostile), top(hostile)
    want, got = of_devices(made, lines)
    assert list(got.values()) == list(want.values())
    assert all(f for frames, _ in lines for f in frames), 'a frame is empty, or a name parted one'
    assert {frames[1] for frames, _ in lines} == {'jit(f)'}
    made = strict(export('speedscope', hostile))
    check_speedscope(made)
    assert {'a;b', ';'} & {f['name'] for f in made['shared']['frames']}


def test_gz(tmp_path):
    for form in ('folded', 'speedscope'):
        path = tmp_path / f'{form}.gz'
        view_profile('export', f'--to={form}', '-o', str(path), str(trace(RESNET)))
        assert gzip.decompress(path.read_bytes()).decode() == export(form, RESNET)


def test_without_a_device(tmp_path):
    """Zones within zones are the frames, and the innermost is the last: there is no op below."""
    path = tmp_path / 'host.trace.json'
    events = [{'ph': 'M', 'pid': 1, 'name': 'process_name', 'args': {'name': 'p'}}] + [
        {'ph': 'X', 'pid': 1, 'tid': 1, 'name': name, 'ts': ts, 'dur': dur}
        for name, ts, dur in (('main', 0, 100), ('frame', 10, 40), ('draw', 20, 5), ('frame', 60, 40))]
    path.write_text(json.dumps({'traceEvents': events}))
    process = folded(path)[0][0][0]
    assert dict(folded(path)) == {(process, 'main'): 20_000, (process, 'main', 'frame'): 75_000,
                                  (process, 'main', 'frame', 'draw'): 5_000}


def test_whole_nanoseconds_lose_nothing(tmp_path):
    """1,000 ops of 1.4 ns in as many scopes are 1,400 ns: 400 lines of 2, and 600 of 1."""
    made = Scene()
    chip = TpuChip(made)
    for i in range(1000):
        chip.op(f'op_{chr(97 + i % 26)}', 1400, 'loop fusion', scope=f'jit(f)/s{i}')
    path = tmp_path / 'small.xplane.pb'
    path.write_bytes(xspace.encode(made.host))
    assert collections.Counter(ns for _, ns in folded(path)) == {2: 400, 1: 600}


def refused(form, *options):
    done = view_profile('export', f'--to={form}', *options, str(trace(RESNET)), check=False)
    assert done.returncode == 2 and not done.stdout, done
    return done.stderr


@pytest.mark.parametrize('form', ['folded', 'speedscope'])
def test_what_does_not_fit_says_what_to_do(form):
    assert '--step N' in refused(form, '--window=1ms..2ms')
    assert '--step N' in refused(form, '--max-events=5')


@pytest.mark.parametrize('form', ['pftrace', 'perfetto-json'])
@pytest.mark.parametrize('option', ['--step=1', '--device=GPU 0', '--where=host'])
def test_sums_have_options_of_their_own(form, option):
    said = refused(form, option)
    assert option.split('=')[0] in said and '--window' in said


def test_nothing_to_sum_up(tmp_path):
    path = tmp_path / 'empty.trace.json'
    path.write_text('{"traceEvents": []}')
    done = view_profile('export', '--to=folded', '-o', str(tmp_path / 'out'), str(path), check=False)
    assert done.returncode in (3, 4) and done.stderr and not (tmp_path / 'out').exists()
