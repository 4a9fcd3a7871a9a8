"""The pages for readers: links resolve, lines and sentences have a limit, and the glossary is in order."""
import re

import pytest
from conftest import ROOT

GENERATED = {"findings.md"}
FRONT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
PAGES = [*FRONT, ROOT / "examples" / "README.md", *sorted((ROOT / "docs" / "develop").glob("*.md")), *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in GENERATED | {"architecture.md"})]


def text_of(page):
    """Without code, where brackets and number signs mean other things."""
    return re.sub(r"^( *)```.*?^\1```", "", page.read_text(), flags=re.M | re.S)


def anchors(page):
    """As GitHub makes them of headings."""
    plain = (re.sub(r"[`*]|\]\([^)]*\)|\[", "", title).lower() for title in re.findall(r"^#+ (.*)", text_of(page), re.M))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}


def links(page):
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text_of(page)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page):
    wrong = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        if re.match(r"https?://", link):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or anchor and anchor not in anchors(target):
            wrong.append(link)
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_wrap_at_100(page):
    """Tables, links and code may be wider."""
    prose = [line for line in text_of(page).splitlines() if not line.lstrip().startswith(("|", "[", "!["))]
    assert not [line for line in prose if len(line) > 100 and " " in line[100:] + " " and not line.startswith("`scripts/bench`")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_are_short(page):
    """At most 25 words, in paragraphs and lists."""
    text = re.sub(r"^ *(#|\||<!--).*", "", text_of(page), flags=re.M)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "X", text))
    parts = re.split(r"\n\s*\n|\n\s*(?:[*]|\d+\.)\s", text)
    long = [s for part in parts for s in re.split(r"(?<=[.!?:])\s+", part) if len(s.split()) > 25]
    assert not long


def test_glossary_is_in_order():
    terms = re.findall(r"^### (.*)", (ROOT / "docs" / "glossary.md").read_text(), re.M)
    assert len(terms) > 80 and terms == sorted(set(terms), key=str.lower)


def test_every_page_is_linked():
    """From README.md or the site's first page."""
    linked = {link.partition("#")[0].removeprefix("docs/") for page in (FRONT[0], ROOT / "docs" / "index.md") for link in links(page)}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"} <= linked


def test_readme_is_a_front_page():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    assert all(text.count(word) for word in ("docs/img/run.png", "pip install", "scripts/deb", "scripts/run", "docs/benchmarks.md"))


def test_quoted_messages_exist():
    """The first column of tables with a head "message" quotes what the program prints."""
    sources = [f for part in ("trace", "server") for f in sorted((ROOT / part).rglob("*.[ch]"))]
    text = re.sub(r'"\s*"', "", "\n".join(f.read_text() for f in sources))
    found = 0
    for page in PAGES:
        for table in re.findall(r"^\| message .*\n\|[-|]+\n((?:\|.*\n)+)", page.read_text(), re.M):
            for cell in re.findall(r"^\| (.*?) \|", table, re.M):
                for message in re.findall(r"`([^`]+)`", cell):
                    assert message.split(": Connection refused")[0] in text, f"{page.name}: {message}"
                    found += 1
    assert found >= 8
