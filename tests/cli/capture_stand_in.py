#!/usr/bin/env python3
"""Stands in for `view_profile capture --format json` in tests/cli/test_watch.py: brings the next of what lies in
$CAPTURE_JOBS/HOST_PORT, or fails as that says."""
import argparse
import json
import os
import pathlib
import signal
import sys
import time


def say(**event):
    print(json.dumps({'schema': 'view_profile.capture/1', **event}), flush=True)


p = argparse.ArgumentParser()
for option in ('--format', '--duration', '--out', '--name', '--option', '--patience', '--host-tracer', '--device-tracer'):
    p.add_argument(option)
p.add_argument('--python-tracer', action='store_true')
p.add_argument('command', choices=['capture'])
p.add_argument('target')
o = p.parse_args()
host = o.target.replace(':', '_')
job = pathlib.Path(os.environ['CAPTURE_JOBS']) / host
counter = job / 'count'
at = int(counter.read_text()) if counter.exists() else 0
counter.write_text(str(at + 1))
todo = sorted(f for f in job.iterdir() if f.name[:3].isdigit())
now = todo[min(at, len(todo) - 1)]
base = o.name or time.strftime('%Y_%m_%d_%H_%M_%S')
run, n = base, 1
runs = pathlib.Path(o.out) / 'plugins' / 'profile'
while (runs / run).exists():
    n += 1
    run = f'{base}_{n}'
path = runs / run
say(event='begin', run=run, path=str(path), targets=[o.target], duration_ms=10)


def end(size=0, error=None, code=None):
    say(event='end', ok=not error, exit=6 if error else 0, run=run, path=str(path), spread_ms=0,
        targets=[{'target': o.target, 'host': host, 'bytes': size, 'error': error, 'code': code}])
    if error:
        print(f'view_profile: {o.target}: {error}', file=sys.stderr)
    sys.exit(6 if error else 0)


def bring(data):
    path.mkdir(parents=True)
    (path / f'{host}.xplane.pb').write_bytes(data)


def terminated(*_):
    (job / 'terminated').write_text('')
    bring(b'what came')
    end(9, 'cancelled', 'cancelled')


if now.suffix == '.hang':
    signal.signal(signal.SIGTERM, terminated)
    (job / 'hanging').write_text('')
    while True:
        time.sleep(1)
if now.suffix == '.json':
    end(**json.loads(now.read_text()))
data = now.read_bytes()
if not data:
    end(error='the trace is empty', code='empty')
bring(data)
end(len(data))
