/* Archives as directories of members: indexed without unpacking to disk, read one member at a time.
 * The kinds are listed in read/detect/archive_kinds.h. libarchive is set up for exactly these
 * formats and filters (docs/reference/formats.md#archives; only this module includes its header),
 * and gzip always uses our verifying reader. Links, devices, absolute names and "..", encrypted
 * members, and everything above limits.h are skipped and reported. The caller frees an index and
 * closes streams and descriptors. */
#ifndef VP_READ_ARCHIVE_H
#define VP_READ_ARCHIVE_H

#include "trace/read/bytes/byte_stream.h"
#include "trace/read/detect/rank_info.h"

typedef struct ar_member {
    char *name;   /* normalized: no leading "./", no "..", '/' as separator; unique per archive */
    int64_t size; /* unpacked bytes, or -1 if the archive does not state it */
    int64_t mtime_ns; /* Unix, or 0 */
    uint32_t index;   /* position among all entries from 0, which identifies it */
    char head[512];   /* first bytes, for detection */
    size_t head_n;
    rd_rank rank; /* stated in the first bytes, if they are JSON */
} ar_member;

typedef struct ar_refusal {
    char *name;      /* escaped for display */
    const char *why; /* reason, a constant text */
    bool lost;       /* a file that is incomplete in the archive, and otherwise acceptable */
} ar_refusal;

typedef struct ar_index {
    ar_member *members;
    size_t member_count;
    ar_refusal *refusals;
    size_t refusal_count;
    const char *format; /* name of the kind: "tar.gz" */
    vp_error damage;    /* code 0: whole archive read; else members before the damage are good */
} ar_index;

/* Lists an archive. fd is not closed. VP_ECORRUPT if nothing could be read. */
int ar_index_make(ar_index **out, int fd, vp_progress_fn *progress, void *ctx);
void ar_index_free(ar_index *ix);
/* Opens the member at `index`, decompressed from the archive (a member that is itself gzip stays
 * gzip). fd is duplicated. The member's CRC (zip) is checked at its end. */
int ar_member_open(rd_stream **out, int fd, uint32_t index);

#endif
