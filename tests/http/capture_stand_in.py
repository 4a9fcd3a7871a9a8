#!/usr/bin/env python3
"""What the server runs in place of `view_profile capture`, by the same contract; the host's name says what happens."""
import json
import os
import signal
import sys
import time


def say(event, **more):
    print(json.dumps({'schema': 'view_profile.capture/1', 'event': event, **more}), flush=True)


def main():
    args = sys.argv[1:]
    assert args[:3] == ['capture', '--format', 'json'] and args[3] == '--duration' and args[5] == '--out', args
    ms, out, targets = int(args[4].removesuffix('ms')), args[6], args[7].split(',')
    assert len(args) == 8 and os.path.isabs(out)
    kind = targets[0].split(':')[0]
    stops = []
    signal.signal(signal.SIGINT, lambda *_: stops.append(1))
    run = f'run_{targets[0].rpartition(":")[2]}'
    path = f'{out}/plugins/profile/{run}'
    if kind == 'descriptors':
        print('view_profile: open: ' + ' '.join(sorted(os.listdir('/proc/self/fd'))), file=sys.stderr)
        return 6
    if kind == 'dies':
        os.kill(os.getpid(), signal.SIGKILL)
    say('begin', run=run, path=path, targets=targets, duration_ms=ms)
    if kind == 'odd':
        print('no JSON\n[]\n' + 'x' * 100_000, flush=True)
        say('progress', target=7, state=[], bytes='many', left_ms=-5)
        say('progress', target='other:1', state='receiving', bytes=5, left_ms=0)
        say('progress', target=targets[0], state='<b>' * 500, bytes=-1, left_ms=1e300)
    if kind == 'gone':
        print(f'view_profile: {targets[0]}: nobody listens at {out}/x', file=sys.stderr)
        ends = [{'target': t, 'host': 'h', 'bytes': 0, 'error': f'nobody listens, {out}/x', 'code': 'unreachable'} for t in targets]
        say('end', ok=False, exit=6, run=run, path=path, targets=ends)
        return 6
    until = time.monotonic() + (60 if kind in ('slow', 'deaf', 'keeps') else ms / 1000)
    while time.monotonic() < until and not (stops and kind != 'deaf'):
        left = int((until - time.monotonic()) * 1000)
        for t in targets:
            say('progress', target=t, state='profiling', bytes=0, left_ms=min(ms, left))
        time.sleep(0.05)
    os.makedirs(path, exist_ok=True)
    for t in targets:
        name = t.replace(':', '_')
        events = [{'ph': 'M', 'pid': 1, 'name': 'process_name', 'args': {'name': '/device:TPU:0'}},
                  {'ph': 'M', 'pid': 1, 'tid': 2, 'name': 'thread_name', 'args': {'name': 'XLA Ops'}},
                  {'ph': 'X', 'pid': 1, 'tid': 2, 'ts': 0, 'dur': 7, 'name': 'fusion.1'}]
        with open(f'{path}/{name}.trace.json', 'w') as f:
            json.dump({'traceEvents': events}, f)
    stops = stops if kind != 'keeps' else []  # a program that answers Terminate with what it has
    code = 6 if stops else 0
    ends = [{'target': t, 'host': t.replace(':', '_'), 'bytes': 123, 'error': 'it was cancelled' if stops else None,
             'code': 'cancelled' if stops else None} for t in targets]
    say('end', ok=not code, exit=code, run=run, path=path, spread_ms=0, targets=ends)
    return code


sys.exit(main())
