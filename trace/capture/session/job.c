#include "trace/capture/session/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/str.h"
#include "trace/capture/disk/small_files.h"

#define RUN_NAME_MAX 64

/* Launchers, recognized by their variable for the rank and by another that they `need`. A job's id
 * consists of the `ids` that are set. The launcher that starts processes last comes first, because
 * torchrun may run under srun. Sources: torchrun's manual ("Environment variables"), PMIx and
 * mpirun(1) of Open MPI, srun(1) "OUTPUT ENVIRONMENT VARIABLES" (a batch script itself has a rank,
 * too, but no step), MPICH's hydra and Intel MPI. */
static const struct launcher {
    const char *rank, *local_rank, *ranks, *needs, *ids[4];
} launchers[] = {
    {"RANK",
     "LOCAL_RANK",
     "WORLD_SIZE",
     "WORLD_SIZE",
     {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"}},
    {"OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_SIZE",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"PMI_RANK",
     "MPI_LOCALRANKID",
     "PMI_SIZE",
     "PMI_SIZE",
     {"PMI_JOBID", "PMI_KVSNAME", "PMI_PORT"}},
    {"SLURM_PROCID",
     "SLURM_LOCALID",
     "SLURM_NTASKS",
     "SLURM_STEP_ID",
     {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

static const char *job_variable(const char *name)
{
    return getenv(name);
}

static int64_t variable_as_number(job_fn *get, const char *name)
{
    const char *text = name ? get(name) : NULL;
    uint64_t n = 0;
    return text && vp_str_to_u64(vp_str_of(text), &n) && n <= INT32_MAX ? (int64_t)n : -1;
}

static void append_job_id(char *id, size_t cap, const char *text)
{
    size_t n = strlen(id);
    if (n && n < cap - 1)
        id[n++] = '-';
    for (; text && *text && n < cap - 1; text++) {
        char c = vp_lower(*text);
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
        id[n++] = plain ? *text : '_';
    }
    id[n] = 0;
}

static void read_id(char *id, size_t cap, const struct launcher *l, job_fn *get)
{
    for (size_t k = 0; k < 4 && l->ids[k]; k++) {
        const char *text = get(l->ids[k]);
        if (text && text[0])
            append_job_id(id, cap, text);
    }
    if (id[0])
        return;
    char parent[48]; /* the parent process is the same for all ranks of one machine */
    snprintf(parent, sizeof parent, "%s-%ld", l->rank, (long)getppid());
    append_job_id(id, cap, parent);
}

void job_read(cap_job *out, job_fn *get)
{
    cap_job j = {.rank = -1, .local_rank = -1, .ranks = -1};
    get = get ? get : job_variable;
    const char *own = get("VIEW_PROFILE_JOB");
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && j.rank < 0; i++) {
        const struct launcher *l = &launchers[i];
        j.rank = get(l->needs) ? variable_as_number(get, l->rank) : -1;
        j.local_rank = variable_as_number(get, l->local_rank);
        j.ranks = variable_as_number(get, l->ranks);
        if (j.rank >= 0 && j.ranks > 1)
            read_id(j.id, sizeof j.id, l, get);
    }
    if (own && own[0]) {
        j.id[0] = 0;
        append_job_id(j.id, sizeof j.id, own);
    }
    if (j.rank < 0 || j.ranks <= 1) /* there are no others to distinguish */
        j.rank = j.local_rank = j.ranks = -1;
    *out = j;
}

/* The last run of this process: its next recording begins a new run. */
static struct {
    pid_t pid;
    char name[RUN_NAME_MAX];
} mine;

static void note_mine(const char *name)
{
    mine.pid = getpid();
    snprintf(mine.name, sizeof mine.name, "%s", name);
}

/* Joins the run named in the file, if allowed. */
static bool join_job_run(cap_run *out, int fd, const char *runs)
{
    char name[RUN_NAME_MAX];
    struct stat st;
    ssize_t n = pread(fd, name, sizeof name - 1, 0);
    if (n <= 0 || fstat(fd, &st) < 0 || time(NULL) - st.st_mtime > JOB_TOGETHER_S)
        return false;
    name[n] = 0;
    if (name[0] == '.' || strchr(name, '/') ||
        (mine.pid == getpid() && strcmp(mine.name, name) == 0))
        return false;
    int length = snprintf(out->path, sizeof out->path, "%s/%s", runs, name);
    if (length <= 0 || (size_t)length >= sizeof out->path)
        return false;
    out->fd = open(out->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (out->fd >= 0)
        note_mine(name);
    return out->fd >= 0;
}

static int make_job_run(cap_run *out, int fd, const char *dir)
{
    VP_TRY(run_dir_make(out, dir));
    const char *name = vp_path_name(out->path);
    note_mine(name);
    if (ftruncate(fd, 0) < 0 || pwrite(fd, name, strlen(name), 0) < 0)
        return 0; /* then the others begin their own runs */
    return 0;
}

int job_run_dir(cap_run *out, const char *dir, const cap_job *job)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    char runs[VP_PATH_MAX], file[VP_PATH_MAX];
    int n = job->id[0] ? snprintf(runs, sizeof runs, "%s/plugins/profile", dir) : -1;
    if (n <= 0 || (size_t)n >= sizeof runs)
        return run_dir_make(out, dir);
    VP_TRY(cap_make_dirs(runs));
    n = snprintf(file, sizeof file, "%s/plugins/.view_profile.job-%s", dir, job->id);
    if (n > 0 && (size_t)n < sizeof file)
        fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0 || flock(fd, LOCK_EX) < 0) /* the file system does not support locks */
        return run_dir_make(out, dir);
    return join_job_run(out, fd, runs) ? 0 : make_job_run(out, fd, dir);
}
