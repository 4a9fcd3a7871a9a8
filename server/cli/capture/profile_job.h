/* One capture of running processes: each is asked through the fetcher (trace/source/fetcher.h),
 * and all profiles become one run. The caller opens, runs and closes the job. A target that fails
 * keeps its error; the job fails only if no target succeeds. */
#ifndef VP_CLI_PROFILE_JOB_H
#define VP_CLI_PROFILE_JOB_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/cli/language/cli_options.h"
#include "server/cli/capture/profile_targets.h"
#include "server/cli/capture/run_landing.h"
#include "trace/source/address.h"
#include "trace/source/fetch_wire.h"
#include "trace/source/fetcher.h"

typedef enum profile_phase { PROFILE_WAITING, PROFILE_RUNNING, PROFILE_ENDED } profile_phase;

typedef struct profile_target {
    const profile_name *name;
    profile_phase phase;
    fetch_capture_state state;
    int64_t bytes, left_ms; /* left_ms: remaining recording time */
    int64_t asked_ns;       /* requested start, Unix time by the local clock */
    int64_t start_ns;       /* actual start, Unix time by its own clock; 0: unknown */
    int code;               /* error code; 0: none */
    const char *word;       /* error code as a word: "busy", …; NULL: none */
    char error[840];        /* without the target's name */
    int stream;
    bool may_come; /* it was allowed to send its profile */
    landing_file file;
} profile_target;

typedef struct profile_job {
    /* Set by the caller. */
    int64_t duration_ms,
        patience_ms; /* patience_ms: how long to wait for a server after the end of its capture */
    int64_t host_tracer, device_tracer, python_tracer;
    const cli_list *options;      /* KEY=VALUE */
    int64_t parallel;             /* simultaneous transfers; recording always starts together */
    volatile sig_atomic_t *stops; /* number of stop requests by the user */
    /* Called when a target has changed; NULL is allowed. */
    void (*told)(void *ctx, const struct profile_job *j, const profile_target *t);
    void *ctx;
    /* Set by profile_job_run. */
    profile_target *targets;
    size_t n;
    run_landing run;
    char place[VP_PATH_MAX]; /* path of the run as the user knows it: run.path, or a URL */
    int64_t stopped_ms;      /* time of the first stop request */
    int64_t spread_ms; /* between the first and the last start, by the clocks of the targets; -1:
                          unknown */
} profile_job;

/* Creates the directory of the run. *j is zero except for the fields set by the caller, who also
 * owns names. at: the address to which `out` is uploaded later, or NULL. An existing run with this
 * name gets the hosts in addition; VP_EBUSY if it already has one of them. */
int profile_job_open(profile_job *j, const profile_name *names, size_t n, const char *out,
                     const char *name, const source_address *at);
/* Captures all targets and stores their results in `targets`. Returns 0 if at least one profile was
 * saved, else the error of the first failed target; the directory of the run is then removed. */
int profile_job_run(profile_job *j, fetcher *f);
void profile_job_close(profile_job *j);
/* The word for an error code and a gRPC status (0: none). */
const char *profile_word(int code, int64_t status);
/* Stores the last recorded error in the target. */
void profile_target_fail(profile_target *t, int64_t status);

#endif
