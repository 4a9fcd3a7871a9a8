"""Ranks of one job are one run, however the launcher named their files (docs/reference/ranks.md)."""
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gen import broken, ranks  # noqa: E402
from serving import Serving  # noqa: E402


def ask(place, *args, code=0):
    done = subprocess.run(['view_profile', *map(str, args)], cwd=place.dir, env=place.env,
                          capture_output=True, text=True, check=False)
    assert done.returncode == code, done
    return done


def listed(place, path, *options):
    """(name, hosts) of each run, sorted by name."""
    made = json.loads(ask(place, 'list', '--format', 'json', *options, path).stdout)
    return sorted((s['name'], s['hosts']) for s in made['sessions'])


def hosts_of(place, path, *options):
    return sorted(sorted(hosts) for _, hosts in listed(place, path, *options))


def report(place, *args):
    return json.loads(ask(place, 'report', '--format', 'json', *args).stdout)


def finding(made, number):
    return next(f for f in made['findings'] if f['id'] == number)


RANKS = ['rank0', 'rank1', 'rank2', 'rank3']
KINETO = 1795905587836359430
SHAPES = {
    'flat': (lambda r: f'iteration_10/rank{r}_trace.json', 'iteration_10/rankN_trace.json', RANKS),
    'dirs': (lambda r: f'rank{r}/iteration_10.json', 'rankN/iteration_10.json', RANKS),
    'dashes': (lambda r: f'trace-rank-{r}.json.gz', 'trace-rank-N.json.gz', RANKS),
    'zeros': (lambda r: f'p/rank_{r:05}.pt.trace.json', 'p/rank_N.pt.trace.json', RANKS),
    'parallelism': (lambda r: f'1724650800.12-TP-{r % 2}-DP-{r // 2}.trace.json', '1724650800.12-TP-N-DP-N.trace.json',
                    RANKS),
    'kineto': (lambda r: f'host{r}_{500 + r}.{KINETO + r}.pt.trace.json', f'd/{KINETO}',
               [f'host{r}_{500 + r}' for r in range(4)]),
    'kineto in dirs': (lambda r: f'rank{r}/node_{500 + r}.{KINETO + r}.pt.trace.json.gz', f'rankN/{KINETO}',
                       [f'node_{500 + r}' for r in range(4)]),
    'one host in dirs': (lambda r: f'rank{r}/node_7.{KINETO + r}.pt.trace.json', f'rankN/{KINETO}',
                         [f'rank{r}-node_7' for r in range(4)]),
    'stated only': (lambda r: f'{"dbca"[r]}.json', 'd.json', RANKS),
    'stated only, in dirs': (lambda r: f'node-{"dbca"[r]}/trace.json', 'node-d/trace.json', RANKS),
    'nodes': (lambda r: f'node{r // 2}/rank{r % 2}.json', 'nodeN/rankN.json', RANKS),
    'times': (lambda r: f'rank{r}_20251030_10150{r}.json', 'rank0_20251030_101500.json', RANKS),
}


@pytest.mark.parametrize('shape', SHAPES)
def test_ranks_are_one_run(place, shape):
    name, run, hosts = SHAPES[shape]
    d = place.dir / 'd'
    ranks.job(d, name)
    assert listed(place, d) == [(run, hosts)]
    made = report(place, d)
    assert made['session']['hosts'] == hosts and len(made['devices']) == 4
    assert made['balance']['matched'] == 5
    straggler, balance = finding(made, 'F16'), finding(made, 'F15')
    assert straggler['status'] == 'fired' and 'last in 5 of 5' in straggler['message']
    assert straggler['message'].startswith(f'GPU 2 on {hosts[2]}')
    assert balance['status'] == 'fired'
    assert made['steps']['count'] == 5


@pytest.mark.parametrize('shape', ('flat', 'dirs', 'parallelism'))
def test_names_suffice(place, shape):
    """Without distributedInfo the names of the ranks join them."""
    name, run, hosts = SHAPES[shape]
    ranks.job(place.dir / 'd', name, stated=None)
    (found, made), = listed(place, place.dir / 'd')
    assert found == run and len(made) == 4


def test_iterations_stay_apart(place):
    """A job that was captured twice is two runs, also within seconds."""
    for iteration in 10, 20:
        for shape, name in {'flat': f'flat/iteration_{iteration}/rank{{}}_trace.json',
                            'names': f'names/rank{{}}_step{iteration}.json',
                            'dirs': f'dirs/rank{{}}/iteration_{iteration}.json'}.items():
            ranks.job(place.dir, lambda r, name=name: name.format(r), late_s=iteration / 10)
    for shape in 'flat', 'names', 'dirs':
        assert hosts_of(place, place.dir / shape) == [RANKS, RANKS], shape


@pytest.mark.parametrize('names', (('a_rank{}.json', 'b_rank{}.json'), ('a_{}.json', 'b_{}.json'),
                                   ('a/{}.json', 'b/{}.json'), ('x{}.json', 'y{}.json')))
def test_two_jobs_in_one_directory(place, names):
    for job, name in enumerate(names):
        ranks.job(place.dir / 'd', name.format, late_s=job * 0.0005)
    assert hosts_of(place, place.dir / 'd') == [RANKS, RANKS]
    made = json.loads(ask(place, 'list', '--format', 'json', place.dir / 'd').stdout)
    for run in made['sessions']:
        assert len({f['path'][0] for f in run['files']}) == 1, run


def test_jobs_of_other_sizes(place):
    """Equal names, but another world size or backend is another job."""
    for r in range(4):
        ranks.write(place.dir / f'd/rank{r}.json', ranks.trace(r, 4 if r < 3 else 8))
    assert hosts_of(place, place.dir / 'd') == [['rank0', 'rank1', 'rank2'], ['rank3']]
    for r in range(4):
        ranks.write(place.dir / f'e/rank{r}.json', ranks.trace(r, 4, stated=ranks.info(r, 4, 'nccl' if r else 'gloo')))
    assert hosts_of(place, place.dir / 'e') == [['rank0'], ['rank1', 'rank2', 'rank3']]


def test_clocks_hours_apart(place):
    """A rank of another hour is not of the same capture."""
    for r in range(4):
        ranks.write(place.dir / f'd/rank{r}.json', ranks.trace(r, 4, late_s=0 if r < 3 else 7200))
    assert hosts_of(place, place.dir / 'd') == [['rank0', 'rank1', 'rank2'], ['rank3']]


def test_independent_processes(place):
    """A world of one rank is a job of its own, and the same rank twice is of two jobs."""
    for r in range(3):
        ranks.write(place.dir / f'd/rank{r}.json', ranks.trace(r, 1, stated=ranks.info(0, 1)))
        ranks.write(place.dir / f'e/rank{r}.json', ranks.trace(r, 4, stated=ranks.info(1, 4)))
    assert len(listed(place, place.dir / 'd')) == 3
    assert len(listed(place, place.dir / 'e')) == 3


LIES = {'too large': {'rank': 9, 'world_size': 4}, 'negative': {'rank': -1, 'world_size': 4},
        'words': {'rank': 'first', 'world_size': 'all'}, 'huge': {'rank': 10**30, 'world_size': 10**40},
        'fraction': {'rank': 0.5, 'world_size': 4}, 'null': {'rank': None, 'world_size': None},
        'list': [0, 4], 'nested': {'rank': {'rank': [1]}, 'world_size': [4]}, 'no world': {'rank': 0, 'world_size': 0}}


@pytest.mark.parametrize('lie', LIES)
def test_a_lie_is_ignored(place, lie):
    """Names decide if distributedInfo cannot be right."""
    ranks.job(place.dir / 'd', lambda r: f'rank{r}.json', stated=LIES[lie])
    assert hosts_of(place, place.dir / 'd') == [RANKS]
    assert len(report(place, place.dir / 'd')['devices']) == 4


def test_sweeps_are_not_ranks(place):
    """Names that state sizes of parallelism, one after the other."""
    for n in 1, 2, 4, 8:
        ranks.write(place.dir / f'd/bench_tp{n}.json', ranks.trace(0, 1, stated=None, late_s=n))
    assert len(listed(place, place.dir / 'd')) == 4


def test_many_ranks(place):
    """4,096 files, of which each lists its own rank."""
    small = ranks.trace(0, 4096, steps=1)
    for r in range(4096):
        small['distributedInfo'] = ranks.info(r, 4096)
        ranks.write(place.dir / f'd/rank{r}_trace.json', small)
    (_, hosts), = listed(place, place.dir / 'd')
    assert hosts == [f'rank{r}' for r in range(4096)]


def write_xspaces(folder, names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(broken.json_of(broken.x(ts=1, dur=2)))


def test_run_directories_seconds_apart(place):
    """Hosts of one job name their run directories by their own clocks; another run of a host is another capture."""
    write_xspaces(place.dir / 'd/plugins/profile', ('2026_01_02_03_04_05/w-0.trace.json', '2026_01_02_03_04_06/w-1.trace.json',
                                                     '2026_01_02_03_04_08/w-0.trace.json', '2026_01_02_03_05_06/w-1.trace.json'))
    assert hosts_of(place, place.dir / 'd') == [['w-0'], ['w-0', 'w-1'], ['w-1']]
    write_xspaces(place.dir / 'e/plugins/profile', ('2026_01_02_03_04_05/m_9012.trace.json',
                                                     '2026_01_02_03_04_06/m_9013.trace.json'))
    assert len(listed(place, place.dir / 'e')) == 2
    write_xspaces(place.dir / 'f/plugins/profile', ('2026_01_02_03_04_05_train/w-0.trace.json',
                                                     '2026_01_02_03_04_06_eval/w-1.trace.json'))
    assert len(listed(place, place.dir / 'f')) == 2
    write_xspaces(place.dir / 'g/plugins/profile', ('2026_01_02_03_04_05/laptop.trace.json',
                                                     '2026_01_02_03_04_06/server.trace.json'))
    assert len(listed(place, place.dir / 'g')) == 2


def test_a_rank_names_its_run(place):
    ranks.job(place.dir / 'd', lambda r: f'rank{r}/x.json')
    ranks.job(place.dir / 'd', lambda r: f'rank{r}/y.json', late_s=100)
    for key in 'rank2/x.json', 'rankN/x.json', 'rankN-x.json':
        assert report(place, place.dir / 'd', key)['session']['name'] == 'rankN/x.json'


def test_ranks_apart(place):
    d = place.dir / 'd'
    ranks.job(d, SHAPES['flat'][0])
    ranks.job(d, SHAPES['kineto'][0])
    assert len(listed(place, d)) == 2
    assert hosts_of(place, d, '--merge-ranks', 'no') == sorted([[h] for h in RANKS + SHAPES['kineto'][2]])
    assert 'must be yes or no' in ask(place, 'list', '--merge-ranks', 'maybe', d, code=2).stderr
    one = report(place, '--merge-ranks', 'no', d, 'rank1_trace.json')
    assert one['session']['hosts'] == ['rank1'] and one['world_size'] == 4 and one['ranks'] == [{'host': 'rank1', 'rank': 1}]


@pytest.mark.parametrize('shape', ('flat', 'dirs', 'kineto', 'stated only, in dirs'))
def test_several_paths(place, shape):
    """The files of a job are one run, from whatever directories and in whatever order."""
    name, _, hosts = SHAPES[shape]
    files = ranks.job(place.dir / 'd', name)
    made, whole = report(place, *files[::-1]), report(place, place.dir / 'd')
    assert made['session']['hosts'] == hosts
    for key in whole:
        if key not in ('session', 'quality'):
            assert made[key] == whole[key], key
    assert report(place, files[2], files[2], files[0])['session']['hosts'] == [hosts[0], hosts[2]]
    top = ask(place, 'top', *files).stdout
    assert '3 other devices' in top


def test_paths_of_elsewhere(place):
    """Files that only the command brings together."""
    a = ranks.write(place.dir / 'x/y/rank0.json', ranks.trace(0, 2))
    b = ranks.write(place.dir / 'z/rank1.json.gz', ranks.trace(1, 2))
    c = ranks.write(place.dir / 'u/v/w/b.json', ranks.trace(1, 2))
    assert report(place, a, b)['session']['hosts'] == ['rank0', 'rank1']
    assert report(place, a, c)['session']['hosts'] == ['rank0', 'rank1']
    assert report(place, place.dir / 'x', place.dir / 'z')['session']['hosts'] == ['rank0', 'rank1']
    assert report(place, place.dir / 'x', place.dir / 'z', 'rank1.json.gz')['session']['hosts'] == ['rank0', 'rank1']


def test_paths_of_two_jobs(place):
    first = ranks.write(place.dir / 'a.json', ranks.trace(0, 2))
    for name, made, why in (('b.json', ranks.trace(1, 4), 'world sizes differ'), ('c.json', ranks.trace(0, 2), 'rank 0'),
                            ('d.json', ranks.trace(1, 2, late_s=7200), '7199 s apart'),
                            ('e.json', ranks.trace(1, 2, stated=None), 'common job')):
        other = ranks.write(place.dir / name, made)
        assert why in ask(place, 'report', first, other, code=2).stderr
        assert len(listed_paths(place, first, other)) == 2
    (place.dir / 'note.txt').write_text('nothing')
    assert 'note.txt: no profile found' in ask(place, 'top', first, place.dir / 'note.txt', code=4).stderr
    assert 'no run "nowhere"' in ask(place, 'top', first, 'nowhere', code=4).stderr
    ask(place, 'list', first, place.dir / 'nowhere', code=4)
    assert 'together' in ask(place, 'top', first, 's3://bucket/x', code=2).stderr


def listed_paths(place, *paths):
    return json.loads(ask(place, 'list', '--format', 'json', *paths).stdout)['sessions']


def test_run_inside_a_path(place):
    """A second argument inside the first is still the name of a run."""
    ranks.job(place.dir / 'd', lambda r: f'rank{r}.json')
    ranks.write(place.dir / 'd/other.json', ranks.trace(0, 1, late_s=50))
    assert report(place, 'd', 'other.json')['session']['name'] == 'other.json'
    place.dir = place.dir / 'd'
    assert report(place, '.', 'other.json')['session']['name'] == 'other.json'
    assert report(place, '.', 'rank1.json')['session']['name'] == 'rankN.json'


def missing(made):
    return [q['message'] for q in made['quality'] if q['code'] == 'missing-ranks']


def test_missing_ranks(place):
    for r in (0, 1, 2, 4, 5, 6, 7):
        ranks.write(place.dir / f'd/rank{r}.json', ranks.trace(r, 8))
        ranks.write(place.dir / f'e/rank{r}.json', ranks.trace(r, 8, stated=None))
    ranks.write(place.dir / 'f/x.json', ranks.trace(5, 8))
    ranks.job(place.dir / 'g', lambda r: f'rank{r}.json')
    assert missing(report(place, place.dir / 'd')) == ['7 of 8 ranks of the job; missing: 3']
    assert missing(report(place, place.dir / 'e')) == ['7 of at least 8 ranks of the job; missing: 3']
    assert missing(report(place, place.dir / 'f')) == ['1 of 8 ranks of the job; missing: 0-4, 6-7']
    assert missing(report(place, place.dir / 'g')) == []


def test_ignored_info_is_noted(place):
    ranks.job(place.dir / 'd', lambda r: f'rank{r}.json', stated={'rank': 7, 'world_size': 4})
    noted = [q['file'] for q in report(place, place.dir / 'd')['quality'] if q['code'] == 'rank-info']
    assert noted == [f'rank{r}.json' for r in range(4)]


def write_reports(place, folder, *options):
    out = []
    for f in sorted((place.dir / folder).iterdir()):
        out.append(place.dir / f'{folder}-{f.name}.report')
        out[-1].write_text(ask(place, 'report', '--format', 'json', *options, f).stdout)
    return out


def test_merge_answers_as_the_run(place):
    ranks.job(place.dir / 'd', lambda r: f'rank{r}_trace.json')
    parts = write_reports(place, 'd')
    whole = report(place, place.dir / 'd')
    for made in (json.loads(ask(place, 'merge', *parts[::-1]).stdout),):
        for key in whole:
            if key != 'session':
                assert made[key] == whole[key], key
    three = json.loads(ask(place, 'merge', *parts[1:]).stdout)
    assert missing(three) == ['3 of 4 ranks of the job; missing: 0']
    stage = place.dir / 'stage.report'
    stage.write_text(json.dumps(three))
    again = json.loads(ask(place, 'merge', stage, parts[0]).stdout)
    assert missing(again) == [] and finding(again, 'F16') == finding(whole, 'F16')


@pytest.mark.parametrize('why, other', {
    'world size 8': ranks.trace(1, 8), 'rank 0': ranks.trace(0, 4),
    'begins 7199 s after': ranks.trace(1, 4, late_s=7200)}.items())
def test_merge_refuses_other_jobs(place, why, other):
    ranks.write(place.dir / 'd/a.json', ranks.trace(0, 4))
    ranks.write(place.dir / 'd/b.json', other)
    parts = write_reports(place, 'd')
    refused = ask(place, 'merge', *parts, code=2)
    assert why in refused.stderr and 'b.json.report' in refused.stderr and not refused.stdout
    if why != 'rank 0':
        assert len(json.loads(ask(place, 'merge', '--force', *parts).stdout)['devices']) == 2


def test_f16_names_the_rank(place):
    """Every machine has a GPU 0."""
    for r in range(4):
        ranks.write(place.dir / f'd/m{r}_{50 + r}.{KINETO}.pt.trace.json', ranks.trace(r, 4, device=0))
    assert finding(report(place, place.dir / 'd'), 'F16')['message'].startswith('GPU 0 on m2_52 (rank 2) arrives last')


def test_an_archive_is_the_run_inside_it(place):
    ranks.job(place.dir / 'd', SHAPES['kineto'][0])
    subprocess.run(['tar', 'czf', 'job.tar.gz', 'd'], cwd=place.dir, check=True)
    plain, packed = report(place, 'd'), report(place, 'job.tar.gz')
    assert packed['world_size'] == 4 and [r['rank'] for r in packed['ranks']] == [0, 1, 2, 3]
    for key in ('world_size', 'ranks', 'devices', 'balance', 'findings'):
        assert packed[key] == plain[key], key


def test_the_server_lists_the_same(place):
    """Also after a rescan, which opens only the file that is new."""
    name = SHAPES['stated only'][0]
    files = ranks.job(place.dir / 'd', name)
    late = files[1].read_bytes()
    files[1].unlink()

    def runs(server, target='/api/v1/sessions'):
        return [(s['name'], s['hosts']) for s in json.loads(server.get(target)[2])['sessions']]

    with Serving(place, '--port', 0, place.dir / 'd') as server:
        assert runs(server) == [('d.json', ['rank0', 'rank2', 'rank3'])]
        files[1].write_bytes(late)
        assert server.post('/api/v1/rescan', f'Origin: http://127.0.0.1:{server.port}')[0] == 200
        assert runs(server) == [('d.json', RANKS)]
        made = json.loads(server.get('/api/v1/session/d.json/report')[2])
        assert finding(made, 'F16')['message'].startswith('GPU 2 on rank2 arrives last in 5 of 5')
    with Serving(place, '--port', 0, '--merge-ranks', 'no', place.dir / 'd') as server:
        assert len(runs(server)) == 4
