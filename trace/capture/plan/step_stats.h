/* How long steps take, in bounded memory however many there are: mean and deviation of all, their
 * histogram, and the last of them, by which a slow step is known. Files of this room include this
 * header; the caller owns the struct, all zero at first. */
#ifndef VP_CAPTURE_STEP_STATS_H
#define VP_CAPTURE_STEP_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define STEP_STATS_LAST 64u
/* 8 parts of each power of two: a bucket's middle is at most 1/16 off. */
#define STEP_STATS_BUCKETS (64u * 8u)

typedef struct step_stats {
    uint64_t count, paced; /* paced: of these, added with their pace */
    double mean, m2;       /* seconds; Welford's sum of squared deviations */
    uint64_t buckets[STEP_STATS_BUCKETS];
    uint64_t last_ns[STEP_STATS_LAST]; /* the newest at (paced - 1) % STEP_STATS_LAST */
    bool slow_told;
    int64_t slow_ns;      /* when the first slow step of the last such minute was told */
    uint64_t slow_worst;  /* ns; of those told since */
    uint64_t slow_passed; /* others since, that were not */
} step_stats;

/* SLOWEST: it is to be told. */
typedef enum step_pace { STEP_USUAL, STEP_SLOW, STEP_SLOWEST } step_pace;

void step_stats_add(step_stats *s, uint64_t ns);
/* The same of a step that says nothing about the pace of the others. */
void step_stats_add_other(step_stats *s, uint64_t ns);
double step_stats_stddev(const step_stats *s); /* seconds, of the population; 0 before the first */
/* Seconds, within 1/16; 0 before the first. */
double step_stats_median(const step_stats *s);
/* Of the last STEP_STATS_LAST steps, exact; 0 before the first. */
uint64_t step_stats_recent_median_ns(const step_stats *s);

/* Whether a step of `ns`, not added yet, is `ratio` times as long as the median of the recent ones,
 * of which there are enough, at the time now_ns (any steady clock); and whether it is longer than
 * those that were told within the last minute. */
step_pace step_stats_pace(const step_stats *s, uint64_t ns, double ratio, int64_t now_ns);
/* A slow one was told at now_ns: for the rest of a minute that goes to longer ones only. */
void step_stats_tell_slow(step_stats *s, uint64_t ns, int64_t now_ns);
/* A slow one was not. */
void step_stats_pass_slow(step_stats *s);
/* How many were not, once the minute is over; they are counted no more then. */
uint64_t step_stats_passed(step_stats *s, int64_t now_ns);

#endif
