/* What the recording macros write, and the readers of trace/image/vpcap.h read: the parts of a
 * recording's image (trace/image/vpcap_layout.h) that are filled in line, in the application's own
 * code. Part of the binary interface: whoever changes it changes VP__LAYOUT, which is in the names
 * of the symbols that the macros use. Include view_profile_capture.h instead.
 *
 *     slot     16 bytes; a record, or one of the items that belong to it
 *     record   start (ticks), low 32 bits of the duration, name << 8 | items << 3 | kind
 *     item     value, key (a name), bytes << 8 | type; a string's bytes follow in slots of their
 * own chunk    pages of slots of one thread, behind a head that says how many are complete block in
 * a thread's first chunk, behind the head: who it is, what it lost, what it has open
 *
 * Whatever is below a chunk's published head is complete, whenever the process dies. */
#ifndef VIEW_PROFILE_CAPTURE_LAYOUT_H
#define VIEW_PROFILE_CAPTURE_LAYOUT_H

#include <stdint.h>

#define VP__LAYOUT 2

#define VP__PAGE 4096u
#define VP__SLOT 16u
#define VP__FIRST_PAGES 1u  /* a thread's first chunk: a thousand threads take 4 MiB */
#define VP__CHUNK_PAGES 16u /* later ones */
#define VP__DEPTH 64u
#define VP__ITEMS_MAX 31u
#define VP__EVENT_SLOTS 240u /* a record with its items; fits into one page behind a head */
#define VP__NAME_MAX 0xffffffu
#define VP__CHUNK_MAGIC 0x6b637076u /* "vpck" */

enum {
    VP__NOTHING,
    VP__ZONE,
    VP__STEP,
    VP__COMPILE,
    VP__INSTANT, /* name 0: only carries a flow, and is no event */
    VP__COUNTER,
    VP__SPAN,
    VP__LOST /* duration: how many */
};

enum {
    VP__ITEM_I64,
    VP__ITEM_F64,
    VP__ITEM_STR,
    VP__ITEM_NUMBER, /* of a step; value of a counter */
    VP__ITEM_REAL,   /* value of a counter */
    VP__ITEM_LONG,   /* the duration's high 32 bits */
    VP__ITEM_FLOW_OUT,
    VP__ITEM_FLOW_IN,
    VP__ITEM_CORRELATION,
    VP__ITEM_TRACK
};

#define VP__WHAT(name, items, kind) ((uint32_t)(name) << 8 | (uint32_t)(items) << 3 | (kind))

typedef struct vp__record {
    uint64_t start;
    uint32_t dur, what;
} vp__record;

typedef struct vp__item {
    uint64_t value;
    uint32_t key, what;
} vp__item;

enum { VP__CHUNK_FREE, VP__CHUNK_OPEN, VP__CHUNK_SEALED, VP__CHUNK_CLAIMED };

typedef struct vp__chunk {
    uint32_t magic, pages;
    uint64_t state;     /* events << 32 | slots that are complete, this head's included */
    uint32_t limit;     /* slots */
    uint32_t status;    /* VP__CHUNK_… */
    uint32_t block;     /* page of the thread's first chunk */
    uint32_t order;     /* among the chunks of its thread; the first chunk is 0 */
    uint64_t thread;    /* number of the thread, from 1, never used twice in an image */
    uint32_t next_free; /* page + 1 of the next free chunk */
    uint32_t recycled;  /* how often: slots above the head may hold old records */
    uint64_t until;     /* nothing in it ended after these ticks; 0: its thread writes into it */
    uint64_t reserved;
} vp__chunk;

/* A zone that is open: start is 0 when it is not. kind: of a step with its number above, as far as
 * that fits. */
typedef struct vp__frame {
    uint64_t start;
    uint32_t name, kind;
} vp__frame;
#define VP__FRAME_NUMBER_MAX ((UINT32_MAX >> 3) - 1)
#define VP__FRAME_STEP(number)                                                                     \
    ((number) <= VP__FRAME_NUMBER_MAX ? ((uint32_t)(number) + 1) << 3 | VP__STEP : VP__STEP)

typedef struct vp__block {
    int64_t tid;
    uint64_t thread;
    uint64_t dropped_full, dropped_signal, dropped_depth, unmatched_ends, overwritten;
    uint64_t lost;       /* dropped_full that no LOST record tells of yet, the first of them … */
    uint64_t lost_since; /* … at these ticks */
    uint64_t left;       /* zones that were left without an end */
    uint64_t reserved[2];
    char name[96]; /* NUL-terminated */
    vp__frame scopes[VP__DEPTH], pairs[VP__DEPTH];
} vp__block;

#endif
