"""profile_context with the interface of XAX: one capture every N steps."""
import contextlib
import dataclasses
import os
import tempfile
import threading
from typing import Any, Optional

from ._native import annotate
from ._session import Session, log
from ._zones import host_integer, step


@dataclasses.dataclass
class ProfilerConfig:
    """Fields, names and defaults of XAX. backend: "tensorboard" and "perfetto" both mean JAX's profiler;
    "torch", "native", "auto" or a list of backends are additions."""
    enable_profiling: bool = False
    profiling_dir: Optional[str] = None
    profile_every_n_steps: int = 100
    profile_duration_ms: int = 3000
    max_profile_count: int = 5
    backend: Any = "tensorboard"
    profile_gpu_trace: bool = False
    keep_first_step: bool = False  # step 0 compiles


class _Scheduled:
    """Decides when to capture, and counts successful captures."""

    def __init__(self, config, exp_dir=None):
        self.config, self.exp_dir = config, exp_dir
        self.count, self.active, self.directory = 0, None, None
        self.lock = threading.Lock()

    def profiling_dir(self):
        if self.directory is None:
            if self.config.profiling_dir:
                path = os.path.realpath(os.path.expanduser(self.config.profiling_dir))
            else:
                path = os.path.join(str(self.exp_dir) if self.exp_dir else tempfile.mkdtemp(), "profiles")
            os.makedirs(path, exist_ok=True)
            self.directory = path
            log.info("Profiling directory: %s", path)
        return self.directory

    def due(self, number):
        c = self.config
        return (c.enable_profiling and self.count < c.max_profile_count and number % max(1, c.profile_every_n_steps) == 0
                and (number > 0 or c.keep_first_step))

    @contextlib.contextmanager
    def context(self, state, name):
        number = getattr(state, "num_steps", state)
        try:
            number = host_integer(number, "state.num_steps")
        except TypeError as e:
            if self.config.enable_profiling:
                log.warning("%s is not profiled: %s", name, e)
            with annotate(name):
                yield
            return
        session = None
        with self.lock:
            if self.due(number) and self.active is None:
                session = self.active = object()
        if session is None:  # not due, or inside another capture
            with annotate(name):
                yield
            return
        try:
            yield from self._capture(number, name)
        finally:
            self.active = None

    def _capture(self, number, name):
        label = f"{name}_step_{number}"
        log.info("Starting capture: %s", label)
        try:
            session = Session(os.path.join(self.profiling_dir(), label), self.config.backend, gpu=self.config.profile_gpu_trace)
            session.start()
        except Exception as e:
            log.warning("the profiler could not start; training continues: %s", e)
            with annotate(name):
                yield
            return
        begun_end, written = threading.Lock(), threading.Event()

        def end():
            """Stops the capture once, by its time limit or its step, whichever comes first."""
            if not begun_end.acquire(blocking=False):
                return
            try:
                log.info("Finished capture: %s in %s", label, session.stop())
                written.set()
            except Exception as e:
                log.error("the profile of %s could not be written: %s", label, e)
        timer = threading.Timer(self.config.profile_duration_ms / 1000, end) if self.config.profile_duration_ms else None
        if timer:
            timer.daemon = True
            timer.start()
        try:
            with step(name, number):
                yield
        except BaseException:
            end()
            raise
        else:
            end()
            if timer:
                timer.cancel()
                timer.join()  # it may still be writing
            self.count += written.is_set()
        finally:
            if timer:
                timer.cancel()


class ProfilerMixin:
    """For a task with a `config` that has the fields of ProfilerConfig, and optionally an `exp_dir`."""

    @property
    def _scheduled(self):
        own = self.__dict__.get("_view_profile_schedule")
        if own is None:
            own = self.__dict__["_view_profile_schedule"] = _Scheduled(self.config, getattr(self, "exp_dir", None))
        return own

    def get_profiling_dir(self):
        return self._scheduled.profiling_dir()

    def should_run_profiler(self, state):
        return self._scheduled.due(host_integer(getattr(state, "num_steps", state), "state.num_steps"))

    def profile_context(self, state, name="profile"):
        return self._scheduled.context(state, name)

    def profile_fn(self, fn, state, name="profile_fn"):
        with self.profile_context(state, name):
            return fn()


_schedules = {}


def _of(config, exp_dir):
    key = id(config)
    if key not in _schedules:
        _schedules[key] = (_Scheduled(config, exp_dir), config)  # keeps the config alive, so that its id stays unique
    return _schedules[key][0]


def profile_context(state, name="profile", config=None, exp_dir=None):
    """Captures the body of `with profile_context(i, "train_step", config):` into <dir>/<name>_step_<i> if
    a capture is due; otherwise, and inside another capture, records it as a zone. state: a step number,
    or an object with num_steps."""
    return _of(config if config is not None else _DEFAULT, exp_dir).context(state, name)


def profile_fn(fn, state, name="profile_fn", config=None, exp_dir=None):
    """Calls fn() inside profile_context and returns its result."""
    with profile_context(state, name, config, exp_dir):
        return fn()


_DEFAULT = ProfilerConfig()
