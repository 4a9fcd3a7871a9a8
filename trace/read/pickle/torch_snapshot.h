/* Reader of PyTorch's memory snapshots (torch.cuda.memory._dump_snapshot, a pickle): the
 * allocator's current segments and blocks, and a history of its actions, limited by its ring of
 * entries. Content is passed to a sink as it is read; only names and frames are stored. Formats:
 * docs/reference/memory-and-mfu.md#pytorch-memory-snapshots,
 * docs/reference/formats.md#pytorch-memory-snapshots.
 *
 * Sizes of entries are as requested; blocks have both sizes. A site is the frame that best explains
 * an allocation: the innermost Python frame outside of PyTorch. */
#ifndef VP_READ_TORCH_SNAPSHOT_H
#define VP_READ_TORCH_SNAPSHOT_H

#include <stdbool.h>

#include "trace/base/str.h"
#include "trace/read/bytes/byte_stream.h"

/* True if a pickle starting with `head` is a snapshot: its root is a dict that soon has the key
 * segments. */
bool ts_is(vp_str head);

#define TS_DEVICES_MAX 1024u

typedef uint32_t ts_site; /* a frame; 0: unknown */

typedef enum ts_state { TS_INACTIVE, TS_ACTIVE, TS_PENDING_FREE } ts_state;

typedef struct ts_block {
    int64_t address, size, requested; /* requested: equals size if not stated */
    ts_state state;
    ts_site site;
} ts_block;

typedef struct ts_segment { /* passed after its blocks */
    uint32_t device;
    int64_t address, total;
    bool has_active;  /* a block of it is in use */
    int64_t inactive; /* Σ size of the blocks not in use */
    int64_t blocks, inactive_blocks;
} ts_segment;

typedef enum ts_action {
    TS_OTHER, /* snapshot, user_defined, or an action newer than this reader */
    TS_ALLOC,
    TS_FREE_REQUESTED,
    TS_FREE_COMPLETED,
    TS_SEGMENT_ALLOC, /* or mapped */
    TS_SEGMENT_FREE,  /* or unmapped */
    TS_OOM,
} ts_action;

typedef struct ts_entry {
    ts_action action;
    uint32_t device;
    int64_t address;       /* TS_OOM: free bytes of the device */
    int64_t size, unix_us; /* unix_us −1: unknown */
    ts_site site;
} ts_entry;

typedef struct ts_note { /* begin or end of an annotation */
    bool start;
    vp_str name; /* valid during the call */
    int64_t unix_us;
} ts_note;

typedef struct ts_snapshot ts_snapshot;

/* Receiver of the content; a negative result of any function ends the reading. */
typedef struct ts_sink {
    void *ctx;
    int (*block)(void *ctx, const ts_block *b);
    int (*segment)(void *ctx, const ts_segment *s);
    int (*entry)(void *ctx, const ts_entry *e);
    int (*note)(void *ctx, const ts_note *n);
} ts_sink;

/* Reads a snapshot, already inflated. VP_ECORRUPT: damaged or not a snapshot; VP_EUNSUPPORTED: a
 * pickle of more than plain values; VP_ELIMIT: larger than any real one. If it is truncated, the
 * content before was passed and ts_cut_at has the place. On failure *out is unchanged. The stream
 * is not closed. */
int ts_read(ts_snapshot **out, rd_stream *in, const ts_sink *sink);
void ts_free(ts_snapshot *s);
/* Offset at which the snapshot is truncated; −1: complete. */
int64_t ts_cut_at(const ts_snapshot *s);
/* Number of blocks and entries without a size or with a negative one, which are skipped. */
int64_t ts_odd(const ts_snapshot *s);
/* Function, file and line of a site; empty if unknown. */
void ts_where(const ts_snapshot *s, ts_site site, vp_str *function, vp_str *file, int64_t *line);

#endif
