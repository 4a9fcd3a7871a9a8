"""Log directories on servers that others wrote: moto for S3, gcp-storage-emulator for Google, Azurite for Azure, and
nginx with WebDAV. The same tree is written, listed and read on each. Ceph's radosgw is no S3 server that a test starts by
itself: it wants a cluster under it. Zenko's cloudserver takes six of its parts from repositories, which no registry has. What
moto lacks as a store it has as a judge: it computes signatures by botocore, which is AWS's own."""
import base64
import contextlib
import datetime
import fcntl
import hashlib
import hmac
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from conftest import find_program  # noqa: E402

os.environ.setdefault("VIEW_PROFILE", find_program())
import fetching  # noqa: E402
from stores import BYTES, ETAG, Store  # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(fetching.program()), reason="SKIP: built without libcurl")
EIO, ENOTFOUND, EREFUSED = -3, -6, -8
AZURITE = "azurite@3.35.0"
# Published with the emulator.
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(argv, port, **env):
    with subprocess.Popen([str(a) for a in argv], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env={**os.environ, **env}) as process:
        try:
            for _ in range(600):
                assert process.poll() is None, f"{argv[0]} ended"
                with socket.socket() as s:
                    if s.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def script(name):
    beside = pathlib.Path(sys.executable).parent / name
    if not beside.exists():
        pytest.skip(f"SKIP: {name} is not installed: scripts/requirements-peers.txt")
    return beside


def make_user(url):
    """With a bucket, in four requests: the keys of one who may do all of S3."""
    import boto3  # comes with moto

    anybody = {"endpoint_url": url, "aws_access_key_id": "AK", "aws_secret_access_key": "SK", "region_name": "us-east-1"}
    iam = boto3.client("iam", **anybody)
    boto3.client("s3", **anybody).create_bucket(Bucket="bkt")
    iam.create_user(UserName="u")
    iam.put_user_policy(UserName="u", PolicyName="p", PolicyDocument=json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}))
    key = iam.create_access_key(UserName="u")["AccessKey"]
    return {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}


@contextlib.contextmanager
def moto(_):
    """Which looks at signatures, by botocore's code, after the first requests."""
    port = free_port()
    with running([script("moto_server"), "-H", "127.0.0.1", "-p", port], port, INITIAL_NO_AUTH_ACTION_COUNT="4") as url:
        yield "s3://bkt", {"AWS_ENDPOINT_URL": url} | make_user(url)


@contextlib.contextmanager
def google(_):
    port = free_port()
    with running([script("gcp-storage-emulator"), "start", "--host", "127.0.0.1", "--port", port, "--in-memory",
                  "--default-bucket", "bkt"], port) as url:
        yield "gs://bkt", {"STORAGE_EMULATOR_HOST": url}


def azurite_program():
    """Installed once, into the build directory: by one process, which others wait for."""
    at = ROOT / "build" / "azurite"
    program = at / "node_modules/.bin/azurite-blob"
    at.mkdir(parents=True, exist_ok=True)
    with open(at / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists() and shutil.which("npm"):
            subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(at), AZURITE], timeout=600)
    if not program.exists():
        pytest.skip("SKIP: Azurite could not be installed by npm")
    return program


def make_container(url):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
    text = "PUT" + "\n" * 12 + f"x-ms-date:{now}\nx-ms-version:2020-10-02\n/devstoreaccount1/devstoreaccount1/bkt\nrestype:container"
    signature = base64.b64encode(hmac.new(base64.b64decode(AZURE_KEY), text.encode(), hashlib.sha256).digest()).decode()
    urllib.request.urlopen(urllib.request.Request(url + "/devstoreaccount1/bkt?restype=container", method="PUT", headers={
        "x-ms-date": now, "x-ms-version": "2020-10-02", "Authorization": f"SharedKey devstoreaccount1:{signature}"})).close()


@contextlib.contextmanager
def azurite(_):
    port = free_port()
    with running([azurite_program(), "--blobHost", "127.0.0.1", "--blobPort", port, "--inMemoryPersistence", "--silent",
                  "--skipApiVersionCheck"], port) as url:
        make_container(url)
        yield "az://bkt", {"AZURE_STORAGE_CONNECTION_STRING": f"DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
                           f"AccountKey={AZURE_KEY};BlobEndpoint={url}/devstoreaccount1;"}


NGINX = """
{user} {load} daemon off; pid {at}/pid; error_log {at}/error.log; worker_processes 1; events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {at}/t1; proxy_temp_path {at}/t2; fastcgi_temp_path {at}/t3; uwsgi_temp_path {at}/t4;
  scgi_temp_path {at}/t5; server {{ listen 127.0.0.1:{port}; root {at}/www; client_max_body_size 0; {listing}
  dav_methods PUT DELETE MKCOL MOVE; }}
}}
"""
DAV = pathlib.Path(os.environ.get("VP_NGINX_DAV_EXT", "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"))


@contextlib.contextmanager
def nginx(at, dav):
    port = free_port()
    (at / "www/bkt").mkdir(parents=True)
    (at / "conf").write_text(NGINX.format(
        at=at, port=port, user="user root;" if os.geteuid() == 0 else "", load=f"load_module {DAV};" if dav else "",
        listing="dav_ext_methods PROPFIND OPTIONS;" if dav else "autoindex on;"))
    with running([shutil.which("nginx") or "/usr/sbin/nginx", "-p", at, "-c", at / "conf"], port) as url:
        yield url + "/bkt", {}


@contextlib.contextmanager
def webdav(at):
    if not DAV.exists():
        pytest.skip("SKIP: libnginx-mod-http-dav-ext is not installed")
    with nginx(at, True) as it:
        yield it


SERVERS = {"moto": moto, "google": google, "azurite": azurite, "webdav": webdav, "autoindex": lambda at: nginx(at, False)}
TREE = {"logs/plugins/profile/run 1/a.xplane.pb": 3_000_000, "logs/plugins/profile/r+ü&=%41/b.xplane.pb": 5,
        "logs/top.pb": 17, "logs/large": 20_000_000, "other": 1}


def content(name):
    return random.Random(name).randbytes(TREE[name])


@pytest.fixture(scope="module", params=SERVERS)
def server(request, tmp_path_factory):
    with SERVERS[request.param](tmp_path_factory.mktemp(request.param)) as (url, env), Store(**env) as store:
        for name in TREE:
            assert store.write(address(url, name), content(name), known=name != "logs/large") is None
        yield url, store, env


def address(url, name):
    return f"{url}/{urllib.parse.quote(name) if url.startswith('http') else name}"


def test_listings(server):
    url, store, _ = server
    assert store.names(url) == ["logs/", "other"]
    assert store.names(url + "/logs/") == ["large", "plugins/", "top.pb"]
    got, why, failure = store.list(url + "/logs", flat=True)
    assert (why, failure) == (None, None)
    assert {"logs/" + name: one[BYTES] for name, one in got.items()} == {k: v for k, v in TREE.items() if k != "other"}


def test_reads(server):
    url, store, _ = server
    for name in TREE:
        data, info, failure = store.read(address(url, name))
        assert failure is None and data == content(name) and info[BYTES] == len(data)
    for offset, length in ((0, 1), (1_000_000, 70_000), (2_999_999, 10), (3_000_000, 10)):
        data, _, failure = store.read(address(url, "logs/plugins/profile/run 1/a.xplane.pb"), offset=offset, length=length)
        assert failure is None and data == content("logs/plugins/profile/run 1/a.xplane.pb")[offset:offset + length]


def test_versions(server):
    url, store, env = server
    head = store.head(address(url, "logs/top.pb"))
    assert head[BYTES] == 17
    assert store.read(address(url, "logs/top.pb"), etag=head[ETAG])[0] == content("logs/top.pb")
    if "STORAGE_EMULATOR_HOST" not in env:  # which knows no preconditions
        assert store.read(address(url, "logs/top.pb"), etag=b'"1"')[2][0] == EIO


def test_what_is_not_there(server):
    url, store, _ = server
    assert store.list(url + "/none")[2][0] == ENOTFOUND
    assert store.head(url + "/none")[0] == ENOTFOUND


def test_what_is_not_ended_is_not_written(server):
    url, store, _ = server
    store.write(url + "/half", b"x" * 20_000_000, known=False, ends=False)
    time.sleep(1)
    assert store.head(url + "/half")[0] == ENOTFOUND


@pytest.mark.parametrize(("name", "wrong"), [
    ("azurite", lambda env: {k: v.replace("Eby8", "Ebz8") for k, v in env.items()}),
    ("moto", lambda env: env | {"AWS_SECRET_ACCESS_KEY": env["AWS_SECRET_ACCESS_KEY"][:-1] + "!"})], ids=["azurite", "moto"])
def test_another_key(name, wrong):
    """Of these servers those two check signatures."""
    with SERVERS[name](None) as (url, env), Store(**wrong(env)) as store:
        assert store.list(url)[2][0] == EREFUSED
