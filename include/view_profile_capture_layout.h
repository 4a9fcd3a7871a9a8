/* The parts of a recording's image (trace/vpcap/vpcap_layout.h) that the recording macros write
 * inline, in the application's code; trace/vpcap/vpcap.h reads them. Part of the binary interface:
 * every change of it must change VP__LAYOUT, which is in the names of the symbols that the macros
 * use. Include view_profile_capture.h instead.
 *
 * An image consists of pages of 4096 bytes, little endian. Threads write into chunks of whole
 * pages:
 *
 *     first chunk    head (vp__chunk), block (vp__block), then slots to its end
 *     later chunks   head, then slots to its end
 *
 * A slot has 16 bytes: a record, or one of the up to 31 items that follow their record. The bytes
 * of a string follow their item, in as many slots as needed. Everything below a chunk's published
 * head (vp__chunk.state) is complete, even if the process dies.
 *
 * Offset and size in bytes, field, meaning and unit. Ticks are those of vp_now(); a name is an
 * index into the image's table of names. tests/cli/test_layout.py checks these rows against the
 * structures.
 *
 *     vp__record, 16: a zone that ended, or another event
 *          0     8  start           ticks
 *          8     4  dur             ticks, the low 32 bits; VP__LOST: number of missing zones
 *         12     4  what            name << 8 | number of items << 3 | VP__ZONE … (VP__WHAT)
 *
 *     vp__item, 16: an attribute of the preceding record
 *          0     8  value           bits of an integer or a double; unused for a string
 *          8     4  key             a name; 0 if the type defines the meaning
 *         12     4  what            bytes of a string << 8 | VP__ITEM_…
 *
 *     vp__chunk, 64: the head of a chunk
 *          0     4  magic           VP__CHUNK_MAGIC
 *          4     4  pages           of the chunk, including this one
 *          8     8  state           events << 32 | complete slots, including this head
 *         16     4  limit           slots, including this head
 *         20     4  status          VP__CHUNK_FREE …
 *         24     4  block           page of the thread's first chunk
 *         28     4  order           among the chunks of its thread; the first chunk is 0
 *         32     8  thread          its number, from 1, unique in an image
 *         40     4  next_free       page + 1 of the next free chunk
 *         44     4  recycled        number of reuses: slots above the head may hold old records
 *         48     8  until           ticks: upper bound of its events' ends; 0: still being written
 *         56     8  reserved
 *
 *     vp__frame, 16: an open zone
 *          0     8  start           ticks; 0: not open
 *          8     4  name            a name
 *         12     4  kind            VP__ZONE …; for a step with its number (VP__FRAME_STEP)
 *
 *     vp__block, 2240: identity of a thread, its losses (in zones unless noted), its open zones
 *          0     8  tid             of the kernel
 *          8     8  thread          its number, as in its chunks
 *         16     8  dropped_full    no space
 *         24     8  dropped_signal  a signal interrupted a record
 *         32     8  dropped_depth   VP_BEGIN deeper than VP__DEPTH
 *         40     8  unmatched_ends  VP_END without VP_BEGIN
 *         48     8  overwritten     overwritten by newer ones (VP_RING)
 *         56     8  lost            part of dropped_full without a VP__LOST record
 *         64     8  lost_since      ticks: the first of these
 *         72     8  left            without an end: left by longjmp, or their thread ended
 *         80    16  reserved
 *         96    96  name            of the thread, NUL-terminated
 *        192  1024  scopes          open VP_SCOPE and similar: frames, outermost first
 *       1216  1024  pairs           open VP_BEGIN: frames, outermost first */
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
#define VP__EVENT_SLOTS 240u /* a record with its items; fits in one page after a head */
#define VP__NAME_MAX 0xffffffu
#define VP__CHUNK_MAGIC 0x6b637076u /* "vpck" */

enum {
    VP__NOTHING,
    VP__ZONE,
    VP__STEP,
    VP__COMPILE,
    VP__INSTANT, /* name 0: only carries a flow, and is not an event */
    VP__COUNTER,
    VP__SPAN,
    VP__LOST /* duration: number of missing zones */
};

enum {
    VP__ITEM_I64,
    VP__ITEM_F64,
    VP__ITEM_STR,
    VP__ITEM_NUMBER, /* step number; counter value */
    VP__ITEM_REAL,   /* counter value */
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
    uint64_t state;
    uint32_t limit, status, block, order;
    uint64_t thread;
    uint32_t next_free, recycled;
    uint64_t until, reserved;
} vp__chunk;

typedef struct vp__frame {
    uint64_t start;
    uint32_t name, kind;
} vp__frame;
/* The kind of an open step, with its number + 1 in the upper bits if it fits. */
#define VP__FRAME_NUMBER_MAX ((UINT32_MAX >> 3) - 1)
#define VP__FRAME_STEP(number)                                                                     \
    ((number) <= VP__FRAME_NUMBER_MAX ? ((uint32_t)(number) + 1) << 3 | VP__STEP : VP__STEP)

typedef struct vp__block {
    int64_t tid;
    uint64_t thread;
    uint64_t dropped_full, dropped_signal, dropped_depth, unmatched_ends, overwritten;
    uint64_t lost, lost_since, left, reserved[2];
    char name[96];
    vp__frame scopes[VP__DEPTH], pairs[VP__DEPTH];
} vp__block;

#endif
