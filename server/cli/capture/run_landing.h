/* Creates the directory of a run and its files, <out>/plugins/profile/<run>/<host>.xplane.pb. A
 * file appears complete or not at all and never replaces another one. The caller owns the open
 * file until landing_keep or landing_drop. */
#ifndef VP_CLI_RUN_LANDING_H
#define VP_CLI_RUN_LANDING_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/limits.h"

typedef struct run_landing {
    char root[VP_PATH_MAX]; /* absolute: <out>/plugins/profile */
    char path[VP_PATH_MAX]; /* path of the run, as the user would type it */
    const char *run;        /* name of the run, in path */
    size_t was_there;       /* length of the part of path that existed before */
} run_landing;

/* Creates the directory of the run and its parents. name NULL: the local time, with _2, _3, … if it
 * exists, or with a random number if it is uploaded to an address (elsewhere); otherwise that name,
 * which may exist. VP_EARG: invalid name; VP_EPERM, VP_ENOSPC, VP_EIO with the path. */
int run_landing_make(run_landing *r, const char *out, const char *name, bool elsewhere);
/* Removes the directory of the run if it is empty, and likewise its parents that were created. */
void run_landing_remove(const run_landing *r);

#define LANDING_IS_THERE                                                                           \
    "the run already has this host, which is not overwritten; choose another --name"

/* A file that is being written. */
typedef struct landing_file {
    int fd;
    char final[VP_PATH_MAX], temp[VP_PATH_MAX]; /* temp "": unnamed */
} landing_file;
/* Sets final. VP_EBUSY: the file exists. */
int landing_look(landing_file *f, const run_landing *r, const char *host);
/* VP_EBUSY: the file exists; other errors as above. */
int landing_open(landing_file *f, const run_landing *r, const char *host);
/* Syncs the file and gives it its name. VP_EBUSY: the file exists by now; VP_ENOSPC, VP_EIO. Closes
 * the file in any case. */
int landing_keep(landing_file *f);
/* Discards the file. One that was never opened is zero except for fd -1. */
void landing_drop(landing_file *f);

#endif
