/* Jobs that are put together from their ranks (docs/reference/ranks.md): which of them a rank may
 * belong to. Private to the catalog. */
#ifndef VP_MODEL_CATALOG_JOBS_H
#define VP_MODEL_CATALOG_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/map.h"
#include "trace/read/detect/rank_info.h"

/* Ranks write their files at the end of the same step: measured 12 ms apart over 8 ranks, and
 * synchronized clocks differ by less than a second. But a restarted program is another job, and
 * importing torch and warming up takes longer. */
#define CAT_JOB_SPREAD_NS (INT64_C(10) * 1000000000)

typedef struct cat_job {
    uint32_t id;               /* unique among the jobs of one map of seen ranks */
    uint32_t world;            /* 0: unknown */
    uint32_t backend;          /* 0: unknown */
    uint32_t ranks;            /* number of ranks */
    int64_t first_ns, last_ns; /* Unix times of events; 0: unknown */
} cat_job;

/* True if the world sizes and backends do not differ, and the job lacks `ranks` ranks or more. */
bool cat_job_takes(const cat_job *j, uint32_t world, uint32_t backend, uint32_t ranks);
/* Nanoseconds between the times, 0 if they overlap, -1 if one of them is unknown. */
int64_t cat_job_gap(const cat_job *j, int64_t first_ns, int64_t last_ns);
/* True unless the times are known and further apart than ranks of a job are. */
bool cat_job_is_at(const cat_job *j, int64_t first_ns, int64_t last_ns);
/* True if the job has this rank. */
bool cat_job_has(const cat_job *j, const vp_map *seen, const rd_rank *r);
/* The best of the jobs that a rank may belong to. */
typedef struct cat_job_choice {
    const cat_job *job; /* NULL: none yet */
    bool alike;
    int64_t apart_ns; /* -1: unknown */
} cat_job_choice;

/* Chooses j if it is better than the choice so far: its names are alike, or its first events are
 * nearer to first_ns. */
bool cat_job_prefer(cat_job_choice *best, const cat_job *j, bool alike, int64_t first_ns);
/* Adds a rank: seen must outlive the job. VP_ENOMEM. */
int cat_job_add(cat_job *j, vp_map *seen, const rd_rank *r);
/* Widens what is known of j by what is known of another. */
void cat_job_widen(cat_job *j, uint32_t world, uint32_t backend, int64_t first_ns, int64_t last_ns);

#endif
