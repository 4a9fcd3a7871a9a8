"""A bucket of runs for scripts/bench remote: its pages lie ready, so that what is measured is who asks for them.

    s3_pages.py RUNS MS     says its port, and ends with its standard input; each answer takes MS milliseconds"""
import re
import socket
import sys
import threading
import time

PAGE = 1000
ONE = '<Contents><Key>logs/plugins/profile/{}/host.xplane.pb</Key><LastModified>2023-11-14T22:13:20.000Z</LastModified>' \
      '<ETag>&quot;0123456789abcdef0123456789abcdef&quot;</ETag><Size>1000000</Size><StorageClass>STANDARD</StorageClass></Contents>'


def answer(text):
    return f'HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: {len(text)}\r\n\r\n{text}'.encode()


def run_name(i):
    return f'2026_01_{1 + i // 86400:02}_{i // 3600 % 24:02}_{i // 60 % 60:02}_{i % 60:02}'


def page(at, runs):
    more = f'<IsTruncated>true</IsTruncated><NextContinuationToken>{at + PAGE}</NextContinuationToken>' if at + PAGE < runs else ''
    return answer(f'<L>{more}' + ''.join(ONE.format(run_name(i)) for i in range(at, min(at + PAGE, runs))) + '</L>')


def level(name):
    return answer(f'<L><CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes></L>')


def serve(connection, pages, seconds):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection.makefile('rb') as lines:
        while line := lines.readline().decode():
            while lines.readline() != b'\r\n':
                pass
            time.sleep(seconds)
            token = re.search(r'continuation-token=(\d+)', line)
            if 'delimiter' in line:
                connection.sendall(level('logs/plugins/' if re.search('prefix=logs%2F[& ]', line) else 'logs/plugins/profile/'))
            else:
                connection.sendall(pages[int(token[1]) if token else 0])


def main():
    runs, seconds = int(sys.argv[1]), float(sys.argv[2]) / 1000
    pages = {at: page(at, runs) for at in range(0, runs, PAGE)}
    server = socket.create_server(('127.0.0.1', 0), backlog=64)
    print(server.getsockname()[1], flush=True)
    threading.Thread(target=lambda: [threading.Thread(target=serve, args=(server.accept()[0], pages, seconds), daemon=True).start()
                                     for _ in iter(int, 1)], daemon=True).start()
    sys.stdin.read()


main()
