/* Second pass over an XSpace, shared by all of its writers: planes and lines of the layout, names
 * of the current plane, and events line by line. A writer's state begins with an xj_walk and owns
 * it. */
#ifndef VP_EXPORT_XSPACE_WALK_H
#define VP_EXPORT_XSPACE_WALK_H

#include "trace/export/shared/stream_out.h"
#include "trace/export/xspace/xspace_json.h"

typedef struct xj_walk {
    rd_stream s; /* first member */
    rd_source *source;
    xs_window w;
    xj_layout layout;
    xs_plane plane;
    xj_names names;
    xj_flows flows;
    vp_buf out;
    uint32_t loaded; /* index of the plane in `plane`, or UINT32_MAX */
    bool decided;    /* the layout is decided */
    bool waited;     /* xj_walk_ready has returned 0 */
    bool raw;        /* as of xj_names */
    bool begun;      /* the track at hand */
    bool ended;      /* all is written */
    size_t row, track;
    int64_t at; /* offset in the current track */
} xj_walk;

/* For a zeroed walk, whose s.next and s.close the caller sets: decides the layout; or, if the pick
 * may begin early and there is an event by then, reads EX_EARLY_BYTES of the source for it. The
 * walk owns the source and is freed by xj_walk_free, also on failure. */
int xj_walk_init(xj_walk *x, rd_source *in, ex_pick *pick, bool raw);
/* Call it at the begin of a chunk. 1: the layout is decided; 0, once: it is not, and the reader
 * first gets the output that does not depend on it; or a failure. */
int xj_walk_ready(xj_walk *x);
void xj_walk_free(xj_walk *x);
/* Makes a plane and its names current. 1: the previous ones are gone; 0: they are current already;
 * or a failure, and none is current. */
int xj_walk_load(xj_walk *x, uint32_t plane);
/* Reads the next event of the current track, which continues at x->at. 1; 0: the chunk is full, or
 * the track is finished (x->at >= t->end), possibly because of damage; or a failure. */
int xj_walk_next(xj_walk *x, const xj_track *t, xw_field *f);
/* Records damage of the XSpace. The first position is kept. */
void xj_walk_damaged(xj_walk *x, int64_t at);
/* Prepares the analysis tracks after all events. 1: to be written; 0: none. */
int xj_walk_added(xj_walk *x, struct ex_added **added);
/* Reports damage in the stream at its end. */
void xj_walk_finish(xj_walk *x);

#endif
