/* The threads that read one XSpace. They go over the lines that were planned (xs_walk.h) and decode
 * the parts that these are cut into; the reader's own thread asks for one line after the other,
 * makes parts of it, and joins what is decoded in the file's order; while it would wait it does as
 * the others do. With one thread it does all. */
#ifndef VP_READ_XS_CREW_H
#define VP_READ_XS_CREW_H

#include "trace/read/xspace/xs_part.h"
#include "trace/read/xspace/xs_walk.h"

typedef struct xs_crew xs_crew;

/* As many threads as the options of the reader say, and no more than the file is worth; they start
 * when there is work. The reader outlives it. */
int xs_crew_new(xs_crew **out, xs_reader *r);
/* Announces a line, in the order in which they will be asked for, and while none is asked for:
 * before the first, or once all that were announced are. VP_ENOMEM, VP_ELIMIT. */
int xs_crew_plan(xs_crew *c, const xs_line *line);
/* What a line that was gone over holds. */
typedef struct xs_lined {
    xs_head head;
    uint64_t events;
    const xs_cut *cuts; /* the crew's, until the next line is asked for; at least one */
    size_t n;
    int64_t damage; /* where it is, or -1 */
} xs_lined;
/* Asks for the next line that was planned. Fails as going over it did. */
int xs_crew_line(xs_crew *c, xs_lined *out, const xs_line *line);
/* Adds a run behind all others. Fails as decoding or joining an earlier one did. */
int xs_crew_add(xs_crew *c, const xs_run *run);
/* Decodes and joins what is left. */
int xs_crew_finish(xs_crew *c);
/* Ends the threads, after the part that each has in hand. */
void xs_crew_free(xs_crew *c);

#endif
