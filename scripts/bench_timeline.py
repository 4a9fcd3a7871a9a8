"""The section "timeline" of scripts/bench: from the page to its first slices, cold and warm, and what a new window costs,
over random places and widths as somebody sees them who pans and zooms; and bytes of the index an event."""
import json
import random
import re
import statistics
import subprocess
import time
import urllib.request

WINDOWS = 1000
PX = 1400
TRACKS_SEEN = 12


def get(url):
    with urllib.request.urlopen(url) as answer:
        return answer.read()


def start(ours, path):
    child = subprocess.Popen([ours, 'serve', path, '--no-browser', '--port', '0'], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    for line in child.stdout:
        if found := re.search(r'http://127\.0\.0\.1:\d+', line):
            url = found.group(0)
            break
    while (listed := json.loads(get(f'{url}/api/v1/sessions'))).get('indexing'):
        time.sleep(.01)
    return child, url, listed['sessions'][0]['id']


def first_slices(url, session):
    """Seconds, and the tracks: what the page asks for until it draws."""
    begin = time.perf_counter()
    get(f'{url}/session/{session}/timeline')
    tracks = json.loads(get(f'{url}/api/v1/session/{session}/tracks'))
    shown = [t['id'] for g in tracks['groups'] for t in g['tracks']][:TRACKS_SEEN]
    names = ','.join(map(str, shown))
    get(f'{url}/api/v1/session/{session}/slices?px={PX}&tracks={names}')
    return time.perf_counter() - begin, tracks, names


def windows(url, session, tracks, names):
    """Milliseconds of each, in order."""
    dice, took = random.Random(1), []
    span = tracks['to_ps'] - tracks['from_ps']
    for _ in range(WINDOWS):
        width = max(1000, int(span * 10 ** -dice.uniform(0, 5)))
        begin = tracks['from_ps'] + dice.randrange(max(1, span - width))
        target = f'{url}/api/v1/session/{session}/slices?px={PX}&tracks={names}&from={begin}&to={begin + width}'
        since = time.perf_counter()
        get(target)
        took.append((time.perf_counter() - since) * 1e3)
    return sorted(took)


def bench_timeline(ours, path, runs, results):
    cold, warm = [], []
    for _ in range(runs):
        child, url, session = start(ours, path)
        try:
            seconds, tracks, names = first_slices(url, session)
            cold.append(seconds)
            warm.append(first_slices(url, session)[0])
            took = windows(url, session, tracks, names)
        finally:
            child.terminate()
            child.wait()
    row = {'events': tracks['events'], 'cold_s': round(statistics.median(cold), 3), 'warm_s': round(statistics.median(warm), 4),
           'window_p50_ms': round(took[len(took) // 2], 2), 'window_p99_ms': round(took[len(took) * 99 // 100], 2),
           'bytes_an_event': round(tracks['index_bytes'] / tracks['events'], 1)}
    print(f'\ntimeline of {path.name}: ' + ', '.join(f'{k} {v}' for k, v in row.items()))
    results[f'timeline {path.name}'] = row
