"""A file that changes while it is sent: its answer does not end as a whole one, and is not kept."""
import gzip
import json
import os
import pathlib
import random
import shutil
import sys

import pytest
from conftest import Server, trace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from added import own  # noqa: E402
from traces import TRACES  # noqa: E402

EVENTS = 60_000


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


def overwrite(path):
    with open(path, 'r+b') as f:
        f.seek(os.path.getsize(path) // 2)
        f.write(b'\n' * 100_000)


def old_trace(root):
    """A trace of a run below root that nobody wrote to for years."""
    run = root / 'plugins/profile/run1'
    run.mkdir(parents=True)
    path = run / 'a.trace.json'
    path.write_bytes(trace(EVENTS))
    os.utime(path, (1e9, 1e9))
    return path


def ends_whole(sock, received):
    while piece := sock.recv(1 << 20):
        received += piece
    return received.endswith(b'\r\n0\r\n\r\n')


@pytest.mark.parametrize('change', [cut, overwrite])
def test_what_changed_on_the_way_is_no_whole_answer(tmp_path, change):
    path = old_trace(tmp_path)
    s = Server(tmp_path)
    ident = s.sessions()[0]['id']
    with s.connect(small=True) as sock:
        sock.sendall(f'GET /trace/{ident}/a.json HTTP/1.1\r\nHost: {s.host}\r\nConnection: close\r\n\r\n'.encode())
        received = bytearray(sock.recv(1))
        change(path)
        whole = ends_whole(sock, received)
    assert received.startswith(b'HTTP/1.1 200') and not whole
    etag = next(line for line in bytes(received).split(b'\r\n') if line.lower().startswith(b'etag')).decode()
    again = s.get(f'/trace/{ident}/a.json')  # what was kept would have a length
    assert again.status != 200 or again.get('ETag') != etag.split(': ')[1] or again.get('Content-Length') is None
    s.stop()


def touch(path):
    os.utime(path)


@pytest.mark.parametrize('change', [cut, overwrite, touch])
def test_a_file_that_changed_while_it_was_sent_has_no_end(tmp_path, change):
    """As it lies on the disk: half of one and half of the other is neither."""
    path = old_trace(tmp_path)
    size = path.stat().st_size
    s = Server(tmp_path)
    ident = s.sessions()[0]['id']
    target = f'/trace/{ident}/raw/a.trace.json'
    with s.connect(small=True) as sock:
        sock.sendall(f'GET {target} HTTP/1.1\r\nHost: {s.host}\r\nConnection: close\r\n\r\n'.encode())
        received = bytearray(sock.recv(1))
        change(path)
        try:
            while piece := sock.recv(1 << 20):
                received += piece
        except ConnectionResetError:
            pass
    assert received.startswith(b'HTTP/1.1 200')
    assert len(received.partition(b'\r\n\r\n')[2]) < size
    s.stop()


@pytest.mark.parametrize('size', [10, 1000])
def test_what_stays_is_whole(tmp_path, size):
    run = tmp_path / 'plugins/profile/run1'
    run.mkdir(parents=True)
    (run / 'a.trace.json').write_bytes(trace(size))
    s = Server(tmp_path)
    ident = s.sessions()[0]['id']
    assert len(own(json.loads(s.get(f'/trace/{ident}/a.json').content()))) == size + 2
    s.stop()


@pytest.mark.parametrize('damage', ['cut', 'checksum', 'none'])
def test_the_page_of_a_damaged_trace_says_so(tmp_path, damage):
    """Of a packed file it shows at the end only: from the first time on that it was sent."""
    run = tmp_path / 'plugins/profile/run1'
    run.mkdir(parents=True)
    packed = bytearray(gzip.compress(trace(1000), mtime=0))
    if damage == 'cut':
        packed = packed[:len(packed) * 2 // 3]
    elif damage == 'checksum':
        packed[-8] ^= 0xff
    (run / 'a.trace.json.gz').write_bytes(packed)
    s = Server(tmp_path)
    ident = s.sessions()[0]['id']
    assert 'id="damage"' not in s.get(f'/perfetto/{ident}/a').content().decode()
    sent = s.get(f'/trace/{ident}/a.json')
    assert sent.status == 200
    page = s.get(f'/perfetto/{ident}/a').content().decode()
    assert ('id="damage"' in page) == (damage != 'none')
    said = json.loads(sent.content()).get('view_profile_damage')
    assert (said is None) == (damage == 'none')
    if said:
        assert said in page
    s.stop()


def test_a_host_whose_json_is_none_is_sent_from_its_xplane(tmp_path):
    run = tmp_path / 'plugins/profile/run1'
    run.mkdir(parents=True)
    shutil.copyfile(TRACES / 'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb', run / 'vm.xplane.pb')
    (run / 'vm.trace.json.gz').write_bytes(gzip.compress(random.Random(1).randbytes(10_000).hex().encode(), mtime=0))
    s = Server(tmp_path)
    ident = s.sessions()[0]['id']
    sent = s.get(f'/trace/{ident}/vm.json')
    assert sent.status == 200 and own(json.loads(sent.content()))
    s.stop()
