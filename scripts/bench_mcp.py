"""The section "mcp" of scripts/bench: the first answer of `view_profile mcp`, and one of top_ops on 24 MB of .json.gz beside the command
that it runs, in pairs; the longest answer of all tools."""
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

from bench_compare import note

MODERN = {'_meta': {'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}}}
BOUND = 4096


class Client:
    def __init__(self, program, directory):
        self.process = subprocess.Popen([program, 'mcp', '--profile-dir', directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, method, **params):
        message = {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': {**params, **MODERN}}
        self.process.stdin.write(json.dumps(message).encode() + b'\n')
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())['result']

    def call(self, tool, **arguments):
        made = self.ask('tools/call', name=tool, arguments=arguments)
        assert not made['isError'], made
        return made['content'][0]['text']

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def seconds(act):
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def bench_mcp(ours, trace, runs, results):
    with tempfile.TemporaryDirectory() as directory:
        link = pathlib.Path(directory) / 'run.trace.json.gz'
        link.hardlink_to(trace) if trace.stat().st_dev == pathlib.Path(directory).stat().st_dev else link.write_bytes(trace.read_bytes())
        first, calls, commands = [], [], []
        for _ in range(runs):
            begun = time.perf_counter()
            client = Client(ours, directory)
            client.ask('server/discover')
            first.append(time.perf_counter() - begun)
            calls.append(seconds(lambda: client.call('top_ops')))
            commands.append(seconds(lambda: subprocess.run([ours, 'top', '--format', 'json', '--profile-dir', directory], check=True,
                                                           stdout=subprocess.DEVNULL)))
            client.end()
        client = Client(ours, directory)
        op = json.loads(client.call('top_ops'))['rows'][0][0]
        more = {'op_details': {'op': op}, 'range': {'window': '1ms..20ms'}}
        longest = max(len(client.call(tool, **more.get(tool, {})).encode())
                      for tool in ('list_sessions', 'findings', 'top_ops', 'step', 'scope_tree', 'op_details', 'range', 'memory', 'export_link'))
        client.end()
    r = {'first_ms': 1e3 * statistics.median(first), 'top_ops_s': statistics.median(calls), 'command_s': statistics.median(commands),
         'ratio': statistics.median(a / b for a, b in zip(calls, commands)), 'longest_bytes': longest}
    print(f'\nmcp: the first answer after {r["first_ms"]:.1f} ms; top_ops on {trace.stat().st_size / 1e6:.0f} MB of .json.gz {r["top_ops_s"]:.3f} s, '
          f'the command that it runs {r["command_s"]:.3f} s ({r["ratio"]:.2f} ×); the longest answer has {longest} bytes')
    results['mcp'] = {k: round(v, 4) for k, v in r.items()}
    for what, most in (('first_ms', 50), ('top_ops_s', 0.3), ('longest_bytes', BOUND)):
        if r[what] > most:
            note(f'mcp: {what} is {r[what]:.3g}, and may be {most}')
