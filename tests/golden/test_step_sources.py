"""What marks the steps of a program (docs/reference/metrics.md#steps), each with a generated loop
whose steps are known."""
import pytest

from common import report, view_profile
from gen import files
from gen.scene import MS, US, Event, GpuLoop, Scene


def made(scene, folder, form='kineto', *options):
    return report(files.write(scene, form, folder), *options)['steps']


def lengths(steps):
    return [s['dur_ps'] for s in steps['list']]


def numbers(steps):
    return [s['number'] for s in steps['list']]


def loop(body, count=6, between=2 * US):
    """One iteration launches a kernel of 100 µs and waits for it inside the annotation."""
    scene = Scene()
    g = GpuLoop(scene)
    for i in range(count):
        body(g, i)
        g.work('python', between)
    return scene


def train(g, dur=100 * US):
    g.work('aten::mm', 10 * US)
    g.launch('sgemm', dur)
    g.drain()


def annotated(name):
    def body(g, i):
        with g.span(name(i), 'user_annotation'):
            train(g)
    return body


@pytest.mark.parametrize('name', ['train_step', '[pl][profile]run_training_batch', 'iteration'])
def test_an_annotation_that_repeats(name, tmp_path):
    s = made(loop(annotated(lambda i: name)), tmp_path)
    assert s['source'] == 'repeated_annotation'
    assert lengths(s) == [116 * US] * 6
    assert numbers(s) == [None] * 6
    assert [x['name'] for x in s['series']] == [name]


@pytest.mark.parametrize('form', ['step_{}', 'train_step {}', 'Iteration({})', 'step-{}', 'step={}', 'step:{}', 'step[{}]'])
def test_an_annotation_with_a_number(form, tmp_path):
    s = made(loop(annotated(lambda i: form.format(i + 5))), tmp_path)
    assert s['source'] == 'repeated_annotation'
    assert numbers(s) == [5, 6, 7, 8, 9, 10]
    assert lengths(s) == [116 * US] * 6
    assert len(s['series']) == 1


def test_an_outer_annotation_that_does_not_repeat(tmp_path):
    scene = Scene()
    g = GpuLoop(scene)
    with g.span('[pl][profile]run_training', 'user_annotation'):
        for i in range(5):
            with g.span('train_step', 'user_annotation'), g.span('forward', 'user_annotation'):
                train(g)
    s = made(scene, tmp_path)
    assert [x['name'] for x in s['series']] == ['train_step']
    assert lengths(s) == [116 * US] * 5


def test_epochs_are_no_steps(tmp_path):
    scene = Scene()
    g = GpuLoop(scene)
    for epoch in range(3):
        with g.span(f'epoch {epoch}', 'user_annotation'):
            for i in range(4):
                with g.span(f'train {i}', 'user_annotation'):
                    train(g)
    s = made(scene, tmp_path)
    assert numbers(s) == [0, 1, 2, 3] * 3


def test_phases_of_a_step_are_joined(tmp_path):
    def body(g, i):
        for phase, dur in (('forward', 50 * US), ('backward', 90 * US), ('update', 20 * US)):
            with g.span(phase, 'user_annotation'):
                train(g, dur)
            g.work('python', 1 * US)
    s = made(loop(body), tmp_path)
    assert lengths(s) == [(66 + 106 + 36 + 2) * US] * 6
    assert [x['name'] for x in s['series']] == ['backward']


def test_a_rare_annotation_is_no_part_of_every_step(tmp_path):
    def body(g, i):
        with g.span('train', 'user_annotation'):
            train(g)
        if i % 3 == 2:
            with g.span('validate', 'user_annotation'):
                train(g, 500 * US)
    s = made(loop(body), tmp_path)
    assert lengths(s) == [116 * US] * 6


def test_numbered_series(tmp_path):
    def body(g, i):
        with g.span(f'train {i}', 'user_annotation'):
            train(g)
        if i % 3 == 2:
            with g.span(f'eval {i // 3}', 'user_annotation'):
                train(g, 50 * US)
    s = made(loop(body), tmp_path)
    assert [(x['name'], x['count'], x['median_ps']) for x in s['series']] == [('train', 6, 116 * US), ('eval', 2, 66 * US)]
    assert s['counted'] == 6 and s['median_ps'] == 116 * US


@pytest.mark.parametrize('name', ['## Call CompiledFxGraph abc ##', 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__',
                                  'Optimizer.zero_grad#SGD.zero_grad', 'DistributedDataParallel.forward', 'nccl:all_reduce'])
def test_annotations_of_libraries_are_no_steps(name, tmp_path):
    assert made(loop(annotated(lambda i: name)), tmp_path)['source'] in ('none', 'modules')


def test_calls_of_the_optimizer(tmp_path):
    def body(g, i):
        train(g)
        with g.span('Optimizer.step#SGD.step', 'user_annotation'):
            g.work('aten::add_', 20 * US)
    s = made(loop(body), tmp_path)
    assert s['source'] == 'optimizer_step'
    assert lengths(s) == [136 * US] + [138 * US] * 5


def test_the_profiler_counts_before_annotations(tmp_path):
    def body(g, i):
        with g.span(f'ProfilerStep#{i}', 'user_annotation'), g.span('train', 'user_annotation'):
            train(g)
    s = made(loop(body), tmp_path)
    assert s['source'] == 'profiler_step' and numbers(s) == list(range(6))


def tensorflow(folder, numbered):
    scene = Scene()
    t = scene.host.thread('python')
    for i in range(6):
        start = i * 4 * MS
        if numbered:
            t.events.append(Event('Profiled batch', start, 3 * MS, {'step_num': 4 + i}))
        t.events.append(Event('FunctionRun', start + 500 * US, 2 * MS, {'_r': 1, 'id': 77 + i}))
    worker = scene.host.thread('tf_data_iterator_resource')
    for i in range(6):
        worker.events.append(Event('FunctionRun', i * 4 * MS + 100 * US, 10 * US, {'_r': 1, 'id': 99 + i}))
        worker.events.append(Event('ExecutorState::Process', i * 4 * MS + 200 * US, 10 * US, {'iter_num': 0}))
    return made(scene, folder, 'xspace')


def test_numbers_of_keras_come_before_calls_of_functions(tmp_path):
    s = tensorflow(tmp_path, True)
    assert s['source'] == 'annotation'
    assert numbers(s) == [4, 5, 6, 7, 8, 9] and lengths(s) == [3 * MS] * 6


def test_calls_of_functions_are_steps_without_numbers(tmp_path):
    assert lengths(tensorflow(tmp_path, False)) == [2 * MS] * 6


def jax(folder, options=(), names=('train', 'train', 'eval')):
    scene = Scene()
    t = scene.host.thread('python')
    at, count = 0, {}
    for i in range(9):
        name = names[i % 3]
        dur = 2 * MS if name == 'train' else 700 * US
        t.events.append(Event(name, at, dur, {'_r': 1, 'step_num': count.setdefault(name, 0)}))
        count[name] += 1
        at += 3 * MS
    return report(files.write(scene, 'xspace', folder), *options)


def test_series_have_their_own_numbers_and_statistics(tmp_path):
    s = jax(tmp_path)['steps']
    assert [(x['name'], x['count'], x['counted'], x['median_ps'], x['total_ps']) for x in s['series']] == [
        ('train', 6, 6, 2 * MS, 12 * MS), ('eval', 3, 3, 700 * US, 2100 * US)]
    assert s['counted'] == 6 and s['median_ps'] == 2 * MS and s['cv'] == 0


def test_names_that_never_repeat_are_one_series(tmp_path):
    scene = Scene()
    t = scene.host.thread('python')
    for i in range(7):
        t.events.append(Event('phase ' + 'abcdefg'[i], i * 3 * MS, 2 * MS, {'_r': 1, 'step_num': i}))
    s = made(scene, tmp_path, 'xspace')
    assert [(x['name'], x['count']) for x in s['series']] == [('', 7)] and s['counted'] == 7


def test_steps_by_name(tmp_path):
    s = jax(tmp_path, ('--steps-by=eval',))['steps']
    assert s['source'] == 'steps_by' and len(s['list']) == 3 and numbers(s) == [0, 1, 2]


def test_steps_by_a_name_that_is_not_there(tmp_path):
    r = jax(tmp_path, ('--steps-by=test',))
    assert r['steps']['list'] == []
    assert [q['message'] for q in r['quality'] if q['code'] == 'steps-by'] == [
        '--steps-by: no event of a host thread is named "test", so there are no steps']


def test_one_step_of_a_series(tmp_path):
    def body(g, i):
        with g.span(f'train {i}', 'user_annotation'):
            train(g)
        with g.span(f'eval {i}', 'user_annotation'):
            train(g, 40 * US)
    path = files.write(loop(body), 'kineto', tmp_path)
    for step, window in (('train:2', 116 * US), ('eval:2', 56 * US), ('2', 116 * US)):
        assert report(path, f'--step={step}')['devices'][0]['breakdown']['window_ps'] == window
    failed = view_profile('report', path, '--step=test:2', check=False)
    assert failed.returncode != 0 and 'no step test:2; this profile has 12 steps' in failed.stderr


def test_numbers_that_repeat_or_overflow(tmp_path):
    scene = Scene()
    t = scene.host.thread('python')
    for i, number in enumerate([5, 5, 4, 3, 2**63 - 1, 2**63 - 1, 0]):
        t.events.append(Event('train', i * 3 * MS, 2 * MS, {'_r': 1, 'step_num': number}))
    s = made(scene, tmp_path, 'xspace')
    assert lengths(s) == [2 * MS] * 7 and s['counted'] == 7
