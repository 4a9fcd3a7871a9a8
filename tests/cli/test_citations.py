"""Every citation of docs/reference/ in the repository, and every link to a heading, resolves."""
import functools
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"

CITATION = re.compile(r"\bdocs/reference/([\w.-]+\.md)(?:#([\w-]*))?")
LINK = re.compile(r"\]\(([^()\s:#]*\.md)?#([^()\s]*)\)")
# A document and a section of it, "analysis.md A7" or "DESIGN 8", also across the break of a comment.
BLANK = r"(?:[ \t]+|[ \t]*\n[ \t]*(?:\* |# |// )?)"
OLD = re.compile(
    r"(?<![\w/-])(?:shared/)?(?:reference/)?"
    r"(?:(?:analysis|memory_mfu|xprof|jax_cpu|design2|DESIGN|perfetto|capture|quality|inputs|users|peers|links)"
    r"\.md,?" + BLANK + r"[\"§]?(?:[A-Z]?[0-9]|[A-F]\b)"
    r"|(?:memory_mfu|jax_cpu|design2|peers|DESIGN)\.md"
    r"|DESIGN" + BLANK + r"(?:§|[0-9]))")


@functools.lru_cache
def texts():
    """(path, text) of every tracked text file."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout
    out = []
    for name in filter(None, listed.decode().split("\0")):
        path = ROOT / name
        if path.is_symlink() or not path.is_file():
            continue
        try:
            out.append((name, path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return out


@functools.lru_cache
def anchors(page):
    """The headings of a page as GitHub writes them in a link."""
    body = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found = set()
    for heading in re.findall(r"^#{1,6} (.*?)\s*$", body, re.M):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = base = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        n = 0
        while slug in found:
            n += 1
            slug = f"{base}-{n}"
        found.add(slug)
    return found


def place(name, text, at):
    return f"{name}:{text.count(chr(10), 0, at) + 1}"


def unresolved(name, text):
    """Citations and links of one file that lead nowhere."""
    out = []
    for m in CITATION.finditer(text):
        page = REFERENCE / m[1]
        if not page.is_file() or (m[2] is not None and m[2] not in anchors(page)):
            out.append(f"{place(name, text, m.start())}: {m[0]}")
    if name.endswith(".md"):
        for m in LINK.finditer(text):
            page = (ROOT / name).parent / m[1] if m[1] else ROOT / name
            if not page.is_file() or m[2] not in anchors(page.resolve()):
                out.append(f"{place(name, text, m.start())}: {m[0][2:-1]}")
    return out


def of_old_documents(name, text):
    """Citations of documents that are not in the repository."""
    return [f"{place(name, text, m.start())}: {' '.join(m[0].split())}" for m in OLD.finditer(text)]


def others():
    """All files but this one, whose samples do not resolve."""
    return [(name, text) for name, text in texts() if name != "tests/cli/test_citations.py"]


def test_citations_resolve():
    cited = sum(len(CITATION.findall(text)) for _, text in others())
    assert cited > 200
    bad = [found for name, text in others() for found in unresolved(name, text)]
    assert not bad, "these lead nowhere:\n" + "\n".join(bad)


def test_no_citation_of_other_documents():
    bad = [found for name, text in others() for found in of_old_documents(name, text)]
    assert not bad, "cite docs/reference/NAME.md#heading instead of:\n" + "\n".join(bad)


@pytest.mark.parametrize("text", ["docs/reference/metrics.md#no-such-heading", "docs/reference/absent.md",
                                  "[x](docs/reference/metrics.md#no-such-heading)", "[x](#no-such-heading)"])
def test_a_broken_citation_is_found(text):
    assert unresolved("sample.md", text)


@pytest.mark.parametrize("text", ["(analysis.md A7)", "shared/reference/xprof.md 6.5", "/* analysis.md\n * 6.2.1 */",
                                  "DESIGN 8", "DESIGN §7", "design2.md C", "capture.md 3.4", 'peers.md "Links"'])
def test_a_citation_of_another_document_is_found(text):
    assert of_old_documents("sample.c", text)


def test_what_resolves_is_not_reported():
    text = "docs/reference/metrics.md#self-time, docs/reference/metrics.md [x](docs/reference/metrics.md#steps)"
    assert not unresolved("sample.md", text) and not of_old_documents("sample.md", text)
    assert not of_old_documents("sample.md", "[add-analysis.md](add-analysis.md) | 7")
