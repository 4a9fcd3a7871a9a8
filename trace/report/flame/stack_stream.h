/* Streams stacks in formats of other viewers, in pieces, so that a million stacks need little
 * memory. The caller that opens a stream closes it.
 *
 * Folded: one line per stack, "frame;frame;frame VALUE", in nanoseconds, outermost frame first, as
 * flamegraph.pl, inferno and speedscope read it. The first frame is the device, preceded by the
 * host if there are several. In a frame ';' is replaced by ':', and bytes that are not text by
 * \xNN, so that the last space of a line always precedes the value. Stacks of 0 ns are left out.
 *
 * Speedscope: https://www.speedscope.app/file-format-schema.json, of type "sampled" with the unit
 * "nanoseconds"; one profile per device, and one sample per stack, in the same order. */
#ifndef VP_REPORT_STACK_STREAM_H
#define VP_REPORT_STACK_STREAM_H

#include "trace/base/arena.h"
#include "trace/base/json.h"
#include "trace/report/flame/stacks.h"

typedef enum flame_form { FLAME_FOLDED, FLAME_SPEEDSCOPE } flame_form;

typedef struct flame_stream {
    const flame_stacks *s;
    int (*step)(struct flame_stream *t); /* appends to `piece`: 1, 0 at the end, or a failure */
    vp_buf piece;
    size_t at;           /* the next stack, or frame */
    flame_frames frames; /* of the current stack */
    /* speedscope: */
    unsigned part; /* of the document */
    vp_json json;
    vp_arena arena;
    vp_intern names;          /* by frame; the number of a frame is its id - 1 */
    vp_sid *of_scope, *of_op; /* by scope, and by stack */
    size_t from, end;         /* the stacks of the current profile */
} flame_stream;

/* The stacks are borrowed and must outlive the stream. */
int flame_stream_open(flame_stream *t, const flame_stacks *s, flame_form form);
/* 1: *p, *n is the next piece, valid until the next call; 0: the end; < 0: failed. */
int flame_stream_next(flame_stream *t, char **p, size_t *n);
void flame_stream_close(flame_stream *t);

/* Private to stack_stream.c. */
int flame_speedscope_open(flame_stream *t);

#endif
