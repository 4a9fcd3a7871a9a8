"""Buckets of the three clouds as log directories, against stand-ins that check signatures by code of their own; real
servers are in tests/peers/test_store_servers.py. Credentials are found where each cloud's tools find them, and never
said."""
import base64
import email.utils
import hashlib
import hmac
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import fetching  # noqa: E402
from emulated import plain_program  # noqa: E402
from stores import BYTES, ETAG, MTIME, NAME, WHY, Store, serving  # noqa: E402

pytestmark = pytest.mark.skipif(not os.path.exists(fetching.program()), reason="SKIP: built without libcurl")
EIO, ENOTFOUND, EREFUSED = -3, -6, -8
MTIME_NS = 1_700_000_000 * 10**9
SECRET = "very/SECRET+key"


class Bucket:
    """Objects by name, and what was asked."""

    def __init__(self, objects=(), page=3):
        self.objects = dict(objects)
        self.page = page
        self.parts = {}
        self.asked = []
        self.lock = threading.Lock()

    def level(self, query, marker):
        """[(name, is a prefix)], the next marker."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
        names = []
        for name in sorted(self.objects):
            if name.startswith(prefix):
                cut = name.find(delimiter, len(prefix)) if delimiter else -1
                one = (name[:cut + 1], True) if cut >= 0 else (name, False)
                if not names or names[-1] != one:
                    names.append(one)
        begin = int(marker or 0)
        more = begin + self.page < len(names)
        return names[begin:begin + self.page], str(begin + self.page) if more else ""


def split(r):
    path, _, query = r.path.partition("?")
    return urllib.parse.unquote(path), dict(urllib.parse.parse_qsl(query, keep_blank_values=True))


def give(r, data, etag, **more):
    wanted = r.headers.get("If-Match")
    if wanted and wanted != etag:
        return r.answer(412)
    more |= {"ETag": etag, "Last_Modified": email.utils.formatdate(1_700_000_000, usegmt=True)}
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", r.headers.get("Range", ""))
    if not asked:
        return r.answer(200, data, **more)
    begin, end = int(asked[1]), min(int(asked[2] or len(data)), len(data) - 1)
    if begin >= len(data):
        return r.answer(416, Content_Range=f"bytes */{len(data)}")
    r.answer(206, data[begin:end + 1], Content_Range=f"bytes {begin}-{end}/{len(data)}", **more)


def sha(data):
    return hashlib.sha256(data).hexdigest()


# ---- S3 ----

def s3_is_signed(r, body, secret=SECRET, region="us-east-1"):
    """Signature Version 4 as AWS describes it."""
    said = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d+)/([^/]+)/s3/aws4_request, SignedHeaders=([^,]+), "
                        r"Signature=([0-9a-f]{64})", r.headers.get("Authorization", ""))
    if not said or said[3] != region or r.headers["x-amz-content-sha256"] != sha(body):
        return False
    path, _, query = r.path.partition("?")
    pairs = sorted(urllib.parse.parse_qsl(query, keep_blank_values=True))
    canonical = "\n".join([
        r.command, urllib.parse.quote(urllib.parse.unquote(path), "/-._~"),
        "&".join(urllib.parse.quote(k, "-._~") + "=" + urllib.parse.quote(v, "-._~") for k, v in pairs),
        *(f"{name}:{r.headers[name].strip()}" for name in said[4].split(";")), "", said[4], sha(body)])
    text = "\n".join(["AWS4-HMAC-SHA256", r.headers["x-amz-date"], f"{said[2]}/{region}/s3/aws4_request",
                      sha(canonical.encode())])
    key = ("AWS4" + secret).encode()
    for part in (said[2], region, "s3", "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex() == said[5]


def s3(bucket, signed=True, **how):
    def act(r):
        body = r.body()
        path, query = split(r)
        assert path.startswith("/bkt")
        key = path[5:]
        with bucket.lock:
            bucket.asked.append((r.command, key, query, dict(r.headers)))
            if signed and not s3_is_signed(r, body, **how):
                return r.answer(403, b"<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>")
            if "list-type" in query:
                return r.answer(200, s3_page(bucket, query), Content_Type="application/xml")
            s3_object(r, bucket, key, query, body)
    return {"*": act}


def s3_page(bucket, query):
    names, more = bucket.level(query, query.get("continuation-token"))
    out = "<?xml version='1.0'?><ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'><Prefix>x</Prefix>"
    out += "<EncodingType>url</EncodingType>" + f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>"
    out += f"<NextContinuationToken>{more}</NextContinuationToken>" if more else ""
    for name, is_prefix in names:
        coded = escape(urllib.parse.quote_plus(name, "/"))
        out += f"<CommonPrefixes><Prefix>{coded}</Prefix></CommonPrefixes>" if is_prefix else \
            f"<Contents><Key>{coded}</Key><LastModified>2023-11-14T22:13:20.000Z</LastModified><ETag>&quot;e&quot;</ETag>" \
            f"<Size>{len(bucket.objects[name])}</Size><Owner><ID>x</ID></Owner></Contents>"
    return (out + "</ListBucketResult>").encode()


def s3_object(r, bucket, key, query, body):
    if r.command == "PUT" and "partNumber" in query:
        bucket.parts[int(query["partNumber"])] = body
        return r.answer(200, ETag=f'"{query["partNumber"]}"')
    if r.command == "PUT":
        bucket.objects[key] = body
        return r.answer(200)
    if r.command == "POST" and "uploads" in query:
        return r.answer(200, b"<I><UploadId>up/load+1</UploadId></I>")
    if r.command == "POST":
        assert query["uploadId"] == "up/load+1"
        wanted = re.findall(r'<PartNumber>(\d+)</PartNumber><ETag>"(\d+)"</ETag>', body.decode())
        bucket.objects[key] = b"".join(bucket.parts[int(n)] for n, _ in wanted)
        return r.answer(200, b"<R/>")
    if r.command == "DELETE":
        bucket.parts.clear()
        return r.answer(204)
    if key not in bucket.objects:
        return r.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
    give(r, bucket.objects[key], '"e"')


def aws(url, **more):
    return {"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": SECRET} | more


# ---- GCS ----

def gcs(bucket, token):
    def act(r):
        body = r.body()
        path, query = split(r)
        raw = r.path.partition("?")[0]
        with bucket.lock:
            bucket.asked.append((r.command, path, query, dict(r.headers)))
            if r.headers.get("Authorization") != (token and f"Bearer {token}") and "upload_id" not in query:
                return r.answer(401, b'{"error": {"message": "Invalid Credentials"}}')
            if raw.startswith("/upload/"):
                return gcs_upload(r, bucket, query, body)
            if raw == "/storage/v1/b/bkt/o":
                return r.answer(200, gcs_page(bucket, query), Content_Type="application/json")
            key = urllib.parse.unquote(raw.rpartition("/o/")[2])
            if key not in bucket.objects:
                return r.answer(404, b'{"error": {"message": "No such object"}}')
            if raw.startswith("/download/"):
                if query.get("ifGenerationMatch", "7") != "7":
                    return r.answer(412)
                return give(r, bucket.objects[key], '"x"', x_goog_generation="7")
            r.answer(200, json.dumps({"size": str(len(bucket.objects[key])), "updated": "2023-11-14T22:13:20Z",
                                      "generation": "7"}).encode())
    return {"*": act}


def gcs_page(bucket, query):
    names, more = bucket.level(query, query.get("pageToken"))
    page = {"items": [{"name": n, "size": str(len(bucket.objects[n])), "updated": "2023-11-14T22:13:20Z", "generation": "7"}
                      for n, is_prefix in names if not is_prefix], "prefixes": [n for n, is_prefix in names if is_prefix]}
    return json.dumps(page | ({"nextPageToken": more} if more else {})).encode()


def gcs_upload(r, bucket, query, body):
    if query.get("uploadType") == "media":
        bucket.objects[query["name"]] = body
        return r.answer(200, b"{}")
    if query.get("uploadType") == "resumable" and "upload_id" not in query:
        bucket.parts = {"name": query["name"], "data": b""}
        return r.answer(200, b"", Location=f"http://{r.headers['Host']}/upload/x?upload_id=1")
    if r.command == "DELETE":
        bucket.parts.clear()
        return r.answer(499)
    begin, _, total = re.fullmatch(r"bytes (\d+|\*)(?:-(\d+))?/(\d+|\*)", r.headers["Content-Range"]).groups()
    assert begin in ("*", str(len(bucket.parts["data"])))
    bucket.parts["data"] += body
    if total == "*":
        assert len(body) % (256 << 10) == 0
        return r.answer(308)
    assert int(total) == len(bucket.parts["data"])
    bucket.objects[bucket.parts["name"]] = bucket.parts["data"]
    r.answer(200, b"{}")


def google(url, **more):
    return {"CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE": url + "/storage/v1/", "CLOUDSDK_AUTH_ACCESS_TOKEN": SECRET} | more


# ---- Azure ----

KEY = base64.b64encode(SECRET.encode()).decode()


def azure_is_signed(r, body):
    path, _, query = r.path.partition("?")
    h = r.headers
    own = sorted((n.lower(), v) for n, v in h.items() if n.lower().startswith("x-ms-"))
    text = "\n".join([r.command, "", "", str(len(body)) if body else "", "", h.get("Content-Type", ""), "", "",
                      h.get("If-Match", ""), "", "", h.get("Range", ""), *(f"{n}:{v}" for n, v in own), "/acc" + path,
                      *(f"{k}:{v}" for k, v in sorted(urllib.parse.parse_qsl(query, keep_blank_values=True)))])
    mine = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
    return h.get("Authorization") == f"SharedKey acc:{mine}"


def azure(bucket, may=azure_is_signed):
    def act(r):
        body = r.body()
        path, query = split(r)
        assert path.startswith("/bkt")
        key = path[5:]
        with bucket.lock:
            bucket.asked.append((r.command, key, query, dict(r.headers)))
            if not may(r, body):
                return r.answer(403, b"<Error><Code>AuthenticationFailed</Code><Message>no</Message></Error>")
            if query.get("comp") == "list":
                return r.answer(200, azure_page(bucket, query))
            if r.command == "PUT":
                return azure_put(r, bucket, key, query, body)
            if key not in bucket.objects:
                return r.answer(404)
            give(r, bucket.objects[key], '"e"')
    return {"*": act}


def azure_page(bucket, query):
    names, more = bucket.level(query, query.get("marker"))
    out = '\ufeff<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="x"><Prefix>p</Prefix><Blobs>'
    for name, is_prefix in names:
        # What XML cannot hold is encoded, as the service does it since 2021-02-12.
        coded = f'<Name Encoded="true">{urllib.parse.quote(name)}</Name>' if re.search("[^\t -\uffff]|%", name) else \
            f"<Name>{escape(name)}</Name>"
        out += f"<BlobPrefix>{coded}</BlobPrefix>" if is_prefix else \
            f"<Blob>{coded}<Properties><Last-Modified>Tue, 14 Nov 2023 22:13:20 GMT</Last-Modified>" \
            f"<Etag>e</Etag><Content-Length>{len(bucket.objects[name])}</Content-Length></Properties></Blob>"
    return (out + f"</Blobs><NextMarker>{more}</NextMarker></EnumerationResults>").encode()


def azure_put(r, bucket, key, query, body):
    if query.get("comp") == "block":
        bucket.parts[query["blockid"]] = body
    elif query.get("comp") == "blocklist":
        bucket.objects[key] = b"".join(bucket.parts[i] for i in re.findall("<Latest>(.*?)</Latest>", body.decode()))
    else:
        assert r.headers["x-ms-blob-type"] == "BlockBlob"
        bucket.objects[key] = body
    r.answer(201)


def microsoft(url, **more):
    return {"AZURE_STORAGE_ACCOUNT": "acc", "AZURE_STORAGE_KEY": KEY, "AZURE_STORAGE_ENDPOINT": url} | more


CLOUDS = {"s3": (s3, aws), "gs": (lambda b: gcs(b, SECRET), google), "az": (azure, microsoft)}
OBJECTS = {"logs/plugins/profile/run 1/a.xplane.pb": random.Random(1).randbytes(700_000), "logs/r+ü&=%41/x'y": b"12",
           "logs/top": b"", "logs/dir/": b"", "logs2/no": b"1", "logs/": b"", "first": b"1", "logs/z": b"zz"}


@pytest.fixture(params=CLOUDS)
def cloud(request):
    """(scheme, its bucket, a store that may read it)"""
    serve, env = CLOUDS[request.param]
    bucket = Bucket(OBJECTS)
    with serving(serve(bucket)) as url, Store(**env(url)) as store:
        yield f"{request.param}://bkt", bucket, store


def test_listings(cloud):
    """Over several pages."""
    url, bucket, store = cloud
    assert store.names(url) == ["first", "logs/", "logs2/"]
    assert store.names(url + "/logs") == ["dir/", "plugins/", "r+ü&=%41/", "top", "z"]
    assert store.names(url + "/logs/", flat=True) == ["dir/", "plugins/profile/run 1/a.xplane.pb", "r+ü&=%41/x'y", "top", "z"]
    one = store.list(url + "/logs", flat=True)[0]["plugins/profile/run 1/a.xplane.pb"]
    assert (one[BYTES], one[MTIME]) == (700_000, MTIME_NS)
    assert store.head(url + "/logs/plugins/profile/run 1/a.xplane.pb")[ETAG] == one[ETAG]
    assert len(bucket.asked) > 5


def test_what_is_not_there(cloud):
    url, _, store = cloud
    assert store.list(url + "/none")[2][0] == ENOTFOUND
    assert store.head(url + "/none")[0] == ENOTFOUND
    assert store.read(url + "/none")[2][0] == ENOTFOUND
    assert store.head(url)[0] == ENOTFOUND or url == "s3://bkt"


@pytest.mark.parametrize("offset,length", [(0, None), (0, 1), (699_999, 5), (700_000, 1), (5, 300_000)])
def test_reads(cloud, offset, length):
    url, bucket, store = cloud
    name = "logs/plugins/profile/run 1/a.xplane.pb"
    fields = {"offset": offset} | ({} if length is None else {"length": length})
    data, info, failure = store.read(f"{url}/{name}", **fields)
    assert failure is None and info[BYTES] == 700_000 and data == OBJECTS[name][offset:][:length]
    etag = store.head(f"{url}/{name}")[ETAG]
    assert store.read(f"{url}/{name}", etag=etag, **fields)[0] == data
    if offset < 700_000:
        assert info[ETAG] == etag
        assert store.read(f"{url}/{name}", etag=b'"8"' if b'"' in etag else b"8", **fields)[2][0] == EIO
    assert store.read(f"{url}/logs/r+ü&=%41/x'y")[0] == b"12"


@pytest.mark.parametrize("size,known", [(0, True), (100, True), (9_000_000, False), (20_000_001, True), (16 << 20, False)])
def test_writes(cloud, size, known):
    url, bucket, store = cloud
    data = random.Random(size).randbytes(size)
    assert store.write(url + "/new/ü +1", data, known) is None
    assert sha(bucket.objects["new/ü +1"]) == sha(data)


def test_what_is_not_ended_is_not_written(cloud):
    url, bucket, store = cloud
    store.write(url + "/half", b"x" * 20_000_000, known=False, ends=False)
    store.write(url + "/small", b"x", known=False, ends=False)
    for _ in range(100):
        if url.startswith("az") or (bucket.asked and bucket.asked[-1][0] == "DELETE"):
            break
        time.sleep(0.05)
    time.sleep(0.2)
    assert not {"half", "small"} & set(bucket.objects) and (not bucket.parts or url.startswith("az"))


@pytest.mark.parametrize("name", ["", "/", "a//b", "a/../b", "a/", "a\nb"])
def test_names_that_are_not_written(cloud, name):
    url, bucket, store = cloud
    before = dict(bucket.objects)
    assert store.write(f"{url}/{name}", b"x")[0] == -2 and bucket.objects == before


def test_other_credentials_are_refused(cloud):
    """And nothing secret is said."""
    url, bucket, _ = cloud
    serve, env = CLOUDS[url[:2]]
    with serving(serve(bucket)) as at:
        other = {"AWS_SECRET_ACCESS_KEY": "hidden", "CLOUDSDK_AUTH_ACCESS_TOKEN": "hidden", "AZURE_STORAGE_KEY": "aGlk"}
        with Store(**env(at) | other) as store:
            code, message, status = store.list(url)[2]
    assert code == EREFUSED and status in (401, 403)
    assert "hidden" not in message and "aGlk" not in message and "\n" not in message


def test_unsigned(cloud):
    url, bucket, _ = cloud
    serve, env = CLOUDS[url[:2]]
    public = {"s3": lambda: s3(bucket, signed=False), "gs": lambda: gcs(bucket, None),
              "az": lambda: azure(bucket, lambda r, b: "Authorization" not in r.headers)}[url[:2]]
    with serving(public()) as at, Store(**env(at)) as store:
        bucket.asked.clear()
        assert store.names(url, unsigned=True) == ["first", "logs/", "logs2/"]
        assert store.read(url + "/first", unsigned=True)[0] == b"1"
        assert not any("Authorization" in headers for _, _, _, headers in bucket.asked)


def test_a_clock_that_is_wrong(cloud):
    url, _, _ = cloud
    _, env = CLOUDS[url[:2]]

    def act(r):
        r.body()
        r.send_response_only(403)
        body = b"<Error><Code>RequestTimeTooSkewed</Code><Message>x</Message></Error>" if url.startswith("s3") else b""
        r.send_header("Date", email.utils.formatdate(time.time() - 1200, usegmt=True))
        r.send_header("Content-Length", str(len(body)))
        r.end_headers()
        r.wfile.write(body)
    with serving({"*": act}) as at, Store(**env(at)) as store:
        assert store.list(url)[2][:2] == (EREFUSED, "the clock of this machine is 20 minutes ahead of the server's; set it")


def test_what_passes_is_tried_again(cloud):
    url, bucket, _ = cloud
    serve, env = CLOUDS[url[:2]]
    real, tries = serve(bucket)["*"], []

    def act(r):
        tries.append(r.command)
        if len(tries) % 2:
            r.body()
            return r.answer(503 if len(tries) % 4 == 1 else 429)
        real(r)
    with serving({"*": act}) as at, Store(**env(at)) as store:
        assert store.names(url) == ["first", "logs/", "logs2/"]
        data = random.Random(4).randbytes(9_000_000)
        assert store.write(url + "/n", data) is None and bucket.objects["n"] == data


def test_names_that_lead_elsewhere(cloud):
    url, bucket, store = cloud
    bucket.page = 100
    bad = ["l/../x", "l//y", "l/./z", "l/a/..", "l/" + "n" * 1100, "l/a\nb", "l/\x1b[1m"]
    bucket.objects = {name: b"1" for name in [*bad, "l/fine"]}
    got, why, failure = store.list(url + "/l", flat=True)
    assert failure is None and set(got) == {"fine"} and why.startswith(f"{len(bad)} names were skipped")


@pytest.mark.parametrize("page", [b"", b"<ListBucketResult><Contents>", b"{\"items\": [", b"\xff" * 100, b"<a/>" + b"x"])
def test_listings_that_are_none(cloud, page):
    url, _, _ = cloud
    _, env = CLOUDS[url[:2]]
    with serving({"*": lambda r: r.answer(200, page)}) as at, Store(**env(at)) as store:
        code, message, _ = store.list(url)[2]
        assert code < 0 and "listing" in message


def resident(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1])


@pytest.mark.needs_release
def test_a_million_keys_need_no_memory():
    """Entries leave as they come: of 200,000 here, which is 60 MB of XML, and of all of a million with VP_SLOW=1."""
    n, page = 10**6 if os.environ.get("VP_SLOW") == "1" else 200_000, 1000
    one = "<Contents><Key>runs/plugins/profile/2026_01_01_00_00_00/%07d.xplane.pb</Key><LastModified>2023-11-14T22:13:20.000Z" \
          "</LastModified><ETag>&quot;0123456789abcdef0123456789abcdef&quot;</ETag><Size>1</Size></Contents>"

    def act(r):
        at = int(split(r)[1].get("continuation-token", 0))
        more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{at + page}</NextContinuationToken>"
        r.answer(200, ("<L>" + (more if at + page < n else "") + "".join(one % i for i in range(at, at + page)) + "</L>").encode())
    plain = plain_program().with_name("view_profile-fetch")
    with serving({"*": act}) as url, Store(plain, **aws(url)) as store:
        assert len(store.list("s3://bkt/runs", flat=True)[0]) == n
        assert resident(store.fetcher.child.pid) < 40_000


# ---- Where credentials are found ----

def test_aws_files(tmp_path):
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/credentials").write_text(
        f"[default]\naws_access_key_id = no\naws_secret_access_key=no\n[other]\n# x\naws_access_key_id=AK\naws_secret_access_key = {SECRET}\n")
    with serving(s3(Bucket(OBJECTS), region="eu-west-9")) as url:
        (tmp_path / ".aws/config").write_text(
            f"[profile other]\nregion = eu-west-9\nendpoint_url = {url}\ns3 =\n  region = no\n[default]\nregion=x\n")
        with Store(HOME=str(tmp_path), AWS_PROFILE="other") as store:
            assert store.read("s3://bkt/first")[0] == b"1"
        with Store(HOME=str(tmp_path), AWS_ENDPOINT_URL=url) as store:
            assert store.read("s3://bkt/first")[2][0] == EREFUSED


@pytest.mark.parametrize("profile,words", [
    ("credential_process = /bin/touch {ran}", "a program (credential_process)"),
    ("sso_session = corp\nsso_account_id = 1", "SSO (sso_session)"), ("sso_start_url = https://x", "SSO (sso_start_url)"),
    ("role_arn = arn:x\nsource_profile = base", "an assumed role (role_arn)"),
    ("role_arn = arn:x\nsource_profile = own\naws_access_key_id = AK\naws_secret_access_key = hidden", "an assumed role (role_arn)")])
def test_aws_ways_that_are_not_ours(tmp_path, profile, words):
    """Said with what to do instead; what is then handed over in the environment is used."""
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/config").write_text(f"[profile own]\n{profile.format(ran=tmp_path / 'ran')}\n")
    env = {"HOME": str(tmp_path), "AWS_PROFILE": "own"}
    with serving(s3(Bucket(OBJECTS))) as url:
        with Store(AWS_ENDPOINT_URL=url, **env) as store:
            code, message, _ = store.read("s3://bkt/first")[2]
        assert code == EREFUSED and message.startswith(f"the profile own needs {words}, which is not supported")
        assert "aws configure export-credentials" in message and "hidden" not in message
        assert sources(**env)[f"s3:// (the profile needs {words}; see docs/stores.md)"] == ""
        with Store(**aws(url), **env) as store:
            assert store.read("s3://bkt/first")[0] == b"1"
    assert not (tmp_path / "ran").exists()


def sts(r, body):
    form = dict(urllib.parse.parse_qsl(body.decode()))
    assert form["WebIdentityToken"] == "a.b.c" and form["RoleArn"] == "arn:x" and "Authorization" not in r.headers
    r.answer(200, f"<R><Credentials><AccessKeyId>AK</AccessKeyId><SecretAccessKey>{SECRET}</SecretAccessKey><SessionToken>tok"
                  "</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></R>".encode())


def granted(until="2099-01-01T00:00:00Z"):
    return json.dumps({"Code": "Success", "AccessKeyId": "AK", "SecretAccessKey": SECRET, "Token": "tok",
                       "Expiration": until}).encode()


def token_is_sent(bucket):
    return all(headers["x-amz-security-token"] == "tok" for _, _, _, headers in bucket.asked)


def test_aws_web_identity(tmp_path):
    (tmp_path / "token").write_text("a.b.c\n")
    bucket = Bucket(OBJECTS)
    with serving({"POST": lambda r: sts(r, r.body())}) as at, serving(s3(bucket)) as url, \
            Store(AWS_ENDPOINT_URL=url, AWS_ENDPOINT_URL_STS=at, AWS_ROLE_ARN="arn:x",
                  AWS_WEB_IDENTITY_TOKEN_FILE=str(tmp_path / "token")) as store:
        assert store.read("s3://bkt/first")[0] == b"1" and token_is_sent(bucket)


def test_aws_container():
    bucket, asked = Bucket(OBJECTS), []
    with serving({"GET": lambda r: (asked.append(r.headers["Authorization"]), r.answer(200, granted()))}) as at, \
            serving(s3(bucket)) as url, Store(AWS_ENDPOINT_URL=url, AWS_CONTAINER_CREDENTIALS_FULL_URI=at + "/c",
                                              AWS_CONTAINER_AUTHORIZATION_TOKEN="auth") as store:
        assert store.read("s3://bkt/first")[0] == b"1" and store.read("s3://bkt/first")[0] == b"1"
    assert asked == ["auth"]  # once


@pytest.mark.parametrize("until,times", [("2099-01-01T00:00:00Z", 1), ("2020-01-01T00:00:00Z", 2)])
def test_aws_instance(until, times):
    """Version 2: with a token first; and anew when they have ended."""
    bucket, asked = Bucket(OBJECTS), []

    def act(r):
        asked.append((r.command, r.path))
        if r.command == "PUT":
            return r.answer(200, b"imds" if r.headers["X-aws-ec2-metadata-token-ttl-seconds"] else b"")
        if r.headers["X-aws-ec2-metadata-token"] != "imds":
            return r.answer(401)
        r.answer(200, b"role\n" if r.path.endswith("/") else granted(until))
    with serving({"*": act}) as at, serving(s3(bucket)) as url, \
            Store(AWS_ENDPOINT_URL=url, AWS_EC2_METADATA_SERVICE_ENDPOINT=at, AWS_EC2_METADATA_DISABLED="false") as store:
        assert store.read("s3://bkt/first")[0] == b"1" and store.read("s3://bkt/first")[0] == b"1"
    assert [command for command, _ in asked] == ["PUT", "GET", "GET"] * times and token_is_sent(bucket)


def test_no_credentials():
    with serving(s3(Bucket())) as url, Store(AWS_ENDPOINT_URL=url, CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE=url,
                                             GCE_METADATA_HOST="127.0.0.1:9", AZURE_STORAGE_ENDPOINT=url,
                                             AZURE_POD_IDENTITY_AUTHORITY_HOST="http://127.0.0.1:9") as store:
        for at in ("s3://bkt/x", "gs://bkt/x", "az://acc/bkt/x"):
            code, message, _ = store.read(at)[2]
            assert code == EREFUSED and "--no-sign-request" in message


def test_google_service_account(tmp_path):
    """The assertion is verified by OpenSSL's own program."""
    key = tmp_path / "key"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    subprocess.run(["openssl", "rsa", "-in", key, "-pubout", "-out", tmp_path / "pub"], check=True, capture_output=True)
    asked = []

    def act(r):
        form = dict(urllib.parse.parse_qsl(r.body().decode()))
        head, claims, signature = form["assertion"].split(".")
        (tmp_path / "text").write_text(f"{head}.{claims}")
        (tmp_path / "sig").write_bytes(base64.urlsafe_b64decode(signature + "=="))
        subprocess.run(["openssl", "dgst", "-sha256", "-verify", tmp_path / "pub", "-signature", tmp_path / "sig",
                        tmp_path / "text"], check=True, capture_output=True)
        asked.append((form["grant_type"], json.loads(base64.urlsafe_b64decode(head + "==")),
                      json.loads(base64.urlsafe_b64decode(claims + "=="))))
        r.answer(200, json.dumps({"access_token": SECRET, "expires_in": 3600}).encode())
    with serving({"POST": act}) as at, serving(gcs(Bucket(OBJECTS), SECRET)) as url:
        (tmp_path / "sa.json").write_text(json.dumps(
            {"type": "service_account", "client_email": "me@x", "private_key": key.read_text(), "private_key_id": "kid",
             "token_uri": at + "/token"}))
        with Store(CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE=url, GOOGLE_APPLICATION_CREDENTIALS=str(tmp_path / "sa.json")) as store:
            assert store.read("gs://bkt/first")[0] == b"1" and store.read("gs://bkt/logs/z")[0] == b"zz"
    (grant, head, claims), = asked
    assert grant == "urn:ietf:params:oauth:grant-type:jwt-bearer" and head == {"alg": "RS256", "typ": "JWT", "kid": "kid"}
    assert claims["iss"] == "me@x" and claims["aud"] == at + "/token" and claims["exp"] - claims["iat"] == 3600


def test_google_user(tmp_path):
    asked = []
    with serving({"POST": lambda r: (asked.append(dict(urllib.parse.parse_qsl(r.body().decode()))),
                                     r.answer(200, json.dumps({"access_token": SECRET, "expires_in": 3600}).encode()))}) as at, \
            serving(gcs(Bucket(OBJECTS), SECRET)) as url:
        (tmp_path / "application_default_credentials.json").write_text(json.dumps(
            {"type": "authorized_user", "client_id": "i", "client_secret": "s&", "refresh_token": "r/", "token_uri": at}))
        with Store(CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE=url, CLOUDSDK_CONFIG=str(tmp_path)) as store:
            assert store.read("gs://bkt/first")[0] == b"1"
    assert asked == [{"grant_type": "refresh_token", "client_id": "i", "client_secret": "s&", "refresh_token": "r/"}]


def test_google_credentials_that_were_withdrawn(tmp_path):
    with serving({"POST": lambda r: (r.body(), r.answer(400, b'{"error": "invalid_grant", "error_description": "Bad"}'))}) as at:
        (tmp_path / "f").write_text(json.dumps({"type": "authorized_user", "refresh_token": "hidden", "token_uri": at}))
        with Store(GOOGLE_APPLICATION_CREDENTIALS=str(tmp_path / "f")) as store:
            code, message, _ = store.read("gs://bkt/x")[2]
    assert code == EREFUSED and "expired or were revoked" in message and "hidden" not in message


@pytest.mark.parametrize("text", ["", "{", "[]", '{"type": "external_account"}', '{"type": "service_account"}',
                                  '{"type": "service_account", "private_key": "x", "client_email": 5}'])
def test_google_files_that_are_none(tmp_path, text):
    (tmp_path / "f").write_text(text)
    with Store(GOOGLE_APPLICATION_CREDENTIALS=str(tmp_path / "f")) as store:
        code, message, _ = store.read("gs://bkt/x")[2]
        assert code in (EREFUSED, -2) and message


def test_google_metadata():
    with serving({"GET": lambda r: r.answer(200 if r.headers["Metadata-Flavor"] == "Google" else 403, json.dumps(
            {"access_token": SECRET, "expires_in": 3000}).encode())}) as at, serving(gcs(Bucket(OBJECTS), SECRET)) as url, \
            Store(CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE=url, GCE_METADATA_HOST=at[7:]) as store:
        assert store.read("gs://bkt/first")[0] == b"1"


def bearer(r, _):
    return r.headers.get("Authorization") == f"Bearer {SECRET}"


def test_azure_managed_identity():
    with serving({"GET": lambda r: r.answer(200 if r.headers["Metadata"] == "true" else 400, json.dumps(
            {"access_token": SECRET, "expires_in": "3000"}).encode())}) as at, \
            serving(azure(Bucket(OBJECTS), bearer)) as url, \
            Store(AZURE_STORAGE_ACCOUNT="acc", AZURE_STORAGE_ENDPOINT=url, AZURE_POD_IDENTITY_AUTHORITY_HOST=at) as store:
        assert store.read("az://bkt/first")[0] == b"1"


def test_azure_workload_identity(tmp_path):
    (tmp_path / "token").write_text("fed")
    asked = []
    with serving({"POST": lambda r: (asked.append((r.path, dict(urllib.parse.parse_qsl(r.body().decode())))),
                                     r.answer(200, json.dumps({"access_token": SECRET, "expires_in": 3000}).encode()))}) as at, \
            serving(azure(Bucket(OBJECTS), bearer)) as url, \
            Store(AZURE_STORAGE_ACCOUNT="acc", AZURE_STORAGE_ENDPOINT=url, AZURE_CLIENT_ID="c", AZURE_TENANT_ID="t",
                  AZURE_FEDERATED_TOKEN_FILE=str(tmp_path / "token"), AZURE_AUTHORITY_HOST=at + "/") as store:
        assert store.read("az://bkt/first")[0] == b"1"
    assert asked[0][0] == "/t/oauth2/v2.0/token" and asked[0][1]["client_assertion"] == "fed"


def test_azure_sas():
    seen = []
    with serving(azure(Bucket(OBJECTS), lambda r, b: seen.append(split(r)[1]) or "Authorization" not in r.headers)) as url:
        env = {"AZURE_STORAGE_CONNECTION_STRING":
               f"BlobEndpoint={url}/;SharedAccessSignature=sv=1&se=2099-01-01T00%3A00%3A00Z&sig=a%2Bb=="}
        with Store(**env) as store:
            assert store.read("az://acc/bkt/first")[2] is None
        assert all(query["sig"] == "a+b==" for query in seen)
        env["AZURE_STORAGE_CONNECTION_STRING"] = env["AZURE_STORAGE_CONNECTION_STRING"].replace("2099", "2020")
        with Store(**env) as store:
            assert store.read("az://acc/bkt/first")[2][:2] == (EREFUSED, "the SAS token has expired; create a new one")


@pytest.mark.parametrize("url", ["abfss://c@evil.example/x", "abfss://c@acc.dfs.core.windows.net.evil.example/x", "abfss://c/x",
                                 "az://", "az://Ev.il/c/x", "s3://", "gs:///x", "az://a%2f@evil/c/x"])
def test_addresses_that_are_none(url):
    """A token is never sent where the address's writer wants it."""
    with Store(AZURE_STORAGE_SAS_TOKEN="sig=hidden") as store:
        code, message, _ = store.read(url)[2]
        assert code == -2 and "hidden" not in message


def sources(**env):
    with Store(**env) as store:
        got, failure = store.ask(fetching.STORES, "")
    assert failure is None
    out = [dict(fetching.fields(one)) for kind, payload in got for _, one in fetching.fields(payload)]
    return {one[NAME].decode(): one.get(WHY, b"").decode() for one in out}


def test_what_doctor_is_told(tmp_path):
    assert sources() == {"s3://": "", "gs://": "", "az://": ""}
    (tmp_path / "f").write_text('{"type": "authorized_user", "refresh_token": "hidden"}')
    assert sources(AWS_ACCESS_KEY_ID="hidden", AWS_SECRET_ACCESS_KEY="hidden", AZURE_STORAGE_KEY="hidden",
                   GOOGLE_APPLICATION_CREDENTIALS=str(tmp_path / "f")) == {
        "s3://": "the environment", "gs://": "a user's file", "az://": "an account's key"}
