"""The export part of scripts/bench: timelines for Perfetto. What writing costs is told beside reading the same file as
often without writing anything, which a window behind the trace's end does; and when a served trace begins to arrive."""
import pathlib
import re
import subprocess
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ROOT / 'build' / 'release' / 'view_profile'
NOTHING = ['--window', '30000m..30001m']


def export(f, form, *more):
    return [OURS, 'export', '--quiet', '--to', form, '-o', '/dev/null', *more, f]


def bench_json(compare, f, events, megabytes, runs, results):
    rows = compare(f'export of {f.name}, {megabytes:.0f} MB of JSON',
                   {'view_profile export perfetto-json': export(f, 'perfetto-json'),
                    'view_profile export pftrace': export(f, 'pftrace'),
                    'reading alone': export(f, 'pftrace', *NOTHING),
                    'gzip -dc': ['gzip', '-dc', f]}, runs, results)
    rate = megabytes / rows['view_profile export perfetto-json'][1]
    print(f'  {rate:.0f} MB of JSON a CPU second, unpacked twice; '
          f'{rows["view_profile export perfetto-json"][2] * 1048576 / events:.0f} bytes of memory an event')
    results['export json MB/s'] = round(rate)
    beyond = (rows['view_profile export pftrace'][1] - rows['reading alone'][1]) / events * 1e9
    print(f'  pftrace: {beyond:.0f} ns an event beyond reading, the same analysis behind both')
    results[f'export {f.name} pftrace'] = {**rows.ratio('view_profile export pftrace', 'reading alone'), 'ns': round(beyond)}


def bench_xplane(compare, f, events, slices, runs, results):
    commands = {'view_profile export pftrace': export(f, 'pftrace'),
                'view_profile export perfetto-json': export(f, 'perfetto-json'),
                'reading alone': export(f, 'pftrace', *NOTHING)}
    rows = compare(f'export of {f.name}, {f.stat().st_size / 1e6:.0f} MB, {events / 1e6:.2f} M events', commands, runs,
                   results)
    for name in ('pftrace', 'perfetto-json'):
        beyond = (rows[f'view_profile export {name}'][1] - rows['reading alone'][1]) / events * 1e9
        row = results[f'export {f.name} {name}'] = {**rows.ratio(f'view_profile export {name}', 'reading alone'), 'ns': round(beyond)}
        if slices:
            row['ns_a_slice'] = round(beyond * events / slices)
        print(f'  {name}: {beyond:.0f} ns an event beyond reading' + (f', {row["ns_a_slice"]} a slice' if slices else ''))


def first_bytes(folder, results):
    """Seconds until the first byte of each served form of each host, the files being in the page cache."""
    server = subprocess.Popen([OURS, 'serve', '--port', '0', '--no-browser', '--ui', 'none', folder.resolve()],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        root = re.search(r'http://\S+', server.stdout.readline()).group().rstrip('/')
        with urllib.request.urlopen(root + '/api/v1/sessions') as answer:
            sessions = re.findall(r'"id": ?"([^"]+)"', answer.read().decode())
        print(f'\nfirst byte of a served trace ({folder.name})')
        longest = 0
        for session in sessions:
            with urllib.request.urlopen(f'{root}/perfetto/{session}') as answer:
                traces = sorted(set(re.findall(r'/trace/[^"]+\.json\.gz', answer.read().decode())))
            for path in traces:
                for target in (path, path.removesuffix('.json.gz') + '.pftrace'):
                    begin = time.perf_counter()
                    try:
                        with urllib.request.urlopen(urllib.parse.urljoin(root, target)) as answer:
                            answer.read(1)
                            took = time.perf_counter() - begin
                    except urllib.error.HTTPError:
                        continue
                    print(f'  {took * 1000:7.0f} ms  {target}')
                    longest = max(longest, took)
        results[f'first byte of {folder.name}'] = round(longest, 4)
    finally:
        server.terminate()
        server.wait()
