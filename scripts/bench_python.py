"""The section "python" of scripts/bench: a zone from Python beside an empty context manager in C and JAX's own annotation, and
what the import takes."""
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time

from bench_compare import note


def bench_python(root, args, results):
    package = root / 'build' / 'release' / 'python'
    if not (package / 'view_profile' / '_native.abi3.so').exists():
        note('no Python package: it is built where Python 3.10 or later has its headers')
        return
    with tempfile.TemporaryDirectory() as temp:
        subprocess.run(['gcc', '-O2', '-shared', '-fPIC', f'-I{sysconfig.get_path("include")}', root / 'tests' / 'bench' / 'python' / 'empty_zone.c',
                        '-o', f'{temp}/empty_zone.abi3.so'], check=True)
        env = {**os.environ, 'PYTHONPATH': f'{package}:{temp}'}
        done = subprocess.run([sys.executable, root / 'tests' / 'bench' / 'python' / 'python_zones.py', str(args.runs), f'{temp}/profiles'], env=env,
                              check=True, stdout=subprocess.PIPE, text=True)
        r = json.loads(done.stdout)
        imports = {'with': [], 'without': []}
        for _ in range(args.runs):
            for kind, text in (('with', 'import view_profile'), ('without', '')):
                begun = time.perf_counter()
                subprocess.run([sys.executable, '-c', text], env=env, check=True)
                imports[kind].append(time.perf_counter() - begun)
    r['import_ms'] = 1e3 * statistics.median(a - b for a, b in zip(imports['with'], imports['without']))
    print(f'\na zone from Python: {r["on_ns"]:.0f} ns recorded, {r["off_ns"]:.0f} ns off, empty context manager in C {r["empty_ns"]:.0f} ns: '
          f'{r["on"]:.3f} × on ({r["on_least"]:.3f} least by least), {r["off"]:.3f} × off ({r["off_least"]:.3f})')
    if 'step' in r:
        print(f'  jax.profiler.TraceAnnotation {r["trace_annotation_ns"]:.0f} ns while JAX records, ours then (in both profiles) '
              f'{r["both_ns"]:.0f} ns; an annotated jitted step takes {r["step"]:.4f} × the time of a bare one')
    print(f'  import view_profile: {r["import_ms"]:.1f} ms')
    results['python'] = {k: round(v, 4) for k, v in r.items()}
    for what, most in (('on', 1.15), ('off', 1.05), ('import_ms', 15), ('step', 1.01), ('on_ns', r.get('trace_annotation_ns'))):
        if most is not None and r.get(what, 0) > most:
            note(f'Python: {what} is {r[what]:.4g}, and may be {most:.4g}')
