"""Runs over device counts in the manner of SuperGrad's benchmark."""
import os
import sys
import time

from ._session import Session


def setup_tensorboard_logging(gpu_count, timestamp=None, root="tensorboard_logs"):
    """Makes tensorboard_logs/{N}gpu_{YYYYmmdd_HHMMSS} and returns its path."""
    path = os.path.abspath(os.path.join(root, f"{int(gpu_count)}gpu_{timestamp or time.strftime('%Y%m%d_%H%M%S')}"))
    os.makedirs(path, exist_ok=True)
    print(f"TensorBoard logs: {path}")
    return path


def _ready(result):
    """When JAX is done with it: until then a call has only been sent."""
    jax = sys.modules.get("jax")
    return jax.block_until_ready(result) if jax else result


def run_with_jax_profiler(func, trace_name, log_dir, description="", backend="auto", *, warmups=0, times=None):
    """func() in a profile below log_dir/trace_name: (its result, that directory). An error of func is
    raised as it is, after the profile has ended. warmups: so many calls come before the profile, and compile.
    times: a dict that gets first_call_s and warmup_s of these, run_s of the call itself and export_s of writing
    the profile: what the profiler costs is in no run."""
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
