"""scripts/setup, run and test on machines that lack something, as root, as a user with sudo and as one without: the
programs that ask and install are stand-ins, first and alone on PATH."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from traces import ROOT

SETUP = (ROOT / "scripts" / "setup").read_text()
PACKAGES = {name: re.search(rf"^{name}=\(([^)]*)\)", SETUP, re.M)[1].split() for name in ("run_packages", "test_packages")}
ALL = PACKAGES["run_packages"] + PACKAGES["test_packages"]
OTHERS = ["nodejs", "npm", "chromium", "pandoc"]  # taken from anywhere, if they are there
WINDOWLESS = "chromium-headless-shell"

STAND_INS = {
    # a package: installed, only its configuration left, or unknown
    "dpkg-query": """pkg=${@: -1}
case "$*" in *db:Status-Status*) before= ;; *) before="install ok " ;; esac
grep -qx "$pkg" "$MACHINE/installed" && { echo "${before}installed"; exit 0; }
grep -qx "$pkg" "$MACHINE/removed" && { echo "${before}config-files"; exit 0; }
echo "dpkg-query: no packages found matching $pkg" >&2; exit 1""",
    "apt-get": """[ "$(id -u)" = 0 ] || { echo "E: are you root?" >&2; exit 100; }
echo "$DEBIAN_FRONTEND apt-get $*" >>"$MACHINE/calls"
[ -e "$MACHINE/no-network" ] && exit 100
[ "$1" = install ] || exit 0
for a in "${@:2}"; do case $a in -*) ;; *) echo "$a" >>"$MACHINE/installed" ;; esac; done""",
    "id": """[ -e "$MACHINE/root" ] || [ -n "$BY_SUDO" ] && echo 0 || echo 1000""",
    # as sudo's env_reset has it, and no question where nobody can answer
    "sudo": """[ "$1" = -n ] || [ -t 0 ] || { echo "sudo: a terminal is required" >&2; exit 1; }
[ -e "$MACHINE/no-sudoer" ] && { echo "sudo: a password is required" >&2; exit 1; }
[ "$1" = -n ] && shift
exec env -i PATH="$PATH" MACHINE="$MACHINE" BY_SUDO=1 "$@\"""",
    "apt-cache": """grep -qx "${@: -1}" "$MACHINE/unknown" && exit 100; exit 0""",
    "systemctl": "exit 0",
}


class Machine:
    """`missing` of the packages are not there; who: root, sudo, no sudoer, no sudo."""

    def __init__(self, tmp, missing=(), who="root", programs=("node", "npm", WINDOWLESS, "pandoc")):
        self.dir, self.bin = tmp, tmp / "bin"
        self.bin.mkdir()
        for tool in ("bash", "sh", "env", "dirname", "grep", "cat", "mktemp", "rm", "mkdir", "true"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        for name, body in STAND_INS.items():
            if name == "sudo" and who == "no sudo":
                continue
            (self.bin / name).write_text("#!/bin/bash\n" + body + "\n")
            (self.bin / name).chmod(0o755)
        for name in programs:
            (self.bin / name).symlink_to("/bin/true")
        self.write("installed", *(p for p in ALL if p not in missing))
        self.write("removed")
        self.write("unknown")
        self.write("calls")
        if who in ("root", "no sudoer"):
            self.write(who.replace(" ", "-"))

    def write(self, name, *lines):
        (self.dir / name).write_text("".join(f"{line}\n" for line in lines))

    def lines(self, name):
        return (self.dir / name).read_text().splitlines()

    def run(self, *command):
        return subprocess.run([str(c) for c in command], env={"PATH": str(self.bin), "MACHINE": str(self.dir)},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, cwd=self.dir)

    def setup(self, *options):
        return self.run(ROOT / "scripts" / "setup", *options)

    def asked_for(self):
        """The packages that apt-get was told to install."""
        return [a for line in self.lines("calls") if " install " in line for a in line.split()[3:] if a[0] != "-"]


HALF = ALL[::2]
NEEDED = {(): PACKAGES["run_packages"], ("--test",): ALL}


@pytest.mark.parametrize("who", ["root", "sudo", "no sudoer", "no sudo"])
@pytest.mark.parametrize("options", NEEDED, ids=" ".join)
def test_where_everything_is_there_nothing_happens(tmp_path, who, options):
    machine = Machine(tmp_path, who=who)
    done = machine.setup(*options)
    assert (done.returncode, done.stdout, done.stderr, machine.lines("calls")) == (0, "", "", [])


@pytest.mark.parametrize("who", ["root", "sudo"])
@pytest.mark.parametrize("missing", [HALF, ALL], ids=["half", "all"])
@pytest.mark.parametrize("options", NEEDED, ids=" ".join)
def test_what_is_missing_is_installed_and_nothing_else(tmp_path, who, missing, options):
    machine = Machine(tmp_path, missing, who)
    done = machine.setup(*options)
    assert done.returncode == 0, done.stderr
    assert machine.asked_for() == [p for p in NEEDED[options] if p in missing]
    calls = machine.lines("calls")
    assert len(calls) == 2 and all(c.startswith("noninteractive apt-get ") for c in calls), "asks nobody anything"
    assert "--no-install-recommends" in calls[1]
    assert machine.setup(*options).returncode == 0 and machine.lines("calls") == calls, "the second time is silent"


@pytest.mark.parametrize("who", ["no sudoer", "no sudo"])
@pytest.mark.parametrize("script,options", [("setup", ()), ("setup", ("--test",)), ("run", ("--version",)), ("test", ())])
def test_who_may_not_install_is_told_what_and_how(tmp_path, who, script, options):
    """The packages by name, and a line that installs them as it stands; nothing is built."""
    machine = Machine(tmp_path, HALF, who)
    done = machine.run(ROOT / "scripts" / script, *options)
    assert done.returncode == 1 and machine.lines("calls") == []
    missing = [p for p in NEEDED[("--test",) if script == "test" or options == ("--test",) else ()] if p in HALF]
    said = done.stderr.splitlines()
    assert said[-2].endswith(f"Not installed: {' '.join(missing)}") and "root" in said[-2]
    line = said[-1].split("as root: ")[1]
    machine.write("root")
    assert machine.run("bash", "-c", line).returncode == 0
    assert machine.asked_for() == missing
    assert "--no-install-recommends" in machine.lines("calls")[-1]
    (tmp_path / "root").unlink()
    assert machine.setup(*(("--test",) if script == "test" else options if script == "setup" else ())).returncode == 0


def test_what_is_there_from_elsewhere_is_not_installed(tmp_path):
    machine = Machine(tmp_path, programs=("node", WINDOWLESS))
    assert machine.setup("--test").returncode == 0
    assert machine.asked_for() == ["nodejs", "npm", "pandoc"], "node without npm is no node"
    assert set(OTHERS) > set(machine.asked_for())


@pytest.mark.parametrize("who,installs", [("root", True), ("sudo", True), ("no sudoer", False), ("no sudo", False)])
def test_a_browser_without_windows_is_taken_where_it_can_be_had(tmp_path, who, installs):
    """Any does, so that nobody is told that it is missing."""
    machine = Machine(tmp_path, who=who, programs=("node", "npm", "chromium", "pandoc"))
    done = machine.setup("--test")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.asked_for() == [WINDOWLESS] * installs


@pytest.mark.parametrize("trouble", ["unknown", "no-network"])
def test_where_there_is_no_browser_without_windows_the_other_does(tmp_path, trouble):
    machine = Machine(tmp_path, programs=("node", "npm", "chromium", "pandoc"))
    machine.write(trouble, WINDOWLESS)
    done = machine.setup("--test")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_any_browser_there_is_one_afterwards(tmp_path):
    machine = Machine(tmp_path, programs=("node", "npm", "pandoc"))
    machine.write("unknown", WINDOWLESS)
    assert machine.setup("--test").returncode == 0
    assert machine.asked_for() == ["chromium"]


def test_a_package_of_which_the_configuration_is_left_is_missing(tmp_path):
    machine = Machine(tmp_path, ["cmake"])
    machine.write("removed", "cmake")
    assert machine.setup().returncode == 0 and machine.asked_for() == ["cmake"]


@pytest.mark.parametrize("who", ["root", "sudo"])
def test_without_a_network_it_is_said_what_is_missing(tmp_path, who):
    machine = Machine(tmp_path, ["cmake", "ninja-build"], who)
    machine.write("no-network")
    done = machine.setup()
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("apt-get install -y --no-install-recommends cmake ninja-build")


def test_elsewhere_than_on_debian_the_packages_are_named(tmp_path):
    machine = Machine(tmp_path)
    (machine.bin / "apt-get").unlink()
    done = machine.setup()
    assert done.returncode == 1
    assert set(PACKAGES["run_packages"]) <= set(done.stderr.split())


def test_the_readme_has_both_commands_in_one_block():
    """What runs it and what tests it, under Start, each of them there to be run."""
    start = (ROOT / "README.md").read_text().split("\n## Start\n")[1].split("\n## ")[0]
    block = re.search(r"^```\n(.*?)^```", start, re.M | re.S)[1]
    commands = [line.split()[0] for line in block.splitlines() if line.strip()]
    assert {"scripts/run", "scripts/test"} <= set(commands)
    assert all(os.access(ROOT / command, os.X_OK) for command in commands)
    assert 'exec scripts/test --all "$@"' in (ROOT / ".ci" / "run").read_text()
