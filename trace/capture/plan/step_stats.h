/* Statistics of step durations in bounded memory: mean and deviation of all steps, a histogram, and
 * the last durations, for detecting slow steps. Private to this module. The caller owns the struct,
 * initialized to zero. Nothing is allocated. */
#ifndef VP_CAPTURE_STEP_STATS_H
#define VP_CAPTURE_STEP_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define STEP_STATS_LAST 64u
/* 8 buckets per power of two: a bucket's middle deviates by at most 1/16. */
#define STEP_STATS_BUCKETS (64u * 8u)

typedef struct step_stats {
    uint64_t count, paced; /* all steps, and those that count for the pace (step_stats_add) */
    double mean, m2;       /* seconds; Welford's sum of squared deviations */
    uint64_t buckets[STEP_STATS_BUCKETS];
    uint64_t last_ns[STEP_STATS_LAST]; /* newest at (paced - 1) % STEP_STATS_LAST */
    bool slow_told;
    int64_t slow_ns;      /* start of the minute in which only slower steps are reported */
    uint64_t slow_worst;  /* ns; longest reported step of that minute */
    uint64_t slow_passed; /* unreported slow steps of that minute */
} step_stats;

/* STEP_SLOW: slow, not to be reported. STEP_SLOWEST: slow, to be reported. */
typedef enum step_pace { STEP_USUAL, STEP_SLOW, STEP_SLOWEST } step_pace;

void step_stats_add(step_stats *s, uint64_t ns);
/* Adds a step whose duration is not representative for the pace. */
void step_stats_add_other(step_stats *s, uint64_t ns);
double step_stats_stddev(const step_stats *s); /* seconds, of the population; 0 without steps */
/* Seconds, within 1/16; 0 if there are no steps. */
double step_stats_median(const step_stats *s);
/* Exact median of the last STEP_STATS_LAST steps; 0 if there are none. */
uint64_t step_stats_recent_median_ns(const step_stats *s);

/* Compares a step of `ns`, not yet added, with recent ones; now_ns is of any monotonic clock. SLOW:
 * at least `ratio` times their median, with enough steps. SLOWEST: also longer than all steps
 * reported within the last minute. */
step_pace step_stats_pace(const step_stats *s, uint64_t ns, double ratio, int64_t now_ns);
/* Call when a slow step was reported at now_ns: for a minute only longer ones are reported. */
void step_stats_tell_slow(step_stats *s, uint64_t ns, int64_t now_ns);
/* Call when a slow step was not reported. */
void step_stats_pass_slow(step_stats *s);
/* Number of unreported slow steps, after the minute is over (else 0); then counts from 0 again. */
uint64_t step_stats_passed(step_stats *s, int64_t now_ns);

#endif
