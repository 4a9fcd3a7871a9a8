/* Internal header of steps*.c: finds steps as marks, then maps them to windows on each device
 * (docs/reference/metrics.md#steps). */
#ifndef VP_ANALYZE_STEPS_PARTS_H
#define VP_ANALYZE_STEPS_PARTS_H

#include "trace/analyze/result/analysis.h"

#define STEP_NONE UINT32_MAX /* as VP_MAP_NONE */

/* A step before device work is assigned: on the aligned clock, before the origin is subtracted. */
typedef struct step_mark {
    int64_t start, end;
    int64_t number; /* VP_UNKNOWN */
    int64_t group;  /* group_id, SINK_NO_VALUE */
    vp_str name;    /* a text of the trace */
    uint32_t track; /* its event; index into trace.tracks */
    uint32_t step;  /* index in h->steps.list */
    bool is_cut;    /* it was open when its recording ended */
} step_mark;

/* Sorted by start; none is inside another of its track. */
typedef struct step_marks {
    step_mark *v;
    size_t n, cap;
} step_marks;

typedef struct step_search {
    vp_step_source source;
    step_marks host;    /* PROFILER, ANNOTATION: of the program's threads, for all devices */
    step_marks *device; /* LINE, MODULES: by device; else NULL */
    size_t device_count;
    uint32_t *device_of; /* by process, STEP_NONE */
    step_marks beside;   /* by start: steps of other threads, concurrent to those in `host`; `step`
                            is the one with the same number, or STEP_NONE */
} step_search;

/* steps_marks.c: finds the marks of the first source with any, in the order of vp_step_source. */
int step_search_run(step_search *out, const analysis *a);
void step_search_free(step_search *s);
int step_marks_add(step_marks *m, const step_mark *mark);
void step_marks_free(step_marks *m);
/* Sorts the marks and drops those inside another one. */
void step_marks_order(step_marks *m);
/* Sets the step of the marks in `beside` to that of the main thread with the same number. */
int step_marks_join(step_search *s);
/* The mark that contains a time: of [start, end), or at its end if no other begins there. *last is
 * a hint for the search, and becomes the result. STEP_NONE: none. */
uint32_t step_mark_at(const step_marks *m, int64_t at, size_t *last);

/* steps_annotations.c: repeated annotations, or else calls of the optimizer, into s->host and
 * s->source. VP_ENOMEM. */
int step_annotation_marks(step_search *s, const analysis *a);
/* Events of host threads with the name of --steps-by, with or without a number. VP_ENOMEM. */
int step_named_marks(step_marks *m, const analysis *a);

/* steps_modules.c: the runs of the module with the most total time, by device; empty if n is 0. */
int step_modules_marks(step_search *s, const analysis *a);

/* steps_repeats.c: how often modules ran within single steps (F24): repeat_* of h->modules. */
int step_modules_repeats(const analysis *a);

/* steps_owner.c: the step of events outside of its own time: by nesting on their thread, by
 * producers and consumers, by group ids (docs/reference/xprof.md#step-grouping). */
typedef struct step_owner step_owner;
int step_owner_new(step_owner **out, const analysis *a, const step_search *s);
void step_owner_free(step_owner *o);
/* The step of a host event: that of its thread at that time, else the one that runs then. */
uint32_t step_owner_at(step_owner *o, uint32_t track, int64_t at);
/* The step recorded in the event itself: by its group, or by the producer of its input. */
uint32_t step_owner_of(const step_owner *o, const trace_track *k, size_t event);
/* Frees the data of steps_owner that is based on flows. */
void step_owner_forget(const analysis *a);

/* A step on one device. */
typedef struct step_window {
    int64_t start, end; /* device's clock */
    int64_t aligned;    /* its start on the aligned clock, before the origin is subtracted */
    uint32_t step;
} step_window;

typedef struct step_window_list {
    step_window *v; /* ascending, disjoint */
    size_t n, cap;
} step_window_list;

/* steps_windows.c: the steps of device d. cut[step] is set if the device's record of a step is
 * incomplete. */
int step_windows_find(step_window_list *w, const analysis *a, const step_search *s, step_owner *o,
                      uint32_t d, bool *cut);

/* steps_notes.c: quality notes on the marks, after they have their steps; and on the steps in
 * h->steps. */
int step_marks_note(host_result *h, const step_search *s);
int steps_note(host_result *h);

/* steps_ops.c: step_self_ps and per_step_ps of the ops, steps_counted of the devices. */
int step_ops_collect(analysis *a);

#endif
