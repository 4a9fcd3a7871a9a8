"""The man pages and completions in docs/ are what the table says, and tools accept them."""
import pathlib
import re
import shutil
import subprocess

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
COMMANDS = ["serve", "list", "top", "report", "findings", "compare", "trend", "merge", "extract", "record",
            "recover", "doctor", "help"]


def run(program, *args):
    return subprocess.run([program, *args], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", ["view_profile"] + COMMANDS)
def test_man_page_is_current(program, name):
    page = "view_profile" if name == "view_profile" else f"view_profile-{name}"
    want = run(program, "help", "--print-man", name)
    assert (DOCS / "man" / f"{page}.1.md").read_text() == want, "run scripts/docs"


@pytest.mark.parametrize("shell,file", [("bash", "view_profile.bash"), ("zsh", "_view_profile")])
def test_completion_is_current(program, shell, file):
    want = run(program, "help", "--print-completion", shell)
    assert (DOCS / "completion" / file).read_text() == want, "run scripts/docs"


def test_rules_of_findings_are_current(program):
    text = (DOCS / "findings.md").read_text()
    assert text == run(program, "help", "--print-findings"), "run scripts/docs"
    rules = re.findall(r"^### (F\d+) ([a-z-]+): ", text, re.M)
    assert sorted(int(i[1:]) for i, _ in rules) == list(range(1, 30))
    for section in re.split(r"^### ", text, flags=re.M)[1:]:
        advice = ["What to do"] if "a program without a device" in section else \
            ["What to do (JAX, XLA)", "What to do (PyTorch)", "What to do (other programs)"]
        for part in ["Fires when", "Evidence", "Threshold from", *advice]:
            assert f"**{part}**" in section, section


def test_every_command_is_tested(program):
    listed = re.search(r"Commands:\n((?:  .*\n)+)", run(program, "--help")).group(1)
    assert re.findall(r"^  (\w+)", listed, re.M) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_man_page_names_every_option_of_help(program, command):
    options = set(re.findall(r"--[a-z-]+", run(program, command, "--help").split("Examples:")[0]))
    page = (DOCS / "man" / f"view_profile-{command}.1.md").read_text()
    missing = [o for o in options if f"\\{o}**" not in page and f"--{o[2:]}" not in page]
    assert not missing


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns(program, command):
    args = [command, "--help"] if command else ["--help"]
    assert max(map(len, run(program, *args).splitlines())) <= 80


@pytest.mark.parametrize("words,wanted", [
    (["view_profile", "to"], {"top"}),
    (["view_profile", "top", "--gr"], {"--group"}),
    (["view_profile", "top", "--group", "s"], {"scope", "source"}),
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


def test_develop_names_files_that_exist():
    """The pages on how to add something lead through files by their paths; NAME stands for what you add."""
    pages = sorted((DOCS / "develop").glob("*.md"))
    assert len(pages) == 11
    for page in pages:
        text = page.read_text()
        prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
        named = re.findall(r"`((?:trace|server|tests|include|scripts|docs|web)/[\w./-]*)`", prose)
        changed = re.findall(r"(?<!--- /dev/null\n)^\+\+\+ (\S+)$", text, flags=re.M)
        for path in [p for p in named if "NAME" not in p] + changed:
            assert (DOCS.parent / path).exists(), f"{page.name}: {path}"
        for link in re.findall(r"\]\(([\w./-]+)\)", text):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
