/* `capture --kineto`: asks dynolog daemons to profile PyTorch processes, which write their
 * profiles into the directory of the run themselves, and waits for those files. Failures are
 * stored per target in the profile_job. */
#ifndef VP_CLI_KINETO_JOB_H
#define VP_CLI_KINETO_JOB_H

#include "server/cli/language/cli_options.h"
#include "server/cli/capture/profile_job.h"

/* Sends requests to the daemons (the targets of an open job) and waits for the files. Stores the
 * error of each target in it. 0: at least one file arrived. */
int kineto_job_run(profile_job *j, fetcher *f);

#endif
