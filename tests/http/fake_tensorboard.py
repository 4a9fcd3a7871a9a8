#!/usr/bin/env python3
"""A stand-in for `tensorboard`: answers the two questions that we ask, from its --logdir, gzipped
although nobody asked for it, as the real one does (docs/reference/xprof.md#tensorboard). FAKE_TB
steers it: "slow" answers after 1.5 s, "fail" ends with a message, "noplugin" answers 404,
"runs=A,B" lists these instead, "taken" finds its port taken when first started, "xprof" is a
standalone XProf, "brief" ends after 1 s. What FAKE_TB_SAYS holds is printed first."""
import argparse
import gzip
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def runs_of(logdir: str) -> list[str]:
    found = []
    for profile in Path(logdir).glob("**/plugins/profile/*/"):
        if any(profile.glob("*.xplane.pb")):
            above = profile.relative_to(logdir).parts[:-3]
            found.append("/".join((*above, profile.name)))
    return sorted(found, reverse=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--logdir", required=True)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    args = parser.parse_args()
    mode = os.environ.get("FAKE_TB", "")
    log = os.environ.get("FAKE_TB_LOG")
    first = log and not os.path.exists(log)
    if log:
        fds = sorted(int(fd) for fd in os.listdir("/proc/self/fd"))
        Path(log).write_text(json.dumps({"pid": os.getpid(), "argv": sys.argv[1:], "fds": fds}))
    print(os.environ.get("FAKE_TB_SAYS", ""), file=sys.stderr, end="", flush=True)
    if mode == "taken" and first:
        print(f"ERROR: TensorBoard could not bind to port {args.port}, it was already in use\n"
              f"ERROR: Run tensorboard with `--port 0` to find an available port", file=sys.stderr)
        return 255
    if mode == "fail":
        print("E1121 fake: <b>cannot</b> find libcudart", file=sys.stderr)
        return 3
    if mode == "slow":
        print("fake: importing the world", file=sys.stderr, flush=True)
        time.sleep(1.5)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            listed = mode.removeprefix("runs=").split(",") if mode.startswith("runs=") else None
            path = self.path.removeprefix(os.environ.get("FAKE_TB_PREFIX", ""))
            answers = {
                "/data/plugin/profile/version": lambda: "2.24.2",
                "/data/plugin/profile/runs": lambda: json.dumps(listed or runs_of(args.logdir)),
            }
            if mode != "xprof":
                answers["/data/logdir"] = lambda: json.dumps({"logdir": args.logdir})
            make = answers.get(path) if mode != "noplugin" else None
            body = gzip.compress((make() if make else "no").encode())
            self.send_response(200 if make else 404)
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer((args.host, args.port), Handler)
    print(f"TensorBoard fake at http://{args.host}:{args.port}/", file=sys.stderr, flush=True)
    if mode == "brief":
        threading.Timer(1, os._exit, (9,)).start()
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
