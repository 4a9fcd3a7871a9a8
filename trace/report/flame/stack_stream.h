/* Stacks as other viewers take them, in pieces, so that a million of them need no room. The caller
 * that opens a stream closes it.
 *
 * Folded: a line a stack, "frame;frame;frame VALUE", of nanoseconds, outermost frame first, as
 * flamegraph.pl, inferno and speedscope read it. The first frame is the device, before it the host
 * where there are several. In a frame ';' is written as ':', and what is no text as \xNN, so that
 * the last space of a line is always that before the value. A stack of 0 ns has no line.
 *
 * Speedscope: https://www.speedscope.app/file-format-schema.json, of type "sampled" with the unit
 * "nanoseconds"; a profile a device, and a sample a stack, in the same order. */
#ifndef VP_REPORT_STACK_STREAM_H
#define VP_REPORT_STACK_STREAM_H

#include "trace/base/arena.h"
#include "trace/base/json.h"
#include "trace/report/flame/stacks.h"

typedef enum flame_form { FLAME_FOLDED, FLAME_SPEEDSCOPE } flame_form;

typedef struct flame_stream {
    const flame_stacks *s;
    int (*step)(struct flame_stream *t); /* adds to `piece`: 1, or 0 at the end, or a failure */
    vp_buf piece;
    size_t at;           /* the next stack, or frame */
    flame_frames frames; /* of the stack at hand */
    /* speedscope: */
    unsigned part; /* of the document */
    vp_json json;
    vp_arena arena;
    vp_intern names;          /* of frames; a frame's number is its id - 1 */
    vp_sid *of_scope, *of_op; /* by scope, and by stack */
    size_t from, end;         /* the stacks of the profile at hand */
} flame_stream;

/* The stacks stay the caller's, and outlive the stream. */
int flame_stream_open(flame_stream *t, const flame_stacks *s, flame_form form);
/* 1: *p, *n is the next piece, valid until the next call; 0: the end; < 0: failed. */
int flame_stream_next(flame_stream *t, char **p, size_t *n);
void flame_stream_close(flame_stream *t);

/* For stack_stream.c. */
int flame_speedscope_open(flame_stream *t);

#endif
