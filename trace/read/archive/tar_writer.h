/* Writes a tar into a buffer. Equal members give equal bytes: there are no times and no owners. It
 * uses GNU format: libarchive ends the sizes of a ustar with a space, which Perfetto's reader
 * refuses. It is in this module because only this module includes libarchive's headers. The caller
 * owns the buffer and frees the ar_tar. */
#ifndef VP_READ_ARCHIVE_TAR_WRITER_H
#define VP_READ_ARCHIVE_TAR_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"

typedef struct ar_tar ar_tar;

/* Everything is appended to b, which must outlive the tar. */
int ar_tar_make(ar_tar **out, vp_buf *b);
/* Begins a member: a regular file of exactly `size` bytes. name: at most 100 bytes of ASCII.
 * VP_ELIMIT: a tar cannot contain members of 8 GiB or more. */
int ar_tar_member(ar_tar *t, const char *name, int64_t size);
int ar_tar_data(ar_tar *t, const void *p, size_t n);
/* Completes the last member and writes the end marker. */
int ar_tar_end(ar_tar *t);
void ar_tar_free(ar_tar *t); /* also before ar_tar_end; t may be NULL */

#endif
