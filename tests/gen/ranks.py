"""Kineto files of the ranks of one job: every step is a matmul and an all-reduce that ends at the same time on
all ranks, and one rank computes longer. As in docs/reference/ranks.md."""
import gzip
import json

BASE_NS = 1_759_300_074_000_000_000
START_US = 2_493_828_094_901.425
STEP_US, COMPUTE_US, SLOW_US, ENDS_US = 400, 120.0, 260.0, 340.0


def info(rank, world, backend='nccl'):
    return {'backend': backend, 'rank': rank, 'world_size': world}


def events(device, world, steps, compute_us, start_us):
    out, pid = [], 100 + device
    for k in range(steps):
        at = start_us + k * STEP_US
        wait = at + 10 + compute_us + 5
        end = at + ENDS_US
        out += [
            {'ph': 'X', 'cat': 'kernel', 'name': 'ampere_sgemm_128x64_tn', 'pid': device, 'tid': 7, 'ts': at + 10,
             'dur': compute_us, 'args': {'device': device, 'stream': 7, 'correlation': 1000 + k}},
            {'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
             'pid': device, 'tid': 20, 'ts': wait, 'dur': end - wait,
             'args': {'device': device, 'stream': 20, 'correlation': 2000 + k, 'Collective name': 'allreduce',
                      'In msg nelems': 1_000_000, 'dtype': 'Float', 'Group size': world, 'Process Group Name': '0',
                      'Process Group Ranks': json.dumps(list(range(world)))}},
            {'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{k}', 'pid': pid, 'tid': pid, 'ts': at,
             'dur': STEP_US, 'args': {}},
            {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': pid, 'tid': pid, 'ts': at + 2,
             'dur': 4, 'args': {'correlation': 1000 + k}},
            {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernelExC', 'pid': pid, 'tid': pid, 'ts': at + 7,
             'dur': 4, 'args': {'correlation': 2000 + k}}]
    return out


def trace(rank, world, *, slow=2, steps=5, stated=..., late_s=0, device=None, base=BASE_NS, info_first=False):
    """One rank's document. stated: its distributedInfo, None: none. late_s: its times are so much later."""
    device = rank if device is None else device
    stated = info(rank, world) if stated is ... else stated
    own = {} if stated is None else {'distributedInfo': stated}
    head = {'schemaVersion': 1,
            'deviceProperties': [{'id': device, 'name': 'NVIDIA A100-SXM4-40GB', 'totalGlobalMem': 42406903808,
                                  'numSms': 108, 'computeMajor': 8, 'computeMinor': 0, 'warpSize': 32}]}
    if base:
        head |= {'displayTimeUnit': 'ms', 'baseTimeNanoseconds': base}
    body = {'traceEvents': events(device, world, steps, SLOW_US if rank == slow else COMPUTE_US,
                                  (START_US if base else 1000.0) + late_s * 1e6)}
    return head | own | body if info_first else head | body | own


def write(path, made):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(made, indent=1).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.name.endswith('.gz') else text)
    return path


def job(folder, name, world=4, **how):
    """The files of a job, named by a function of the rank."""
    return [write(folder / name(r), trace(r, world, **how)) for r in range(world)]
