"""A profiler for training loops with the interface of EfficientIDS: begin_step, end_step, and captures
of some steps at a given step or on request."""
import atexit
import json
import math
import os
import shlex
import threading
import time
import weakref

from . import _native
from ._session import Session, choose, log
from ._zones import host_integer, step

# Dense bf16 (V100, T4: fp16) peak of one device in TFLOP/s, by the device name of the framework. Vendor
# numbers, as listed by EfficientIDS.
PEAK_TFLOPS = {"A100": 312.0, "H100": 989.0, "V100": 125.0, "T4": 65.0, "L4": 121.0, "TPU v4": 275.0, "TPU v5 lite": 197.0,
               "TPU v5e": 197.0}


def _peak_of_device():
    import sys
    jax = sys.modules.get("jax")
    torch = sys.modules.get("torch")
    try:
        name = (jax.devices()[0].device_kind if jax else
                torch.cuda.get_device_name() if torch and torch.cuda.is_available() else "")
    except Exception:
        return None
    words = name.replace("-", " ").split()
    for known, peak in PEAK_TFLOPS.items():
        if known.lower() in name.lower() if " " in known else known in words:
            return peak
    return None


def flop_stats(step_times, step_tokens, model_params=None, peak_tflops=None, flops_per_token=None, devices=1, cold_steps=0):
    """The content of flop_stats.json for these steps: a dict with the keys of EfficientIDS. The default FLOP
    per token is 6 × model_params. The first cold_steps (0 or 1), which include startup costs, are excluded
    from rates. Unknown values are None."""
    cold = step_times[:cold_steps]
    step_times, step_tokens = step_times[cold_steps:], step_tokens[cold_steps:]
    seconds, tokens = math.fsum(step_times), sum(step_tokens)
    if flops_per_token is None and model_params:
        flops_per_token = 6.0 * model_params
    rate = tokens / seconds if seconds > 0 else None
    achieved = rate * flops_per_token / 1e12 if rate and flops_per_token else None
    return {
        "profiling_steps": len(step_times), "total_tokens": tokens, "total_time_sec": seconds, "tokens_per_sec": rate,
        "model_params": model_params, "flops_per_token": flops_per_token, "achieved_tflops": achieved,
        "peak_tflops": peak_tflops,
        "mfu_percent": 100.0 * achieved / (peak_tflops * devices) if achieved and peak_tflops else None,
        "per_step_tokens": list(step_tokens), "per_step_times": list(step_times),
        "cold_steps": len(cold), "cold_step_time": math.fsum(cold) if cold else None,
    }


class Profiler:
    """Profiler(num_steps=5, log_dir="./profiler_traces", auto_enable_at_step=None).

        p = Profiler(auto_enable_at_step=150)
        for i, batch in enumerate(batches):
            p.begin_step(i)
            …
            p.end_step(num_tokens)

    captures steps 150 to 154, or the next num_steps after capture_async(), which any thread may call.
    If training resumes after step 150, its first step is captured. A capture that cannot start or end is
    logged, and training continues. slow_step_ratio > 1 keeps recent zones in memory and writes them if a
    step takes this many times the median. sync: called before a capture ends; by default, all arrays of
    JAX are waited for."""

    def __init__(self, num_steps=5, log_dir="./profiler_traces", auto_enable_at_step=None, *, backend="auto", sync=None,
                 gpu=False, model_params=None, flops_per_token=None, peak_tflops=None, devices=1, slow_step_ratio=0.0,
                 name="train"):
        self.num_steps = host_integer(num_steps, "num_steps")
        if self.num_steps < 1:
            raise ValueError("num_steps must be at least 1")
        self.log_dir = os.path.abspath(os.path.expanduser(os.fspath(log_dir)))
        self._start_at = None if auto_enable_at_step is None or host_integer(auto_enable_at_step) < 0 else int(auto_enable_at_step)
        choose(backend)  # reports an unknown name now, not in the step to be captured
        self.backend, self.sync, self.gpu, self.name = backend, sync, gpu, name
        self.model_params, self.flops_per_token = model_params, flops_per_token
        self.peak_tflops, self.devices = peak_tflops, devices
        self._lock = threading.Lock()
        self._asked = 0          # requested steps; 0: none
        self._left = 0           # remaining steps of the active capture
        self._planned = 0        # and its planned number of steps
        self._session = self._step = None
        self._begun = None
        self._steps, self._seconds = 0, 0.0
        self._times, self._tokens = [], []
        self.last_run = None
        self._ratio, self._ring, self._slow, self._last_slow = float(slow_step_ratio), None, [], -math.inf
        ref = weakref.ref(self)
        self._at_exit = lambda: ref() and ref()._exit()
        atexit.register(self._at_exit)

    # ---- requests

    def capture_async(self, num_steps=None):
        """Requests a capture of the next num_steps steps, starting at the next begin_step."""
        n = self.num_steps if num_steps is None else host_integer(num_steps, "num_steps")
        if n < 1:
            raise ValueError("num_steps must be at least 1")
        with self._lock:
            if self._session:
                log.warning("Profiler already active, ignoring capture_async()")
                return False
            self._asked = max(self._asked, n)
        log.info("Profiler enabled for next %d steps", n)
        return True

    @property
    def is_profiling(self):
        return self._session is not None

    @property
    def avg_step_time(self):
        """Mean duration of all steps so far, in seconds; 0.0 before the first step."""
        return self._seconds / self._steps if self._steps else 0.0

    def _let_go_in_child(self):
        if self._session and self._session.inherited:
            self._session = None

    # ---- steps

    def begin_step(self, step_number):
        number = host_integer(step_number)
        self._let_go_in_child()
        if self._step is not None:
            self._leave()
        if self._start_at is not None and number >= self._start_at:
            self._start_at = None
            self.capture_async()
        with self._lock:
            asked = 0
            if self._asked and not self._session:
                asked, self._asked = self._asked, 0
        if asked:
            self._start(asked)
        elif self._ratio > 1 and not self._session:
            self._keep_past()
        self._step = step(self.name, number)
        self._step.__enter__()
        self._begun = time.perf_counter()

    def end_step(self, num_tokens=None):
        if self._step is None:
            return
        self._let_go_in_child()
        if self._session and self._left == 1:
            self._wait()  # includes the device work of the last step; the wait counts for that step
        seconds = time.perf_counter() - self._begun
        self._leave()
        self._steps += 1
        self._seconds += seconds
        if self._session:
            self._times.append(seconds)
            self._tokens.append(num_tokens)  # read after the capture, because reading an array waits for the device
            self._left -= 1
            if self._left <= 0:
                self._stop()
        elif self._ratio > 1:
            self._watch(seconds)

    def _leave(self):
        self._step.__exit__(None, None, None)
        self._step = None

    # ---- captures

    def _wait(self):
        try:
            self._session.wait()
        except Exception as e:
            log.warning("waiting for the device failed: %s", e)

    def _start(self, steps):
        self._let_past_go()
        try:
            session = Session(self.log_dir, self.backend, sync=self.sync, gpu=self.gpu).start()
        except Exception as e:
            log.warning("the profiler could not start; training continues: %s", e)
            return
        self._session, self._left, self._planned, self._times, self._tokens = session, steps, steps, [], []

    def _stop(self):
        session, self._session = self._session, None
        cut = "" if len(self._times) == self._planned else f" of {self._planned}, truncated"
        log.info("Stopping profiler after %d steps%s", len(self._times), cut)
        try:
            self.last_run = session.stop(wait=False)  # _wait has done that
            log.info("View at: https://ui.perfetto.dev/, or with: view_profile --profile-dir %s", shlex.quote(self.log_dir))
        except Exception as e:
            log.error("the profile could not be written; training continues: %s", e)
        try:
            self._write_stats()
        except Exception as e:
            log.error("flop_stats.json could not be written; training continues: %s", e)

    def _write_stats(self):
        if not self._times:
            return
        tokens = [0 if t is None else int(t) for t in self._tokens]
        stats = flop_stats(self._times, tokens, self.model_params, self.peak_tflops or _peak_of_device(),
                           self.flops_per_token, self.devices, cold_steps=1)
        stats["truncated"] = len(self._times) < self._planned
        path = os.path.join(self.log_dir, "flop_stats.json")
        with open(path + ".tmp", "w", encoding="utf-8") as f:
            json.dump(stats, f, indent=1)
        os.replace(path + ".tmp", path)

    # ---- the past of a slow step

    def _keep_past(self):
        if self._ring is None and not _native.active():
            try:
                self._ring = _native.start(os.path.join(self.log_dir, "slow_steps"), ring=True)[0]
            except _native.Error as e:
                log.warning("slow steps cannot be captured: %s", e)
                self._ratio = 0.0

    def _let_past_go(self):
        if self._ring is not None:
            ring, self._ring = self._ring, None
            try:
                import shutil
                shutil.rmtree(_native.stop(ring)["run_dir"], ignore_errors=True)
            except _native.Error as e:
                log.debug("%s", e)

    def _watch(self, seconds):
        recent = sorted(self._slow)
        self._slow = (self._slow + [seconds])[-128:]
        if self._ring is None or len(recent) < 8 or seconds < self._ratio * recent[len(recent) // 2]:
            return
        if time.monotonic() - self._last_slow < 60:
            return
        self._last_slow = time.monotonic()
        try:
            self.last_run = _native.past(self._ring, 2 * seconds)["run_dir"]
            log.warning("a step took %.3g s, %.3g times the median; its capture is in %s", seconds,
                        seconds / recent[len(recent) // 2], self.last_run)
        except _native.Error as e:
            log.warning("a slow step could not be written: %s", e)

    # ---- the end

    def _exit(self):
        self._let_go_in_child()
        if self._session:
            log.warning("Profiler still active on exit, stopping...")
        self.close()

    def close(self):
        """Stops an active capture. atexit calls this as well."""
        if self._step is not None:
            self._leave()
        if self._session:
            self._wait()
            self._stop()
        self._let_past_go()
        atexit.unregister(self._at_exit)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
