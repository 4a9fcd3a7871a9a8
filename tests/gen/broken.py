"""Files of which nothing can be read, one of each kind that the program reads: they are refused wherever
they stand. And files that are whole but hold nothing: valid, and nothing to compare with."""
import gzip
import io
import json
import tarfile
import zipfile

from . import wire, xspace
from .scene import Scene

RUN = 'plugins/profile/2026_01_02_03_04_05/'
META = {'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': '/host:CPU'}}
OVERRUN = b'\x0a\x7f' * 5000  # each plane's first field ends behind it


def host_plane(tail=b''):
    """A plane that says its name, and then `tail`."""
    return wire.text(2, '/host:CPU') + tail


def cut_line():
    """A plane whose one line is cut off before its first event."""
    return wire.varint(1 << 3 | 2) + b'\x50' + host_plane(b'\x1a\x40' + wire.number(1, 7) + wire.text(2, 'python'))


def json_of(*events):
    return json.dumps({'traceEvents': list(events)}).encode()


def x(**fields):
    return {'ph': 'X', 'name': 'op', 'pid': 1, 'tid': 1, **fields}


def zipped(name, data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as z:
        z.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


def tarred(name, data, mode):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as t:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def unreadable():
    """{file name: bytes}; each is worth a refusal."""
    cut = gzip.compress(json_of(META, x(ts=1, dur=2)), mtime=0)
    pprof = wire.bytes_(1, wire.number(1, 1) + wire.number(2, 2))
    return {
        'overrun.xplane.pb': OVERRUN,
        'no_content.xplane.pb': b'\x0a\x00' * 50,
        'text.xplane.pb': b'this is a text file\n' * 20,
        'page.xplane.pb': b'<!doctype html><title>404</title>' * 20,
        'zeros.xplane.pb': bytes(5000),
        'cut_in_first_plane.xplane.pb': b'\x0a\xff\x7f' + host_plane(),
        'cut_in_first_line.xplane.pb': cut_line(),
        'packed.xplane.pb': gzip.compress(OVERRUN, mtime=0),
        'packed.xplane.pb.gz': gzip.compress(OVERRUN, mtime=0),
        'no_time.trace.json': json_of(META, x()),
        'bad_time.trace.json': json_of(x(ts='soon', dur=-5), x(ts=1e300, dur=1)),
        'no_phase.trace.json': json_of(META, {'name': 'op', 'ts': 1, 'dur': 2}),
        'cut_in_event.trace.json': json_of(x(ts=1, dur=2))[:40],
        'cut_behind_names.trace.json': json_of(META, x(ts=1, dur=2))[:110],
        'cut_behind_names.trace.json.gz': gzip.compress(json_of(META, x(ts=1, dur=2))[:110], mtime=0),
        'cut.trace.json.gz': cut[:30],
        'text.trace.json': b'profiling is over\n' * 50,
        'protobuf.trace.json.gz': gzip.compress(OVERRUN, mtime=0),
        'text.pt.trace.json': b'Segmentation fault (core dumped)\n',
        'run.zip': zipped(RUN + 'a.xplane.pb', OVERRUN),
        'run.tar': tarred(RUN + 'a.xplane.pb', OVERRUN, 'w'),
        'run.tar.gz': tarred(RUN + 'a.xplane.pb', OVERRUN, 'w:gz'),
        'json.zip': zipped(RUN + 'a.trace.json', json_of(META, x())),
        'overrun.vpcap': b'VPCAP\r\n\x1a' + b'\xff' * 5000,
        'zeros.vpcap': b'VPCAP\r\n\x1a' + bytes(5000),
        'memory.prof': gzip.compress(pprof + b'\x12\x7f\x01', mtime=0),
        'plain_memory.prof': pprof + b'\x12\x7f\x01',
    }


def empty():
    """{file name: bytes} of captures in which nothing happened."""
    return {'idle.xplane.pb': xspace.encode(Scene().host), 'idle.trace.json': json_of(META, {})}
