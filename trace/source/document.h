/* A file that is read whole by its path, such as a report, wherever it lies: of one at an address a
 * copy is made in the cache directory, whose path that of the descriptor is. */
#ifndef VP_SOURCE_DOCUMENT_H
#define VP_SOURCE_DOCUMENT_H

#include "trace/source/mirror.h"

typedef struct document {
    const char *path; /* to be opened instead of the one that was typed */
    mirror *m;        /* NULL: they are the same */
    char own[32];
    int fd;
} document;

/* sign: what stands in its first bytes, of a name that ends in .json or .jsonl; where it does not,
 * or the address is no file's, path is what was typed. Empty: any file, and nothing else. typed
 * outlives it. VP_ENOTFOUND, VP_EREMOTE, … with the address. */
int document_open(document *d, const char *typed, bool is_unsigned, vp_str sign);
void document_close(document *d);
/* Returns rc; a failure names the address. */
int document_fail(const document *d, int rc);

#endif
