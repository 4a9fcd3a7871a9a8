"""The man pages and completions in docs/ are what the table says, and tools accept them."""
import pathlib
import re
import shutil
import subprocess

import pytest

from rules import TORCH_RULES, parse

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def commands(program):
    listed = re.search(r"Commands:\n((?:  .*\n)+)", run(program, "--help")).group(1)
    return re.findall(r"^  (\w+)", listed, re.M)


@pytest.fixture(params=sorted(page.name.split(".")[0].replace("view_profile-", "")
                              for page in (DOCS / "man").glob("view_profile-*.md")))
def command(request):
    return request.param


def run(program, *args):
    return subprocess.run([program, *args], capture_output=True, text=True, check=True).stdout


def man(name):
    return (DOCS / "man" / f"{name}.1.md").read_text()


def test_main_page_is_current(program):
    assert man("view_profile") == run(program, "help", "--print-man", "view_profile"), "run scripts/docs"


def test_man_page_is_current(program, command):
    assert man(f"view_profile-{command}") == run(program, "help", "--print-man", command), "run scripts/docs"


@pytest.mark.parametrize("shell,file", [("bash", "view_profile.bash"), ("zsh", "_view_profile")])
def test_completion_is_current(program, shell, file):
    want = run(program, "help", "--print-completion", shell)
    assert (DOCS / "completion" / file).read_text() == want, "run scripts/docs"


def test_rules_of_findings_are_current(program):
    text = (DOCS / "findings.md").read_text()
    assert text == run(program, "help", "--print-findings"), "run scripts/docs"
    rules = parse(text)
    assert sorted(int(rule.id[1:]) for rule in rules) == list(range(1, len(rules) + 1))
    assert len({rule.name for rule in rules}) == len(rules)
    for rule in rules:
        advice = [] if rule.host or rule.id in TORCH_RULES else \
            ["Fix (JAX, XLA)", "Fix (PyTorch)", "Fix (other programs)"]
        for part in ["Fires if", "Evidence", "Source of the threshold", *advice]:
            assert f"**{part}**" in rule.text, rule.id


def test_a_finding_heads_one_line_of_80_columns():
    """Its rank and severity, the title, and by what it is asked for: " 5 !!! medium  Title  F1 name"."""
    heads = re.findall(r"^### (F\d+ [\w-]+): (.*)", (DOCS / "findings.md").read_text(), re.M)
    assert len(heads) >= 39
    assert not [head for head in heads if len(" 5 !!! medium  ") + len("  ".join(head)) > 80]


def test_readme_counts_the_rules():
    (said,) = re.findall(r"`view_profile findings DIR` — (\d+) rules", (DOCS.parent / "README.md").read_text())
    assert int(said) == len(parse((DOCS / "findings.md").read_text()))


def test_every_command_has_a_page(program):
    pages = [page.name for page in (DOCS / "man").iterdir()]
    assert sorted(pages) == sorted(["view_profile.1.md", *(f"view_profile-{c}.1.md" for c in commands(program))])


def test_man_page_names_every_option_of_help(program, command):
    options = set(re.findall(r"--[a-z-]+", run(program, command, "--help").split("Examples:")[0]))
    page = man(f"view_profile-{command}")
    missing = [o for o in options if f"\\{o}**" not in page and f"--{o[2:]}" not in page]
    assert not missing


def test_help_fits_80_columns(program):
    for args in [[], *([command] for command in commands(program))]:
        assert max(map(len, run(program, *args, "--help").splitlines())) <= 80, args


@pytest.mark.parametrize("words,wanted", [
    (["view_profile", "to"], {"top"}),
    (["view_profile", "top", "--gr"], {"--group"}),
    (["view_profile", "top", "--group", "s"], {"scope", "source", "stack"}),
    (["view_profile", "list", "--format", ""], {"text", "json"}),
    (["view_profile", "--li"], {"--list-only", "--listen"}),
])
def test_bash_completes(words, wanted):
    script = (f"source {DOCS}/completion/view_profile.bash; compopt() {{ :; }}; "
              f"COMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; "
              "_view_profile; printf '%s\\n' \"${COMPREPLY[@]}\"")
    out = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    assert set(out.split()) == wanted


def test_pandoc_accepts_the_pages(tmp_path):
    if not shutil.which("pandoc"):
        pytest.skip("pandoc is not installed")
    page = tmp_path / "top.1"
    subprocess.run(["pandoc", "-s", "-t", "man", "-o", page, DOCS / "man/view_profile-top.1.md"],
                   check=True)
    assert ".SH OPTIONS" in page.read_text()


def test_kinds_of_archives_are_named(program):
    """Where we say which archives are read, we name those of the table, and no other."""
    rows = re.findall(r'^    X\(\w+, "([^"]+)"', (DOCS.parent / "trace/read/detect/archive_kinds.h").read_text(), re.M)
    assert len(rows) >= 4
    for text in (run(program, "serve", "--help"), (DOCS.parent / "README.md").read_text(), (DOCS / "unpacking.md").read_text()):
        said = re.search(r"[Aa](?:n\s+archive|rchives)\s+\(([^)]*)\)", text).group(1)
        assert sorted(re.split(r",\s+", said)) == sorted(rows)


def test_develop_names_files_that_exist():
    """The pages on how to add something name files by their paths. NAME stands for a new one."""
    for page in sorted((DOCS / "develop").glob("*.md")):
        prose = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.M | re.S)
        for path in re.findall(r"`((?:trace|server|tests|include|scripts|docs|web)/[\w./-]*)`", prose):
            assert "NAME" in path or (DOCS.parent / path).exists(), f"{page.name}: {path}"


def test_stores_names_what_is_read():
    """docs/stores.md has each variable that server/fetch asks for credentials and places, no other, and the bounds."""
    text = (DOCS / "stores.md").read_text()
    source = "\n".join(f.read_text() for f in sorted((DOCS.parent / "server/fetch").rglob("*.c")))
    read = set(re.findall(r'(?:ini_env|ini_path)\("([A-Z_0-9]+)"|\{"(AZURE_\w+)"', source))
    read = {a or b for a, b in read} - {"HOME"}
    said = set(re.findall(r"\b(?:AWS|GOOGLE|GCE|CLOUDSDK|STORAGE|AZURE|IDENTITY)_[A-Z_0-9]+\b", text))
    assert said == read
    bounds = dict(re.findall(r"#define (VP_REMOTE_\w+_MAX) \(INT64_C\((\d+)\) <<", (DOCS.parent / "trace/base/limits.h").read_text()))
    for name, unit in [("CACHE", "MiB"), ("SMALL", "MiB"), ("WHOLE", "MiB"), ("ARCHIVE", "MiB"), ("KEPT", "GiB"), ("OBJECT", "TiB")]:
        assert f"{bounds[f'VP_REMOTE_{name}_MAX']} {unit}" in text, name
