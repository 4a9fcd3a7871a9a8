/* What is kept on disk of objects that lie elsewhere: whole small ones, archives, and heads. A file
 * is named by a hash of what it is a version of, so one that is there is right; what was not used
 * for longest goes first. Programs share it. */
#ifndef VP_SOURCE_KEPT_H
#define VP_SOURCE_KEPT_H

#include <pthread.h>
#include <stdint.h>

#include "trace/base/str.h"

#define KEPT_NAME 65u

typedef struct kept {
    int dir; /* its owner closes it */
    pthread_mutex_t lock;
    int64_t added;      /* bytes since it was last made smaller */
    int64_t most_bytes; /* beyond either of these it is made smaller */
    size_t most_files;
} kept;

/* The name of what `parts` say together, with its NUL. */
void kept_name(char out[KEPT_NAME], const vp_str *parts, size_t n);
/* A descriptor to read it, or VP_ENOTFOUND. */
int kept_open(kept *k, const char *name, int *fd);
/* An empty file to write and read, which is called `temp` until kept_keep, or gone after kept_drop.
 * VP_EIO, VP_ENOSPC. */
int kept_new(kept *k, char temp[KEPT_NAME], int *fd);
void kept_keep(kept *k, const char *temp, const char *name, int64_t bytes);
void kept_drop(kept *k, const char *temp);
/* Where it is beyond one of its bounds: removes what was used longest ago, down to three quarters
 * of the bytes and half of the files. */
void kept_trim(kept *k);

#endif
