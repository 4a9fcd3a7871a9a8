/* One capture from outside: the fetcher (trace/source/fetcher.h) asks each process, and what comes
 * lands in one run. The maker of a job owns it. */
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
    int64_t bytes, left_ms; /* left_ms: of the time that is recorded */
    int64_t asked_ns;       /* Unix, by our clock: when it should begin */
    int64_t start_ns;       /* Unix, by its own clock: when it did; 0: unknown */
    int code;               /* of its failure; 0: none */
    const char *word;       /* the same for programs: "busy", …; NULL: none */
    char error[840];        /* without the target's name */
    int stream;
    bool may_come; /* it was told to send all that it has */
    landing_file file;
} profile_target;

typedef struct profile_job {
    /* What is asked. */
    int64_t duration_ms, patience_ms; /* patience_ms: how long a server may be silent afterwards */
    int64_t host_tracer, device_tracer, python_tracer;
    const cli_list *options;      /* KEY=VALUE */
    int64_t parallel;             /* transfers at once; what is recorded begins together */
    volatile sig_atomic_t *stops; /* how often the user asked to end it */
    /* Called when something about a target has changed; NULL is fine. */
    void (*told)(void *ctx, const struct profile_job *j, const profile_target *t);
    void *ctx;
    /* Made by profile_job_run. */
    profile_target *targets;
    size_t n;
    run_landing run;
    char place[VP_PATH_MAX]; /* of the run, as the user knows it: run.path, or below a URL */
    int64_t stopped_ms;      /* when the user first asked to end it */
    int64_t spread_ms; /* between the first and the last start, by their own clocks; -1: unknown */
} profile_job;

/* Makes the run's directory: *j is all zero but for what is asked. names belong to the caller. at:
 * what `out` stands for until the end; NULL: itself. A run of this name may be there, and gets
 * these hosts beside its own: VP_EBUSY where it has one of them. */
int profile_job_open(profile_job *j, const profile_name *names, size_t n, const char *out,
                     const char *name, const source_address *at);
/* Captures all; what became of each stands in targets. 0: something landed, or a failure of the
 * first that failed where nothing did, when the run's directory is removed. */
int profile_job_run(profile_job *j, fetcher *f);
void profile_job_close(profile_job *j);
/* The word for a code and a status of gRPC (0: none). */
const char *profile_word(int code, int64_t status);
/* A failure that was just recorded becomes that of the target. */
void profile_target_fail(profile_target *t, int64_t status);

#endif
