/* Cache on disk for remote objects: small objects, archives, and first bytes of files. A file is
 * named by a hash of its object and version, so a cached file is always valid; the least recently
 * used files are removed first. Several processes share it. The caller owns the directory's
 * descriptor. Failures: VP_ENOTFOUND, VP_EIO, VP_ENOSPC. */
#ifndef VP_SOURCE_KEPT_H
#define VP_SOURCE_KEPT_H

#include <pthread.h>
#include <stdint.h>

#include "trace/base/str.h"

#define KEPT_NAME 65u

typedef struct kept {
    int dir; /* closed by its owner */
    pthread_mutex_t lock;
    int64_t added;      /* bytes added since the last trim */
    int64_t most_bytes; /* limits above which files are removed */
    size_t most_files;
} kept;

/* The name for an object identified by `parts`, with its NUL. */
void kept_name(char out[KEPT_NAME], const vp_str *parts, size_t n);
/* Opens it for reading, or VP_ENOTFOUND. */
int kept_open(kept *k, const char *name, int *fd);
/* Creates an empty file for writing and reading, named `temp` until kept_keep renames or kept_drop
 * removes it. VP_EIO, VP_ENOSPC. */
int kept_new(kept *k, char temp[KEPT_NAME], int *fd);
void kept_keep(kept *k, const char *temp, const char *name, int64_t bytes);
void kept_drop(kept *k, const char *temp);
/* If a limit is exceeded, removes the least recently used files, down to three quarters of the
 * bytes and half of the files. */
void kept_trim(kept *k);

#endif
