/* How the clock of one host of a session relates to those of the others. analyze/ makes these of a
 * report, export/ shifts timelines by them; the array and its order are those of the session's
 * hosts. */
#ifndef VP_MODEL_HOST_CLOCK_H
#define VP_MODEL_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* By what a host is placed. */
typedef enum host_clock_how {
    HOST_CLOCK_UNPLACED,    /* nothing is known: its timeline starts with the session's */
    HOST_CLOCK_START,       /* its file tells no wall clock: by its start, as all others */
    HOST_CLOCK_WALL,        /* by the wall clock of its file */
    HOST_CLOCK_COLLECTIVES, /* by the ends of collective calls that it shares with others */
    HOST_CLOCK_REFERENCE,   /* the one that those are compared with */
} host_clock_how;

typedef struct host_clock {
    host_clock_how how;
    bool wall;         /* the files of all hosts tell a wall clock: offset_ps corrects that */
    int64_t zero_ns;   /* about where the host's own file begins, in its times */
    int64_t shift_ns;  /* to add to the times of the host's own file, for times of the session; no
                          event of the session is much before 0 then */
    int64_t offset_ps; /* COLLECTIVES: the part of it that corrects the host's clock */
    int64_t error_ps;  /* COLLECTIVES: half of the calls say at most so much more or less */
    int64_t calls;     /* COLLECTIVES: that were compared */
} host_clock;

#endif
