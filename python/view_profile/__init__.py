"""view_profile for Python: annotate a program, record it, and find what takes the time.

    import view_profile as vp

    with vp.profile("profiles"):                # JAX's or PyTorch's profiler, and the zones of view_profile
        for i, batch in enumerate(batches):
            with vp.step("train", i), vp.annotate("forward", batch=len(batch)):
                …
    print(vp.top("profiles").ops[0])

No other package is needed: JAX, PyTorch, numpy and pandas are used if the program has them.
Submodules are imported on first use, so that the import is fast."""
from ._native import Error, annotate, counter, instant, now, thread_name
from . import _zones

__version__ = "0.1.0"

_PLACES = {
    "step": "_zones", "trace_function": "_zones", "meta": "_zones", "control": "_zones",
    "profile": "_session", "ProfileContext": "_session", "profile_gpu_trace": "_session", "Session": "_session",
    "Profiler": "_profiler", "flop_stats": "_profiler",
    "ProfilerConfig": "_schedule", "ProfilerMixin": "_schedule", "profile_context": "_schedule", "profile_fn": "_schedule",
    "setup_tensorboard_logging": "_runs", "run_with_jax_profiler": "_runs",
    "open_latest_profile": "_reports", "report": "_reports", "top": "_reports", "findings": "_reports",
    "compare": "_reports", "sessions": "_reports", "Report": "_reports", "Comparison": "_reports",
    "Rows": "_reports", "Op": "_reports", "Finding": "_reports", "Run": "_reports",
    "ReadError": "_reports", "assert_no_regression": "testing", "callbacks": "", "testing": "",
}
__all__ = ["Error", "annotate", "counter", "instant", "now", "thread_name", *_PLACES]


def __getattr__(name):
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'view_profile' has no attribute {name!r}")
    import importlib
    module = importlib.import_module(f".{place or name}", __name__)
    value = getattr(module, name) if place else module
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)


_zones.install()
