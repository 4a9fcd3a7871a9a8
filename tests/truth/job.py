"""What every program of tests/truth uses: steps, and the commands of scripts/record_truth.

A program defines train(steps) and calls run(train) at its end. train runs the step numbers that it gets, each within
`with step(i):`, and returns after the devices have finished. `mended` is True if the program has to run its mended
side. Commands are lines on standard input, answers are lines of JSON on standard output:

    time           runs some steps without a profiler: {"step_ms": ...}
    record DIR     records a profile below DIR: {"step_ms": ..., "steps": ...}
"""
import contextlib
import json
import os
import sys
import time

mended = sys.argv[1:] == ["after"]
_marker = contextlib.nullcontext


def step(i):
    """Marks step i, as the profiler of the framework wants it."""
    return _marker(i)


@contextlib.contextmanager
def _jax(folder, stack, steps):
    """Records steps with the profiler of JAX. Yields the number of steps to run."""
    global _marker
    import jax

    _marker = lambda i: jax.profiler.StepTraceAnnotation("train", step_num=i)  # noqa: E731
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = int(stack)
    with jax.profiler.trace(folder, profiler_options=options):
        yield steps
    _marker = contextlib.nullcontext


@contextlib.contextmanager
def _torch(folder, stack, steps):
    """The same with the profiler of PyTorch. Its first step is a warm-up that is not part of the profile."""
    global _marker
    from torch.profiler import ProfilerActivity, profile, schedule

    os.makedirs(folder, exist_ok=True)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=stack,
                 schedule=schedule(wait=0, warmup=1, active=steps, repeat=1)) as recorder:
        @contextlib.contextmanager
        def mark(i):
            yield
            recorder.step()

        _marker = mark
        yield steps + 1
    recorder.export_chrome_trace(os.path.join(folder, "job.pt.trace.json"))
    _marker = contextlib.nullcontext


def run(train, steps=20, record=12, warm_up=3, stack=True):
    """Serves commands: `time` runs `steps` steps, `record` records `record` steps, with Python's calls if `stack`."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # output of the program itself
    done = 0

    def timed(count):
        nonlocal done
        begin = time.perf_counter()
        train(range(done, done + count))
        done += count
        return (time.perf_counter() - begin) / count * 1e3

    timed(warm_up)
    print(json.dumps({"ready": True}), file=answers)
    for line in sys.stdin:
        command, *folder = line.split()
        if command == "time":
            answer = {"step_ms": timed(steps)}
        else:
            with (_jax if "jax" in sys.modules else _torch)(*folder, stack, record) as count:
                answer = {"step_ms": timed(count), "steps": record}
        print(json.dumps(answer), file=answers)
