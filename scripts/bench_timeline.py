"""The section "timeline" of scripts/bench: from the page to its first slices, cold and warm; what a new window costs, over
random places, widths and heights as somebody sees them who pans, zooms and scrolls; bytes of the index an event; and, where
node and the browser of the tests are, what a frame costs while panning (bench_timeline_frames.mjs).

A window is what the page asks for when all that it shows is new, on a screen of 1,440 x 900: 1,170 pixels of the rows that
are seen, the file's and the analysis's, in as many questions as the page makes of it, one after the other on one connection."""
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
WINDOWS = 1000
PX = 1170
# As in web/timeline.js and timeline_draw.js.
HEIGHT, GROUP, ROW, TRACK, ROWS_SHOWN, CELLS = 594 - 26, 24, 17, 4, 24, 40000
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
    names = ','.join(f"{t['id']}:{ROWS_SHOWN}" for t in [t for g in tracks['groups'] for t in g['tracks']][:TRACKS_SEEN])
    get(f'{url}/api/v1/session/{session}/slices?px={PX}&tracks={names}')
    return time.perf_counter() - begin, tracks


def lay_out(tracks):
    """[(track, row, y)] of all rows that are open, and their height."""
    device = any(g['device'] for g in tracks['groups'])
    groups, first = list(tracks['groups']), 0
    for added in tracks['analysis'] or []:
        at = next((i for i, g in enumerate(groups) if g['device'] and g['name'] == added['of']), -1)
        groups.insert(first if at < 0 else at, {**added, 'device': True})
        first += at < 0
    rows, y = [], 0
    for group in groups:
        y += GROUP
        for track in group['tracks'] if group['device'] or not device or len(groups) < 4 else []:
            n = min(track['rows'], ROWS_SHOWN)
            rows += [(track['id'], row, y + row * ROW) for row in range(n)]
            y += n * ROW + TRACK
    return rows, y


def questions(seen, derived_from):
    """Lists of rows as the page asks for them: the file's and the analysis's apart, CELLS at most of both."""
    for at in range(0, len(seen), CELLS // PX):
        some = seen[at:at + CELLS // PX]
        for part in ([r for r in some if r[0] < derived_from], [r for r in some if r[0] >= derived_from]):
            wants = {}
            for track, row, _ in part:
                first, n = wants.get(track, (row, 0))
                wants[track] = first, n + 1
            if wants:
                yield ','.join(f'{track}:{n}@{first}' for track, (first, n) in wants.items())


def windows(url, session):
    """Milliseconds of each, in order, after the report was made."""
    tracks = json.loads(get(f'{url}/api/v1/session/{session}/tracks?analysis=1'))
    rows, height = lay_out(tracks)
    derived_from = min((t['id'] for g in tracks['analysis'] or [] for t in g['tracks']), default=1 << 32)
    dice, took = random.Random(1), []
    span = tracks['to_ps'] - tracks['from_ps']
    line = http.client.HTTPConnection(url.removeprefix('http://'))
    for _ in range(WINDOWS):
        width = max(1000, int(span * 10 ** -dice.uniform(0, 5)))
        begin = tracks['from_ps'] + dice.randrange(max(1, span - width))
        top = dice.randrange(max(1, height - HEIGHT))
        seen = [r for r in rows if top - ROW < r[2] < top + HEIGHT]
        took.append(0)
        for names in questions(seen, derived_from):
            since = time.perf_counter()
            line.request('GET', f'/api/v1/session/{session}/slices?analysis=1&px={PX}&tracks={names}&from={begin}&to={begin + width}')
            answer = line.getresponse()
            assert answer.status == 200, answer.read()
            answer.read()
            took[-1] += (time.perf_counter() - since) * 1e3
    return sorted(took)


def frames(ours, path, results):
    if not shutil.which('node') or not (ROOT / 'tests/browser/node_modules/playwright-core').exists():
        print('no node or browser of the tests: no frames')
        return
    done = subprocess.run(['node', ROOT / 'scripts/bench_timeline_frames.mjs', path], env={**os.environ, 'VIEW_PROFILE': str(ours)},
                          stdout=subprocess.PIPE, text=True, timeout=600)
    if done.returncode:
        print(f'the frames of {path.name} could not be counted')
        return
    results[f'timeline frames {path.name}'] = json.loads(done.stdout)
    for share, row in results[f'timeline frames {path.name}'].items():
        print(f'panning, {float(share):.2%} of {path.name} seen: ' + ', '.join(f'{k} {v}' for k, v in row.items()))


def bench_timeline(ours, path, runs, results):
    cold, warm = [], []
    for _ in range(runs):
        child, url, session = start(ours, path)
        try:
            seconds, tracks = first_slices(url, session)
            cold.append(seconds)
            warm.append(first_slices(url, session)[0])
            took = windows(url, session)
        finally:
            child.terminate()
            child.wait()
    row = {'events': tracks['events'], 'cold_s': round(statistics.median(cold), 3), 'warm_s': round(statistics.median(warm), 4),
           'window_p50_ms': round(took[len(took) // 2], 2), 'window_p99_ms': round(took[len(took) * 99 // 100], 2),
           'bytes_an_event': round(tracks['index_bytes'] / tracks['events'], 1)}
    print(f'\ntimeline of {path.name}: ' + ', '.join(f'{k} {v}' for k, v in row.items()))
    results[f'timeline {path.name}'] = row
    frames(ours, path, results)
