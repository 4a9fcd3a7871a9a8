"""`view_profile record -- python train.py`: Python imports this first, because record put its directory
into PYTHONPATH. When the program then uses JAX or PyTorch, that framework's own profiler records it:
from the first use of a device to the end, or the steps of $VIEW_PROFILE_STEPS. It needs no package,
changes nothing that the program can see, and whatever goes wrong here is said on standard error."""
import atexit
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def say(text):
    print(f"view_profile: {text}", file=sys.stderr, flush=True)


def plan(text):
    """FIRST:COUNT[:EVERY[:TIMES]] as (first, count, every, times); None: all."""
    if not text:
        return None
    parts = [int(p) for p in text.split(":")]
    first, count = parts[0], parts[1] if len(parts) > 1 else 1
    return first, count, parts[2] if len(parts) > 2 else 0, parts[3] if len(parts) > 3 else (0 if len(parts) > 2 else 1)


def new_run(directory):
    import time
    root = os.path.join(directory, "plugins", "profile")
    os.makedirs(root, exist_ok=True)
    stamp = time.strftime("%Y_%m_%d_%H_%M_%S")
    for n in range(1000):
        try:
            path = os.path.join(root, stamp + (f"_{n}" if n else ""))
            os.mkdir(path)
            return path
        except FileExistsError:
            continue
    raise FileExistsError(root)


TOGETHER_S = 120  # as JOB_TOGETHER_S of the recorder
mine = set()      # runs that this process has written into


def put(files, directory, framework):
    """Into the run of the job that record began, if its newest is young enough and has nothing of this process; else into
    a new one, which the job's next process joins. The file and its lock are those of the recorder's processes."""
    import fcntl
    import time
    job = os.environ.get("VIEW_PROFILE_JOB")
    if not job:
        return move(files, new_run(directory), framework)
    plugins = os.path.join(directory, "plugins")
    os.makedirs(plugins, exist_ok=True)
    name = "".join(c if c.isascii() and (c.isalnum() or c in "._") else "_" for c in job)[:127]
    with open(os.open(os.path.join(plugins, f".view_profile.job-{name}"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "r+") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        run = f.read(64)
        path = os.path.join(plugins, "profile", run)
        young = time.time() - os.fstat(f.fileno()).st_mtime <= TOGETHER_S
        if not (run and "/" not in run and run[0] != "." and young and path not in mine and os.path.isdir(path)):
            path = new_run(directory)
            f.seek(0)
            f.truncate()
            f.write(os.path.basename(path))
        mine.add(path)
        return move(files, path, framework)


def move(files, run, framework):
    """As this process's: by its host, with the framework's name where another process, or what the recorder wrote of this
    one, has that, and with its number where that is taken, too."""
    import re
    there = os.listdir(run)
    name = next(n for n in (host(), f"{host()}_{framework}", f"{host()}_{framework}_{os.getpid()}") if not any(t.startswith(n + ".") for t in there))
    for path in files:
        end = re.search(r"(\.pt)?\.trace\.json\.gz$|\.xplane\.pb$|\.\w+\.\w+$|$", path).group()
        os.rename(path, os.path.join(run, name + end))


def host():
    """This process in its run: by its rank where a launcher gave it one."""
    import re
    import socket
    name = re.sub(r"[^\w.-]", "_", socket.gethostname()) or "localhost"
    rank = next((os.environ[v] for v in ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK") if os.environ.get(v)), None)
    return name if rank is None else f"{name}_{rank}"


class Recorder:
    """One framework's profiler, switched on and off by steps."""

    def __init__(self):
        self.directory = os.path.abspath(os.environ.get("VIEW_PROFILE_DIR") or "profiles")
        self.plan = plan(os.environ.get("VIEW_PROFILE_STEPS"))
        self.pid = os.getpid()
        self.on, self.aside, self.taken, self.steps = False, None, 0, 0
        self.failed = self.too_early = self.tried = self.numbered = False  # numbered: the program says its steps by view_profile.step
        atexit.register(self.end)

    def begin(self):
        if self.on or self.failed or os.getpid() != self.pid:
            return
        if os.environ.get("VIEW_PROFILE_GPU") == "require" and not self.taken and not self.tried:
            say("CUPTI supports one profiler per process, and --gpu reserves it for view_profile; without --gpu, the "
                "framework's profiler traces the GPU in more detail")
        import time
        self.aside = os.path.join(self.directory, f".view_profile-{self.pid}-{time.monotonic_ns()}")
        try:
            os.makedirs(self.aside)
            self.start(self.aside)
            self.on = True
        except RecursionError as e:
            self.failed, self.too_early = self.tried, not self.tried
            if self.tried:
                say(f"the profiler could not start; the program continues: {e}")
            self.tried = True
            self.clean()
        except Exception as e:
            self.failed = True
            say(f"the profiler could not start; the program continues: {e}")
            self.clean()

    def end(self):
        if not self.on or os.getpid() != self.pid:
            return
        self.on = False
        try:
            self.stop(self.aside)
            files = [os.path.join(folder, f) for folder, _, names in os.walk(self.aside) for f in names]
            if files:
                put(files, self.directory, type(self).__name__.lower())
            self.taken += 1
        except Exception as e:
            say(f"the profile could not be written: {e}")
        self.clean()

    def clean(self):
        import shutil
        shutil.rmtree(self.aside, ignore_errors=True)

    # ---- steps

    def wants(self, number):
        first, count, every, times = self.plan
        if number < first or (times and self.taken >= times):
            return False
        return (number - first) % every < count if every else number < first + count

    def step_begins(self, number):
        if self.plan and not self.on and self.wants(number):
            self.begin()

    def step_ends(self, number):
        if self.plan and self.on and not self.wants(number + 1):
            self.end()

    def used(self):
        """The framework has a device now."""
        if not self.plan:
            self.begin()


    def give_way(self):
        """The program starts its framework's profiler: there is one at a time, and the program's own goes first."""
        if self.on:
            say("the program starts its own profiler; this recording stops here")
            self.end()
            self.failed = True


class Jax(Recorder):
    def start(self, directory):
        import jax
        more = {}
        if hasattr(jax.profiler, "ProfileOptions"):  # older ones always trace Python
            more["profiler_options"] = options = jax.profiler.ProfileOptions()
            options.python_tracer_level = 0  # each call of Python would be an event
        if self.plan:  # else no device has been used before
            self.wait()
        jax.profiler.start_trace(directory, **more)

    def stop(self, directory):
        import jax
        self.wait()
        jax.profiler.stop_trace()

    def wait(self):
        """What was sent to the devices before is done, also results that nobody holds any more, which a computation of
        the same device waits for: it is in the profile, or before it."""
        import jax

        def view_profile_wait(x):
            return x + 1
        self.last = getattr(self, "last", None) or jax.jit(view_profile_wait)
        for device in jax.local_devices():
            self.last(jax.device_put(0, device)).block_until_ready()
        for array in jax.live_arrays():
            try:
                array.block_until_ready()
            except RuntimeError:
                pass  # donated


class Torch(Recorder):
    def start(self, directory):
        import torch
        self.profile = torch.profiler.profile(record_shapes=True)
        self.profile.start()

    def stop(self, directory):
        self.profile.stop()
        self.profile.export_chrome_trace(os.path.join(directory, "host.pt.trace.json.gz"))


def before(module, name, recorder):
    """Whoever calls the module's function `name` has the profiler for himself."""
    function = getattr(module, name, None)
    if function is None:
        return
    import functools

    @functools.wraps(function)
    def called(*args, **kwargs):
        r = recorder()
        if r is not None:
            r.give_way()
        return function(*args, **kwargs)
    setattr(module, name, called)


def jax_recorder():
    return getattr(sys.modules.get("jax._src.xla_bridge"), "_view_profile", None)


def watch_xla_bridge(module):
    """The first use of a device: before it the program may still choose its platforms."""
    backends = module.backends
    recorder = Jax()
    sys.modules["jax._src.xla_bridge"]._view_profile = recorder

    def used(*args, **kwargs):
        found = backends(*args, **kwargs)
        if module.backends is used:
            module.backends = backends  # begin() comes here again
            recorder.used()
        return found
    module.backends = used
    cached = getattr(module, "get_backend", None)

    class GetBackend:
        """JAX 0.11 refuses the profiler from within its first call, which is then begun behind it."""

        def __call__(self, *args, **kwargs):
            found = cached(*args, **kwargs)
            if recorder.too_early:
                recorder.too_early = False
                recorder.used()
            return found

        def __getattr__(self, name):
            return getattr(cached, name)
    if cached is not None:
        module.get_backend = GetBackend()


def watch_jax_profiler(module):
    before(module, "start_trace", jax_recorder)
    annotation = module.StepTraceAnnotation

    class StepTraceAnnotation(annotation):
        __doc__ = annotation.__doc__

        def __init__(self, name, **kwargs):
            r = jax_recorder()
            if r is not None and r.plan:  # before it is made: it is none of a profile that begins later
                number = kwargs.get("step_num")
                self._counted = number if isinstance(number, int) else r.steps
                r.step_begins(self._counted)
            super().__init__(name, **kwargs)

        def __exit__(self, *exception):
            result = super().__exit__(*exception)
            r = jax_recorder()
            if r is not None and r.plan:
                r.step_ends(self._counted)
                r.steps += 1
            return result
    StepTraceAnnotation.__name__ = StepTraceAnnotation.__qualname__ = "StepTraceAnnotation"
    module.StepTraceAnnotation = StepTraceAnnotation


torch_recorder = None


def watch_torch(module):
    """All of PyTorch is there now."""
    global torch_recorder
    torch_recorder = Torch()
    if torch_recorder.plan:
        torch_recorder.step_begins(0)
    else:
        torch_recorder.begin()


def watch_torch_profiler(module):
    for name in ("_prepare_profiler", "_enable_profiler"):
        before(module, name, lambda: torch_recorder)


def watch_torch_optimizer(module):
    """PyTorch has no word for a step: a call of an optimizer's step() ends one."""
    optimizer = module.Optimizer
    profiled = optimizer.profile_hook_step

    def profile_hook_step(func):
        inner = profiled(func)

        def step(*args, **kwargs):
            out = inner(*args, **kwargs)
            r = torch_recorder
            if r is not None and r.plan and not r.numbered:
                r.step_ends(r.steps)
                r.steps += 1
                r.step_begins(r.steps)
            return out
        step.hooked = getattr(inner, "hooked", True)
        return step
    optimizer.profile_hook_step = staticmethod(profile_hook_step)


def watch_own_steps(module):
    """Those of a program that imports view_profile: its numbers are the best there are."""
    enter, leave = module.step.__enter__, module.step.__exit__

    def recorder():
        r = jax_recorder() or torch_recorder
        return r if r is not None and r.plan else None

    def __enter__(self):
        r = recorder()
        if r is not None:
            r.numbered = True
            r.step_begins(self.number)
        return enter(self)

    def __exit__(self, *exception):
        result = leave(self, *exception)
        r = recorder()
        if r is not None:
            r.step_ends(self.number)
            r.steps += 1
        return result
    module.step.__enter__, module.step.__exit__ = __enter__, __exit__


def give_way(name):
    """To the profiler of what is imported, not of what somebody only looks for."""
    if name in ("jax", "jaxlib"):  # with NVTX, XLA tells its own profiler no instruction and no scope of a kernel
        os.environ.pop("NVTX_INJECTION64_PATH", None)
    if name in PROFILED and os.environ.get("VIEW_PROFILE_GPU") != "require":
        os.environ["VIEW_PROFILE_GPU"] = "off"  # CUPTI serves one profiler of a process


PROFILED = ("jax._src.xla_bridge", "torch")  # whose own profilers trace the GPU
WATCHED = {"jax": lambda module: None, "jaxlib": lambda module: None, "view_profile._zones": watch_own_steps, "jax._src.xla_bridge": watch_xla_bridge, "jax._src.profiler": watch_jax_profiler,
           "torch": watch_torch, "torch.autograd.profiler": watch_torch_profiler, "torch.optim.optimizer": watch_torch_optimizer}


class Finder:
    """On sys.meta_path: looks at the watched modules once they are loaded."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in WATCHED:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not Finder else None
            if spec is not None and spec.loader is not None:
                execute = spec.loader.exec_module

                def exec_module(module):
                    give_way(name)
                    execute(module)
                    try:
                        WATCHED[name](module)
                    except Exception as e:
                        say(f"unsupported version of {name}, which is not recorded: {e}")
                spec.loader.exec_module = exec_module
                return spec
        return None


def next_one():
    """The sitecustomize that would have been imported without us."""
    import importlib.machinery
    import importlib.util
    others = [p for p in sys.path if os.path.abspath(p or ".") != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


if os.environ.get("VIEW_PROFILE") == "1":
    sys.meta_path.insert(0, Finder)
next_one()
