"""The rows of raw_table.tsv: bytes for a socket, what must come back, and what nginx makes of them."""
import os
import re
import socket

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'raw_table.tsv')
CHUNK = b'1000\r\n' + b'a' * 4096 + b'\r\n'
# Words of an expectation that hold for any server; the others are about our own policy.
EVERYWHERE = {'status', 'len', 'cr', 'enc', 'n', 'body'}


class Row:
    def __init__(self, line, number, section):
        fields = line.split('\t')
        assert len(fields) == 4, f'raw_table.tsv:{number}: {len(fields)} fields, not 4'
        self.bytes, self.expected, self.nginx, self.why = fields
        self.section, self.number = section, number

    def __str__(self):
        return f'{self.number}-{self.bytes[:60]}'


def rows():
    section, out = '', []
    with open(TABLE, encoding='utf-8') as f:
        for number, line in enumerate(f.read().split('\n'), 1):
            if line.startswith('## '):
                section = line[3:]
            elif line and not line.startswith('#'):
                out.append(Row(line, number, section))
    return out


def expand(text, names):
    """¶ is CRLF, \\xNN a byte, {name} a value, {a*N} N times a; {x*N} header fields, {q*N} query
    parameters, {amp*N} N times "&", {chunk*N} at least N bytes in chunks."""
    text = text.replace('{H}', 'Host: {h}¶Connection: close¶')
    repeated = {'a': b'a', 'x': b'X: 1\r\n', 'q': b'&a', 'amp': b'&', 'chunk': CHUNK}

    def one(m):
        name, times = m.group(1), m.group(2)
        if times:
            n = int(times) // 4096 + 1 if name == 'chunk' else int(times)
            return (repeated[name] * n).decode('latin-1')
        return names[name]
    text = re.sub(r'\{([A-Za-z]+)(?:\*(\d+))?\}', lambda m: one(m) if m.group(1) in names or m.group(2)
                  else m.group(0), text)
    out = text.encode('utf-8').replace('¶'.encode(), b'\r\n')
    return re.sub(rb'\\(x[0-9a-f]{2}|[rnt\\])', lambda m: {b'r': b'\r', b'n': b'\n', b't': b'\t', b'\\': b'\\'}.get(
        m.group(1)) or bytes([int(m.group(1)[1:], 16)]), out)


class Reply:
    """Everything that came back on one connection."""

    def __init__(self, raw, closed):
        self.closed, self.statuses, self.heads, self.bodies = closed, [], [], []
        while raw.startswith(b'HTTP/1.') and b'\r\n\r\n' in raw:
            head, _, raw = raw.partition(b'\r\n\r\n')
            lines = head.decode('latin-1').split('\r\n')
            fields = {}
            for line in lines[1:]:
                name, _, value = line.partition(':')
                fields.setdefault(name.lower(), value.strip())
            self.statuses.append(int(lines[0].split(' ')[1]))
            self.heads.append(fields)
            n = int(fields.get('content-length', 0))
            if raw.startswith(b'HTTP/1.'):  # an answer to HEAD, or 304: its length is not of a body here
                n = 0
            self.bodies.append(raw[:n] if 'transfer-encoding' not in fields else raw)
            raw = raw[n:] if 'transfer-encoding' not in fields else b''
        self.rest = raw


def exchange(port, data, idle=0.25, first=5.0):
    """Sends and reads until the server closes, or has answered and then said nothing for a moment."""
    out, closed = bytearray(), False
    with socket.create_connection(('127.0.0.1', port), timeout=first) as s:
        try:
            s.sendall(data)
            while True:
                chunk = s.recv(1 << 18)
                if not chunk:
                    closed = True
                    break
                out += chunk
                if b'\r\n\r\n' in out:
                    s.settimeout(idle if b'connection: close' not in out.lower() else first)
        except socket.timeout:
            pass
        except (ConnectionResetError, BrokenPipeError):
            closed = True
    return Reply(bytes(out), closed)


def facts(text):
    """'206 cr=0-1/1000 close' → {'status': '206', 'cr': '0-1/1000', 'close': ''}"""
    out, last = {}, None
    for word in text.split(' '):
        m = re.fullmatch(r'([a-z]+)=(.*)', word)
        if not out:
            out['status'] = word
        elif m:
            last = m.group(1)
            out[last] = m.group(2)
        elif word in ('close', 'vary', 'nocors', 'library'):
            out[word] = ''
        else:
            out[last] += ' ' + word
    return out


def made_by_library(reply):
    """True if libmicrohttpd refused the request before it reached our code: a constant page without our
    headers, after which the connection closes. It may send its header block twice (docs/security.md)."""
    return bool(reply.heads) and reply.closed and not any('x-content-type-options' in h for h in reply.heads) \
        and set(reply.statuses) <= {400, 413, 414, 431, 505} and len(set(reply.statuses)) == 1 \
        and re.fullmatch(rb'<html><head><title>[^<]*</title></head><body>(?:[^<]|</?b>)*</body></html>', reply.bodies[-1]) is not None


def fact_of(reply, name):
    head = reply.heads[0] if reply.heads else {}
    if name == 'status':
        return str(reply.statuses[0]) if reply.statuses else '0'
    if name == 'n':
        return str(len(reply.statuses))
    if name == 'body':
        return str(sum(map(len, reply.bodies)) + len(reply.rest))
    if name == 'len':
        return head.get('content-length', 'none')
    if name == 'cr':
        return head.get('content-range', 'none').removeprefix('bytes ')
    if name == 'enc':
        return head.get('content-encoding', 'none')
    if name == 'type':
        return head.get('content-type', 'none')
    if name == 'allow':
        return head.get('allow', 'none')
    if name == 'acao':
        return head.get('access-control-allow-origin', 'none')
    if name == 'close':
        return '' if reply.closed else 'open'
    if name == 'vary':
        return '' if 'Accept-Encoding' in head.get('vary', '') else 'none'
    if name == 'library':
        return '' if made_by_library(reply) else 'ours'
    if name == 'nocors':
        return '' if not [n for n in head if n.startswith('access-control-')] else 'cors'
    raise KeyError(name)


def differences(reply, expected, only=None):
    out = []
    for name, want in facts(expected).items():
        if only and name not in only:
            continue
        got = fact_of(reply, name)
        if got != want:
            out.append(f'{name} {got!r}, not {want!r}')
    return out
