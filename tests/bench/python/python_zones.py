"""What a zone from Python costs, in ns of CPU time: loops of each kind in turn, as JSON. Run by scripts/bench python with the
package and empty_zone in PYTHONPATH; argv: rounds, a directory for recordings."""
import json
import statistics
import sys
import time

import empty_zone

import view_profile as vp

N = 100_000
annotate, empty = vp.annotate, empty_zone.empty
try:
    import jax
    TraceAnnotation = jax.profiler.TraceAnnotation
except ImportError:
    jax = None


def nothing():
    begun = time.thread_time_ns()
    for _ in range(N):
        pass
    return (time.thread_time_ns() - begun) / N


def zones(make):
    begun = time.thread_time_ns()
    for _ in range(N):
        with make("forward"):
            pass
    return (time.thread_time_ns() - begun) / N


def in_turn(rounds, kinds):
    """{kind: ns a zone without the loop, a list of rounds}"""
    out = {k: [] for k in kinds}
    for _ in range(rounds):
        loop = nothing()
        for k, make in kinds.items():
            out[k].append(zones(make) - loop)
    return out


def pairs(a, b):
    return statistics.median(x / y for x, y in zip(a, b))


rounds = int(sys.argv[1])
off = in_turn(rounds, {"ours": annotate, "empty": empty})
result = {"off_ns": min(off["ours"]), "empty_ns": min(off["empty"]), "off": pairs(off["ours"], off["empty"]),
          "off_least": min(off["ours"]) / min(off["empty"])}
with vp.profile(sys.argv[2], "native", pool_bytes=(rounds + 3) * N * 20 + (1 << 20)):
    on = in_turn(rounds, {"ours": annotate, "empty": empty})
result |= {"on_ns": min(on["ours"]), "on": pairs(on["ours"], on["empty"]), "on_least": min(on["ours"]) / min(on["empty"])}
if jax:
    with jax.profiler.trace(sys.argv[2]):
        theirs = in_turn(3, {"theirs": TraceAnnotation, "ours": annotate})
    result |= {"trace_annotation_ns": min(theirs["theirs"]), "both_ns": min(theirs["ours"])}

    @jax.jit
    def step(x):
        for _ in range(8):
            x = jax.numpy.tanh(x @ x)
        return x
    x = jax.numpy.ones((256, 256))
    step(x).block_until_ready()
    times = {"with": [], "without": []}
    for i in range(20 * rounds):
        for kind in sorted(times, reverse=i % 2):
            begun = time.perf_counter_ns()
            if kind == "with":
                with annotate("step"):
                    step(x).block_until_ready()
            else:
                step(x).block_until_ready()
            times[kind].append(time.perf_counter_ns() - begun)
    result["step"] = pairs(times["with"], times["without"])
print(json.dumps(result))
