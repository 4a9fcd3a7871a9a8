"""`view_profile mcp` with the official client (PyPI mcp): by the newest revision, and by the handshake of the older ones, it
lists the tools, reads a resource, and goes from findings to the verdict on two real runs; with npm's inspector where that is
installed."""
import asyncio
import json
import shutil
import subprocess
import sys
import time

import pytest
from conftest import ROOT, find_program
from mcp import Client, StdioServerParameters

sys.path.insert(0, str(ROOT / "tests"))
from traces import trace  # noqa: E402

A, B = "2026_11_21_06_34_00", "2026_11_21_06_34_02"


def with_client(talk, mode):
    async def run():
        server = StdioServerParameters(command=find_program(), args=["mcp", "--profile-dir", str(trace("jax_cpu/three_runs"))])
        async with Client(server, mode=mode) as client:
            return await talk(client)
    return asyncio.run(asyncio.wait_for(run(), 60))


async def asked(client, tool, **arguments):
    made = await client.call_tool(tool, arguments)
    (content,) = made.content
    assert not made.is_error and len(content.text.encode()) <= 4096
    return json.loads(content.text)


@pytest.mark.parametrize("mode, version", [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_from_findings_to_the_verdict(mode, version):
    async def talk(client):
        assert client.protocol_version == version and "data" in client.instructions
        tools = {t.name for t in (await client.list_tools()).tools}
        assert {"list_sessions", "findings", "compare", "range"} <= tools and "capture" not in tools
        after, before = [r[0] for r in (await asked(client, "list_sessions"))["rows"]]
        found = await asked(client, "findings", session=after)
        assert found["rows"] and found["command"].startswith("view_profile findings ")
        made = await asked(client, "compare", a=before, b=after)
        print("verdict:", made["verdict"], made["difference of the mean step ms"], "ms")
        return made
    made = with_client(talk, mode)
    assert made["verdict"] == "regression"
    assert made["difference of the mean step ms"] > made["noise threshold ms"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_resources(mode):
    async def talk(client):
        listed = (await client.list_resources()).resources
        uris = [str(r.uri) for r in listed]
        assert f"view-profile://findings/{B}" in uris and f"view-profile://top_ops/{A}" in uris
        assert len((await client.list_resource_templates()).resource_templates) == 2
        return [(await client.read_resource(u)).contents[0].text for u in uris]
    for text in with_client(talk, mode):
        assert json.loads(text)["rows"] and len(text.encode()) <= 16384


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_mistakes_are_told(mode):
    async def talk(client):
        wrong = await client.call_tool("top_ops", {"sesion": B})
        assert wrong.is_error and "unknown argument" in wrong.content[0].text
        with pytest.raises(Exception, match="unknown tool"):
            await client.call_tool("rm", {})
    with_client(talk, mode)


def test_the_inspector():
    inspector = shutil.which("mcp-inspector")
    if not inspector:
        pytest.skip("npm's @modelcontextprotocol/inspector is not installed")
    made = subprocess.run([inspector, "--cli", find_program(), "mcp", "--profile-dir", str(trace("jax_cpu/three_runs")),
                           "--method", "tools/list"], capture_output=True, text=True, timeout=120, check=True)
    assert "list_sessions" in made.stdout


def test_the_first_answer_comes_at_once():
    """Below 50 ms from the start of the program, the best of five: a machine with other work has slow ones, too."""
    best = 1e9
    for _ in range(5):
        start = time.monotonic()
        p = subprocess.Popen([find_program(), "mcp", "--profile-dir", str(trace("jax_cpu/three_runs"))], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
        p.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n')
        p.stdin.flush()
        assert b'"protocolVersion"' in p.stdout.readline()
        best = min(best, time.monotonic() - start)
        p.stdin.close()
        p.stdout.close()
        assert p.wait(10) == 0
    assert best < (0.5 if "asan" in find_program() else 0.05)
