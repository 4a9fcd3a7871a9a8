/* Scaling of a program over its number of devices: reads profile_{N}gpu_results.json files, as
 * written by vp_bench_write (and by the benchmark that defines these keys), and prints them as
 * text, HTML or JSON (view_profile.scaling/1). The caller frees the table. Fails if a file is
 * invalid. */
#ifndef VP_REPORT_SCALING_H
#define VP_REPORT_SCALING_H

#include "include/view_profile.h"
#include "trace/base/arena.h"
#include "trace/base/buf.h"

/* A method on a number of devices. Texts and runs are allocated in the arena. */
typedef struct scaling_row {
    const char *method;
    int64_t devices;
    size_t place; /* position among all rows, in file order */
    bool ok;
    int64_t time_ps; /* time of the median run, or until it failed; VP_UNKNOWN: not in the file */
    int64_t first_call_ps, warmup_ps,
        export_ps;         /* or VP_UNKNOWN; the first is part of the second */
    const int64_t *run_ps; /* each run, as measured; may be empty */
    size_t runs;
    const char *error; /* NULL: none */
    const char *trace; /* directory of its profile; NULL: unknown */
    /* Relative to the row of this method with the fewest devices: speed_up is t_fewest / t, and
     * efficiency is speed_up × fewest / devices; 0: unknown. If the fewest is one device, these are
     * t1/tN and t1/(N tN). */
    double speed_up, efficiency;
} scaling_row;

typedef struct scaling {
    vp_arena arena;
    scaling_row *rows;
    size_t count, cap;
} scaling;

void scaling_init(scaling *s);
void scaling_free(scaling *s);
/* True for a results file, recognized by its first bytes; a directory with such files (as
 * vp_bench_open makes them); or one with such directories, recognized by their names {N}gpu_TIME.
 */
bool scaling_is_results(const char *path);
/* Reads every method of the file, or of the files of the directory. If it contains directories
 * {N}gpu_TIME, the latest for each N is read. VP_ECORRUPT, VP_EUNSUPPORTED, VP_EEMPTY: no method.
 */
int scaling_add(scaling *s, const char *path);
/* Sorts by method and devices, and computes speed_up and efficiency. */
void scaling_relate(scaling *s);

/* Calls `each` for every results file that path is or contains, until one returns a value other
 * than 0. Returns that value, 0, or the error if the directory cannot be read. In scaling_find.c.
 */
typedef int scaling_file_fn(void *ctx, const char *file);
int scaling_each_file(const char *path, scaling_file_fn *each, void *ctx);

int rep_scaling_text(vp_buf *b, const scaling *s, const vp_view *v);
int rep_scaling_json(vp_buf *b, const scaling *s);
/* A standalone page with one section per method. */
int rep_scaling_html(vp_buf *b, const scaling *s, const vp_view *v);

#endif
