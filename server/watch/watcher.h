/* `view_profile watch`: jobs that are captured again and again, each capture compared with a
 * baseline. Nothing of a profile is read in this process: capture, report and compare are children,
 * the viewer's, so that it stays small and outlives every damaged file. One thread, one poll.
 *
 * server/cli includes this header and fills in the options; the other headers of this room are its
 * own business. */
#ifndef VP_WATCH_WATCHER_H
#define VP_WATCH_WATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strings belong to the caller and outlive the run. */
typedef struct watch_options {
    const char *program;  /* view_profile's path */
    char *const *targets; /* [NAME=]HOST:PORT[,HOST:PORT…] */
    size_t target_count;
    const char *hosts_file; /* more of them, a line each; NULL: none */
    const char *out;        /* the directory, or an address; NULL: "." */
    const char *baseline;   /* "first", "best", a run of `out`, or a path */
    int64_t every_ms, duration_ms, keep, parallel;
    int64_t times;        /* rounds of each job; 0: no end */
    const char *duration; /* as `capture` takes it */
    const char *max_regression, *max_p90_regression, *fail_on_peak,
        *fail_on;              /* as `compare` takes them, NULL */
    double peak_percent;       /* what fail_on_peak says; not a number for NULL */
    const char *on_regression; /* a program; NULL: none */
    const char *const *on_regression_args;
    size_t on_regression_arg_count;
    const char *const *capture_args; /* what each `capture` is told beside --out and --name */
    size_t capture_arg_count;
    bool is_unsigned; /* at that address */
    bool json, quiet;
} watch_options;

/* How it ended, where nothing failed. */
typedef enum watch_end { WATCH_OK, WATCH_SLOWER, WATCH_NOTHING } watch_end;

/* Runs until a signal (SIGTERM, SIGINT, SIGHUP) or the last of `times` rounds. *end then says
 * whether a job's last comparison broke a limit, or its last round brought nothing. VP_EARG,
 * VP_EBUSY (another one runs there), VP_EIO, VP_EPERM: it could not begin. */
int watch_run(const watch_options *o, watch_end *end);

#endif
