/* Scaling of a program over its number of devices: reads profile_{N}gpu_results.json files, as
 * written by vp_bench_write (and by the benchmark that defines these keys), and prints them as
 * text, HTML or JSON (view_profile.scaling/1). The caller frees the table. Fails if a file is
 * invalid. */
#ifndef VP_REPORT_SCALING_H
#define VP_REPORT_SCALING_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/base/buf.h"

/* A method on a number of devices. Texts and runs live in the arena. */
typedef struct scaling_row {
    const char *method;
    int64_t devices;
    size_t place; /* among all rows, as they were read */
    bool ok;
    int64_t time_ps; /* of the median run, or until it failed; VP_UNKNOWN: the file does not say */
    int64_t first_call_ps, warmup_ps, export_ps; /* VP_UNKNOWN; the first is part of the second */
    const int64_t *run_ps;                       /* each run, as measured; may be none */
    size_t runs;
    const char *error; /* NULL: none */
    const char *trace; /* the directory of its profile; NULL: unknown */
    /* Against the row of this method with the fewest devices, fewest: t_fewest / t, and that by
     * devices / fewest; 0: unknown. With one device as the fewest these are t1/tN and t1/(N tN). */
    double speed_up, efficiency;
} scaling_row;

typedef struct scaling {
    vp_arena arena;
    scaling_row *rows;
    size_t count, cap;
} scaling;

void scaling_init(scaling *s);
void scaling_free(scaling *s);
/* Such a file, by its first bytes; a directory with such files (as vp_bench_open makes them); or
 * one with such directories, by their names {N}gpu_TIME. */
bool scaling_is_results(const char *path);
/* Every method in the file, or in the directory's files: of directories {N}gpu_TIME below it, in
 * those of the latest time for each N. VP_ECORRUPT, VP_EUNSUPPORTED, VP_EEMPTY: no method. */
int scaling_add(scaling *s, const char *path);
/* Sorts by method and devices, and fills in speed_up and efficiency. */
void scaling_relate(scaling *s);

/* scaling_find.c: calls each for every file of results that path is or holds until one returns
 * other than 0; returns that, 0, or why the directory cannot be read. */
typedef int scaling_file_fn(void *ctx, const char *file);
int scaling_each_file(const char *path, scaling_file_fn *each, void *ctx);

int rep_scaling_text(vp_buf *b, const scaling *s, const vp_view *v);
int rep_scaling_json(vp_buf *b, const scaling *s);
/* A page by itself, a section for every method. */
int rep_scaling_html(vp_buf *b, const scaling *s, const vp_view *v);

#endif
