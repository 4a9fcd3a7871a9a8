/* Threads that read one XSpace. They scan the planned lines (xs_walk.h), and decode the parts into
 * which lines are cut. The reader's own thread requests one line after the other, cuts it into
 * parts, and joins decoded parts in file order; instead of waiting it works like the other threads.
 * With one thread it does everything. The reader must outlive the crew, which owns cuts and
 * parts. */
#ifndef VP_READ_XS_CREW_H
#define VP_READ_XS_CREW_H

#include "trace/read/xspace/xs_part.h"
#include "trace/read/xspace/xs_walk.h"

typedef struct xs_crew xs_crew;

/* Uses the number of threads in the reader's options, but no more than the file size justifies.
 * Threads start when there is work. */
int xs_crew_new(xs_crew **out, xs_reader *r);
/* Plans a line. Lines are planned in the order of their requests, and only while none is requested:
 * before the first request, or after all planned lines were requested. VP_ENOMEM, VP_ELIMIT. */
int xs_crew_plan(xs_crew *c, const xs_line *line);
/* Result of scanning a line. */
typedef struct xs_lined {
    xs_head head;
    uint64_t events;
    const xs_cut *cuts; /* at least one; valid until the next line is requested */
    size_t n;
    int64_t damage; /* offset, or -1 */
} xs_lined;
/* Requests the next planned line. Returns the failure of its scan. */
int xs_crew_line(xs_crew *c, xs_lined *out, const xs_line *line);
/* Appends a run. Returns the failure of decoding or joining an earlier one. */
int xs_crew_add(xs_crew *c, const xs_run *run);
/* Decodes and joins all remaining runs. */
int xs_crew_finish(xs_crew *c);
/* Ends the threads after their current part, and frees the crew. */
void xs_crew_free(xs_crew *c);

#endif
