/* Relation of the clocks of a run's hosts. analyze/ computes them for a report, export/ shifts
 * timelines by them. An array has one item per host, in the run's order. */
#ifndef VP_MODEL_HOST_CLOCK_H
#define VP_MODEL_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* How a host's clock is aligned. */
typedef enum host_clock_how {
    HOST_CLOCK_UNPLACED,    /* unknown: its timeline starts with the run's */
    HOST_CLOCK_START,       /* its file has no wall clock: aligned by the start, like all others */
    HOST_CLOCK_WALL,        /* by the wall clock of its file */
    HOST_CLOCK_COLLECTIVES, /* by the ends of collective calls that it shares with other hosts */
    HOST_CLOCK_REFERENCE,   /* the host with which the others are compared */
} host_clock_how;

typedef struct host_clock {
    host_clock_how how;
    bool wall;       /* the files of all hosts have a wall clock, which offset_ps corrects */
    int64_t zero_ns; /* approximate start of the host's own file, in its times */
    /* To be added to times of the host's own file to get times of the run. No event of the run is
     * then much before 0. */
    int64_t shift_ns;
    int64_t offset_ps; /* COLLECTIVES: the part of the shift that corrects the host's clock */
    int64_t error_ps;  /* COLLECTIVES: half of the calls deviate by at most this */
    int64_t calls;     /* COLLECTIVES: number of compared calls */
} host_clock;

#endif
