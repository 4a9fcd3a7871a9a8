"""Zones and steps: what of them only Python can do. Functions, coroutines and generators are wrapped
here, and a zone that begins while JAX's or PyTorch's profiler is on is one of theirs, too.

Asking those whether they are on costs as much as a zone, so it is only done after one of them was
started: their modules are watched for that, also when they are imported later.

functools and inspect take longer to import than all of ours, so they are where they are needed."""
import sys

from . import _native
from ._native import annotate

QUIET = 1000  # zones that found no other profiler on, before we stop asking

_trace_me = _is_enabled = None  # JAX's zone, once its profiler is loaded, and whether that is on
_record = None  # (whether PyTorch's profiler is on, its zone), likewise
_asked = 0      # zones since one found a profiler
_serving = False  # JAX's profiler server runs: a capture may begin at any time


def _ask(always=False):
    """From now on zones ask the other profilers."""
    global _asked, _serving
    _asked = 0
    _serving = _serving or always
    _native.others(True)


def _plain(value):
    """Its text as our recorder writes it: others refuse halves of surrogates."""
    return str(value).encode("utf-8", "backslashreplace").decode()


def _open(name, args):
    """What the native zone calls as it begins, unless JAX's profiler is on and took the zone: that of
    PyTorch's, or of JAX's once more in plain text, not entered yet, or None."""
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
    """JAX's native profiler module as jax._src.profiler sees it: we hear of what starts."""

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
        return  # another JAX than we know: its profiler does without our zones
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
    except Exception:  # a version that we do not know must not fail because of us
        pass


class _Finder:
    """On sys.meta_path: finds nothing itself, and looks at the watched modules once they are loaded."""

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
            _ask()  # it may be on
        else:
            missing = True
    if missing and _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


# ---- Functions, coroutines, generators ----------------------------------------------------------

def _slices(inner, zone):
    """Drives a generator or coroutine; a zone for each part that runs, so that what runs meanwhile
    on the same thread stands beside it and not inside."""
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
    """A coroutine's slices as something that can be awaited."""
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
    """fn, which is a zone whenever it is called: of its own name, also where it is a partial or an
    object that can be called."""
    if name is None:
        import functools
        inner = fn
        while isinstance(inner, functools.partial):
            inner = inner.func
        name = getattr(inner, "__name__", None) or type(inner).__name__
    return annotate(name)(fn)


# ---- Steps --------------------------------------------------------------------------------------

def host_integer(number, what="step"):
    """A number that the host has. An array of JAX or PyTorch would make the program wait for the
    device, or cannot be known while it is traced."""
    if isinstance(number, int):
        return int(number)
    import numbers
    if isinstance(number, numbers.Integral):
        return int(number)
    raise TypeError(f"{what} must be an integer of the host, not {type(number).__name__}: "
                    "count in Python instead of reading it from the device")


def _entered(zone, *args, **kwargs):
    """Another profiler's zone, entered, in a tuple; none where it takes no such name: that is not the program's error."""
    try:
        made = zone(*args, **kwargs)
        made.__enter__()
        return (made,)
    except Exception:
        return ()


class step:
    """with step("train", i): … is step i, in our profile and in JAX's or PyTorch's."""
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
            pass  # within another step of this thread: a part of that
        return self

    def __exit__(self, *exception):
        if self._begun:
            self._begun = False
            _native.step_end()
        others, self._others = self._others, ()
        for zone in reversed(others):
            zone.__exit__(None, None, None)


def meta(key, value):
    """Notes about the whole recording: meta("mesh.shape", "4x2")."""
    _native.meta(str(key), str(value))


def control(on=True):
    """The socket by which `view_profile list` and the page see this process and capture it."""
    _native.control(on)
