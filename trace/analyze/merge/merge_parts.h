/* Internal header of merge*.c: the reports being merged, and how their texts, times, devices and
 * sums are converted. Everything is in the arena of the merged report. */
#ifndef VP_ANALYZE_MERGE_PARTS_H
#define VP_ANALYZE_MERGE_PARTS_H

#include "include/view_profile.h"
#include "trace/base/arena.h"

/* One part, and the conversion of its times and device numbers. */
typedef struct merge_part {
    const vp_report *r;
    int64_t shift_ps; /* offset of its aligned times */
    uint32_t *device; /* by device: its index in the merged report */
    /* Its position among the parts, independent of the order in which they were passed. */
    size_t rank;
} merge_part;

typedef struct merging {
    vp_report *r; /* the whole */
    vp_arena *arena;
    merge_part *parts; /* by rank */
    size_t count;
    bool keeps_rows;    /* for a single part: its steps, which are used unchanged */
    bool out_of_memory; /* sticky, so that copying needs one check at the end */
} merging;

/* As report_merge. step_rows: NULL, or for a single part the devices of its steps, which the merged
 * report takes over. */
int merge_reports(vp_report **out, const vp_report *const *parts, size_t n, vp_arena *step_rows);

const char *merge_text(merging *m, const char *s);                       /* NULL stays NULL */
void *merge_items(merging *m, const void *items, size_t n, size_t size); /* a copy; NULL for none */
void *merge_room(merging *m, size_t n, size_t size);                     /* zeroed; NULL for none */
/* An aligned time of the part in the merged report; unknown stays unknown. */
int64_t merge_time(const merge_part *p, int64_t ps);
uint32_t merge_device(const merge_part *p, uint32_t device);
/* Adds values: the sum is unknown if all are, and saturates because parts may be hostile. */
void merge_sum(int64_t *sum, int64_t more);
int merge_order(const char *a, const char *b); /* strcmp; NULL first */

void merge_devices(merging *m); /* merge_tables.c: devices, then ops */
void merge_ops(merging *m);
int merge_scopes(merging *m);
int merge_modules(merging *m); /* merge_modules.c */
int merge_steps(merging *m);   /* merge_steps.c; notes go to the report's quality */
void merge_full(merging *m);   /* merge_full.c: gaps to memory */

#endif
