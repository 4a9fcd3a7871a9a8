"""From an op's page to its source line in an editor: absolute paths as they are, relative ones below --source-root, and no
link for what leads out of it or to another machine."""
import html
import json
import re

from serving import Serving, refused

SOURCES = {"absolute": '/src/a b/"x".py:12', "relative": "model/layer.py:7", "out": "../../etc/passwd:1", "share": "//host/x.py:3"}


def links(place, *args):
    """{op: where its source leads, or None}"""
    events = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:TPU:0"}},
              {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "XLA Ops"}}]
    events += [{"ph": "X", "pid": 1, "tid": 2, "ts": 10 * i, "dur": 7, "name": name, "args": {"source": source}}
               for i, (name, source) in enumerate(SOURCES.items())]
    run = place.dir / "logs/plugins/profile/run"
    run.mkdir(parents=True)
    (run / "vm.trace.json").write_text(json.dumps({"traceEvents": events}))
    out = {}
    with Serving(place, "logs", "--port", "0", *args) as s:
        session, = json.loads(s.get("/api/v1/sessions")[2])["sessions"]
        at = f"/session/{session['id']}/"
        for link in set(re.findall(r'href="[^"]*(op\?[^"]*)"', s.get(at + "?tab=ops")[2])):
            page = s.get(at + html.unescape(link))[2]
            found = re.search(r'<a href="(vscode:[^"]*)"><code>([^<]*)</code></a>', page)
            name = re.search(r'<h1 class="code">([^<]*)</h1>', page).group(1)
            assert f"<code>{html.escape(SOURCES[name]).replace('&#x27;', '&#39;')}</code>" in page
            out[name] = found and found.group(1)
    assert out.keys() == SOURCES.keys()
    return out


def test_only_absolute_paths_lead_to_an_editor_without_a_root(place):
    assert links(place) == {"absolute": "vscode://file/src/a%20b/%22x%22.py:12", "relative": None, "out": None,
                            "share": None}


def test_relative_paths_lie_below_the_root(place):
    (place.dir / "my model").mkdir()
    root = str((place.dir / "my model").resolve()).replace(" ", "%20")
    found = links(place, "--source-root", "my model")
    assert found["relative"] == f"vscode://file{root}/model/layer.py:7"
    assert found["out"] is None and found["share"] is None and found["absolute"].startswith("vscode://file/src/")


def test_a_root_that_is_not_there(place):
    (place.dir / "logs").mkdir(exist_ok=True)
    code, said = refused(place, "logs", "--port", "0", "--source-root", "nowhere")
    assert code and "nowhere" in said and "--source-root" in said
