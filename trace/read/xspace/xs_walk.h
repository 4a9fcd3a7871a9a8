/* First pass over a line: its header, its number of events, and the positions between events where
 * it may be cut. Of an event only its length is read.
 *
 * A long line is scanned in sections, by any thread and in any order. The position of
 * a section's first event is speculative until the previous section confirms it. Fields form a
 * chain of lengths, and a chain entered at a wrong position soon joins the true one. The guess is
 * confirmed if the previous section ends exactly there; otherwise the rest of the line is scanned
 * again in order. So the result does not depend on guesses. */
#ifndef VP_READ_XS_WALK_H
#define VP_READ_XS_WALK_H

#include "trace/read/xspace/xs_read.h"

/* Length of a section. A line shorter than a quarter of it is not divided. */
#define XS_SECTION_BYTES (INT64_C(4) << 20)
/* Window of a thread for scanning. */
#define XS_WALK_WINDOW (256u << 10)

/* Fields of a line other than its events, as far as read. */
typedef struct xs_head {
    bool has_id, has_timestamp;
    int64_t id, timestamp_ns;
    uint16_t name_n, display_n;   /* 0: none */
    char name[256], display[256]; /* the first and the last that are not empty; truncated */
} xs_head;

/* End of a run, and the number of events of its section up to this end. */
typedef struct xs_cut {
    int64_t end;
    uint64_t events;
} xs_cut;

/* A section of a line. Initialize to zero except for its bounds. It owns its cuts. */
typedef struct xs_section {
    int64_t from, to, line_end; /* offsets in the source: the section, and the end of its line */
    bool first;                 /* first section of its line, which begins at `from` */
    /* Range that was scanned. begin -1: to be scanned together with the previous section. */
    int64_t begin, end;
    bool damaged; /* damaged at `end` */
    uint64_t events;
    xs_cut *cuts; /* the last one is the section's end */
    size_t n, cap;
    xs_head head;
    int status; /* result of the scan, with its error; damage is not a failure */
    vp_error error;
} xs_section;

/* Scans the section; `status` has the result. */
void xs_section_walk(xs_section *s, xs_window *w);
/* Scans from `begin` to the end of the line. */
void xs_section_walk_from(xs_section *s, xs_window *w, int64_t begin);
void xs_section_free(xs_section *s);
/* Merges the header fields of a later section. */
void xs_head_add(xs_head *h, const xs_head *later);

#endif
