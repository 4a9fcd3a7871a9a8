/* `view_profile watch`: captures jobs repeatedly and compares each capture with a baseline. No
 * profile is parsed in this process: capture, report and compare are child processes, so that it
 * stays small and survives damaged files. One thread, one poll loop. This is the public header of
 * the module. */
#ifndef VP_WATCH_WATCHER_H
#define VP_WATCH_WATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strings belong to the caller and outlive the run. */
typedef struct watch_options {
    const char *program;  /* path of view_profile */
    char *const *targets; /* [NAME=]HOST:PORT[,HOST:PORT…] */
    size_t target_count;
    const char *hosts_file; /* file with more targets, one per line; NULL: none */
    const char *out;        /* the directory, or an address; NULL: "." */
    const char *baseline;   /* "first", "best", a run of `out`, or a path */
    int64_t every_ms, duration_ms, keep, parallel;
    int64_t times;        /* rounds of each job; 0: no end */
    const char *duration; /* as for `capture` */
    const char *max_regression, *max_p90_regression, *fail_on_peak,
        *fail_on;              /* as for `compare`, or NULL */
    double peak_percent;       /* value of fail_on_peak; NAN if NULL */
    const char *on_regression; /* a program; NULL: none */
    const char *const *on_regression_args;
    size_t on_regression_arg_count;
    const char *const *capture_args; /* options of each `capture` in addition to --out and --name */
    size_t capture_arg_count;
    bool is_unsigned; /* at that address */
    bool json, quiet;
} watch_options;

/* Result of a watch that did not fail. */
typedef enum watch_end { WATCH_OK, WATCH_SLOWER, WATCH_NOTHING } watch_end;

/* Runs until a signal (SIGTERM, SIGINT, SIGHUP) or the last of `times` rounds. *end: whether the
 * last comparison of a job exceeded a limit, or its last round captured nothing. VP_EARG, VP_EBUSY
 * (another watch uses the directory), VP_EIO, VP_EPERM: could not start. */
int watch_run(const watch_options *o, watch_end *end);

#endif
