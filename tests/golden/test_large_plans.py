"""What memory plans of large programs cost: bytes of memory and seconds of the processor for each byte of the proto."""
import json
import os
import sys

import pytest

from common import PROGRAM, ROOT

sys.path.insert(0, str(ROOT / 'tests'))
from gen import files, hlo  # noqa: E402
from gen.planted import train_gpu  # noqa: E402
from gen.scene import GpuLoop, Scene  # noqa: E402
from used import run_used  # noqa: E402

# A quarantine of freed memory, which the sanitizer has, would be counted, too.
ENV = {**os.environ, 'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0:quarantine_size_mb=0'}


def used(folder, instructions, pad=0):
    """Bytes of the proto, and what the report of a run of it used."""
    loop = GpuLoop(Scene(), flavour='jax')
    train_gpu(loop, 12, lambda _: None)
    for o in loop.device.ops:
        o.module, o.program_id = 'jit_step', 3
    proto, peak = hlo.write_large('jit_step', 3, instructions, pad)
    loop.scene.host.programs = [(3, 'jit_step', proto)]
    path = files.write(loop.scene, 'xspace', folder)
    with open(folder / 'report.json', 'w') as out:
        done = run_used([PROGRAM, 'report', '--format=json', str(path)], out, env=ENV)
    assert done.code == 0, done.err
    made = json.loads((folder / 'report.json').read_text())
    plan, = made['memory_static']
    assert (plan['peak_bytes'], plan['peak_bytes']) == (sum(b['bytes'] for b in plan['live']), peak) and not made['quality']
    return len(proto), done


def test_memory_and_time_grow_with_the_proto(tmp_path):
    """At most 300 MB for 50 MB, and no step that takes more than its share: 3,000 and 12,000 instructions."""
    (small, before), (large, after) = used(tmp_path / 'a', 3000), used(tmp_path / 'b', 12000)
    assert after.peak - before.peak <= (large - small) * 300 / 50
    assert after.cpu_s <= 8 * before.cpu_s + 0.2


@pytest.mark.skipif(os.environ.get('VP_SLOW') != '1', reason='50 MB: only with VP_SLOW=1, and a release build')
def test_two_hundred_thousand_instructions(tmp_path):
    size, done = used(tmp_path, 200_000, pad=32)
    assert size >= 50 * 10**6
    assert done.cpu_s <= 1 and done.peak <= 300 * 10**6, f'{done.cpu_s:.2f} s, {done.peak / 1e6:.0f} MB'
