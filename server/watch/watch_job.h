/* The watched jobs, from the command line and the hosts file, and the state of each. A job owns
 * its texts, figures and runs; a list owns its jobs, whose addresses do not change. */
#ifndef VP_WATCH_JOB_H
#define VP_WATCH_JOB_H

#include "server/watch/watcher.h"
#include "trace/base/str.h"

#define WATCH_JOBS_MAX 4096u
#define WATCH_FIGURES_MAX 50u
#define WATCH_RUNS_MAX 100000u
#define WATCH_FILES_MAX 100000u
#define WATCH_NAME_MAX 64u /* bytes of a name, which is part of file names */
#define WATCH_WORDS_MAX 1000u
#define WATCH_ERROR_MAX 400u

typedef enum watch_status {
    WATCH_NEW,
    WATCH_FINE,
    WATCH_IS_SLOWER,
    WATCH_BUSY,
    WATCH_GONE,
    WATCH_FAILED
} watch_status;
extern const char *const watch_status_words[];

/* Figures of one capture. */
typedef struct watch_figure {
    char *run, *verdict;
    int64_t unix_ms, steps, median_ps, p90_ps; /* VP_UNKNOWN */
} watch_figure;

/* An uploaded object and its version ("": the store has no versions). */
typedef struct watch_file {
    char *name, *etag;
} watch_file;

/* A run that this watch wrote. Inode numbers are reused, so the birth time is compared as well if
 * the file system has it. */
typedef struct watch_kept {
    char *run;
    uint64_t dev, ino;
    int64_t born_ns;   /* Unix; VP_UNKNOWN */
    int64_t median_ps; /* VP_UNKNOWN: it has no report */
    /* For an uploaded run: its remote files; there is no local copy. */
    watch_file *files;
    size_t file_count;
    bool doomed; /* to be removed at the address */
} watch_kept;

typedef struct watch_job {
    char *target;                   /* as `capture` takes it */
    char *name;                     /* unique; [A-Za-z0-9._-] */
    char *error, *words, *baseline; /* NULL: none; baseline: a run */
    watch_status status;
    int64_t since_ms, next_ms; /* Unix */
    int64_t captures, failures;
    watch_figure figures[WATCH_FIGURES_MAX];
    size_t figure_count;
    watch_kept *runs; /* oldest first */
    size_t run_count, run_cap;
    /* From the last capture, to compute the steps between two captures. */
    int64_t last_step, last_end_unix_ns;
    /* State of this process, not saved. */
    int64_t due_ms, rounds; /* CLOCK_MONOTONIC */
    int64_t unlisted_ms;    /* Unix time since which it is in no list; 0: it is listed */
    unsigned in_a_row;      /* consecutive rounds without a capture */
    bool running, last_slower, last_empty;
} watch_job;

typedef struct watch_jobs {
    watch_job **v;
    size_t n, cap;
    char *list_error; /* last error of the hosts file; NULL: none */
    bool was_read;
} watch_jobs;

void watch_jobs_free(watch_jobs *l);
/* The job with this name, created if missing; *name is sanitized and truncated. */
int watch_jobs_need(watch_jobs *l, watch_job **out, vp_str name);
/* Reads the targets of the command line and the current hosts file; other jobs become unlisted.
 * After the first call, an unreadable file leaves the list unchanged and is reported once. VP_EARG:
 * invalid target. */
int watch_jobs_read(watch_jobs *l, const watch_options *o);
void watch_jobs_drop(watch_jobs *l, size_t i);
/* True if NAME= was given. */
bool watch_job_is_named(const watch_job *j);

/* Sets *to to a copy; NULL for "". */
int watch_set(char **to, const char *text);
int watch_job_add_figure(watch_job *j, const watch_figure *f);              /* copies its texts */
int watch_job_add_run(watch_job *j, const watch_kept *k);                   /* likewise */
int watch_kept_add_file(watch_kept *k, const char *name, const char *etag); /* likewise */
void watch_job_drop_run(watch_job *j, size_t i);
int64_t watch_unix_ms(void);

#endif
