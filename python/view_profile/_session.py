"""One profile of a part of the program: the framework's profile and the zones of view_profile, in one
run directory."""
import atexit
import logging
import os
import re
import shutil
import socket
import sys
import time

from . import _native

log = logging.getLogger("view_profile")
BACKENDS = ("jax", "torch", "native")


def _say(level, message):
    if "/.view_profile-" in message and level <= 0:
        return  # the temporary directory; _end logs the final one
    log.log((logging.INFO, logging.WARNING, logging.ERROR)[min(max(level, 0), 2)], "%s", message)


_native.log(_say)


def host_name():
    return re.sub(r"[^\w.-]", "_", socket.gethostname()) or "localhost"


def choose(backend="auto"):
    """The backends for a name or names. "auto": the profilers of all loaded frameworks, which include our
    zones; without a framework, our own recorder."""
    if backend == "auto":
        return tuple(b for b in ("jax", "torch") if b in sys.modules) or ("native",)
    if backend in ("tensorboard", "perfetto"):  # XAX's names for two viewers of JAX profiles
        backend = "jax"
    names = (backend,) if isinstance(backend, str) else tuple(backend)
    unknown = [n for n in names if n not in BACKENDS]
    if unknown or not names:
        raise ValueError(f"unknown backend {unknown[0] if unknown else backend!r} (backends: {', '.join(BACKENDS)}, auto)")
    return tuple(b for b in BACKENDS if b in names)


def make_run(directory):
    """Creates a new run directory. Runs of the same second get different names."""
    root = os.path.join(directory, "plugins", "profile")
    os.makedirs(root, exist_ok=True)
    stamp = time.strftime("%Y_%m_%d_%H_%M_%S")
    for n in range(1000):
        path = os.path.join(root, stamp + (f"_{n}" if n else ""))
        try:
            os.mkdir(path)
            return path
        except FileExistsError:
            continue
    raise FileExistsError(f"{root}: too many runs in one second")


def _without_overwriting(source, target):
    stem, dot, rest = os.path.basename(target).partition(".")
    for n in range(1000):
        path = os.path.join(os.path.dirname(target), stem + (f"_{n}" if n else "") + dot + rest)
        if not os.path.lexists(path):
            os.rename(source, path)
            return
    raise FileExistsError(target)


class _Jax:
    def __init__(self, python_tracer=False):
        self.python_tracer = python_tracer

    def start(self, directory):
        import jax
        self.jax = jax

        def view_profile_wait(x):
            return x + 1
        self.last = jax.jit(view_profile_wait)
        self.wait()  # excludes earlier work, and compiles this function
        more = {}
        if hasattr(jax.profiler, "ProfileOptions"):  # older versions always trace Python
            more["profiler_options"] = options = jax.profiler.ProfileOptions()
            options.python_tracer_level = int(self.python_tracer)
        jax.profiler.start_trace(directory, **more)

    def wait(self):
        """Waits for work sent to the devices, so that the profile has it. A computation on each device also
        waits for results that are no longer referenced."""
        jax = self.jax
        jax.effects_barrier()
        for device in jax.local_devices():
            self.last(jax.device_put(0, device)).block_until_ready()
        for array in jax.live_arrays():
            try:
                array.block_until_ready()
            except RuntimeError:
                pass  # donated meanwhile

    def stop(self):
        self.jax.profiler.stop_trace()


class _Torch:
    def start(self, directory):
        import torch
        self.torch, self.directory = torch, directory
        self.profile = torch.profiler.profile(record_shapes=True, profile_memory=True, with_stack=False)
        self.profile.start()

    def wait(self):
        if self.torch.cuda.is_available():
            self.torch.cuda.synchronize()

    def stop(self):
        self.profile.stop()
        run = make_run(self.directory)
        self.profile.export_chrome_trace(os.path.join(run, f"{host_name()}.pt.trace.json.gz"))


class _Native:
    def __init__(self, **options):
        self.options = options

    def start(self, directory):
        self.handle, _ = _native.start(directory, **self.options)

    def wait(self):
        pass

    def stop(self):
        self.result = _native.stop(self.handle)


class Session:
    """A profile that is active from start() to stop(). It stops only what it has started, also after a
    failure. Files are first written to a hidden directory, and become one run when complete: JAX names
    runs by the second, so two runs of the same second would be merged."""

    def __init__(self, directory, backend="auto", *, sync=None, gpu=False, pool_bytes=0, python_tracer=False):
        self.python_tracer = python_tracer  # JAX's: one event per Python call, which hides annotations
        self.directory = os.path.abspath(os.path.expanduser(os.fspath(directory)))
        self.names = choose(backend)
        self.sync, self.native_options = sync, {"gpu": gpu, "pool_bytes": pool_bytes}
        self.started, self.run, self.zones, self.aside, self.pid = [], None, None, None, None

    @property
    def inherited(self):
        """True if it was started before a fork; it continues in the parent process, which owns the files."""
        return self.pid not in (None, os.getpid())

    @property
    def active(self):
        return bool(self.started) and not self.inherited

    def _let_go_in_child(self):
        if self.started and self.inherited:
            self.started = []
            atexit.unregister(self._at_exit)

    def start(self):
        self._let_go_in_child()
        if self.started:
            raise RuntimeError("this profile is already active")
        self.pid = os.getpid()
        os.makedirs(self.directory, exist_ok=True)
        self.aside = os.path.join(self.directory, f".view_profile-{os.getpid()}-{time.monotonic_ns()}")
        self.run = None
        try:
            for name in self.names:
                host = host_name() + ("_native" if len(self.names) > 1 else "")
                backend = (_Native(host=host, **self.native_options) if name == "native" else
                           _Torch() if name == "torch" else _Jax(self.python_tracer))
                backend.start(os.path.join(self.aside, name))
                self.started.append(backend)
        except BaseException:
            self._end(keep=False)
            raise
        atexit.register(self._at_exit)  # after the framework's handler, so called before it
        return self

    def _at_exit(self):
        if self.active:
            self._stop_quietly()

    def _stop_quietly(self):
        try:
            self.stop()
        except Exception as e:
            log.error("the profile could not be written: %s", e)

    def wait(self):
        """Waits for work sent to the devices."""
        if self.sync:
            self.sync()
        for backend in self.started:
            backend.wait()

    def stop(self, wait=True):
        """Stops the profile and returns the run directory with all files. wait: first wait for work sent to
        the devices, so that the profile has it. In a forked child, it does nothing."""
        self._let_go_in_child()
        if not self.started:
            return self.run
        error = None
        try:
            if wait:
                self.wait()
        except Exception as e:  # keep the profile anyway
            error = e
        try:
            self._end()
        except Exception as e:
            error = error or e
        if error:
            raise error
        return self.run

    def _end(self, keep=True):
        error = None
        atexit.unregister(self._at_exit)
        for backend in reversed(self.started):
            try:
                backend.stop()
                self.zones = getattr(backend, "result", {}).get("zones", self.zones)
            except Exception as e:
                error = error or e
        self.started = []
        try:
            files = [os.path.join(folder, name) for folder, _, names in os.walk(self.aside) for name in names]
            if keep and files:
                self.run = make_run(self.directory)
                for path in sorted(files):
                    _without_overwriting(path, os.path.join(self.run, os.path.basename(path)))
                log.info("Trace saved to: %s/", self.run)
        finally:
            shutil.rmtree(self.aside, ignore_errors=True)
        if error:
            raise error

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *rest):
        if kind is not None and self.active:
            self._stop_quietly()  # the program's own exception continues
        else:
            self.stop()


def profile(directory="profiles", backend="auto", **options):
    """Records the body of `with profile("profiles") as p:` as one profile; afterwards, p.run is its
    directory. A failure to start raises an exception (unlike Profiler and profile_context)."""
    return Session(directory, backend, **options)


class ProfileContext(Session):
    """The same as profile(log_dir), with the name used in EfficientIDS."""

    def __init__(self, log_dir="./profiler_traces", backend="auto", **options):
        super().__init__(log_dir, backend, **options)


def profile_gpu_trace(directory="profiles", backend="auto", **options):
    """The same as profile(), with CUDA activity (CUPTI) in our own recording if it is available."""
    return Session(directory, backend, gpu=True, **options)
