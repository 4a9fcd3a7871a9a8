"""The pages of docs/develop. Each belongs to a patch of this directory. All patches together apply to a copy of the tree,
which is built, and the commands under "Test it" of each page pass there.

The copy is build/develop/tree. It stays, so that a second run compiles only what has changed."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATCHES = sorted((ROOT / "tests" / "develop").glob("*.patch"))
NAMES = [patch.stem for patch in PATCHES]
TREE = ROOT / "build" / "develop" / "tree"
BUILD = TREE / "build" / "dev"
each_page = pytest.mark.parametrize("name", NAMES)


def page(name):
    return (ROOT / "docs" / "develop" / f"{name}.md").read_text()


def run(*command, cwd=TREE, **variables):
    """Its output; fails with the end of it."""
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **variables}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))} exits with {done.returncode}:\n{done.stdout[-6000:]}"
    return done.stdout.strip()


# ---- Pages and patches, without a build ------------------------------------------------------------------------------


def test_each_page_has_a_patch():
    pages = {p.stem for p in (ROOT / "docs" / "develop").glob("*.md")} - {"README"}
    listed = re.findall(r"\]\((add-[\w-]+)\.md\)", page("README"))
    assert set(NAMES) == pages == set(listed) and len(NAMES) == 10
    for name in NAMES:
        assert f"](../../tests/develop/{name}.patch)" in page(name)


def files_of(patch):
    """{path: its part of the patch}."""
    parts = re.split(r"^diff --git a/(\S+) b/\S+\n", patch, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2]))


@each_page
def test_page_quotes_its_patch(name):
    """A block is quoted in pieces, which "…" separates: each is a sequence of lines of the patch, in this order."""
    files = files_of((ROOT / "tests" / "develop" / f"{name}.patch").read_text())
    blocks = re.findall(r"^```diff\n(.*?)^```", page(name), re.M | re.S)
    assert blocks
    for block in blocks:
        head, rest = block.split("\n", 1)
        text = files[head.removeprefix("+++ b/")]
        for piece in rest.split("…\n"):
            _, found, text = text.partition("\n" + piece)
            assert found, f"not in the patch of {head}:\n{piece}"


@each_page
def test_patch_applies_alone(name):
    run("git", "apply", "--check", f"tests/develop/{name}.patch", cwd=ROOT)


def test_patches_apply_together():
    run("git", "apply", "--check", *map(str, PATCHES), cwd=ROOT)


# ---- All patches in a copy of the tree -------------------------------------------------------------------------------


def commands(name):
    """The block under "Test it"."""
    return re.search(r"^## Test it\n\n```sh\n(.*?)^```", page(name), re.M | re.S).group(1)


def numbered_patches():
    """The patches with the next free number for the rule that add-finding calls FNN."""
    rules = (ROOT / "trace" / "analyze" / "findings" / "findings_rules.c").read_text()
    number = len(re.findall(r'\.id = "F\d+"', rules)) + 1
    there = TREE.parent / "patches"
    shutil.rmtree(there, ignore_errors=True)
    there.mkdir()
    for patch in PATCHES:
        (there / patch.name).write_text(re.sub(r"\bFNN\b", f"F{number}", patch.read_text()))
    return number, [str(there / patch.name) for patch in PATCHES]


def patched_commit():
    """A commit without parents: the files of the working tree, all patches, and the number of rules in the README."""
    index = TREE.parent / "index"
    shutil.copy(ROOT / run("git", "rev-parse", "--git-path", "index", cwd=ROOT), index)
    own = {"GIT_INDEX_FILE": str(index)}
    run("git", "add", "--all", cwd=ROOT, **own)
    number, patches = numbered_patches()
    run("git", "apply", "--cached", *patches, cwd=ROOT, **own)
    readme = TREE.parent / "README.md"
    patched = run("git", "show", ":README.md", cwd=ROOT, **own) + "\n"
    readme.write_text(re.sub(r"— \d+ rules, each", f"— {number} rules, each", patched))
    blob = run("git", "hash-object", "-w", str(readme), cwd=ROOT)
    run("git", "update-index", "--cacheinfo", f"100644,{blob},README.md", cwd=ROOT, **own)
    tree = run("git", "write-tree", cwd=ROOT, **own)
    who = {f"GIT_{who}_{what}": "test" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return run("git", "commit-tree", "-m", "Apply tests/develop", tree, cwd=ROOT, **who)


@pytest.fixture(scope="session")
def tree():
    """The copy, which shares the objects of this repository. Unchanged files keep their times."""
    TREE.mkdir(parents=True, exist_ok=True)
    commit = patched_commit()
    objects = (ROOT / run("git", "rev-parse", "--git-path", "objects", cwd=ROOT)).resolve()
    run("git", "init", "--quiet")
    (TREE / ".git" / "objects" / "info" / "alternates").write_text(f"{objects}\n")
    run("git", "reset", "--quiet", "--hard", commit)
    run("git", "clean", "--quiet", "--force", "-d")  # what is ignored stays: the build
    venv = TREE / "build" / "venv"
    venv.parent.mkdir(exist_ok=True)
    venv.unlink(missing_ok=True)
    venv.symlink_to(sys.prefix)
    return TREE


def targets_of_tests():
    """The programs of the tests that the pages run by ctest."""
    expressions = re.findall(r"^ctest --test-dir build/dev -R '([^']+)'", "".join(map(commands, NAMES)), re.M)
    listed = run("ctest", "--test-dir", "build/dev", "-N", "-R", "|".join(expressions))
    tests = re.findall(r"Test +#\d+: (\w+)\.(\w+)", listed)
    assert len(tests) >= len(expressions)
    return [name if kind == "unit" else f"fuzz_{name}" for kind, name in tests]


@pytest.fixture(scope="session")
def built(tree):
    cache = {"CMAKE_C_COMPILER_LAUNCHER": os.environ.get("CMAKE_C_COMPILER_LAUNCHER") or shutil.which("ccache") or ""}
    run("cmake", "--preset", "dev", **cache)
    adapters = re.search(r"set\(VP_ADAPTERS ([^)]*)\)", (tree / "scripts" / "recorder.cmake").read_text()).group(1).split()
    run("cmake", "--build", "build/dev", "--target", "view_profile", "http_serve", *adapters, *targets_of_tests())
    run("scripts/docs")
    return tree


@pytest.mark.slow
@each_page
def test_page(built, name):
    """Its tests pass."""
    here = {"VIEW_PROFILE": str(BUILD / "view_profile"), "VP_BUILD": str(BUILD)}
    run("bash", "-euxc", commands(name), cwd=built, **here)


@pytest.mark.slow
def test_documents(built):
    """What is generated from tables, and what must name their rows."""
    here = {"VIEW_PROFILE": str(BUILD / "view_profile"), "VP_BUILD": str(BUILD)}
    pages = ("tests/cli/test_docs.py", "tests/cli/test_docs_links.py")
    run("build/venv/bin/python", "-m", "pytest", "-q", *pages, cwd=built, **here)


@pytest.mark.slow
def test_layers(built):
    run("scripts/check_layers")
    run("scripts/check_layers", "--calls", "build/dev")


@pytest.mark.slow
def test_format(tree):
    changed = {path for patch in PATCHES for path in files_of(patch.read_text()) if path.endswith((".c", ".h"))}
    run("clang-format", "--dry-run", "-Werror", *sorted(changed))
