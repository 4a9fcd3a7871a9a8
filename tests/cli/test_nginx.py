"""examples/nginx/view_profile.conf, run by the installed nginx with a self-signed certificate in front of `view_profile serve`."""
import base64
import html
import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.parse

import pytest
from conftest import ROOT
from serving import Serving, make_runs

NAME = "profiles.example.org"
TOKEN = "0123456789abcdef0123456789abcdef"
CONF = ROOT / "examples" / "nginx" / "view_profile.conf"
MAIN = """
daemon off;
master_process off;
pid {dir}/pid;
error_log stderr crit;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    include {dir}/view_profile.conf;
}}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


class Nginx:
    """The file as it is, but for ports and paths."""

    def __init__(self, directory, backend):
        self.dir, self.port, self.plain = directory, free_port(), free_port()
        self.certificate = directory / "profiles.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={NAME}", "-addext",
                        f"subjectAltName=DNS:{NAME}", "-keyout", directory / "profiles.key", "-out", self.certificate],
                       check=True, capture_output=True)
        (directory / "view_profile.users").write_text("ann:{PLAIN}secret\n")
        (directory / "view_profile.token").write_text(f'proxy_set_header Authorization "Bearer {TOKEN}";\n')
        text = CONF.read_text()
        for was, now in (("listen 80;", f"listen 127.0.0.1:{self.plain};"), ("listen 443 ssl;", f"listen 127.0.0.1:{self.port} ssl;"),
                         ("/etc/nginx/tls/", f"{directory}/"), ("/etc/nginx/", f"{directory}/"),
                         ("http://127.0.0.1:9001;", f"http://127.0.0.1:{backend};")):
            assert was in text, was
            text = text.replace(was, now)
        (directory / "view_profile.conf").write_text(text)
        (directory / "nginx.conf").write_text(MAIN.format(dir=directory))
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        assert os.path.exists(program), "nginx is missing: scripts/setup --test installs it"
        self.process = subprocess.Popen([program, "-p", directory, "-c", directory / "nginx.conf"], stderr=subprocess.PIPE)
        for port in (self.port, self.plain):
            self.wait_for(port)

    def wait_for(self, port):
        for _ in range(500):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    return
            assert self.process.poll() is None, self.process.stderr.read().decode()
            time.sleep(0.02)
        raise AssertionError("nginx does not listen")

    def request(self, method, target, body=None, password="secret", **fields):
        """Over TLS, with the certificate checked."""
        context = ssl.create_default_context(cafile=self.certificate)
        connection = http.client.HTTPSConnection(NAME, self.port, context=context, timeout=30)
        connection._create_connection = lambda address, *rest: socket.create_connection(("127.0.0.1", self.port), *rest)
        headers = {"Host": NAME, **{name.replace("_", "-"): value for name, value in fields.items()}}
        if password:
            headers["Authorization"] = "Basic " + base64.b64encode(f"ann:{password}".encode()).decode()
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def stop(self):
        self.process.terminate()
        self.process.communicate()


@pytest.fixture
def front(place, tmp_path):
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    options = re.search(r"--ui perfetto --port 9001 --path-prefix /profiles \\\n# +--allow-host (\S+) --token-file", CONF.read_text())
    assert options[1] == NAME
    with Serving(place, "--ui", "perfetto", "--port", 0, "--path-prefix", "/profiles", "--allow-host", NAME, "--token-file", token,
                 "--profile-dir", make_runs(place.dir / "runs", 2), env={"VIEW_PROFILE_TOKEN": ""}) as server:
        directory = tmp_path / "nginx"
        directory.mkdir()
        nginx = Nginx(directory, server.port)
        nginx.server = server
        yield nginx
        nginx.stop()


def test_pages_and_traces_come_through(front):
    status, headers, body = front.request("GET", "/profiles/")
    page = body.decode()
    assert status == 200 and "default-src" in headers["Content-Security-Policy"] and "2026_01_01" in page
    found = {urllib.parse.urljoin("/profiles/", html.unescape(link)) for link in re.findall(r'\s(?:href|src)="([^"#]+)"', page)}
    links = {link for link in found if "/session/" in link or "/static/" in link}
    assert len(links) >= 3
    for link in links:
        assert front.request("GET", link)[0] == 200, link
    session = next(link for link in links if "/session/" in link).split("/session/")[1].split("/")[0]
    status, headers, body = front.request("GET", f"/profiles/trace/{session}/host.json")
    assert status == 200 and b"fusion.1" in body
    assert front.request("HEAD", f"/profiles/trace/{session}/host.json")[0] == 200


def test_only_who_signs_on_comes_in(front):
    assert front.request("GET", "/profiles/", password=None)[0] == 401
    assert front.request("GET", "/profiles/", password="wrong")[0] == 401
    assert front.request("GET", "/elsewhere")[0] == 404
    assert front.server.get("/profiles/")[0] == 401  # around the proxy, without the token


def test_changes_come_from_our_own_pages_only(front):
    def rescan(**fields):
        return front.request("POST", "/profiles/api/v1/rescan", "{}", Content_Type="application/json", **fields)[0]
    assert rescan(Origin=f"https://{NAME}") == 200
    assert rescan(Origin="https://evil.example") == 403


def test_without_tls_nginx_redirects(front):
    connection = http.client.HTTPConnection("127.0.0.1", front.plain, timeout=30)
    connection.request("GET", "/profiles/?n=5", headers={"Host": NAME})
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Location"]) == (301, f"https://{NAME}/profiles/?n=5")


def test_the_token_stays_behind_the_proxy(front):
    for target in ("/profiles/", "/profiles/api/v1/sessions", "/profiles/nothing"):
        _, headers, body = front.request("GET", target)
        assert TOKEN not in str(headers) and TOKEN.encode() not in body
