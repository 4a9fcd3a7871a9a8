"""scripts/check_words in repositories made here: advice on words passes, another form of a subject fails."""
import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess

import pytest
from conftest import ROOT


def load():
    loader = importlib.machinery.SourceFileLoader("check_words", str(ROOT / "scripts" / "check_words"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_words", loader))
    loader.exec_module(module)
    return module


class Repository:
    def __init__(self, directory):
        self.dir = directory

    def git(self, *args):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        return subprocess.run(["git", *who, *args], cwd=self.dir, capture_output=True, text=True, check=True).stdout

    def commit(self, subject, name, text):
        (self.dir / name).write_text(text)
        self.git("add", name)
        self.git("commit", "-q", "-m", subject)

    def check(self, *args):
        done = subprocess.run(["scripts/check_words", *args], cwd=self.dir, capture_output=True, text=True)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """One commit from before the rule, and the scripts."""
    made = Repository(tmp_path_factory.mktemp("fresh"))
    (made.dir / "scripts").mkdir()
    for name in ("check_words", "words.tsv"):
        shutil.copy(ROOT / "scripts" / name, made.dir / "scripts")
    made.git("init", "-q", "-b", "main")
    made.commit("An old subject without a form", "a.md", "old\n")
    script = made.dir / "scripts" / "check_words"
    script.write_text(script.read_text().replace(load().FIRST, made.git("rev-parse", "HEAD").strip()))
    return made.dir


@pytest.fixture
def repository(fresh, tmp_path):
    return Repository(pathlib.Path(shutil.copytree(fresh, tmp_path / "repository")))


def test_words_warn_and_pass(repository):
    repository.commit("docs: Add a page", "page.md", "fine\nThis is for whoever reads it.\n")
    code, lines = repository.check()
    assert code == 0 and lines[0].startswith('page.md:2: "whoever": ')
    assert lines[-1] == "check_words: 1 phrases to look at, 0 wrong subjects"


def test_code_in_documents_is_not_read(repository):
    repository.commit("docs: Add a page", "page.md", "The route `/api/v1/sessions` lists runs.\n")
    assert repository.check()[1] == ["check_words: 0 phrases to look at, 0 wrong subjects"]


def test_only_added_lines_are_read(repository):
    repository.commit("docs: Add a page", "page.md", "whoever\n")
    repository.commit("docs: Extend the page", "page.md", "whoever\nfine\n")
    assert repository.check() == (0, ["check_words: 0 phrases to look at, 0 wrong subjects"])
    assert repository.check("HEAD~2")[1][0].startswith('page.md:1: "whoever"')


def test_lines_of_the_working_tree_are_read(repository):
    (repository.dir / "a.md").write_text("old\nnobody\n")
    assert repository.check()[1][0].startswith('a.md:2: "nobody"')


def test_lines_of_a_branch_are_read(repository):
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("docs: Add one", "one.md", "nobody\n")
    repository.commit("docs: Add two", "two.md", "whoever\n")
    assert [line.split(":")[0] for line in repository.check()[1][:-1]] == ["one.md", "two.md"]


@pytest.mark.parametrize("subject", ["Add a page", "docs: add a page", "Docs: Add a page", "docs: Add " + "a" * 63])
def test_another_form_of_a_subject_fails(repository, subject):
    repository.commit(subject, "page.md", "fine\n")
    code, lines = repository.check()
    assert code == 1 and subject in lines[0] and lines[-1].endswith(" 1 wrong subjects")


@pytest.mark.parametrize("subject", ["docs: Add a page", "net/http, web: Fix ranges", "docs: Add " + "a" * 62])
def test_the_form_of_a_subject_passes(repository, subject):
    repository.commit(subject, "page.md", "fine\n")
    assert repository.check()[0] == 0


def test_a_short_history_passes(repository, tmp_path_factory):
    repository.commit("Wrong", "page.md", "fine\n")
    clone = tmp_path_factory.mktemp("clone")
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repository.dir}", clone], check=True)
    shutil.copytree(repository.dir / "scripts", clone / "scripts", dirs_exist_ok=True)
    done = subprocess.run([clone / "scripts" / "check_words"], cwd=clone, capture_output=True, text=True)
    assert (done.returncode, "the history is too short" in done.stdout) == (0, True)


def test_each_phrase_has_advice():
    rows = load().rules()
    assert len(rows) > 20 and all(advice for _, advice, _ in rows)


@pytest.mark.parametrize("text", ["whoever asks", "nobody knows", "a line a capture", "Where the file has it, it is used", "it is said",
                                  "What stands there", "the colour", "analysed", "can win", "begin anew", "behind the colon"])
def test_phrases_are_found(text):
    assert any(pattern.search(text) for pattern, _, _ in load().rules())
