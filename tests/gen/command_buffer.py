"""XSpaces with kernels that run in CUDA graphs, and the program that XLA recorded them from: as its CUPTI collector and its command buffers
write them."""
from . import wire
from .xspace import Plane

F32, US = 11, 1_000_000
ENTRY, BODY, FUSED = 1, 2, 3
GEMM, CONV = '__cublas$gemm', '__cudnn$convForward'


class Program:
    """`body`: (name, opcode or a library call's target) each, in the order of the schedule; recorded as a call, or in the entry.
    Fusions are equal, but for those in `other`."""

    def __init__(self, body, call=True, other=()):
        self.ids, self.body, self.other = {}, body, other
        made = [self.instruction('p', 'parameter'), *(self.instruction(*i) for i in body)]
        fused = self.computation(FUSED, 'fused', [self.instruction('x', 'parameter'), self.instruction('sum', 'add')], 'sum')
        copied = self.computation(FUSED + 1, 'copied', [self.instruction('y', 'parameter'), self.instruction('same', 'copy')], 'same')
        if call:
            entry = [self.instruction('p0', 'parameter'), self.instruction('call.1', 'call', called=BODY)]
            parts = [self.computation(BODY, 'command_buffer', made, body[-1][0]), self.computation(ENTRY, 'main', entry, 'call.1')]
        else:
            parts = [self.computation(ENTRY, 'main', made, body[-1][0])]
        order = wire.bytes_(1, wire.number(1, BODY if call else ENTRY)
                            + wire.bytes_(2, b''.join(wire.number(1, self.ids[n]) for n in ['p', *(i[0] for i in body)])))
        module = wire.text(1, 'jit_f') + wire.text(2, 'main') + wire.bytes_(3, fused) + wire.bytes_(3, copied)
        module += b''.join(wire.bytes_(3, p) for p in parts) + wire.number(5, 7) + wire.number(6, ENTRY) + wire.bytes_(7, order)
        self.proto = wire.bytes_(1, module)

    def instruction(self, name, what, called=0):
        ident = self.ids.setdefault(name, len(self.ids) + 1)
        target = what if what.startswith('__') else ''
        opcode = 'custom-call' if target else what.split()[0]
        called = called or (FUSED + (what == 'fusion of copies') if opcode == 'fusion' else 0)
        out = wire.text(1, name) + wire.text(2, opcode) + wire.bytes_(3, wire.number(2, F32) + wire.number(3, 9 if name in self.other else 8))
        out += wire.bytes_(7, wire.text(2, f'jit(f)/{name}') + wire.text(3, 'model.py') + wire.number(4, ident))
        out += wire.text(28, target) if target else b''
        return out + wire.number(35, ident) + (wire.number(38, called) if called else b'')

    def computation(self, ident, name, instructions, root):
        return (wire.text(1, name) + b''.join(wire.bytes_(2, i) for i in instructions) + wire.number(5, ident)
                + wire.number(6, self.ids[root]) + (wire.number(7, 1) if ident >= FUSED else b''))


def node(name, at, dur=2, launch=40, graph=5, op='call.1', **more):
    stats = {'cuda_graph_id': graph, 'correlation_id': launch, 'hlo_op': op, 'hlo_module': 'jit_f', 'program_id': 7, **more}
    return name, at * US, dur * US, {k: v for k, v in stats.items() if v is not None}


def replay(names, start=0, **more):
    return [node(name, start + 10 * i, **more) for i, name in enumerate(names)]


def write(tmp_path, program, *lines):
    device, programs = Plane('/device:GPU:0'), Plane('/host:metadata')
    for i, events in enumerate(lines):
        device.line(i + 1, f'Stream #{i + 1}(Kernel)', [(device.event_id(name), *rest) for name, *rest in events])
    programs.event_ids[('jit_f(7)', '', (('Hlo Proto', program.proto),))] = 7
    path = tmp_path / 'vm.xplane.pb'
    path.write_bytes(wire.bytes_(1, device.encode()) + wire.bytes_(1, programs.encode()))
    return path
