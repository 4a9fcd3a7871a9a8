"""An archive of several runs, cut at every place: what is asked of the latest run is answered of the latest,
and says that it is incomplete, or refused; never of another run. Cuts lie close together where one
member ends and the next begins."""
import io
import itertools
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from common import ROOT, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import xspace  # noqa: E402
from gen.planted import fused  # noqa: E402
from gen.scene import MS, Scene, TpuChip  # noqa: E402

RUNS = ('2026_01_01_00_00_00', '2026_01_02_00_00_00', '2026_01_03_00_00_00')
LATEST = RUNS[-1]
CUTS = 10**6 if os.environ.get('VP_ALL_CUTS') else 16


def members():
    """{name: bytes}, the oldest run first, as archivers walk a directory; two hosts each."""
    out = {}
    for i, run in enumerate(RUNS):
        for host in ('a', 'b'):
            scene = Scene()
            chip = TpuChip(scene)
            for _ in range(3):
                fused(chip, (i + 1) * MS)
            out[f'plugins/profile/{run}/{host}.xplane.pb'] = xspace.encode(scene.host)
    return out


def as_zip(files, method=zipfile.ZIP_DEFLATED, streamed=False):
    out = io.BytesIO()

    class Stream:  # no seeking back: sizes come behind the data
        write, flush = out.write, out.flush
    with zipfile.ZipFile(Stream() if streamed else out, 'w', method) as z:
        for name, data in files.items():
            z.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, method)
    return out.getvalue()


def zip_of_zips(files):
    """Stored members that are zips themselves end with a directory of their own, which is not the archive's."""
    one = as_zip(dict(itertools.islice(files.items(), 2)))
    return as_zip({'first.zip': one, **files, 'again.zip': one}, zipfile.ZIP_STORED)


def as_tar(files, mode='w'):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as t:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zstd(data):
    return subprocess.run(['zstd', '-qc'], input=data, capture_output=True, check=True).stdout


def in_pieces(data, pack):
    """As programs pack that use all cores: one piece after the other, each whole in itself, here one a member."""
    ends = [i for i in range(0, len(data), 512) if data[i:i + 15] == b'plugins/profile'][1:]
    return b''.join(pack(data[a:b]) for a, b in zip([0, *ends], [*ends, len(data)]))


def gz(data):
    import gzip
    return gzip.compress(data, mtime=0)


FORMATS = {
    'zip': as_zip,
    'stored.zip': lambda f: as_zip(f, zipfile.ZIP_STORED),
    'streamed.zip': lambda f: as_zip(f, streamed=True),
    'nested.zip': zip_of_zips,
    'tar': as_tar,
    'tar.gz': lambda f: gz(as_tar(f)),
    'pieces.tar.gz': lambda f: in_pieces(as_tar(f), gz),
    'tar.zst': lambda f: zstd(as_tar(f)),
    'pieces.tar.zst': lambda f: in_pieces(as_tar(f), zstd),
}


def places(data, form):
    """Where to cut: evenly, at the last bytes, and around what begins a piece or a member."""
    marks = {'zip': [b'PK\3\4', b'PK\1\2', b'PK\5\6', b'PK\7\x08'], 'gz': [b'\x1f\x8b\x08'], 'zst': [b'\x28\xb5\x2f\xfd'],
             'tar': [b'plugins/profile']}[form.rsplit('.', 1)[-1]]
    found = {len(data) * i // CUTS for i in range(1, CUTS)} if CUTS < len(data) else set(range(len(data)))
    for mark in marks:
        at = data.find(mark)
        while at > 0:
            found |= {at - 1, at, at + 1}
            at = data.find(mark, at + 1)
    found |= {len(data) - n for n in (1, 2, 8, 22, 512, 1024, 1025, 4096)}
    return sorted(n for n in found if 0 < n < len(data))


def outcome(path, *session):
    done = view_profile('report', '--format=json', path, *session, check=False)
    return (json.loads(done.stdout) if done.returncode == 0 else None), done


@pytest.mark.slow
@pytest.mark.parametrize('form', FORMATS)
def test_every_cut(form, tmp_path):
    if 'zst' in form and not shutil.which('zstd'):
        pytest.skip('no zstd')
    data, path = FORMATS[form](members()), tmp_path / f'runs.{form}'
    path.write_bytes(data)
    whole, _ = outcome(path)
    assert whole['session']['name'].endswith(LATEST) and not whole['quality']
    for cut in places(data, form):
        path.write_bytes(data[:cut])
        made, done = outcome(path)
        if not made:
            assert done.returncode in (3, 4) and done.stderr.startswith('view_profile: '), (cut, done)
            continue
        assert made['session']['name'].endswith(LATEST), f'{cut} of {len(data)} bytes: another run is reported'
        same = {k: v for k, v in made.items() if k != 'session'} == {k: v for k, v in whole.items() if k != 'session'}
        told = any(q['severity'] == 'error' and q['partial'] for q in made['quality']) if not same else True
        assert told, f'{cut} of {len(data)} bytes: something is missing, and nothing says so: {made["quality"]}'


@pytest.mark.parametrize('form', ('zip', 'tar.gz', 'tar'))
def test_what_is_left_can_be_asked_for_by_name(form, tmp_path):
    """The advice of the refusal works: the first run, which is whole here, and marked."""
    data, path = FORMATS[form](members()), tmp_path / f'runs.{form}'
    path.write_bytes(data[:len(data) // 2])
    _, done = outcome(path)
    assert done.returncode == 3 and RUNS[0][:4] in done.stderr and 'give its name' in done.stderr
    made, done = outcome(path, RUNS[0])
    assert made, done
    assert {q['code'] for q in made['quality']} == {'truncated'} and made['findings'][0]['id'] == 'F23'
    listed = json.loads(view_profile('list', '--format=json', str(path)).stdout)
    assert any('cut off' in (s['why'] or '') for s in listed['sessions'])


def test_a_lost_member_of_the_latest_run(tmp_path):
    """The directory of the zip is whole; the data of the latest run are not."""
    files = members()
    data, path = bytearray(as_zip(files)), tmp_path / 'runs.zip'
    for host in ('a', 'b'):
        name = f'plugins/profile/{LATEST}/{host}.xplane.pb'.encode()
        at = data.index(name) + len(name)
        data[at:at + 40] = b'\xff' * 40
    path.write_bytes(data)
    made, done = outcome(path)
    assert made is None and done.returncode == 3 and LATEST in done.stderr


def test_a_newer_run_that_cannot_be_read(tmp_path):
    """In a directory it is the same: asked for the latest, the one before is no answer."""
    (good_run, good), _ = itertools.islice(members().items(), 2)
    for name, content in ((good_run, good), (f'plugins/profile/{LATEST}/a.xplane.pb', b'')):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    made, done = outcome(tmp_path)
    assert made is None and done.returncode == 3 and LATEST in done.stderr
    made, done = outcome(tmp_path, RUNS[0])
    assert made and not made['quality']
