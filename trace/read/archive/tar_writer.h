/* Writing a tar into a buffer that its owner hands on, with the same bytes for the same members: no
 * times, no owners. It has GNU's form: libarchive ends the sizes of a ustar with a space, and
 * Perfetto's reader refuses that. Here since only this room includes libarchive's headers. export/
 * includes this. */
#ifndef VP_READ_ARCHIVE_TAR_WRITER_H
#define VP_READ_ARCHIVE_TAR_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"

typedef struct ar_tar ar_tar;

/* Everything is appended to b, which outlives the tar. */
int ar_tar_make(ar_tar **out, vp_buf *b);
/* Begins a member: a regular file of so many bytes, all of which must follow. name: at most 100
 * bytes of ASCII. VP_ELIMIT: a tar has no members of 8 GiB or more. */
int ar_tar_member(ar_tar *t, const char *name, int64_t size);
int ar_tar_data(ar_tar *t, const void *p, size_t n);
/* Fills up the last member, and marks the end. */
int ar_tar_end(ar_tar *t);
void ar_tar_free(ar_tar *t); /* also without ar_tar_end; t may be NULL */

#endif
