/* Runs of the compiled modules (XLA programs) of a host. The caller frees the output of
 * module_runs_count, also after a failure. */
#ifndef VP_ANALYZE_MODULE_RUNS_H
#define VP_ANALYZE_MODULE_RUNS_H

#include "trace/analyze/device/self.h"

/* A module in maps of modules. */
static inline uint64_t module_runs_key(vp_str name, int64_t program_id)
{
    return vp_hash(name.p, name.n, (uint64_t)program_id);
}

/* One module, with its runs on all devices. */
typedef struct module_run_list {
    vp_str name; /* a text of the trace; empty if the file has no name */
    int64_t program_id, total_ps;
    int64_t *dur_ps;
    size_t n;
} module_run_list;

/* Modules in the order of their first run. */
typedef struct module_runs {
    module_run_list *v;
    size_t n, cap;
} module_runs;

/* Counts the runs on module tracks, shortest first. VP_ENOMEM. */
int module_runs_count(module_runs *out, const trace *t);
void module_runs_free(module_runs *m);
/* Appends to h->modules, and takes ownership of the lists of lengths. kt: sums over all devices,
 * which give the modules of a trace without module tracks. VP_ENOMEM. */
int modules_collect(host_result *h, const trace *t, module_runs *m, const kind_times *kt);

/* Adds the modules of the result: module_runs_key → index. VP_ENOMEM. */
int modules_index(vp_map *by_key, const host_result *h);
/* The module of the ops of a kind; VP_MAP_NONE. */
uint32_t modules_find(const vp_map *by_key, const trace *t, uint32_t kind);

#endif
