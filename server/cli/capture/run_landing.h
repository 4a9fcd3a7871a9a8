/* Where captures from outside land: <out>/plugins/profile/<run>/<host>.xplane.pb. A file is there
 * whole or not at all, and never in the place of another. */
#ifndef VP_CLI_RUN_LANDING_H
#define VP_CLI_RUN_LANDING_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/limits.h"

typedef struct run_landing {
    char root[VP_PATH_MAX]; /* absolute: <out>/plugins/profile */
    char path[VP_PATH_MAX]; /* as the user would type it: of the run */
    const char *run;        /* its name, in path */
    size_t was_there;       /* of path, what we did not make */
} run_landing;

/* Makes the run's directory and those above it. name NULL: the local time, with _2, _3, … where it
 * exists, or with a number by chance where it is to lie at an address (elsewhere); else that name,
 * which may exist. VP_EARG: a name that is none; VP_EPERM, VP_ENOSPC,
 * VP_EIO with the path. */
int run_landing_make(run_landing *r, const char *out, const char *name, bool elsewhere);
/* Removes it if nothing is in it, and what we made above it likewise. */
void run_landing_remove(const run_landing *r);

#define LANDING_IS_THERE                                                                           \
    "the run already has this host, which is not overwritten; choose another --name"

/* A file on its way. */
typedef struct landing_file {
    int fd;
    char final[VP_PATH_MAX], temp[VP_PATH_MAX]; /* temp "": it has no name yet */
} landing_file;
/* Fills final. VP_EBUSY: there is such a file. */
int landing_look(landing_file *f, const run_landing *r, const char *host);
/* VP_EBUSY: there is such a file; else as above. */
int landing_open(landing_file *f, const run_landing *r, const char *host);
/* Keeps it: on the disk, under its name. VP_EBUSY: there is such a file by now; VP_ENOSPC, VP_EIO.
 * The file is closed either way. */
int landing_keep(landing_file *f);
/* Drops it. One that was never opened is all zero but for fd -1. */
void landing_drop(landing_file *f);

#endif
