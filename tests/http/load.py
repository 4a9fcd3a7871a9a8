"""Clients that behave badly, and what a server looks like from outside: shared by test_load.py (a
quick version) and scripts/bench http (all of it)."""
import os
import select
import socket
import statistics
import struct
import threading
import time


class Figures:
    """Descriptors, threads, resident bytes and CPU seconds of a process."""

    def __init__(self, pid):
        self.fds = len(os.listdir(f'/proc/{pid}/fd'))
        with open(f'/proc/{pid}/status') as f:
            status = dict(line.split(':', 1) for line in f)
        self.threads = int(status['Threads'])
        self.rss = int(status['VmRSS'].split()[0]) * 1024
        self.cpu = cpu(pid)


def cpu(pid):
    with open(f'/proc/{pid}/stat') as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def settled(pid, same=5, timeout=20):
    """The figures once descriptors and threads have stayed the same for half a second."""
    last, count = Figures(pid), 0
    end = time.monotonic() + timeout
    while count < same and time.monotonic() < end:
        time.sleep(0.1)
        now = Figures(pid)
        count = count + 1 if (now.fds, now.threads) == (last.fds, last.threads) else 0
        last = now
    return last


def connect(port, receive=None):
    s = socket.socket()
    if receive:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    s.settimeout(10)
    s.connect(('127.0.0.1', port))
    return s


def ask(port, target, *fields):
    lines = [f'GET {target} HTTP/1.1', f'Host: 127.0.0.1:{port}', *fields, '', '']
    return '\r\n'.join(lines).encode()


def abort_downloads(port, targets, count):
    """Begins downloads and goes away in the middle: with RST, or with FIN, or before the first byte."""
    for i in range(count):
        s = connect(port, 4096)
        s.sendall(ask(port, targets[i % len(targets)]))
        if i % 3:
            s.recv(100)
        if i % 2:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        s.close()


class SlowReaders:
    """Clients that read a byte of a large answer now and then."""

    def __init__(self, port, target, count):
        self.sockets = []
        for _ in range(count):
            s = connect(port, 4096)
            s.sendall(ask(port, target))
            self.sockets.append(s)

    def read_a_little(self):
        for s in self.sockets:
            if readable(s):
                s.recv(1)

    def alive(self):
        return sum(begun(s) for s in self.sockets)

    def close(self):
        for s in self.sockets:
            s.close()


def readable(s):
    poll = select.poll()  # select() knows no descriptors above 1024
    poll.register(s, select.POLLIN)
    return bool(poll.poll(0))


def begun(s):
    """Is there something to read? The end is nothing."""
    try:
        return readable(s) and s.recv(1, socket.MSG_PEEK) != b''
    except OSError:
        return False


class Drippers:
    """Clients whose request comes at one byte a second; knows when each was cut."""

    def __init__(self, port, count):
        self.port, self.begin = port, time.monotonic()
        self.sockets = {s.fileno(): s for s in (connect(port) for _ in range(count))}
        self.lives, self.sent = [], 0
        self.head = ask(port, '/healthz', 'X: ' + 'a' * 1000)

    def drip(self):
        """One byte from each, and a second of watching which of them the server closes."""
        poll, end = select.poll(), time.monotonic() + 1
        for fd, s in list(self.sockets.items()):
            try:
                s.send(self.head[self.sent:self.sent + 1])
                poll.register(fd, select.POLLIN | select.POLLHUP)
            except OSError:
                self.remove(fd)
        while self.sockets and (left := end - time.monotonic()) > 0:
            for fd, _ in poll.poll(1000 * left):
                poll.unregister(fd)
                self.remove(fd)
        self.sent += 1

    def remove(self, fd):
        self.lives.append(time.monotonic() - self.begin)
        self.sockets.pop(fd).close()


class Normal(threading.Thread):
    """A client like any other: a request on a fresh connection every few milliseconds, timed."""

    def __init__(self, port, target):
        super().__init__(daemon=True)
        self.port, self.target, self.times, self.failures, self.over = port, target, [], [], False
        self.start()

    def run(self):
        while not self.over:
            begin = time.perf_counter()
            try:
                with connect(self.port) as s:
                    s.sendall(ask(self.port, self.target, 'Connection: close'))
                    data = b''
                    while chunk := s.recv(1 << 16):
                        data += chunk
                if not data.startswith(b'HTTP/1.1 200'):
                    self.failures.append(data[:40])
            except OSError as e:
                self.failures.append(repr(e))
            self.times.append(time.perf_counter() - begin)
            time.sleep(0.01)

    def finish(self):
        self.over = True
        self.join()
        return statistics.quantiles(self.times, n=100)[98]


def slow_clients(port, small, large, readers, drippers):
    """Readers and drippers at once, until the last dripper is cut. Returns the p99 of a normal client
    in seconds, its failures, the longest life of a dripper, and how many readers were still served."""
    slow = SlowReaders(port, large, readers)
    drips = Drippers(port, drippers)
    normal = Normal(port, small)
    while drips.sockets and time.monotonic() - drips.begin < 30:
        drips.drip()
        slow.read_a_little()
    longest = max(drips.lives) if not drips.sockets else float('inf')
    p99, alive = normal.finish(), slow.alive()
    slow.close()
    return p99, normal.failures, longest, alive
