"""A file of which no plane, line or event can be read is refused by every command that reads it, alone or
as a run; a gate passes on nothing."""
import json
import pathlib
import sys

import pytest

from common import ROOT, view_profile

sys.path.insert(0, str(ROOT / 'tests'))
from gen import broken, files  # noqa: E402
from gen.planted import fused  # noqa: E402
from gen.scene import MS, Scene, TpuChip  # noqa: E402

BROKEN, EMPTY = broken.unreadable(), broken.empty()
REFUSED, NOTHING_FOUND = 3, 4
READERS = ('report', 'top', 'findings')


@pytest.fixture(scope='module')
def good(tmp_path_factory):
    scene = Scene()
    fused(TpuChip(scene), MS)
    return str(files.write(scene, 'xspace', tmp_path_factory.mktemp('good')))


@pytest.fixture(params=BROKEN, scope='module')
def bad(request, tmp_path_factory):
    path = tmp_path_factory.mktemp('bad') / request.param
    path.write_bytes(BROKEN[request.param])
    return str(path)


def refused(*args, code=REFUSED):
    """What was said; stdout stays empty."""
    done = view_profile(*args, check=False)
    assert done.returncode == code, (args, done)
    assert done.stdout == ''
    line, = done.stderr.splitlines()
    assert line.startswith('view_profile: ')
    assert 'events before it' not in line, 'nothing came before'
    return line


def test_every_reader_refuses(bad):
    name = bad.rsplit('/', 1)[1]
    for command in READERS:
        if command == 'top' and name.endswith('.prof'):
            continue  # never has ops
        formats = ('text', 'json') if command != 'report' else ('text', 'json', 'csv', 'html')
        for form in formats:
            assert name.split('.')[0] in refused(command, '--format', form, bad)


@pytest.mark.slow
def test_no_gate_passes(good, bad):
    for a, b in ((good, bad), (bad, good), (bad, bad)):
        for gate in ((), ('--max-regression', '5%'), ('--fail-on', 'high'), ('--format', 'junit')):
            refused('compare', a, b, *gate)


def test_in_a_run_directory(bad, tmp_path):
    """The same under a run's name, where its neighbours in the list work."""
    run = tmp_path / 'plugins' / 'profile' / '2026_01_02_03_04_05'
    run.mkdir(parents=True)
    name = bad.rsplit('/', 1)[1]
    with open(bad, 'rb') as f:
        (run / name).write_bytes(f.read())
    refused('report', str(tmp_path))


def test_one_host_of_two(good, tmp_path):
    """The run is reported, and says which host is missing."""
    run = tmp_path / 'plugins' / 'profile' / '2026_01_02_03_04_05'
    run.mkdir(parents=True)
    scene = Scene()
    fused(TpuChip(scene), MS)
    (run / 'good.xplane.pb').write_bytes(broken.xspace.encode(scene.host))
    (run / 'bad.xplane.pb').write_bytes(BROKEN['overrun.xplane.pb'])
    made = json.loads(view_profile('report', '--format=json', str(tmp_path)).stdout)
    assert {pathlib.Path(f['path']).name: f['partial'] for f in made['session']['files']} == {
        'bad.xplane.pb': True, 'good.xplane.pb': False}
    note, = [q for q in made['quality'] if q['severity'] == 'error']
    assert note['code'] == 'unreadable' and note['file'].endswith('bad.xplane.pb')
    first = made['findings'][0]
    assert (first['id'], first['severity']) == ('F23', 'high')


@pytest.mark.parametrize('name', EMPTY)
def test_whole_and_empty_is_no_base_for_a_gate(good, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(EMPTY[name])
    made = json.loads(view_profile('report', '--format=json', str(path)).stdout)
    assert [q['code'] for q in made['quality']] == ['empty-window']
    saved = tmp_path / 'saved.json'
    saved.write_text(json.dumps(made))
    for one in (str(path), str(saved)):
        for a, b, side in ((good, one, 'B'), (one, good, 'A'), (one, one, 'A')):
            said = refused('compare', a, b, '--max-regression', '5%', code=NOTHING_FOUND)
            assert f'{side} ' in said


def test_a_gate_does_not_pass_on_what_is_left_of_a_run(good, tmp_path):
    """Cut off before the third step nothing can be verified; whole, one step proves as little, but is no fault."""
    scene = Scene()
    fused(TpuChip(scene), MS)
    whole = broken.xspace.encode(scene.host)
    path = tmp_path / 'cut.xplane.pb'
    path.write_bytes(whole[:len(whole) // 8])
    made = json.loads(view_profile('report', '--format=json', str(path)).stdout)
    assert made['steps']['count'] < 3 and made['session']['files'][0]['partial']
    done = view_profile('compare', good, str(path), '--max-regression', '5%', check=False)
    assert done.returncode == 1 and 'B is incomplete' in done.stderr, done
    done = view_profile('compare', str(path), good, '--max-regression', '5%', check=False)
    assert done.returncode == 1 and 'A is incomplete' in done.stderr, done
    assert view_profile('compare', good, str(path), check=False).returncode == 0


def test_merge_of_a_broken_file(bad):
    refused('merge', bad, bad)
