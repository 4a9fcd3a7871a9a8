/* Schedules analyses. An analysis uses all processors and the memory of its file, so few run at
 * the same time. Files are untrusted and can be made to take long. Therefore:
 *
 *    - each run has one analysis at a time, whatever is requested of it;
 *    - an analysis that takes more than 3 s no longer occupies one of the two slots;
 *      at most two such analyses continue, and further ones are paused;
 *    - an analysis is canceled if no client waits for it, or after 1 min plus 2 s per MB,
 *      a hundred times the time of real files. The command line has no such limit.
 *
 * Text with a hole (truncate -s 1T) is read only up to the hole. Thread-safe. */
#ifndef VP_ROUTES_TURNS_H
#define VP_ROUTES_TURNS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct turns turns;

typedef struct turn {
    turns *of;
    const char *session;         /* id of the run, borrowed */
    int64_t bytes;               /* of its files */
    bool (*unwanted)(void *ctx); /* true if no client waits any more; called periodically */
    void *ctx;
    /* The following fields are private. */
    bool lasts;
    int64_t begin_ms, asked_ms;
    struct turn *next;
} turn;

int turns_new(turns **out);
void turns_free(turns *all);
/* Waits for a slot. The caller sets the first five fields, and calls turn_end after success.
 * VP_ECANCELLED: no client waits any more. */
int turn_begin(turn *t);
/* Called by the progress callback, from one thread at a time; can block. < 0: stop with this error
 * (VP_ECANCELLED, or VP_ELIMIT: timed out). */
int turn_go_on(turn *t);
void turn_end(turn *t);
/* Returns VP_ECANCELLED with its message. */
int turn_unwanted(void);

#endif
