/* The threads that read one XSpace. The reader's own thread goes over the lines, cuts them into
 * parts, and joins what is decoded in the file's order; between this it decodes, too. With one
 * thread it does all. Included by trace/read/xspace/xs_*.c only. */
#ifndef VP_READ_XS_CREW_H
#define VP_READ_XS_CREW_H

#include "trace/read/xspace/xs_part.h"

typedef struct xs_crew xs_crew;

/* As many threads as the options of the reader say, and no more than the file is worth; they start
 * when there is work. The reader outlives it. */
int xs_crew_new(xs_crew **out, xs_reader *r);
/* Adds a run behind all others. Fails as decoding or joining an earlier one did. */
int xs_crew_add(xs_crew *c, const xs_run *run);
/* Decodes and joins what is left. */
int xs_crew_finish(xs_crew *c);
/* Ends the threads, after the part that each has in hand. */
void xs_crew_free(xs_crew *c);

#endif
