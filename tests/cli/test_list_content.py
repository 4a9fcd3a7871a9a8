"""`list` says of every file what it is, not what it is called; what it lists as "ok" can be reported."""
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gen import broken, files  # noqa: E402
from gen.planted import fused  # noqa: E402
from gen.scene import MS, Scene, TpuChip  # noqa: E402

GRAPH = json.dumps({'schema': '1.1.1-chakra.0.0.4', 'pid': 7, 'time': '2024-01-01 00:00:00', 'start_ts': 5,
                    'nodes': [{'id': i, 'name': 'aten::mm', 'inputs': [1] * 20} for i in range(400)]}).encode()
TABLE = json.dumps({'rows': [i * 2654435761 % 2**32 for i in range(99)], 'total': 99}).encode()

FOREIGN = {
    'graph.pt.trace.json': GRAPH,
    'graph.pt.trace.json.gz': gzip.compress(GRAPH, mtime=0),
    'worker0.1700000000000.pt.trace.json': GRAPH,
    'graph.trace.json': GRAPH,
    'table.trace.json': TABLE,
    'table.trace.json.gz': gzip.compress(TABLE, mtime=0),
    'text.trace.json': b'Traceback (most recent call last):\n' * 30,
    'text.trace.json.gz': gzip.compress(b'Traceback (most recent call last):\n' * 3000, mtime=0),
    'text.xplane.pb': b'this is a text file\n' * 100,
    'lines.xplane.pb': b'\n\n\nthis begins with the tag of a plane\n' * 100,
    'page.xplane.pb': b'<!doctype html><title>404</title>' * 20,
    'yaml.xplane.pb': b'host: a\nsteps: 3\n' * 100,
    'overrun.xplane.pb': broken.OVERRUN,
    'no_content.xplane.pb': b'\x0a\x00' * 4096,
    'zeros.xplane.pb': bytes(9000),
    'packed.xplane.pb': gzip.compress(b'this is a text file\n' * 100, mtime=0),
}


def ask(place, *args, code=0):
    done = subprocess.run(['view_profile', *map(str, args)], cwd=place.dir, env=place.env,
                          capture_output=True, text=True, check=False)
    assert done.returncode == code, done
    return done


def listed(place, path):
    return json.loads(ask(place, 'list', '--format', 'json', path).stdout)


@pytest.mark.parametrize('where', ('', 'plugins/profile/2026_01_02_03_04_05/'), ids=('loose', 'run'))
@pytest.mark.parametrize('name', FOREIGN)
def test_foreign_content_is_named(place, name, where):
    path = place.dir / 'd' / where / name
    path.parent.mkdir(parents=True)
    path.write_bytes(FOREIGN[name])
    ask(place, 'report', place.dir / 'd', code=3)
    good = place.dir / 'd' / 'other/plugins/profile/2025_01_01_00_00_00/good.trace.json'
    good.parent.mkdir(parents=True)
    good.write_bytes(broken.json_of(broken.x(ts=1, dur=2)))
    made = listed(place, place.dir / 'd')
    why = [s['why'] for s in made['sessions'] if s['status'] == 'unreadable'] + [n['why'] for n in made['notes']]
    assert len(why) == 1 and why[0], made
    assert [f['path'] for s in made['sessions'] if s['status'] == 'ok' for f in s['files']] == [
        str(good.relative_to(place.dir / 'd'))]
    if 'graph' in name:
        assert 'execution graph' in why[0]
    assert 'Found 1 trace file(s)' in ask(place, '--list-only', '--profile-dir', place.dir / 'd').stdout


def opened_by_list(place, path):
    """What strace says of it; beside a tracer a sanitizer cannot look for leaks."""
    done = subprocess.run(['strace', '-f', '-e', 'trace=openat,openat2', 'view_profile', 'list', '--format=json', path],
                          env={**place.env, 'ASAN_OPTIONS': 'detect_leaks=0'}, capture_output=True, text=True, check=True)
    return done.stderr


def test_the_second_half_of_a_host_is_not_opened(place):
    """Packed JSON beside the xplane of its host decides nothing; beside a text of that name it does."""
    scene = Scene()
    fused(TpuChip(scene), MS)
    run = files.write(scene, 'xspace', place.dir / 'd') / 'plugins/profile/2026_01_02_03_04_05'
    whole, = run.glob('*.xplane.pb')
    half = run / whole.name.replace('.xplane.pb', '.trace.json.gz')
    half.write_bytes(gzip.compress(json.dumps({'displayTimeUnit': 'ns', 'metadata': {'highres-ticks': True},
                                               'traceEvents': [broken.x(ts=i * 7919 % 1000, dur=i) for i in range(99)]
                                               }).encode()))
    assert half.stat().st_size >= 200
    session, = listed(place, place.dir / 'd')['sessions']
    assert session['status'] == 'ok' and len(session['files']) == 2 and len(session['hosts']) == 1
    if shutil.which('strace'):
        opened = opened_by_list(place, place.dir / 'd')
        assert half.name not in opened and whole.name in opened
    whole.write_bytes(FOREIGN['text.xplane.pb'])
    made = listed(place, place.dir / 'd')
    assert [f['path'].split('/')[-1] for f in made['sessions'][0]['files'] if f['kind'] != 'unreadable'] == [half.name]
    half.write_bytes(FOREIGN['text.trace.json.gz'] + bytes(200))
    assert 'a profile' in ask(place, 'list', place.dir / 'd', code=3).stderr


def test_packed_members_are_looked_at(place):
    """In an archive, too, a name makes no profile."""
    path = place.dir / 'runs.zip'
    with zipfile.ZipFile(path, 'w') as z:
        z.writestr('plugins/profile/2026_01_02_03_04_05/a.trace.json.gz',
                   gzip.compress(bytes(i * 7919 % 251 for i in range(9000))))
    assert 'the content is not a profile although the file name is' in ask(place, 'list', path, code=3).stderr


def test_a_host_whose_file_is_none_is_told(place):
    """Beside a good one it is listed, and the report says that the host is missing."""
    scene = Scene()
    fused(TpuChip(scene), MS)
    run = files.write(scene, 'xspace', place.dir / 'd') / 'plugins/profile/2026_01_02_03_04_05'
    (run / 'other.xplane.pb').write_bytes(FOREIGN['text.xplane.pb'])
    session, = listed(place, place.dir / 'd')['sessions']
    assert session['status'] == 'ok'
    made = json.loads(ask(place, 'report', '--format=json', place.dir / 'd').stdout)
    note, = made['quality']
    assert (note['code'], note['severity'], note['partial']) == ('unreadable', 'error', True)
    assert note['file'].endswith('other.xplane.pb')
    assert made['findings'][0]['id'] == 'F23'


def test_real_starts_of_every_order(place):
    """Fields of a plane may come in any order, and planes may be empty: still a profile."""
    wire = broken.wire
    line = wire.bytes_(3, wire.number(1, 5) + wire.text(2, 'python') + wire.bytes_(4, wire.number(1, 1) + wire.number(2, 0) + wire.number(3, MS)))
    name, meta = wire.text(2, '/host:CPU'), wire.bytes_(4, wire.number(1, 1) + wire.bytes_(2, wire.text(2, 'f')))
    starts = {'id': wire.number(1, 3) + name + line + meta, 'name': name + line + meta, 'line': line + name + meta,
              'meta': meta + line + name}
    for what, plane in starts.items():
        for before in (b'', b'\x0a\x00', wire.text(4, 'box'), wire.text(2, 'an error')):
            path = place.dir / f'{what}.xplane.pb'
            path.write_bytes(before + wire.bytes_(1, plane))
            session, = listed(place, path)['sessions']
            assert session['status'] == 'ok', (what, before)
            ask(place, 'report', path)
