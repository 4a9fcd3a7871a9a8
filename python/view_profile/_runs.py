"""Benchmarks over device counts, with the interface of SuperGrad's benchmark."""
import os
import sys
import time

from ._session import Session


def setup_tensorboard_logging(gpu_count, timestamp=None, root="tensorboard_logs"):
    """Creates tensorboard_logs/{N}gpu_{YYYYmmdd_HHMMSS} and returns its path."""
    path = os.path.abspath(os.path.join(root, f"{int(gpu_count)}gpu_{timestamp or time.strftime('%Y%m%d_%H%M%S')}"))
    os.makedirs(path, exist_ok=True)
    print(f"TensorBoard logs: {path}")
    return path


def _ready(result):
    """Waits until JAX has computed `result`; calls are asynchronous."""
    jax = sys.modules.get("jax")
    return jax.block_until_ready(result) if jax else result


def run_with_jax_profiler(func, trace_name, log_dir, description="", backend="auto", *, warmups=0, times=None):
    """Calls func() in a profile below log_dir/trace_name and returns (its result, that directory).
    Exceptions of func are raised unchanged, after the profile has been written.
    warmups: number of calls before the profile, for compilation.
    times: a dict that receives first_call_s and warmup_s of the warm-up calls, run_s of the profiled call
    and export_s of writing the profile, which is not part of run_s."""
    times = {} if times is None else times
    times.update(first_call_s=None, warmup_s=0.0, run_s=None, export_s=None)
    directory = os.path.join(log_dir, trace_name)
    if description:
        print(description)

    def call():
        begun = time.perf_counter()
        return _ready(func()), time.perf_counter() - begun
    for i in range(warmups):
        seconds = call()[1]
        times["warmup_s"] += seconds
        times["first_call_s"] = seconds if i == 0 else times["first_call_s"]
    with Session(directory, backend):
        result, times["run_s"] = call()
        ended = time.perf_counter()
    times["export_s"] = time.perf_counter() - ended
    return result, directory
