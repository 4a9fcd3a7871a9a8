/* `capture --kineto`: PyTorch processes write their profiles themselves, into the run's directory,
 * when a dynolog daemon tells them to. */
#ifndef VP_CLI_KINETO_JOB_H
#define VP_CLI_KINETO_JOB_H

#include "server/cli/language/cli_options.h"
#include "server/cli/capture/profile_job.h"

/* Asks the daemons, the targets of an open job, and waits for the files. The failure of each stands
 * in its target then. 0: something came. */
int kineto_job_run(profile_job *j, fetcher *f);

#endif
