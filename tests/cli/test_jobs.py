"""One job is one session: the processes that a launcher starts, that `record` starts and that fork are
hosts of one run. The launchers are played by their environments."""
import json
import subprocess

import pytest
from recording import WAIT, compile_linked, environment, runs

SOURCE = r"""#include <view_profile_capture.h>
#include <time.h>
int main(int argc, char **argv)
{
    (void)argv;
    for (unsigned i = 0; i < 30; i++) {
        VP_STEP("train", i);
        VP_SCOPE("forward");
        nanosleep(&(struct timespec){0, argc * 1000000}, NULL);
    }
    return 0;
}
"""

RANKS = {
    "torchrun": lambda job, i: {"RANK": i, "LOCAL_RANK": i % 2, "WORLD_SIZE": 4,
                                "TORCHELASTIC_RUN_ID": job, "MASTER_ADDR": "localhost"},
    "mpirun": lambda job, i: {"OMPI_COMM_WORLD_RANK": i, "OMPI_COMM_WORLD_LOCAL_RANK": i % 2,
                              "OMPI_COMM_WORLD_SIZE": 4, "PMIX_NAMESPACE": job},
    "mpiexec": lambda job, i: {"PMI_RANK": i, "PMI_SIZE": 4},
    "srun": lambda job, i: {"SLURM_PROCID": i, "SLURM_LOCALID": i % 2, "SLURM_NTASKS": 4,
                            "SLURM_JOB_ID": job, "SLURM_STEP_ID": 0},
}


@pytest.fixture
def app(program, place):
    return compile_linked(program, place.dir / "ranks", SOURCE)


def launch(place, command, environments, **more):
    started = [subprocess.Popen([*map(str, command)], cwd=place.dir, stderr=subprocess.PIPE, text=True,
                                env=environment(place, **more, **{k: str(v) for k, v in e.items()}))
               for e in environments]
    for p in started:
        assert p.wait(WAIT) == 0, p.stderr.read()


def hosts(run):
    return sorted(p.name.removesuffix(".xplane.pb") for p in run.glob("*.xplane.pb"))


def report(place):
    done = subprocess.run(["view_profile", "report", "--format", "json", "profiles"], cwd=place.dir,
                          env=place.env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("launcher", RANKS)
def test_ranks_are_hosts_of_one_run(place, app, launcher):
    launch(place, [app], [RANKS[launcher]("job1", i) for i in range(4)], VIEW_PROFILE="1",
           VIEW_PROFILE_STEPS="3:4")
    (run,) = runs(place.dir / "profiles")
    names = hosts(run)
    assert [n[-6:] for n in names] == [f"_rank{i}" for i in range(4)]
    assert report(place)["session"]["hosts"] == names


def test_jobs_are_apart(place, app):
    both = [RANKS["srun"](job, i) for job in ("7", "8") for i in range(4)]
    launch(place, [app], both, VIEW_PROFILE="1")
    assert [len(hosts(r)) for r in runs(place.dir / "profiles")] == [4, 4]


def test_the_next_recording_is_another_run(place, app):
    for _ in range(2):
        launch(place, [app], [RANKS["torchrun"]("same", i) for i in range(4)], VIEW_PROFILE="1")
    found = [h for r in runs(place.dir / "profiles") for h in hosts(r)]
    assert len(found) == 8  # a restarted job within two minutes may join, and takes nobody's place


def test_a_program_alone_is_no_job(place, app):
    for _ in range(2):
        launch(place, [app], [{}], VIEW_PROFILE="1")
    assert [len(hosts(r)) for r in runs(place.dir / "profiles")] == [1, 1]


def test_what_record_starts_is_one_run(place, app):
    done = subprocess.run(["view_profile", "record", "--", "sh", "-c", f"{app} & {app} & {app} & wait"],
                          cwd=place.dir, env=environment(place), capture_output=True, text=True,
                          timeout=WAIT)
    assert done.returncode == 0, done.stderr
    (run,) = runs(place.dir / "profiles")
    assert len(hosts(run)) == 3
    assert not list(run.glob("*.vpcap"))


def test_record_under_a_launcher(place, app):
    """mpirun -n 4 view_profile record -- ./app"""
    launch(place, ["view_profile", "record", "--", app], [RANKS["mpirun"]("j", i) for i in range(4)])
    (run,) = runs(place.dir / "profiles")
    assert [n[-6:] for n in hosts(run)] == [f"_rank{i}" for i in range(4)]


def test_the_rank_stands_in_the_file(place, app):
    launch(place, [app], [RANKS["srun"]("11", i) for i in (2, 3)], VIEW_PROFILE="1")
    (run,) = runs(place.dir / "profiles")
    for i in (2, 3):
        (file,) = run.glob(f"*_rank{i}.xplane.pb")
        content = file.read_bytes()
        for key in (b"job.id", b"job.rank", b"job.local_rank", b"job.ranks"):
            assert key in content


TRAIN = r"""#include <view_profile_capture.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#define STEPS 12
static _Atomic int *arrived; /* by step, of all ranks */
static void wait_ms(long ms) { nanosleep(&(struct timespec){0, ms * 1000000}, NULL); }
int main(int argc, char **argv)
{
    (void)argc;
    int rank = atoi(getenv("RANK")), ranks = atoi(getenv("WORLD_SIZE")), slow = atoi(argv[2]);
    int fd = open(argv[1], O_RDWR);
    arrived = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    vp_track_id ops = vp_track_add(vp_device_add(VP_CAPTURE_GPU, 0, "played"), "Stream");
    uint32_t forward = vp_name("forward");
    for (int i = 0; i < STEPS; i++) {
        VP_STEP("train", i);
        uint64_t begin = vp_now();
        wait_ms(rank == (slow < 0 ? i % ranks : slow) ? 25 : 3);
        uint64_t ready = vp_now();
        vp_record_span(ops, forward, begin, ready, 0, NULL, 0);
        atomic_fetch_add(&arrived[i], 1);
        while (atomic_load(&arrived[i]) < ranks)
            usleep(50);
        wait_ms(5); /* what is sent */
        vp_record_collective(ops, VP_ALL_REDUCE, 1 << 20, 0, rank, ranks, ready, vp_now(), i + 1);
    }
    return 0;
}
"""


@pytest.mark.parametrize("slow", [2, 0])
def test_the_slow_rank_is_named(place, program, slow):
    """Each step ends with a collective, for which all wait; one rank computes eight times as long."""
    app = compile_linked(program, place.dir / "train", TRAIN)
    (place.dir / "barrier").write_bytes(bytes(4096))
    launch(place, [app, place.dir / "barrier", slow], [RANKS["torchrun"]("train", i) for i in range(4)],
           VIEW_PROFILE="1")
    made = report(place)
    balance = made["balance"]
    matched = balance["matched"]
    assert balance["devices"] == 4 and balance["aligned"] and matched >= 8
    assert balance["straggler_host"].endswith(f"_rank{slow}")
    assert balance["straggler_host_last"] >= 0.8 * matched
    assert balance["busiest"]["host"].endswith(f"_rank{slow}")
    assert balance["max_ps"] >= 12 * 25 * 10**9
    # of each call the longest wait: about what the slow one works longer
    assert matched * 15 * 10**9 < balance["wait_ps"] < matched * 60 * 10**9
    fired = {f["id"]: f["message"] for f in made["findings"] if f["status"] == "fired"}
    assert f"_rank{slow} arrives last" in fired["F16"] and f"of {matched} matched collective" in fired["F16"]


def test_whoever_is_slow_in_turn_is_no_straggler(place, program):
    app = compile_linked(program, place.dir / "train", TRAIN)
    (place.dir / "barrier").write_bytes(bytes(4096))
    launch(place, [app, place.dir / "barrier", -1], [RANKS["torchrun"]("train", i) for i in range(4)],
           VIEW_PROFILE="1")
    made = report(place)
    assert made["balance"]["matched"] >= 8 and made["balance"]["wait_ps"] > 0
    assert [f["status"] for f in made["findings"] if f["id"] == "F16"] == ["clear"]
