/* Archives as directories of members: indexed without unpacking to disk, read one member at a time.
 * Which kinds is in read/detect/archive_kinds.h; libarchive has exactly their formats and filters
 * (docs/reference/formats.md#archives; this is the only room that includes archive.h), and gzip
 * goes always through our verified reader. Links, devices, absolute names and "..", encrypted
 * members and everything above limits.h are named and skipped. */
#ifndef VP_READ_ARCHIVE_H
#define VP_READ_ARCHIVE_H

#include "trace/read/bytes/byte_stream.h"

typedef struct ar_member {
    char *name;       /* cleaned: no leading "./", no "..", '/' separated; unique per archive */
    int64_t size;     /* bytes when unpacked, or -1 where the archive does not say */
    int64_t mtime_ns; /* Unix, or 0 */
    uint32_t index;   /* its position among all entries, from 0: how it is found again */
    char head[512];   /* its first bytes, for detection */
    size_t head_n;
} ar_member;

typedef struct ar_refusal {
    char *name;      /* as far as it can be shown; escaped */
    const char *why; /* constant text */
    bool lost;       /* a file that its archive does not hold whole, and nothing against it else */
} ar_refusal;

typedef struct ar_index {
    ar_member *members;
    size_t member_count;
    ar_refusal *refusals;
    size_t refusal_count;
    const char *format; /* the name of its kind: "tar.gz" */
    vp_error damage; /* code 0 when the whole archive was read; else members before it are good */
} ar_index;

/* Lists an archive. fd is not closed. VP_ECORRUPT when nothing could be read. */
int ar_index_make(ar_index **out, int fd, vp_progress_fn *progress, void *ctx);
void ar_index_free(ar_index *ix);
/* Opens the member at `index` for reading, decompressed from the archive (a member that is itself
 * gzip stays gzip). fd is duplicated. The member's CRC (zip) is checked at its end. */
int ar_member_open(rd_stream **out, int fd, uint32_t index);

#endif
