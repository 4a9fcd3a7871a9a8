"""How kernels were launched, by a reading of profiles that has nothing in common with the program's."""
import collections
import gzip
import json

import reference

Launch = collections.namedtuple('Launch', 'grid block registers shared occupancy')


def of_details(text):
    d = dict(pair.split(':', 1) for pair in text.split())
    shared = [int(d[k]) for k in ('static_shared', 'dynamic_shared', 'shm', 'group_mem') if k in d]
    occupancy = d.get('occ_pct', '')
    return Launch(d.get('grid', ''), d.get('block', ''), d.get('regs', ''), str(sum(shared)) if shared else '',
                  '' if occupancy == '0' else occupancy)


def of_args(a):
    def three(key):
        return ','.join(map(str, a[key])) if key in a else ''
    occupancy = str(a.get('est. achieved occupancy %', ''))
    return Launch(three('grid'), three('block'), str(a.get('registers per thread', '')),
                  str(a.get('shared memory', '')), '' if occupancy == '0' else occupancy)


def kernels(path):
    """[(device, name, Launch)] of every kernel that tells."""
    if path.suffix == '.pb':
        for plane in reference.xspace(str(path)):
            for line in plane.lines if plane.name.startswith('/device:GPU') else ():
                for _, _, ident, stats in line.events:
                    name, display, own = plane.meta[ident]
                    details = {**own, **stats}.get('kernel_details')
                    if details:
                        yield plane.name, display or name, of_details(details)
        return
    for e in json.loads(gzip.open(path).read())['traceEvents']:
        if e.get('cat') == 'kernel' and of_args(e['args']) != Launch('', '', '', '', ''):
            yield e['args']['device'], e['name'], of_args(e['args'])
