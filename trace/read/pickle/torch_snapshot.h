/* Memory snapshots of PyTorch (torch.cuda.memory._dump_snapshot, a pickle): the allocator's
 * segments and blocks as they are, and a history of what it did, as long as its ring of entries
 * was. What the file holds is told to a sink as it comes; nothing is kept but names and frames.
 * Facts: docs/reference/memory-and-mfu.md#pytorch-memory-snapshots,
 * docs/reference/formats.md#pytorch-memory-snapshots. The analysis of memory includes this.
 *
 * Sizes of entries are as requested; blocks have both. Whoever asks where memory comes from gets
 * the frame that says it best: the innermost Python frame outside PyTorch itself. */
#ifndef VP_READ_TORCH_SNAPSHOT_H
#define VP_READ_TORCH_SNAPSHOT_H

#include <stdbool.h>

#include "trace/base/str.h"
#include "trace/read/bytes/byte_stream.h"

/* The first bytes of a pickle that is a snapshot: its root is a dict that says segments soon. */
bool ts_is(vp_str head);

#define TS_DEVICES_MAX 1024u

typedef uint32_t ts_site; /* a frame; 0: none is known */

typedef enum ts_state { TS_INACTIVE, TS_ACTIVE, TS_PENDING_FREE } ts_state;

typedef struct ts_block {
    int64_t address, size, requested; /* requested: size where it is not said */
    ts_state state;
    ts_site site;
} ts_block;

typedef struct ts_segment { /* its blocks were told before it */
    uint32_t device;
    int64_t address, total;
    bool has_active;  /* a block of it is in use */
    int64_t inactive; /* Σ size of the blocks that are not */
    int64_t blocks, inactive_blocks;
} ts_segment;

typedef enum ts_action {
    TS_OTHER, /* a snapshot was taken, user_defined, what is newer than this reader */
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
    int64_t address;       /* of TS_OOM: what the device had free */
    int64_t size, unix_us; /* unix_us −1: not said */
    ts_site site;
} ts_entry;

typedef struct ts_note { /* an annotation begins or ends */
    bool start;
    vp_str name; /* valid during the call */
    int64_t unix_us;
} ts_note;

typedef struct ts_snapshot ts_snapshot;

/* What hears of it; what one returns below 0 ends the reading. */
typedef struct ts_sink {
    void *ctx;
    int (*block)(void *ctx, const ts_block *b);
    int (*segment)(void *ctx, const ts_segment *s);
    int (*entry)(void *ctx, const ts_entry *e);
    int (*note)(void *ctx, const ts_note *n);
} ts_sink;

/* Reads a snapshot, of which gzip has been taken off. VP_ECORRUPT: damaged or no snapshot,
 * VP_EUNSUPPORTED: a pickle of more than plain values, VP_ELIMIT: beyond what any has. Where it is
 * cut off behind something, what came before it was told and ts_cut_at says where. *out is
 * untouched on failure. The stream is not closed. */
int ts_read(ts_snapshot **out, rd_stream *in, const ts_sink *sink);
void ts_free(ts_snapshot *s);
/* −1: it is whole. */
int64_t ts_cut_at(const ts_snapshot *s);
/* Blocks and entries without a size, or of a negative one, which were not told. */
int64_t ts_odd(const ts_snapshot *s);
/* The function of a site, and its file and line; empty where it has none. */
void ts_where(const ts_snapshot *s, ts_site site, vp_str *function, vp_str *file, int64_t *line);

#endif
