/* The job that this process belongs to, as launchers tell it: torchrun, Open MPI, Slurm, Hydra
 * (MPICH, Intel MPI), and `view_profile record`. The processes of a job become hosts of one run.
 * Only this room includes it.
 *
 * No process knows another, and launchers agree on nothing but the job and the rank; so
 * plugins/.view_profile.job-<id> names the job's newest run, and a recording chooses its run under
 * a lock on that file. Forked children are followed only where VIEW_PROFILE_JOB is set: then
 * somebody (record) collects what those leave that only forked to run another program. */
#ifndef VP_CAPTURE_JOB_H
#define VP_CAPTURE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/capture/disk/run_dir.h"

typedef struct cap_job {
    char id[128];                    /* of letters, digits, '.', '_', '-'; "": there is no job */
    int64_t rank, local_rank, ranks; /* -1: not told */
} cap_job;

typedef const char *job_fn(const char *name); /* has getenv's type */

/* get: getenv, or in its place; NULL: getenv. */
void job_read(cap_job *out, job_fn *get);

/* Opens the directory of the job's newest run below dir, if that began within this time and this
 * process has not recorded into it; else makes a run that the job's next process joins. Returns as
 * run_dir_make. */
#define JOB_TOGETHER_S 120
int job_run_dir(cap_run *out, const char *dir, const cap_job *job);

#endif
