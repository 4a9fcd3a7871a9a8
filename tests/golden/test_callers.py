"""Findings about the host name the user's function, file and line: generated programs of JAX on CPU, whose Python
frames have no directories (docs/reference/links.md#frames-of-the-user)."""
from dataclasses import replace

from common import report
from gen import files, hlo
from gen.hlo import Value
from gen.scene import MS, US, Event, Op, Scene

LAUNCH = 'CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice'
WAIT = 'ThunkExecutor::Execute (wait for completion)'
STEP = [Value('p.0', 'parameter', (64,), 'parameter'), Value('fusion', 'fusion', (64,), 'output', (0,), scope='jit(step)/add', line=3)]


class Loop:
    """A thread that runs one step after the other on a CPU device: Python work, then a program."""

    def __init__(self, *sources, values=None):
        self.scene = Scene()
        self.host = self.scene.host
        self.python = self.host.thread('python')
        self.device = self.host.device('cpu')
        self.pool = self.host.thread('tf_XLAPjRtCpuClient/1')
        self.now, self.run = 0, 100
        self.host.programs.append((7, 'jit_step', hlo.proto('jit_step', 7, values or STEP, more=hlo.stack_frames(*sources))))

    def span(self, name, *inside, dur=0, more=2 * US):
        """A call of `dur`, or as long as what it calls (names and durations, or functions) and `more`."""
        e = Event(name, self.now, dur)
        self.python.events.append(e)
        self.now += more // 2 if inside else 0
        for call in inside:
            call() if callable(call) else self.span(*call)
        self.now = self.now + more // 2 if inside else e.start + dur
        e.dur = self.now - e.start

    def launch(self, dur, name='fusion', wait=True):
        """An asynchronous run of one op."""
        self.run += 1
        self.python.events.append(Event(LAUNCH, self.now, 20 * US))
        start = self.now + 25 * US
        self.device.ops.append(Op(name, start, dur, 'hlo', module='jit_step', program_id=7, stats={'run_id': self.run}))
        self.pool.events.append(Event(WAIT, start, dur, {'run_id': self.run, 'device_ordinal': 0}))
        self.now = start + dur if wait else self.now + 20 * US

    def launch_synchronously(self, *ops):
        """(name, duration, function of the user that it calls, or None) of each op. The launching thread runs them."""
        self.run += 1
        start = self.now
        self.now += 10 * US
        for name, dur, called in ops:
            begin = self.now
            self.device.ops.append(Op(name, begin, dur, 'hlo', module='jit_step', program_id=7, stats={'run_id': self.run}))
            if called:
                self.span('$callback.py:815 _wrapped_callback', lambda: self.span(called, dur=dur // 2))
            self.now = begin + dur
        self.now += 5 * US
        self.python.events.append(Event(LAUNCH, start, self.now - start))

    def steps(self, body, count=8):
        def all_steps():
            for number in range(count):
                start = self.now
                body()
                self.python.events.append(Event('train', start, self.now - start, {'_r': 1, 'step_num': number}))
                self.now += 2 * US
        self.span('$train.py:40 train', all_steps)

    def findings(self, folder):
        return {f['id']: f for f in report(files.write(self.scene, 'xspace', folder))['findings']}


def test_input_names_the_generator_inside_next(tmp_path):
    """No op comes from loader.py, but it is on the stack of the ops."""
    loop = Loop('/job/model.py', '/job/loader.py', '/usr/lib/python3.11/queue.py')
    loop.steps(lambda: [loop.span('$builtins next', lambda: loop.span('$loader.py:16 read_shard', lambda: loop.span('$time sleep', dur=5 * MS))),
                        loop.launch(3 * MS)])
    path = files.write(loop.scene, 'xspace', tmp_path)
    found = {f['id']: f for f in report(path)['findings']}['F14']
    assert found['status'] == 'fired' and 'most of it in read_shard (loader.py:16) on thread python' in found['message']
    label = next(x for x in report(path)['idle_labels'] if x['cause'] == 'input' and x['total_ps'] > 20 * MS)
    assert (label['label'], label['user']) == ('$loader.py:16 read_shard', 'read_shard (loader.py:16)')


def test_a_generator_that_a_for_loop_resumes_is_input(tmp_path):
    """Without a frame of next: for x in Shards(…)."""
    loop = Loop('/job/model.py', '/job/loader.py')
    loop.steps(lambda: [loop.span('$loader.py:12 __iter__', lambda: loop.span('$loader.py:16 load', lambda: loop.span('$time sleep', dur=5 * MS))),
                        loop.launch(3 * MS)])
    found = loop.findings(tmp_path)['F14']
    assert found['status'] == 'fired' and 'most of it in load (loader.py:16)' in found['message']


def test_files_of_libraries_are_not_the_user_s(tmp_path):
    loop = Loop('/job/model.py', '/usr/lib/python3.11/loader.py', '/venv/lib/python3.11/site-packages/flax/loader.py')
    loop.steps(lambda: [loop.span('$builtins next', lambda: loop.span('$loader.py:16 read_shard', lambda: loop.span('$time sleep', dur=5 * MS))),
                        loop.launch(3 * MS)])
    found = loop.findings(tmp_path)['F14']
    assert found['status'] == 'fired' and 'loader.py' not in found['message']


def test_garbage_collection_names_its_caller(tmp_path):
    loop = Loop('/job/model.py', '/job/log.py')
    loop.steps(lambda: [loop.launch(3 * MS), loop.span('$log.py:9 log_memory', lambda: loop.span('$gc collect', dur=6 * MS))])
    found = loop.findings(tmp_path)['F41']
    assert found['status'] == 'fired' and 'called by log_memory (log.py:9)' in found['message']


# ---- callbacks ----

def callback_program(result):
    """stats feeds only the callback, fusion is the result. result: the type of the callback's."""
    return [Value('p.0', 'parameter', (64,), 'parameter'),
            Value('stats', 'fusion', (64,), 'temp', (0,), scope='jit(step)/norm', line=4),
            Value('io_callback.1', 'custom-call', (), 'temp', (1,), scope='jit(step)/io_callback', line=5, type=result,
                  target='xla_ffi_python_cpu_callback', freed_at=3),
            Value('fusion', 'fusion', (64,), 'output', (0,) if result == hlo.TOKEN else (0, 2), scope='jit(step)/add', line=3)]


def test_callbacks_name_line_and_function_and_count_what_they_cause(tmp_path):
    loop = Loop('/job/model.py', '/job/log.py', values=callback_program(hlo.TOKEN))
    loop.steps(lambda: [loop.launch_synchronously(('stats', 1 * MS, None), ('io_callback.1', 2 * MS, '$log.py:9 log_stats'),
                                                  ('fusion', 3 * MS, None)),
                        loop.span('$pjit.py:60 _infer_params', dur=1 * MS)])
    found = loop.findings(tmp_path)['F21']
    assert 'io_callback from model.py:5' in found['message'] and 'it calls log_stats (log.py:9)' in found['message']
    assert '8.00 ms in ops whose results only callbacks read' in found['message']
    gaps = 7 * (1 * MS + 17 * US)
    events = 8 * 2 + 7 * 2  # frames in callbacks; the Python work and the launch in gaps
    assert abs(found['impact']['time_ps'] - (8 * 3 * MS + gaps - events * 350_000)) < 100 * US


def test_inputs_of_a_callback_with_a_result_are_needed(tmp_path):
    loop = Loop('/job/model.py', values=callback_program(hlo.F32))
    loop.steps(lambda: [loop.launch_synchronously(('stats', 1 * MS, None), ('io_callback.1', 2 * MS, None), ('fusion', 3 * MS, None))])
    found = loop.findings(tmp_path)['F21']
    assert 'only callbacks read' not in found['message']
    assert found['impact']['time_ps'] < 8 * 2 * MS + 8 * 30 * US


def test_the_gap_behind_a_callback_counts_as_much_as_could_overlap(tmp_path):
    """The host works for 20 ms between programs whose other ops take 3 ms."""
    loop = Loop('/job/model.py', values=callback_program(hlo.F32))
    loop.steps(lambda: [loop.launch_synchronously(('io_callback.1', 2 * MS, None), ('fusion', 3 * MS, None)),
                        loop.span('$log.py:60 write', dur=20 * MS)])
    found = loop.findings(tmp_path)
    assert abs(found['F21']['impact']['time_ps'] - (8 * 2 * MS + 7 * 3 * MS)) < 100 * US
    assert found['F3']['status'] == 'fired'


def test_launches_behind_other_programs_are_not_due_to_callbacks(tmp_path):
    loop = Loop('/job/model.py')
    loop.steps(lambda: [loop.launch_synchronously(('fusion', 3 * MS, None)), loop.span('$log.py:60 write', dur=2 * MS)])
    assert loop.findings(tmp_path)['F21']['status'] == 'clear'


# ---- uploads ----

UPLOAD = [Value('w.1', 'parameter', (64,), 'parameter', scope='w', line=1),
          Value('table.1', 'parameter', (3 << 20,), 'parameter', scope='table', line=1),
          Value('fusion', 'fusion', (64,), 'output', (0, 1), scope='jit(step)/add', line=3)]


def upload_loop(values, copying=4 * MS, count=12, uploads=8):
    """Calls that copy an argument of the host: a pool of the runtime copies, then the program runs."""
    loop = Loop('/job/model.py', '/job/train.py', values=values)
    pool = loop.host.thread('tf_XLAPjRtCpuClient/2')

    def step(number):
        upload = number < uploads

        def call():
            if upload:
                loop.span('DevicePut', dur=50 * US)
            loop.python.events.append(Event(LAUNCH, loop.now, 20 * US))
            loop.now += 20 * US
        start = loop.now
        loop.span('PjitFunction(step)', call)
        if upload:
            pool.events.append(Event('H2D Dispatch', loop.now, copying))
        begin = loop.now + (copying - 1 * MS if upload else 30 * US)  # the program needs only a part of it
        dur = 3 * MS if upload else 2 * MS
        loop.run += 1
        loop.device.ops.append(Op('fusion', begin, dur, 'hlo', module='jit_step', program_id=7, stats={'run_id': loop.run}))
        loop.pool.events.append(Event(WAIT, begin, dur, {'run_id': loop.run, 'device_ordinal': 0}))
        loop.now = begin + dur
        loop.python.events.append(Event('train', start, loop.now - start, {'_r': 1, 'step_num': number}))
    loop.span('$train.py:40 train', lambda: [step(n) for n in range(count)])
    return loop


def test_uploads_name_the_call_and_its_argument(tmp_path):
    found = upload_loop(UPLOAD).findings(tmp_path)['F6']
    assert 'step in train (train.py:40) is called with arrays of the host: table f32[3145728], 12.0 MiB, is copied in each call' \
        in found['message']


def test_idle_labels_of_uploads_have_their_caller(tmp_path):
    made = report(files.write(upload_loop(UPLOAD).scene, 'xspace', tmp_path))
    assert {x['user'] for x in made['idle_labels'] if x['label'] == 'H2D Dispatch'} == {'train (train.py:40)'}


def test_ops_that_take_longer_during_copies_count(tmp_path):
    """8 calls during a copy take 3 ms, 4 without one take 2 ms."""
    found = upload_loop(UPLOAD).findings(tmp_path)['F6']
    assert 'ops take 8.00 ms longer while the host copies' in found['message']
    waits = 7 * (3 * MS + 72 * US)  # the window begins with the first op
    assert abs(found['impact']['time_ps'] - (8 * MS + waits)) < 300 * US


def test_an_argument_that_may_be_on_the_device_is_not_named(tmp_path):
    """One copy in each call, but two arguments that no program returns."""
    values = [Value('v.1', 'parameter', (4 << 20,), 'parameter', scope='v', line=1), *UPLOAD[:2], replace(UPLOAD[2], operands=(1, 2))]
    found = upload_loop(values).findings(tmp_path)['F6']
    assert 'step in train (train.py:40) is called with arrays of the host' in found['message'] and 'table' not in found['message']


# ---- stragglers ----

def straggling(values, own=(6 * MS, 2 * MS), late=0):
    """Devices run one op each and meet in an all-reduce; the first has more work. The others begin `late`."""
    scene = Scene()
    host = scene.host
    python = host.thread('python')
    devices = [host.device('cpu') for _ in own]
    host.programs.append((7, 'jit_step', hlo.proto('jit_step', 7, values, more=hlo.stack_frames('/job/model.py'))))
    now = 0
    for number in range(8):
        done = now + max(own) + 100 * US
        for device, (d, dur) in enumerate(zip(devices, own)):
            d.ordinal = device
            stats = {'run_id': 100 + number}
            begin = now + (late if device else 0)
            if begin > now:  # the run has begun
                d.ops.append(Op('copy', now, 10 * US, 'hlo', module='jit_step', program_id=7, stats=stats))
            d.ops.append(Op('sort', begin, dur, 'hlo', module='jit_step', program_id=7, stats=stats))
            d.ops.append(Op('all-reduce', begin + dur, done - begin - dur, 'hlo', module='jit_step', program_id=7, stats=stats))
        python.events.append(Event('train', now, done - now, {'_r': 1, 'step_num': number}))
        now = done + 10 * US
    return scene


MEETING = [Value('p.0', 'parameter', (64,), 'parameter'), Value('sort', 'sort', (64,), 'temp', (0,), scope='jit(step)/sort', line=3, freed_at=2),
           Value('all-reduce', 'all-reduce', (64,), 'output', (1,), scope='jit(step)/psum', line=5)]


def test_balance_saves_max_minus_mean_and_names_the_op(tmp_path):
    scene = straggling(MEETING)
    found = {f['id']: f for f in report(files.write(scene, 'xspace', tmp_path))['findings']}
    f16 = found['F16']
    assert f16['status'] == 'fired' and f16['impact']['time_ps'] == 8 * 2 * MS
    assert 'waits 32.00 ms for it' in f16['message'] and 'sort takes 32.00 ms more on CPU:0, from model.py:3' in f16['message']
    assert found['F4']['status'] == 'explained'


# ---- without devices ----

def test_frames_without_any_hlo_proto_are_the_user_s_unless_known(tmp_path):
    """Nothing says which files are the user's: those of JAX, NumPy and the standard library are not."""
    loop = Loop('/job/model.py')
    loop.host.programs.clear()
    loop.steps(lambda: [loop.span('$log.py:9 log_memory', lambda: loop.span('$contextlib.py:80 inner', lambda: loop.span('$gc collect', dur=6 * MS))),
                        loop.span('work', dur=3 * MS)])
    loop.host.devices.clear()
    found = loop.findings(tmp_path)['F41']
    assert found['status'] == 'fired' and 'called by log_memory (log.py:9)' in found['message']


def test_zones_of_a_program_without_devices_name_their_caller(tmp_path):
    loop = Loop('/job/model.py')
    loop.host.programs.clear()
    loop.steps(lambda: [loop.span('$model.py:30 encode', lambda: loop.span('matmul', dur=6 * MS)),
                        loop.span('$model.py:50 decode', lambda: [loop.span('matmul', dur=2 * MS), loop.span('sort', dur=1 * MS)]),
                        *[loop.span(f'small.{n}', dur=10 * US) for n in range(4)]])
    loop.host.devices.clear()
    assert 'matmul, called by encode (model.py:30), takes' in loop.findings(tmp_path)['F27']['message']


def test_an_argument_that_is_too_small_for_the_copy_is_no_candidate(tmp_path):
    """4 ms for 512 bytes."""
    values = [Value('v.1', 'parameter', (128,), 'parameter', scope='v', line=1), *UPLOAD[:2], replace(UPLOAD[2], operands=(1, 2))]
    assert 'table f32[3145728], 12.0 MiB, is copied in each call' in upload_loop(values).findings(tmp_path)['F6']['message']


def test_waits_before_the_work_are_the_same_cause(tmp_path):
    """A device that begins 3 ms late waits only 1 ms in the collective, but has as little to do."""
    scene = straggling(MEETING, late=3 * MS)
    found = {f['id']: f for f in report(files.write(scene, 'xspace', tmp_path))['findings']}
    assert found['F16']['status'] == 'fired' and abs(found['F16']['impact']['time_ps'] - 8 * 2 * MS) < 100 * US
    assert found['F15']['status'] == 'explained' and found['F15']['explained_by'] == ['F16']
