"""The real files that hold Trace Event JSON, and what is in them by Python's own means."""
import gzip
import zlib

from common import TRACES


def looks_like_a_trace(path):
    if 'expected' in path.relative_to(TRACES).parts and 'google__perfetto' not in path.parts:
        return False
    return path.name.endswith(('.json', '.json.gz')) or (path.suffix == '.gz' and 'tar' not in path.name)


JSON_FILES = sorted(p for p in TRACES.rglob('*') if p.is_file() and looks_like_a_trace(p))


def content(path):
    """Unpacked; of a damaged file the good prefix."""
    data = path.read_bytes()
    if data[:2] != b'\x1f\x8b':
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return zlib.decompressobj(31).decompress(data)
