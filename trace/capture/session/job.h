/* The job that this process is one of, by what launchers tell their processes: torchrun, Open MPI,
 * Slurm, Hydra (MPICH, Intel MPI), and `view_profile record`. Its processes become hosts of one
 * run. Only this room includes it.
 *
 * Which run a recording goes to is decided under a lock on plugins/.view_profile.job-<id>, which
 * names the job's newest: no process knows another, and launchers agree on nothing but the job and
 * the rank. Forked children are followed where VIEW_PROFILE_JOB is set, since somebody (record)
 * then collects what those leave that only forked to run another program. */
#ifndef VP_CAPTURE_JOB_H
#define VP_CAPTURE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/capture/disk/run_dir.h"

typedef struct cap_job {
    char id[128];                    /* of letters, digits, '.', '_', '-'; "": there is no job */
    int64_t rank, local_rank, ranks; /* -1: not told */
} cap_job;

typedef const char *job_fn(const char *name); /* as getenv */

/* get NULL: getenv. */
void job_read(cap_job *out, job_fn *get);

/* The directory of the job's newest run below dir, if it has begun within this time and this
 * process has none in it yet; else a run of its own that the next process joins. Which it is stands
 * in plugins/.view_profile.job-<id>, under a lock. As run_dir_make. */
#define JOB_TOGETHER_S 120
int job_run_dir(cap_run *out, const char *dir, const cap_job *job);

#endif
