/* The jobs that are watched: what the command line and the hosts file name, and what is known of
 * each. Files of this room include it. A job owns its texts, figures and kept runs; a list owns its
 * jobs, whose addresses never change. */
#ifndef VP_WATCH_JOB_H
#define VP_WATCH_JOB_H

#include "server/watch/watcher.h"
#include "trace/base/str.h"

#define WATCH_JOBS_MAX 4096u
#define WATCH_FIGURES_MAX 50u
#define WATCH_RUNS_MAX 100000u
#define WATCH_FILES_MAX 100000u
#define WATCH_NAME_MAX 64u /* bytes of a name, which becomes part of file names */
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

/* Of one capture. */
typedef struct watch_figure {
    char *run, *verdict;
    int64_t unix_ms, steps, median_ps, p90_ps; /* VP_UNKNOWN */
} watch_figure;

/* What was written at an address, and the version that it had then ("": the store tells none). */
typedef struct watch_file {
    char *name, *etag;
} watch_file;

/* A run that was made here and still lies there. Numbers of inodes are used again, so its birth
 * counts, too, where the file system knows it. */
typedef struct watch_kept {
    char *run;
    uint64_t dev, ino;
    int64_t born_ns;   /* Unix; VP_UNKNOWN */
    int64_t median_ps; /* VP_UNKNOWN: it has no report */
    /* Where --out is an address and the run is there, its files, of which nothing is here. */
    watch_file *files;
    size_t file_count;
    bool doomed; /* to be removed there */
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
    /* Of the last capture: to know of the steps between two of them. */
    int64_t last_step, last_end_unix_ns;
    /* Of this process alone. */
    int64_t due_ms, rounds; /* CLOCK_MONOTONIC */
    int64_t unlisted_ms;    /* Unix; since when no list names it; 0: one does */
    unsigned in_a_row;      /* rounds that brought nothing */
    bool running, last_slower, last_empty;
} watch_job;

typedef struct watch_jobs {
    watch_job **v;
    size_t n, cap;
    char *list_error; /* what was said of the hosts file; NULL: it is fine */
    bool was_read;
} watch_jobs;

void watch_jobs_free(watch_jobs *l);
/* The job of this name, made where there is none; *name is cut and made plain. */
int watch_jobs_need(watch_jobs *l, watch_job **out, vp_str name);
/* Takes every target of the command line and of the hosts file, as they are now; jobs that none of
 * them names are unlisted from now on. After the first time an unreadable file leaves the list as
 * it is and is said once. VP_EARG for what is no target. */
int watch_jobs_read(watch_jobs *l, const watch_options *o);
void watch_jobs_drop(watch_jobs *l, size_t i);
/* NAME= was given: the name tells more than the target. */
bool watch_job_is_named(const watch_job *j);

/* *to becomes a copy; NULL for "". */
int watch_set(char **to, const char *text);
int watch_job_add_figure(watch_job *j, const watch_figure *f);              /* copies its texts */
int watch_job_add_run(watch_job *j, const watch_kept *k);                   /* likewise */
int watch_kept_add_file(watch_kept *k, const char *name, const char *etag); /* likewise */
void watch_job_drop_run(watch_job *j, size_t i);
int64_t watch_unix_ms(void);

#endif
