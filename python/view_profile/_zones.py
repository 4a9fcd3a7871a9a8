"""The Python part of zones and steps. It wraps functions, coroutines and generators. While the profiler
of JAX or PyTorch is active, zones are recorded there as well.

Checking whether these profilers are active costs as much as a zone. It is therefore done only after one
of them has been started: their modules are watched for this, also if they are imported later.

functools and inspect are imported where needed, because their import takes longer than this package's."""
import sys

from . import _native
from ._native import annotate

QUIET = 1000  # zones without an active profiler before we stop checking

_trace_me = _is_enabled = None  # JAX's zone and its is_enabled, once its profiler is loaded
_record = None  # (is_enabled, zone) of PyTorch's profiler, likewise
_asked = 0      # zones since one found an active profiler
_serving = False  # JAX's profiler server runs, so a capture may start at any time


def _ask(always=False):
    """Makes zones check the other profilers from now on."""
    global _asked, _serving
    _asked = 0
    _serving = _serving or always
    _native.others(True)


def _plain(value):
    """The text as our recorder writes it; other profilers reject lone surrogates."""
    return str(value).encode("utf-8", "backslashreplace").decode()


def _open(name, args):
    """Called by a native zone when it begins, unless JAX's profiler is active and accepted the zone. Returns
    the zone of PyTorch's profiler or a plain-text zone of JAX's, not entered yet, or None."""
    global _asked
    if _record is not None and _record[0]():
        _asked = 0
        return _record[1](_plain(name))
    if _trace_me is not None and _is_enabled():
        return _trace_me(_plain(name), **{_plain(k): _plain(v) for k, v in (args or {}).items()})
    if not _serving:
        _asked += 1
        if _asked > QUIET:
            _native.others(False)
    return None


# ---- Other profilers ---------------------------------------------------------------------------

class _Watched:
    """Wraps JAX's native profiler module for jax._src.profiler, to detect when a profiler starts."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)

    def ProfilerSession(self, *args, **kwargs):
        _ask()
        return self._module.ProfilerSession(*args, **kwargs)

    def start_server(self, *args, **kwargs):
        _ask(always=True)
        return self._module.start_server(*args, **kwargs)


def _watch_jax(module):
    global _trace_me, _is_enabled
    inner = getattr(module, "_profiler", None)
    if inner is None or not hasattr(inner.TraceMe, "is_enabled"):
        return  # unknown JAX version: its profiles will not have our zones
    module._profiler = _Watched(inner)
    _trace_me, _is_enabled = inner.TraceMe, inner.TraceMe.is_enabled
    _native.jax(_trace_me, _is_enabled)


def _watch_torch(module):
    global _record
    start = getattr(module, "_enable_profiler", None)
    if start is None:
        return
    import functools

    @functools.wraps(start)
    def started(*args, **kwargs):
        _ask()
        return start(*args, **kwargs)
    module._enable_profiler = started
    _record = (sys.modules["torch"]._C._autograd._profiler_enabled, module.record_function)


_WATCHED = {"jax._src.profiler": _watch_jax, "torch.autograd.profiler": _watch_torch}


def _watch(name, module):
    try:
        _WATCHED[name](module)
    except Exception:  # an unknown version must not fail because of this package
        pass


class _Finder:
    """On sys.meta_path: finds no modules itself, but hooks the watched modules when they are loaded."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _WATCHED:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not _Finder else None
            if spec is not None and spec.loader is not None:
                loader = spec.loader
                execute = loader.exec_module

                def exec_module(module):
                    execute(module)
                    _watch(name, module)
                try:
                    loader.exec_module = exec_module
                except AttributeError:
                    return None
                return spec
        return None


def install():
    _native.hooks(_open, _wrap)
    missing = False
    for name in _WATCHED:
        if name in sys.modules:
            _watch(name, sys.modules[name])
            _ask()  # it may be active
        else:
            missing = True
    if missing and _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


# ---- Functions, coroutines, generators ----------------------------------------------------------

def _slices(inner, zone):
    """Drives a generator or coroutine with one zone per slice that runs, so that other code that runs
    between slices on the same thread is not inside the zone."""
    value = error = None
    while True:
        with zone():
            try:
                out = inner.send(value) if error is None else inner.throw(error)
            except StopIteration as end:
                return end.value
        value = error = None
        try:
            value = yield out
        except GeneratorExit:
            inner.close()
            raise
        except BaseException as e:
            error = e


class _Await:
    """An awaitable over the slices of a coroutine."""
    __slots__ = ("inner", "zone")

    def __init__(self, inner, zone):
        self.inner, self.zone = inner, zone

    def __await__(self):
        return _slices(self.inner, self.zone)


def _wrap(zone, fn):
    import functools
    import inspect
    name, args = zone.name, zone.args or {}

    def begin():
        return annotate(name, **args)

    if inspect.isasyncgenfunction(fn):
        async def wrapper(*a, **k):
            inner, value, error = fn(*a, **k), None, None
            try:
                while True:
                    part = inner.asend(value) if error is None else inner.athrow(error)
                    try:
                        out = await _Await(part, begin)
                    except StopAsyncIteration:
                        return
                    value = error = None
                    try:
                        value = yield out
                    except GeneratorExit:
                        raise
                    except BaseException as e:
                        error = e
            finally:
                await inner.aclose()
    elif inspect.iscoroutinefunction(fn):
        async def wrapper(*a, **k):
            return await _Await(fn(*a, **k), begin)
    elif inspect.isgeneratorfunction(fn):
        def wrapper(*a, **k):
            return (yield from _slices(fn(*a, **k), begin))
    else:
        def wrapper(*a, **k):
            with annotate(name, **args):
                return fn(*a, **k)
    return functools.wraps(fn)(wrapper)


def trace_function(fn, name=None):
    """Returns fn wrapped so that each call is a zone. The default name is that of the function, also for
    partials and callable objects."""
    if name is None:
        import functools
        inner = fn
        while isinstance(inner, functools.partial):
            inner = inner.func
        name = getattr(inner, "__name__", None) or type(inner).__name__
    return annotate(name)(fn)


# ---- Steps --------------------------------------------------------------------------------------

def host_integer(number, what="step"):
    """Returns a host integer. Arrays of JAX or PyTorch are rejected: reading one would wait for the device,
    or is impossible while it is traced."""
    if isinstance(number, int):
        return int(number)
    import numbers
    if isinstance(number, numbers.Integral):
        return int(number)
    raise TypeError(f"{what} must be an integer of the host, not {type(number).__name__}: "
                    "count in Python instead of reading it from the device")


def _entered(zone, *args, **kwargs):
    """Enters a zone of another profiler and returns it in a tuple; empty if that profiler rejects the name."""
    try:
        made = zone(*args, **kwargs)
        made.__enter__()
        return (made,)
    except Exception:
        return ()


class step:
    """`with step("train", i):` records step i in our profile and in that of JAX or PyTorch."""
    __slots__ = ("name", "number", "_others", "_begun")

    def __init__(self, name, number):
        if not isinstance(name, str):
            raise TypeError("step: the name must be a string")
        self.name, self.number = name, host_integer(number)
        self._others, self._begun = (), False

    def __enter__(self):
        if _trace_me is not None and _is_enabled():
            self._others += _entered(_trace_me, _plain(self.name), _r=1, step_num=self.number)
        if _record is not None and _record[0]():
            self._others += _entered(_record[1], f"ProfilerStep#{self.number}")
        try:
            _native.step_begin(self.name, self.number % (1 << 64))
            self._begun = True
        except _native.Error:
            pass  # inside another step of this thread, and part of it
        return self

    def __exit__(self, *exception):
        if self._begun:
            self._begun = False
            _native.step_end()
        others, self._others = self._others, ()
        for zone in reversed(others):
            zone.__exit__(None, None, None)


def meta(key, value):
    """Adds metadata to the recording: meta("mesh.shape", "4x2")."""
    _native.meta(str(key), str(value))


def control(on=True):
    """Opens or closes the socket through which `view_profile list` and the pages find and capture this process."""
    _native.control(on)
