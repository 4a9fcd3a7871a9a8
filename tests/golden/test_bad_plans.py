"""Memory plans that contradict themselves: each is refused or said in `quality`, what can be told of it holds its
identities, and nothing else of the profile is lost."""
import itertools
import sys

import pytest

import identities
from common import ROOT, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import files, hlo, wire  # noqa: E402
from gen.hlo import ALLOC, FREE, SHARE, Value  # noqa: E402
from gen.planted import train_gpu  # noqa: E402
from gen.scene import GpuLoop, Scene  # noqa: E402

MIB = 1 << 20
MOST = 2**63 - 1
X = Value('x.1', 'parameter', (1 << 18,), 'parameter')
VALUES = [X, Value('exp.2', 'exponential', (1 << 18,), 'temp', (0,), line=12, scope='jit(f)/exp', freed_at=2),
          Value('sum.3', 'reduce', (64,), 'output', (1,))]
GOOD = hlo.proto('jit_good', 3, VALUES, MIB)
ARGUMENT = hlo.buffer(1, MIB, 1) + hlo.allocation(0, MIB, [(1, 0, MIB)], parameter=0)
OUTPUT = hlo.buffer(3, 256, 3) + hlo.allocation(1, 256, [(3, 0, 256)], live_out=True)
FIXED = ARGUMENT + OUTPUT


def temps(sizes, room=None):
    """Buffers 10, 11, … of one allocation, side by side."""
    held = [(10 + i, sum(sizes[:i]), n) for i, n in enumerate(sizes)]
    return b''.join(hlo.buffer(n, size, 2) for n, _, size in held) + hlo.allocation(2, room or sum(sizes), held)


@pytest.fixture
def read(tmp_path):
    folders = (tmp_path / str(n) for n in itertools.count())

    def read(programs, runs=3, shown=False):
        loop = GpuLoop(Scene(), flavour='jax')
        train_gpu(loop, 12, lambda _: None)
        for o in loop.device.ops:
            o.module, o.program_id = 'jit_step', runs
        loop.scene.host.programs = [(3, 'jit_good', GOOD), *programs]
        path = str(files.write(loop.scene, 'xspace', next(folders)))
        done = view_profile('report', '--format=json', path)
        for form in ('text', 'html', 'csv') if shown else ():
            for command in ('report', 'memory'):
                assert view_profile(command, f'--format={form}', path).stdout
        assert not shown or view_profile('compare', path, path).stdout
        made = identities.strict(done.stdout)
        identities.check(made)
        return made
    return read


def of(made, name):
    return [p for p in made['memory_static'] if p['module'] == name]


def rest(made):
    """All but the plans of bad programs, what is said of these, and the size of the file."""
    programs, ours = made['memory_static'], ('memory-plan', 'hlo-damaged', 'more-notes')
    return {**made, 'memory_static': [p for p in programs if p['module'] == 'jit_good'],
            'quality': [q for q in made['quality'] if q['code'] not in ours], 'session': None}


def said(made):
    return [(q['code'], q['message'].partition(': ')[2]) for q in made['quality'] if 'jit_bad' in q['message']]


def check(read, assigned, entries, more=b'', shown=False):
    """The plans of one that is bad; `entries`: how many make no sense."""
    made, good = read([(9, 'jit_bad', hlo.proto('jit_bad', 9, VALUES, assigned=assigned, more=more))], shown=shown), read([])
    assert rest(made) == rest(good) and len(of(made, 'jit_good')) == 1
    words = f'{entries} entries of its memory plan are invalid' if entries != 1 else \
        '1 entry of its memory plan is invalid'
    assert said(made) == ([('memory-plan', words)] if entries else [])
    plans = of(made, 'jit_bad')
    assert plans
    return plans[0] if len(plans) == 1 else plans


def test_a_proto_cut_at_every_byte(read):
    cuts = [(100 + n, f'jit_bad{n}', GOOD[:n]) for n in range(len(GOOD))]
    made = read(cuts)
    assert rest(made) == rest(read([]))
    assert not [p for p in made['memory_static'] if p['module'].startswith('jit_bad')]
    assert sum(q['code'] == 'hlo-damaged' for q in made['quality']) == 200


# Assignments, and how many of their entries make no sense.
BAD = {
    'frees twice': (FIXED + temps([MIB]) + hlo.heap([(ALLOC, 10, 'exp.2'), (FREE, 10, 'sum.3'), (FREE, 10, 'sum.3')]), 1),
    'frees what never was': (FIXED + temps([MIB, 64]) + hlo.heap([(FREE, 11, 'x.1'), (ALLOC, 10, 'exp.2')]), 1),
    'shares in a circle': (FIXED + temps([MIB, MIB, MIB]) + hlo.heap(
        [(ALLOC, 10, 'x.1'), (SHARE, 11, 'exp.2', 10), (SHARE, 12, 'exp.2', 11), (SHARE, 10, 'sum.3', 12)]
        + [(FREE, n, 'sum.3') for n in (10, 11, 12)]), 1),
    'shares with itself': (FIXED + temps([MIB]) + hlo.heap([(SHARE, 10, 'x.1', 10), (FREE, 10, 'sum.3')]), 1),
    'shares with nobody': (FIXED + temps([MIB]) + hlo.heap([(SHARE, 10, 'x.1', 99), (ALLOC, 10, 'exp.2')]), 2),
    'events of no buffer': (FIXED + temps([MIB]) + hlo.heap([(ALLOC, 77, 'x.1'), (ALLOC, 10, 'exp.2')]), 2),
    'an event of no kind': (FIXED + temps([MIB]) + hlo.heap([(7, 10, 'x.1'), (-1, 10, 'x.1'), (ALLOC, 10, 'exp.2')]), 2),
    'beyond its block': (FIXED + temps([MIB, MIB], room=MIB) + hlo.heap([(ALLOC, 10, 'exp.2')]), 1),
    'before its block': (FIXED + hlo.buffer(10, 64, 2) + hlo.allocation(2, MIB, [(10, -64, 64)]), 1),
    'offset at the end of all': (FIXED + hlo.buffer(10, 64, 2) + hlo.allocation(2, MIB, [(10, MOST, 64)]), 1),
    'more live than there is': (FIXED + temps([MIB]) + hlo.buffer(20, 2 * MIB, 2) + hlo.heap([(ALLOC, 20, 'exp.2')]), 1),
    'a size below 0': (FIXED + temps([MIB]) + hlo.buffer(20, -5, 2)
                       + hlo.heap([(ALLOC, 20, 'x.1'), (ALLOC, 10, 'exp.2'), (FREE, 20, 'exp.2')]), 2),
    'a block below 0': (FIXED + hlo.allocation(4, -MIB, []), 1),
    'of no instruction': (FIXED + hlo.buffer(5, 64, 99) + hlo.allocation(2, 64, [(5, 0, 64)]), 1),
}
# The plan's peak and holders where it can be told.
TOLD = {
    'frees twice': 2 * MIB + 256, 'frees what never was': 2 * MIB + 256, 'shares in a circle': 2 * MIB + 256,
    'shares with itself': 2 * MIB + 256, 'shares with nobody': 2 * MIB + 256, 'events of no buffer': 2 * MIB + 256,
    'an event of no kind': 2 * MIB + 256, 'beyond its block': 2 * MIB + 256, 'more live than there is': 3 * MIB + 256,
    'a size below 0': 2 * MIB + 256, 'a block below 0': MIB + 256,
}


@pytest.mark.parametrize('name', BAD)
def test_entries_that_make_no_sense(read, name):
    plan = check(read, *BAD[name])
    if name in TOLD:
        assert plan['peak_bytes'] == sum(b['bytes'] for b in plan['live']) == TOLD[name]


@pytest.mark.parametrize('n', [3, 3000])
def test_sizes_that_overflow(read, n):
    """As many arguments as two: beyond int64 they are left out, of every sum and of the holders."""
    assigned = b''.join(hlo.buffer(i, MOST // 2, 1) + hlo.allocation(i, MOST // 2, [(i, 0, MOST // 2)], parameter=i)
                        for i in range(n))
    plan = check(read, assigned, n - 2, shown=True)
    assert plan['peak_bytes'] == plan['reserved_bytes'] == plan['parameter_bytes'] == MOST - 1
    assert [b['bytes'] for b in plan['live']] == 2 * [MOST // 2]


def test_temporaries_that_overflow(read):
    """Each space fits, both together do not: no peak, and the sum is that of the arguments."""
    first = hlo.buffer(1, MOST - 5, 1) + hlo.allocation(0, MOST - 5, [(1, 0, MOST - 5)], parameter=0)
    plan = check(read, first + temps([MIB]) + hlo.heap([(ALLOC, 10, 'exp.2'), (FREE, 10, 'sum.3')]), 2, shown=True)
    assert (plan['peak_bytes'], plan['live'], plan['reserved_bytes']) == (None, [], MOST - 5)
    plan = check(read, FIXED + b''.join(hlo.buffer(n, MOST // 2, 2) for n in (10, 11, 12))
                 + hlo.allocation(2, MIB, []) + hlo.heap([(ALLOC, n, 'exp.2') for n in (10, 11, 12)]), 2)
    assert (plan['peak_bytes'], plan['heap_peak_bytes']) == (None, MOST - 1)


def test_donations_that_overflow(read):
    """Three arguments and three results of their shape, of half of int64 each, of a program that ran."""
    values = [Value(f'x.{i}', 'parameter', (64,), 'parameter') for i in range(3)]
    values += [Value(f'neg.{i}', 'negate', (64,), 'output', (i,)) for i in range(3)]
    values += [Value('tuple', 'tuple', (), 'output', (3, 4, 5))]
    assigned = b''.join(hlo.buffer(i, MOST // 2, i + 1) + hlo.allocation(
        i, MOST // 2, [(i, 0, MOST // 2)], parameter=i if i < 3 else None, live_out=i > 2) for i in range(6))
    made = read([(9, 'jit_bad', hlo.proto('jit_bad', 9, values, assigned=assigned))], runs=9, shown=True)
    plan, = of(made, 'jit_bad')
    assert len(plan['donations']) == 3 and plan['donation_bytes'] == MOST - 1
    found = {f['id']: f for f in made['findings']}['F36']
    assert found['status'] == 'fired' and found['impact']['bytes'] == MOST


def test_aliases_in_circles(read):
    """An argument that two results take, a result that is its own argument, values that alias each other, an
    instruction that reads its own result, and a computation that calls itself."""
    alias = wire.bytes_(8, b''.join(wire.bytes_(1, wire.number(1, i) + wire.number(2, 0) + wire.number(3, i)) for i in range(9)))
    circle = b''.join(wire.bytes_(2, wire.number(1, a) + wire.bytes_(2, wire.number(4, b))) for a, b in ((1, 3), (3, 1), (1, 1)))
    knot = Value('knot.4', 'tuple', (64,), 'output', (1, 2))
    values = [X, Value('knot.2', 'bitcast', (1 << 18,), 'temp', (2, 1)), Value('knot.3', 'tuple', (64,), 'temp', (1, 3)), knot]
    assigned = ARGUMENT + hlo.buffer(4, 256, 4) + hlo.allocation(1, 256, [(4, 0, 256)], live_out=True) + circle
    made = read([(9, 'jit_bad', hlo.proto('jit_bad', 9, values, assigned=assigned, more=alias))])
    assert rest(made) == rest(read([])) and not said(made)
    plan, = of(made, 'jit_bad')
    assert plan['peak_bytes'] == MIB + 256
    assert check(read, FIXED + circle, 0, more=alias)['peak_bytes'] == MIB + 256


def test_more_buffers_than_anybody_reads(read):
    """Ten million: what is too much is said, and only that program's plan is missing."""
    made = read([(9, 'jit_bad', hlo.proto('jit_bad', 9, VALUES, assigned=b'\x0a\x00' * 10**7))])
    assert rest(made) == rest(read([])) and not of(made, 'jit_bad')
    assert said(made) == [('hlo-damaged', 'a memory plan of more than 4000000 buffers, blocks or events; its memory plan is missing')]


def test_modules_without_ids(read, monkeypatch):
    """Nothing leads to them: their plans are there, of programs that are not known to have run."""
    from gen import xspace
    plane = xspace._programs

    def nameless(host):
        return plane(host).replace(b'jit_bad(9)', b'jit_bad   ')

    monkeypatch.setattr(xspace, '_programs', nameless)
    proto = hlo.proto('jit_bad', 0, VALUES, MIB)
    made = read([(9, 'jit_bad', proto)])
    assert rest(made) == rest(read([]))
    assert [p['peak_bytes'] for p in of(made, 'jit_bad   ') + of(made, 'jit_bad')] in ([], [2 * MIB + 256])


def test_thousands_of_damaged_programs(read):
    """Each is refused; the first are listed and the others counted."""
    made = read([(100 + n, 'jit_bad', b'\x0a') for n in range(3000)])
    listed = [q for q in made['quality'] if q['code'] in ('hlo-damaged', 'more-notes')]
    assert len(made['quality']) <= 201 and listed[-1]['code'] == 'more-notes'
    more = int(listed[-1]['message'].split()[0])
    assert more + len(listed) - 1 == 3000
    assert rest(made) == rest(read([]))


def test_the_largest_that_fit(read):
    """No sum, picture or share of them overflows."""
    size = MOST // 4 - MIB
    plan = check(read, FIXED + temps(3 * [size]) + hlo.heap(
        [(ALLOC, n, 'exp.2') for n in (10, 11, 12)] + [(FREE, n, 'sum.3') for n in (12, 11, 10)]), 0, shown=True)
    assert plan['peak_bytes'] == 3 * size + MIB + 256 and len(plan['sample_event']) == 6
