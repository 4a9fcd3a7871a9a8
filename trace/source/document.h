/* Opens a file that is read as a whole, such as a report, from a path or a remote address. A remote
 * file is copied to the cache directory first. The caller closes the document. */
#ifndef VP_SOURCE_DOCUMENT_H
#define VP_SOURCE_DOCUMENT_H

#include "trace/source/mirror.h"

typedef struct document {
    const char *path; /* path to open instead of the given one */
    mirror *m;        /* NULL: both are the same */
    char own[32];
    int fd;
} document;

/* sign: required content of the first bytes, for names that end in .json or .jsonl. If it is
 * missing, or the address is not a file's, path is the given one. Empty: any file, and nothing
 * else. `typed` must outlive the document. VP_ENOTFOUND, VP_EREMOTE, … with the address. */
int document_open(document *d, const char *typed, bool is_unsigned, vp_str sign);
void document_close(document *d);
/* Returns rc, after adding the address to a failure. */
int document_fail(const document *d, int rc);

#endif
