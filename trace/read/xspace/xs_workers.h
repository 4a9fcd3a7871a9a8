/* Threads that read one XSpace. They scan the planned lines (xs_walk.h), and decode the parts into
 * which lines are cut. The reader's own thread requests one line after the other, cuts it into
 * parts, and joins decoded parts in file order; instead of waiting it works like the other threads.
 * With one thread it does everything. The reader must outlive the workers, which own cuts and
 * parts. */
#ifndef VP_READ_XS_WORKERS_H
#define VP_READ_XS_WORKERS_H

#include "trace/read/xspace/xs_part.h"
#include "trace/read/xspace/xs_walk.h"

typedef struct xs_workers xs_workers;

/* Uses the number of threads in the reader's options, but no more than the file size justifies.
 * Threads start when there is work. */
int xs_workers_new(xs_workers **out, xs_reader *r);
/* Plans a line. Lines are planned in the order of their requests, and only while none is requested:
 * before the first request, or after all planned lines were requested. VP_ENOMEM, VP_ELIMIT. */
int xs_workers_plan(xs_workers *c, const xs_line *line);
/* Result of scanning a line. */
typedef struct xs_lined {
    xs_head head;
    uint64_t events;
    const xs_cut *cuts; /* at least one; valid until the next line is requested */
    size_t n;
    int64_t damage; /* offset, or -1 */
} xs_lined;
/* Requests the next planned line. Returns the failure of its scan. */
int xs_workers_line(xs_workers *c, xs_lined *out, const xs_line *line);
/* Appends a run. Returns the failure of decoding or joining an earlier one. */
int xs_workers_add(xs_workers *c, const xs_run *run);
/* Decodes and joins all remaining runs. */
int xs_workers_finish(xs_workers *c);
/* Ends the threads after their current part, and frees the workers. */
void xs_workers_free(xs_workers *c);

#endif
