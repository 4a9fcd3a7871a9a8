"""Each `view_profile …` of README.md and docs/ is a command line that the program understands."""
import re
import shlex
import subprocess

import pytest
from conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Whose words in `…` that begin with "--" are options of view_profile; the others also speak of other programs.
OF_OURS = ["jax.md", "stores.md", "watch.md"]
ENDS = {"|", "||", "&&", "&", ";", ";;", ">", ">>", "<", "2>", "view_profile"}


def lines(text):
    """Of blocks each line, which a backslash may continue, or where some begin with "$ " these; else what stands in `…`."""
    text = re.sub(r"^```(?:python|cmake)\n.*?^```\n", "", text.replace("\\\n", " "), flags=re.M | re.S)
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S):
        typed = re.findall(r"^\$ (.*)", block, re.M)
        yield from typed or block.splitlines()
    yield from re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def words(line):
    if line.count("'") % 2:  # it began within one
        line = line[:line.rindex("'")]
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    return list(lexer)


def command_lines(text):
    """The arguments of each view_profile. What stands for something else is gone (…), of a|b|c it is the first."""
    for line in lines(text):
        for at in re.finditer(r"(?:^|[\s$(])view_profile (?![|*])", line):
            found = []
            rest = re.sub(r"(?<=\w)\|\w+", "", line[at.end():])  # json|csv|html
            for word in words(rest.split("  #")[0]):
                if word in ENDS:
                    break
                found.append(word)
            yield [w for w in found if w != "…"]


def understood(program, args):
    asked = [program, *([] if "--help" in args else ["--help"]), *args]
    return subprocess.run(asked, capture_output=True, text=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_command_lines_are_understood(program, page):
    wrong = []
    for args in command_lines(page.read_text()):
        done = understood(program, args)
        if done.returncode:
            wrong.append(f"view_profile {shlex.join(args)}: {done.stderr.strip()}")
    assert not wrong, "\n".join(wrong)


def test_there_are_some(program):
    counts = {page.name: len(list(command_lines(page.read_text()))) for page in PAGES}
    assert all(counts[name] >= 2 for name in ("README.md", "fleet.md", "jax.md", "watch.md", "ci.md", "cluster.md")), counts
    assert understood(program, ["top", "--no-such", "x"]).returncode == 2


@pytest.mark.parametrize("name", OF_OURS)
def test_options_that_are_named_exist(program, name):
    commands = re.findall(r"^  (\w+)", understood(program, []).stdout.split("Commands:\n")[1].split("\n\n")[0], re.M)
    known = set()
    for command in commands:
        known |= set(re.findall(r"--[a-z0-9-]+", understood(program, [command]).stdout))
    named = re.findall(r"`(--[a-z0-9-]+)", (ROOT / "docs" / name).read_text())
    assert named and set(named) <= known, set(named) - known
