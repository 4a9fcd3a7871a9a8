"""Runs over device counts in the manner of SuperGrad's benchmark."""
import os
import time

from ._session import Session


def setup_tensorboard_logging(gpu_count, timestamp=None, root="tensorboard_logs"):
    """Makes tensorboard_logs/{N}gpu_{YYYYmmdd_HHMMSS} and returns its path."""
    path = os.path.abspath(os.path.join(root, f"{int(gpu_count)}gpu_{timestamp or time.strftime('%Y%m%d_%H%M%S')}"))
    os.makedirs(path, exist_ok=True)
    print(f"TensorBoard logs: {path}")
    return path


def run_with_jax_profiler(func, trace_name, log_dir, description="", backend="auto"):
    """func() in a profile below log_dir/trace_name: (its result, that directory). An error of func is
    raised as it is, after the profile has ended."""
    directory = os.path.join(log_dir, trace_name)
    if description:
        print(description)
    session = Session(directory, backend)
    with session:
        result = func()
    return result, directory
