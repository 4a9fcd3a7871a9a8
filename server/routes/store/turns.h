/* Whose turn it is to analyse. An analysis takes all processors and the memory of its file, so few
 * run at once. Whoever made a file may have made it to take long, so
 *
 *    - one session has one turn at a time, whatever is asked of it;
 *    - a turn that lasts gives its place to the next, and goes on beside it if few others do;
 *    - a turn ends when nobody waits for it any more, or when it took longer than files take.
 *
 * Thread-safe.
 *
 * Two sessions are analysed at once. A turn that lasts 3 s gives its place to the next. Two of that
 * kind go on at most; further ones stand still until one of those has ended. A turn is ended after
 * a minute and 2 s for each MB, a hundred times what real files take; the command line has no such
 * limit. Text that has a hole (truncate -s 1T) is read up to it. */
#ifndef VP_ROUTES_TURNS_H
#define VP_ROUTES_TURNS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct turns turns;

typedef struct turn {
    turns *of;
    const char *session;         /* its id, borrowed */
    int64_t bytes;               /* of its files */
    bool (*unwanted)(void *ctx); /* whether nobody waits any more: asked now and then */
    void *ctx;
    /* What follows is the turns' own. */
    bool lasts;
    int64_t begin_ms, asked_ms;
    struct turn *next;
} turn;

int turns_new(turns **out);
void turns_free(turns *all);
/* Waits for a turn. The caller has set the first five fields, and calls turn_end after a success.
 * VP_ECANCELLED: nobody wants it any more. */
int turn_begin(turn *t);
/* What a progress callback calls, from one thread at a time; may wait. < 0: stop, with the code as
 * the failure of the analysis (VP_ECANCELLED, or VP_ELIMIT: it took too long). */
int turn_go_on(turn *t);
void turn_end(turn *t);
/* VP_ECANCELLED, and its sentence. */
int turn_unwanted(void);

#endif
