"""Every timeline below the real profiles that the program can hand over, members of archives too, and what each of its
tracks holds: by other means than ours from the file's own bytes, and by Perfetto's engine from what we made of them."""
import collections
import functools
import gzip
import io
import json
import re
import subprocess
import tarfile
import zipfile
import zlib

from common import PROGRAM, TRACES
from added import PROCESS
from test_perfetto_json import number, ps, round_ns
from xplane_events import Space

Timeline = collections.namedtuple('Timeline', 'session host file kind alone')
"""alone: of several files of a host one that the program takes only where it is named."""
NUMBERED = re.compile(r'( \(\d+\))+$')


@functools.lru_cache(maxsize=None)
def sessions():
    done = subprocess.run([PROGRAM, 'list', '--format', 'json', str(TRACES)], capture_output=True, check=True)
    return [s for s in json.loads(done.stdout)['sessions'] if s['status'] == 'ok' and s['hosts']]


def host_of(file, hosts):
    """The longest that its name begins with; else there is one host."""
    name = re.split('[/!]', file)[-1]
    return max((h for h in hosts if name.startswith(h + '.') or name == h), key=len, default=hosts[0])


def every():
    """What `export` and the server make of each host of a session, and of files that stand behind another."""
    found = []
    for session in sessions():
        for host in session['hosts']:
            files = [f for f in session['files'] if f['kind'] not in ('unreadable', 'memory')
                     and host_of(f['path'], session['hosts']) == host]
            first = next((f for f in files if f['kind'] == 'xplane'), files[0])
            found.append(Timeline(session['id'], host, first['path'], first['kind'], False))
            found += [Timeline(session['id'], host, f['path'], f['kind'], True)
                      for f in files if f is not first and '!' not in f['path']]
    return found


def few(timelines):
    """One a producer: of the folders below the traces, the largest that is small."""
    chosen = {}
    for t in timelines:
        size = (TRACES / t.file.split('!')[0]).stat().st_size
        if size < 200_000:
            key = t.file.split('/')[0], t.kind, t.alone
            chosen[key] = max(chosen.get(key, (0, t)), (size, t))
    return [t for _, t in chosen.values()]


def arguments(timeline):
    if timeline.alone:
        return [str(TRACES / timeline.file)]
    return ['--host', timeline.host, str(TRACES), timeline.session]


def content(timeline):
    """The bytes of the file, unpacked; None where an archive or a stream is cut."""
    archive, _, member = timeline.file.partition('!')
    data = (TRACES / archive).read_bytes()
    try:
        if member:
            data = member_of(data, member)
        while data[:2] == b'\x1f\x8b':
            data = gzip.decompress(data)
    except (EOFError, OSError, zlib.error, tarfile.TarError):
        return None
    return data


def member_of(data, member):
    if data[:2] == b'PK':
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.read(member)
    if data[:4] == b'\x28\xb5\x2f\xfd':
        data = subprocess.run(['zstd', '-dc'], input=data, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return next(archive.extractfile(m).read() for m in archive if m.name.removeprefix('./') == member)


# ---- tracks: (process, thread) to [slices, ns] ---------------------------------------------------
# Siblings are of one family, whose name goes without their number.


def family(name):
    return NUMBERED.sub('', name)


def summed(slices):
    """Of (track, ns)."""
    found = collections.defaultdict(lambda: [0, 0])
    for track, ns in slices:
        found[track][0] += 1
        found[track][1] += ns
    return dict(found)


def of_xplane(data):
    space, shown = Space(data), []
    for plane, line in space.lines():
        device = plane.name.removeprefix('/device:')
        name = line.name if device.startswith('/') else f'{device} {line.name}'
        shown += [((plane.name, family(name)), end - start) for _, start, end, _ in line.shown(space.base)]
    return summed(shown)


NO_THREAD = '', ''
MOVED = '#'  # numbers that Perfetto would take for others, and texts: these get numbers of ours


def number_of(value):
    return str(value) if isinstance(value, int) and 0 < value < 1 << 32 else MOVED


class Threads:
    """Of the events of a JSON: what the engine calls the thread of each."""

    def __init__(self, events):
        self.names = {}
        for e in events:
            name = e['args'].get('name') if isinstance(e.get('args'), dict) else None
            if e.get('ph') == 'M' and e.get('name') == 'thread_name' and name:
                self.names[self.ids(e)] = str(name)

    @staticmethod
    def ids(event):
        return repr(event.get('pid', 0)), repr(event.get('tid', 0))

    def __getitem__(self, event):
        pid, tid = event.get('pid', 0), event.get('tid', 0)
        name = self.names.get(self.ids(event))
        if name is None:
            name = tid if isinstance(tid, str) and tid else MOVED if tid == pid else number_of(tid)
        return number_of(pid), family(name)


def of_json(events):
    """None where slices have ends of their own, which test_pftrace_json.py pairs."""
    threads, shown = Threads(events), []
    for e in events:
        phase, start, length = str(e.get('ph'))[:1], number(e.get('ts')), number(e.get('dur', 0))
        if phase in 'BEben':
            return None
        if start is None or length is None:
            continue
        if phase == 'X':
            start = ps(start)
            shown.append((threads[e], round_ns(start + max(ps(length), 0)) - round_ns(start)))
        elif phase in 'iIR':
            shown.append((threads[e] if e.get('s', 't') == 't' else NO_THREAD, 0))
    return summed(shown)


def of_engine(row, want):
    """(the file's own as `want` names them, those that an analysis adds)."""
    own, added = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(lambda: [0, 0])
    for t in row['tracks']:
        process, name = t['process'] or t['top'], t['name'] or t['thread']
        if process and PROCESS.fullmatch(process):
            place = added[process, name]
        else:
            place = own[place_of(t, want)]
        place[0] += t['slices']
        place[1] += t['dur_ns'] + t['unfinished']  # such a one has a length of -1
    return dict(own), dict(added)


def place_of(t, want):
    names = [n for n in (t['thread'], t['name']) if n] or [str(t['tid'] and t['tid'] % (1 << 32))]
    for process in (t['process'], str(t['pid']), MOVED):
        for name in map(family, names):
            if (process, name) in want:
                return process, name
        nameless = t['tid'] is not None and not t['thread'] or t['pid'] is not None and names[0].split(' (')[0] in ('0', str(t['pid']))
        if nameless and (process, MOVED) in want:
            return process, MOVED
    async_line = t['process'], f"{str(t['process']).removeprefix('/device:')} Async XLA Ops"
    return async_line if async_line in want else NO_THREAD
