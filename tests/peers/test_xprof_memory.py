"""XProf's memory_viewer as the second opinion on memory plans: every module of every profile that it opens, to the
byte (its MiB are exact doubles). What it counts otherwise is computed here from our rows; docs/memory.md says why."""
import json
import shutil

import pytest

from common import NARROW, TRACES, view_profile

FILES = sorted(p for p in TRACES.rglob('*.xplane.pb') if b'/host:metadata' in p.read_bytes())
SHOWN = 16384  # it lumps smaller buffers together
KINDS = {'Parameter': 'parameter', 'Output': 'output', 'Temporary': 'temp', 'Constant': 'constant'}


def mib(x):
    """Bytes of its MiB, which must be whole; it leaves out what is 0."""
    value = (x or 0) * 2**20
    assert value == int(value), x
    return int(value)


class Opened:
    """A copy of an xplane, since the first question writes HLO protos beside it."""

    def __init__(self, path, folder):
        self.convert = pytest.importorskip('xprof.convert.raw_to_tool_data', reason='SKIP: xprof is not installed')
        folder.mkdir(parents=True)
        self.path = str(shutil.copy(path, folder / path.name))
        self.convert.xspace_to_tool_names([self.path])

    def memory(self, module, space):
        options = {'module_name': module, 'memory_space': str(space)}
        return json.loads(self.convert.xspace_to_tool_data([self.path], 'memory_viewer', options)[0])


def compare_sums(plan, theirs):
    fixed = plan['parameter_bytes'] + plan['output_bytes'] + plan['constant_bytes']
    peak = plan['peak_bytes'] if plan['peak_bytes'] is not None else fixed
    assert mib(theirs.get('peakHeapMib')) == peak
    assert mib(theirs.get('totalBufferAllocationMib')) == plan['reserved_bytes']
    assert mib(theirs.get('indefiniteBufferAllocationMib')) == fixed
    assert mib(theirs.get('entryComputationParametersMib')) == plan['parameter_bytes']
    assert mib(theirs.get('maybeLiveOutMib')) == plan['live_out_bytes']
    sizes = theirs.get('heapSizes', [])
    if plan['events']:
        assert len(sizes) == plan['events'] + 1  # before each event, and after the last
        assert int(theirs.get('peakHeapSizePosition', 0)) == plan['peak_event']
        assert mib(sizes[plan['peak_event'] + 1]) == mib(max(sizes)) == peak
    # Of arguments, results and constants it counts the padding as data.
    live = sum(b['unpadded_bytes'] if b['kind'] == 'temp' else b['bytes'] for b in plan['live'])
    assert mib(theirs.get('peakUnpaddedHeapMib')) == live


def compare_holders(plan, theirs):
    """The large ones with kind, scope, line and lifetime; of other spaces than the main one it lists temporaries."""
    ours = [b for b in plan['live'] if b['bytes'] >= SHOWN and (plan['space'] == 0 or b['kind'] == 'temp')]
    rows = [r for r in theirs.get('maxHeap', []) if mib(r['logicalBufferSizeMib']) >= SHOWN and r.get('opCode')]

    def source(row):
        info = row.get('sourceInfo')
        return f"{info['fileName']}:{info['lineNumber']}" if info and info.get('fileName') else None

    assert sorted((mib(r['logicalBufferSizeMib']), KINDS[r['groupName']], r['instructionName'], r['opCode'],
                   r.get('tfOpName') or None, source(r), mib(r['unpaddedShapeMib'])) for r in rows) == \
        sorted((b['bytes'], b['kind'], b['instruction'], b['opcode'], b['scope'], b['source'], b['unpadded_bytes']) for b in ours)
    spans = {int(i): (int(s.get('start', 0)), int(s['limit'])) for i, s in theirs.get('logicalBufferSpans', {}).items()}
    for r in rows:
        if r['groupName'] != 'Temporary' or r['logicalBufferId'] not in spans:
            continue
        b, = [b for b in ours if b['instruction'] == r['instructionName']]
        start, end = spans[r['logicalBufferId']]
        heirs = {last for first, last in spans.values() if first > end}  # who took its memory over: ours ends with them
        assert start == b['first'] and b['last'] in {end} | heirs, r


@pytest.mark.parametrize('path', FILES, ids=lambda p: str(p.relative_to(TRACES)))
def test_every_module_and_space(path, tmp_path):
    opened = Opened(path, tmp_path / 'plugins' / 'profile' / 'run')
    plans = json.loads(view_profile('memory', '--format=json', str(path)).stdout)['memory_static']
    compared = 0
    for plan in plans:
        theirs = opened.memory(f"{plan['module']}({plan['program_id']})", plan['space'])
        compare_sums(plan, theirs)
        compare_holders(plan, theirs)
        compared += plan['peak_bytes'] not in (None, 0)
    assert compared or not plans


def test_there_are_files_to_ask_about():
    assert len(FILES) >= (12 if NARROW else 19)
