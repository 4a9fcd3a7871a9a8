/* The job of this process, as set by launchers: torchrun, Open MPI, Slurm, Hydra (MPICH, Intel
 * MPI), and `view_profile record`. The processes of a job become hosts of one run. Private to this
 * module. Failures: those of run_dir_make.
 *
 * Processes do not know each other, and launchers have only job and rank in common. So
 * plugins/.view_profile.job-<id> names the job's newest run, and a recording selects its run under
 * a lock on that file. Forked children are included only if VIEW_PROFILE_JOB is set: then record
 * collects the files of children that only forked to execute another program. */
#ifndef VP_CAPTURE_JOB_H
#define VP_CAPTURE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/capture/disk/run_dir.h"

typedef struct cap_job {
    char id[128];                    /* letters, digits, '.', '_', '-'; "": no job */
    int64_t rank, local_rank, ranks; /* -1: unknown */
} cap_job;

typedef const char *job_fn(const char *name); /* same type as getenv */

/* get: replacement for getenv; NULL: getenv. */
void job_read(cap_job *out, job_fn *get);

/* Opens the directory of the job's newest run below dir, if it began within JOB_TOGETHER_S and this
 * process has not recorded into it. Else creates a run that the job's next process joins. Returns
 * like run_dir_make. */
#define JOB_TOGETHER_S 120
int job_run_dir(cap_run *out, const char *dir, const cap_job *job);

#endif
