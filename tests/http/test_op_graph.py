"""What stands around an op on its page, beside the HLO protos as tests/tools reads them: operands, users, what is left
out, bytes, the fusion's body; every link leads to an op's page."""
import collections
import html
import json
import re
import sys

import pytest

from conftest import ROOT, Server
sys.path[:0] = [f'{ROOT}/tests', f'{ROOT}/tests/tools']
import memory_reference as reference
from gen import command_buffer, wire
from gen.xspace import Plane
from traces import trace

ROW = 8
FILES = {
    'tpu': 'jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb',
    'rocm': 'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax_conv_minimal_08/tw003.xplane.pb',
    'gemm': 'jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax08_gemm/tw003.xplane.pb',
    'cpu': 'jax_cpu/mnist_train/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb',
    'cuda': 'xla_gpu_cuda/EnzymeAD__Reactant.jl/traces',
}
NODE = re.compile(r'(<a class="open" href="([^"]*)">)?<svg x="(\d+)" y="(\d+)" width="\d+" height="\d+"><title>(.*?)</title>'
                  r'<rect( class="\w+")?[^>]*/><text x="8" y="17">(.*?)</text><text class="low" x="8" y="34">(.*?)</text>'
                  r'</svg>', re.S)
EDGE = re.compile(r'<path d="M(\d+) (\d+)v8L(\d+) (-?\d+)v8"/>')
Node = collections.namedtuple('Node', 'x y name tip own figures link')


def plain(markup):
    return html.unescape(re.sub('<[^>]*>', '', markup))


class Graph:
    def __init__(self, page):
        svg = page[page.index('<svg class="graph"'):page.index('</svg></div>', page.index('<svg class="graph"'))]
        self.nodes = [Node(int(x), int(y), plain(name), plain(tip).split('\n'), bool(css and 'own' in css), plain(low),
                           html.unescape(link or ''))
                      for _, link, x, y, tip, css, name, low in NODE.findall(svg)]
        self.own = next(n for n in self.nodes if n.own)
        bottom = {(n.x + 102, n.y + 42): n.name for n in self.nodes}
        top = {(n.x + 102, n.y): n.name for n in self.nodes}
        self.edges = {(bottom[int(a), int(b)], top[int(c), int(d) + 8]) for a, b, c, d in EDGE.findall(svg)}
        note = re.search(r'not shown: (\d+) operands and (\d+) users', page)
        self.left = tuple(map(int, note.groups())) if note else (0, 0)
        self.lines = [plain(x) for x in re.findall(r'<code class="hlo">(.*?)</code>', page, re.S)]


def around(module, own):
    """({step: [instruction]}, (operands, users left out)) by the rule of op_graph.h."""
    instrs = list(module.instrs.values())
    here = [i for i in instrs if i.computation == own.computation]
    steps, met, left = {0: [own]}, {own.id}, [0, 0]

    def add(step, candidates):
        row = steps.setdefault(step, [])
        for i in candidates:
            if i is None or i.id in met:
                continue
            met.add(i.id)
            if len(row) < ROW:
                row.append(i)
            else:
                left[step > 0] += 1
    for n in 1, 2:
        add(-n, [module.instrs.get(o) for i in steps[1 - n] for o in i.operands])
        ids = {i.id for i in steps[n - 1]}
        add(n, [i for i in here if ids & set(i.operands)])
    return steps, tuple(left)


def all_bytes(shape):
    return sum(map(all_bytes, shape.msgs(4))) if shape.int(2) == 13 else reference.unpadded_bytes(shape)


def shown_bytes(text):
    """(value, what a last digit is worth) of '545.5 MiB'."""
    number, unit = re.search(r'([\d.]+) (B|[KMGT]iB)$', text).groups()
    scale = 1024 ** 'BKMGT'.index(unit[0])
    return float(number) * scale, scale / 10 ** len(number.partition('.')[2])


def is_around(g, module, own):
    """Whether the shown instructions, by name and size, are those: programs of one file share names."""
    near = {i.name: i for row in around(module, own)[0].values() for i in row}
    shown = {n.name: shown_bytes(n.figures) for n in g.nodes}
    return near.keys() == shown.keys() and all(abs(shown[k][0] - all_bytes(i.shape)) <= shown[k][1]
                                               for k, i in near.items())


def pages(server, most):
    for session in server.sessions():
        at = f'/session/{session["id"]}/'
        overview = server.get(at + '?tab=ops&n=500').content().decode()
        links = list(dict.fromkeys(re.findall(r'href="(?:\.\./\.\.)?(/session/[^"]*op\?[^"]*|op\?[^"]*)"', overview)))
        for link in links[:most]:
            link = html.unescape(link)
            yield server.get(link if link.startswith('/') else at + link).content().decode()


@pytest.mark.parametrize('kind', FILES)
def test_neighbours_are_those_of_the_proto(kind):
    path = trace(FILES[kind])
    files = [path] if path.is_file() else sorted(path.rglob('*.xplane.pb'))
    modules = [m for f in files for m in reference.modules(str(f))]
    server = Server(path)
    seen = edges = 0
    try:
        for page in pages(server, 12):
            if '<svg class="graph"' not in page:
                continue
            g = Graph(page)
            found = [(m, i) for m in modules for i in m.instrs.values() if i.name == g.own.name]
            fits = [x for x in found if is_around(g, *x)]
            assert fits, (g.own.name, [n.name for n in g.nodes])
            module, own = fits[0]
            steps, left = around(module, own)
            by_name = {i.name: i for row in steps.values() for i in row}
            assert len(g.nodes) == len(by_name) and g.left == left
            assert g.edges == {(module.instrs[o].name, i.name) for i in by_name.values() for o in i.operands
                               if o in module.instrs and module.instrs[o].name in by_name}
            y = {n.name: n.y for n in g.nodes}
            rows = [[y[i.name] for i in steps[s]] for s in sorted(steps) if steps[s]]
            assert all(max(above) < min(below) for above, below in zip(rows, rows[1:]))
            for n in g.nodes:
                i = by_name[n.name]
                assert i.op_name in n.tip or not i.op_name
                assert i.source in n.tip or not i.source
            operands = ', '.join('%' + module.instrs[o].name for o in own.operands[:64])
            assert g.lines[0].startswith(f'%{own.name} = ') and f' {own.opcode}({operands}' in g.lines[0]
            seen += 1
            edges += len(g.edges)
    finally:
        server.stop()
    assert seen and edges


# ---- a proto that nobody should write ----

ODD = {'kernel_details': f'grid:<img src=x>\x1b[1m\u202e regs:{10 ** 20} shm:-5 static_shared:{2 ** 63 - 1} '
                         f'dynamic_shared:{2 ** 63 - 1}  block occ_pct:0'}
EVIL = '<img src=x>\x1b[31m\u202e"\'&'


def shape(*dims):
    return wire.number(2, 11) + b''.join(wire.number(3, d) for d in dims)


def instruction(ident, name, opcode, operands=(), called=(), more=b''):
    out = wire.text(1, name) + wire.text(2, opcode) + wire.bytes_(3, shape(4, 8)) + wire.number(35, ident)
    out += b''.join(wire.number(36, o) for o in operands) + b''.join(wire.number(38, c) for c in called)
    return out + wire.bytes_(7, wire.text(2, EVIL) + wire.text(3, EVIL) + wire.number(4, 7)) + more


def computation(ident, instructions):
    return wire.text(1, f'c{ident}{EVIL}') + b''.join(wire.bytes_(2, i) for i in instructions) + wire.number(5, ident)


def hostile(tmp_path):
    """An op "f" whose 3,000 operands are missing, itself, its own user and many parameters; 100 users; a fused body of
    100, and a window, labels and slices that are none."""
    many = [instruction(1000 + i, f'p{i}{EVIL}', 'parameter') for i in range(1000)]
    odd = b''.join(wire.bytes_(k, b'\xff\xff') for k in (14, 15, 16, 17, 30)) + wire.text(11, EVIL) + wire.number(28, 3)
    own = instruction(1, 'f', 'fusion', [1, 2, 99, *range(1000, 2000), *range(5000, 7000)], [2, 77], odd)
    users = [instruction(2 + i, f'u{i}', 'add', [1, 2 + i, 1]) for i in range(100)]
    main = computation(1, [*many, own, *users])
    body = computation(2, [instruction(9000 + i, f'b{i}', 'sine', [9000 + (i + 1) % 100]) for i in range(100)])
    proto = wire.bytes_(1, wire.text(1, 'jit_f') + wire.bytes_(3, main) + wire.bytes_(3, body) + wire.number(6, 1))
    device, programs = Plane('/device:TPU:0'), Plane('/host:metadata')
    device.line(3, 'XLA Ops', [(device.event_id(n, '', [('program_id', 5)]), at, 1000, ODD)
                               for n, at in (('f', 0), ('u0', 2000), ('u1', 4000))])
    programs.event_ids[('jit_f(5)', '', (('Hlo Proto', proto),))] = 5
    path = tmp_path / 'plugins/profile/run/vm.xplane.pb'
    path.parent.mkdir(parents=True)
    path.write_bytes(wire.bytes_(1, device.encode()) + wire.bytes_(1, programs.encode()))
    return tmp_path


def test_hostile_proto(tmp_path):
    server = Server(hostile(tmp_path))
    try:
        shown = [p for p in pages(server, 9) if '<h1 class="code">f</h1>' in p]
    finally:
        server.stop()
    page, = shown
    g = Graph(page)
    assert '<img src=x' not in page and '\x1b' not in page and '\u202e' not in page
    assert g.own.name == 'f' and len(g.nodes) == 1 + 8 + 8
    # u0 uses f, and f it: it stands once, as the first operand; so do circles of one
    names = [n.name for n in g.nodes]
    assert names[1] == 'u0' and names.count('u0') == 1 and {('f', 'f'), ('u0', 'f'), ('f', 'u0')} <= g.edges
    # u97 has the id 99: an operand, too. 1,002 operands are there but f itself; of 98 other users 8 are shown
    assert g.left == (1002 - 8, 98 - 8)
    assert {n.name for n in g.nodes if n.link} == {'u0', 'u1'}
    assert 'Fused instructions: 100' in page and '… 40 more' in page
    assert re.search(r'<td[^>]*>&lt;img</td>', page) and page.count('id="launches"') == 1
    assert len(g.lines) == 1 + 60 and '... 2939 more' in g.lines[0]


def test_how_kernels_of_a_graph_were_placed(tmp_path):
    """On the page and in the JSON of the op; a kernel that says its own instruction, or none, was not placed."""
    body = [('a_fusion', 'fusion'), ('custom-call.1', command_buffer.GEMM), ('b_fusion', 'fusion')]
    command_buffer.write(tmp_path, command_buffer.Program(body), command_buffer.replay(['a_fusion', 'gemm', 'b_fusion']),
                         [command_buffer.node('alone', 50, graph=None, op='custom-call.1')])
    server = Server(tmp_path)
    try:
        shown = {re.search('<h1 class="code">(.*?)</h1>', p)[1]: p for p in pages(server, 9)}
        session, = server.sessions()
        how = {name: json.loads(server.get(f'/api/v1/session/{session["id"]}/op?name={name}').content())['names'][0]['placed_by']
               for name in shown}
    finally:
        server.stop()
    assert how == {'a_fusion': 'name', 'gemm': 'order', 'b_fusion': 'name', 'alone': None}
    assert {n for n, p in shown.items() if 'In its graph by' in p} == {'a_fusion', 'gemm', 'b_fusion'}
    assert plain(shown['gemm']).count('jit(f)/custom-call.1') and 'model.py:' in shown['gemm']
