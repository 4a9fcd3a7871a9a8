"""README.md and docs/: each block ```console is run from the root of the sources, and prints what the page shows.
`pytest tests/cli/test_docs_output.py --bless` rewrites the output; read the difference before you commit it."""
import re
import subprocess

import pytest
from conftest import ROOT

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))] if BLOCK.search(page.read_text())]


def commands(block):
    """The lines that begin with "$ ", each with the output up to the next."""
    assert block.startswith("$ "), block
    return [part.partition("\n")[::2] for part in re.split(r"^\$ ", block, flags=re.M)[1:]]


def output(place, command):
    env = {**place.env, "COLUMNS": "100"}
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_shows_what_is_printed(page, place, request):
    def run(block):
        return "```console\n" + "".join(f"$ {command}\n{output(place, command)}" for command, _ in commands(block[1])) + "```"

    text = page.read_text()
    printed = BLOCK.sub(run, text)
    if request.config.getoption("--bless"):
        page.write_text(printed)
    assert printed == text, "run it with --bless"


def test_first_profiles_are_covered():
    assert {"README.md", "first-jax.md", "first-pytorch.md", "first-keras.md"} <= {page.name for page in PAGES}


def test_the_guide_shows_the_breakdown_of_the_peak():
    """A vLLM server on TPU, with the cells of its window."""
    blocks = [part for block in BLOCK.findall((ROOT / "docs" / "slow.md").read_text()) for part in commands(block)]
    shown, = [printed for command, printed in blocks if "report" in command and "--chip TPU7x" in command]
    assert shown.startswith("/device:TPU:0: MFU 41.2%") and len(shown.splitlines()) == 14


@pytest.mark.parametrize("name", ["jax", "pytorch", "keras"])
def test_first_profiles_show_lines_of_their_programs(name):
    program = (ROOT / "examples" / "first_profile" / f"train_{name}.py").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / f"first-{name}.md").read_text(), re.M | re.S)
    compile(program, name, "exec")
    missing = [line for line in blocks[0].splitlines() if line.strip() not in program and line.strip() != "..."]
    assert blocks and not missing
