"""A stand-in for XLA's ProfilerService: gRPC over HTTP/2 by PyPI's h2, whose answers a test plans byte by byte."""
import socket
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
from fetching import field, fields

WAIT = 20
PROFILE, TERMINATE, MONITOR = (f"/tensorflow.ProfilerService/{m}" for m in ("Profile", "Terminate", "Monitor"))


def plane(name, *more):
    return field(1, field(1, 7) + field(2, name) + b"".join(more))


def environment(start_ns):
    """The plane that says when a recording began."""
    stat = field(6, field(1, 1) + field(4, start_ns))
    return plane("Task Environment", field(5, field(1, 1) + field(2, field(1, 1) + field(2, "profile_start_time"))), stat)


def frame(message, flag=0, claim=None):
    """gRPC's five bytes and the message; claim: a length that is not its own."""
    return bytes([flag]) + (len(message) if claim is None else claim).to_bytes(4, "big") + message


def response(xspace, **more):
    return frame(field(8, xspace), **more)


class Call:
    """One call as a plan sees it."""

    def __init__(self, connection, stream, headers, message):
        self.connection, self.stream, self.headers, self.message = connection, stream, headers, message
        self.method = headers[":path"]
        self.server = connection.server

    def begin(self, *more, status="200", kind="application/grpc"):
        self.connection.send(lambda c: c.send_headers(self.stream, [(":status", status), ("content-type", kind), *more]))

    def data(self, text, piece=16384):
        """In DATA frames of `piece` bytes, within what the client's windows leave."""
        at = 0
        while at < len(text):
            room = self.connection.room(self.stream)
            n = min(piece, room, len(text) - at)
            part = text[at:at + n]
            self.connection.send(lambda c: c.send_data(self.stream, part))
            at += n

    def end(self, status=0, message=None):
        trailers = [("grpc-status", str(status))] + ([("grpc-message", message)] if message else [])
        self.connection.send(lambda c: c.send_headers(self.stream, trailers, end_stream=True))

    def only_trailers(self, status, message=None):
        self.connection.send(lambda c: c.send_headers(self.stream, [
            (":status", "200"), ("content-type", "application/grpc"), ("grpc-status", str(status)),
            *([("grpc-message", message)] if message else [])], end_stream=True))

    def answer(self, text, piece=16384):
        self.begin()
        self.data(text, piece)
        self.end()

    def reset(self):
        self.connection.send(lambda c: c.reset_stream(self.stream, h2.errors.ErrorCodes.INTERNAL_ERROR))

    def hang_up(self):
        self.connection.close()

    def wait(self, seconds):
        """True when the session was terminated meanwhile, or the test ended."""
        return self.server.terminated.wait(seconds)


class Connection:
    def __init__(self, server, sock):
        self.server, self.sock = server, sock
        self.lock = threading.Condition()
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.gone = False
        threading.Thread(target=self.run, daemon=True).start()

    def send(self, do):
        with self.lock:
            if self.gone:
                raise ConnectionError
            do(self.h2)
            self.sock.sendall(self.h2.data_to_send())

    def room(self, stream):
        with self.lock:
            while not self.gone:
                room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
                if room > 0:
                    return room
                self.lock.wait(1)
        raise ConnectionError

    def close(self):
        with self.lock:
            self.gone = True
            self.lock.notify_all()
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()

    def run(self):
        open_calls = {}
        try:
            self.send(lambda c: c.initiate_connection())
            while True:
                got = self.sock.recv(65536)
                if not got:
                    break
                with self.lock:
                    events = self.h2.receive_data(got)
                    for event in events:
                        self.take(event, open_calls)
                    self.sock.sendall(self.h2.data_to_send())
                    self.lock.notify_all()
        except (OSError, h2.exceptions.ProtocolError):
            pass
        self.close()

    def take(self, event, open_calls):
        if isinstance(event, h2.events.RequestReceived):
            open_calls[event.stream_id] = (dict(event.headers), bytearray())
        elif isinstance(event, h2.events.DataReceived):
            open_calls[event.stream_id][1].extend(event.data)
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            headers, body = open_calls.pop(event.stream_id)
            call = Call(self, event.stream_id, headers, bytes(body))
            threading.Thread(target=self.server.serve, args=(call,), daemon=True).start()


class ProfilerServer:
    """A context. plan(call) answers Profile; Terminate is agreed to, and Monitor is what most builds of XLA do not have."""

    def __init__(self, plan, monitor=None, terminate=None):
        self.plan = plan
        self.monitor = monitor or (lambda call: call.only_trailers(12))
        self.terminate = terminate or (lambda call: call.answer(frame(b"")))
        self.calls = []
        self.terminated = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.target = f"127.0.0.1:{self.port}"
        self.connections = []

    def __enter__(self):
        self.accepting = threading.Thread(target=self.accept, daemon=True)
        self.accepting.start()
        return self

    def accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(Connection(self, sock))

    def serve(self, call):
        self.calls.append(call)
        try:
            if call.method == TERMINATE:
                self.terminate(call)
                self.terminated.set()
            else:
                {PROFILE: self.plan, MONITOR: self.monitor}.get(call.method, lambda c: c.only_trailers(12))(call)
        except (OSError, h2.exceptions.ProtocolError):
            pass  # the client is gone

    def asked(self, method=PROFILE):
        return [c for c in self.calls if c.method == method]

    def __exit__(self, *_):
        self.terminated.set()
        # A thread that is about to accept would do so on whatever has the descriptor's number by then.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.accepting.join()
        self.listener.close()
        for connection in self.connections:
            connection.close()


def request(call):
    """{field: value} of a ProfileRequest, its options under "opts"."""
    assert call.message[:1] == b"\0" and int.from_bytes(call.message[1:5], "big") == len(call.message) - 5
    asked = dict(fields(call.message[5:]))
    asked["opts"] = dict(fields(asked.pop(4)))
    return asked
