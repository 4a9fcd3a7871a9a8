"""Writes a scene where the program finds it."""
import gzip
import pathlib

from . import kineto, xla_json, xspace


def write(scene, form, folder, cut=0):
    """The path to give to the program: a run directory of XSpaces or of XLA's JSON, or one Kineto file."""
    folder = pathlib.Path(folder)
    if form in ('xspace', 'xla_json'):
        run = folder / 'plugins' / 'profile' / '2026_01_02_03_04_05'
        run.mkdir(parents=True)
        for host in scene.hosts:
            if form == 'xspace':
                (run / f'{host.name}.xplane.pb').write_bytes(xspace.encode(host))
            else:
                (run / f'{host.name}.trace.json.gz').write_bytes(xla_json.encode(host))
        return folder
    data = kineto.encode(scene.host)
    name = 'worker0.1700000000000.pt.trace.json'
    if form == 'kineto.gz':
        data, name = gzip.compress(data, mtime=0), name + '.gz'
    path = folder / name
    path.write_bytes(data[:int(len(data) * cut)] if cut else data)
    return path
