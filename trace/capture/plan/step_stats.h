/* How long steps take, in bounded memory however many there are: mean and deviation of all, a
 * histogram of them, and the lengths of the last ones, by which a slow step is known. Files of this
 * room include this header; the caller owns the struct, all zero at first. */
#ifndef VP_CAPTURE_STEP_STATS_H
#define VP_CAPTURE_STEP_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define STEP_STATS_LAST 64u
/* 8 parts of each power of two: a bucket's middle is at most 1/16 off. */
#define STEP_STATS_BUCKETS (64u * 8u)

typedef struct step_stats {
    uint64_t count, paced; /* all steps, and those that tell the pace (step_stats_add) */
    double mean, m2;       /* seconds; Welford's sum of squared deviations */
    uint64_t buckets[STEP_STATS_BUCKETS];
    uint64_t last_ns[STEP_STATS_LAST]; /* the newest at (paced - 1) % STEP_STATS_LAST */
    bool slow_told;
    int64_t slow_ns;      /* when the minute began in which only slower steps are told */
    uint64_t slow_worst;  /* ns; the longest that was told in that minute */
    uint64_t slow_passed; /* slow steps in that minute that were not told */
} step_stats;

/* STEP_SLOW: slow, but not to be told. STEP_SLOWEST: slow, and to be told. */
typedef enum step_pace { STEP_USUAL, STEP_SLOW, STEP_SLOWEST } step_pace;

void step_stats_add(step_stats *s, uint64_t ns);
/* Adds a step whose length says nothing about the pace of the others. */
void step_stats_add_other(step_stats *s, uint64_t ns);
double step_stats_stddev(const step_stats *s); /* seconds, of the population; 0 before the first */
/* Seconds, within 1/16; 0 before the first. */
double step_stats_median(const step_stats *s);
/* Of the last STEP_STATS_LAST steps, exact; 0 before the first. */
uint64_t step_stats_recent_median_ns(const step_stats *s);

/* Compares a step of `ns` that was not added yet with the recent ones at now_ns (any steady clock).
 * SLOW: it is at least `ratio` times their median, and there are enough of them. SLOWEST: it is
 * also longer than all that were told within the last minute. */
step_pace step_stats_pace(const step_stats *s, uint64_t ns, double ratio, int64_t now_ns);
/* To be called when a slow step was told at now_ns: for a minute only longer ones are told. */
void step_stats_tell_slow(step_stats *s, uint64_t ns, int64_t now_ns);
/* To be called when a slow step was not told. */
void step_stats_pass_slow(step_stats *s);
/* How many slow steps were not told, once the minute is over (else 0); then counts from 0 again. */
uint64_t step_stats_passed(step_stats *s, int64_t now_ns);

#endif
