#include "trace/analyze/device/module_runs.h"

#include "trace/analyze/device/self.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

static int find_module(host_result *h, vp_map *by_key, vp_str name, int64_t program_id, size_t *at)
{
    uint64_t key = vp_hash(name.p, name.n, (uint64_t)program_id);
    uint32_t i = vp_map_get(by_key, key);
    if (i == VP_MAP_NONE) {
        module_item m = {.program_id = program_id,
                         .repeat_steps = VP_UNKNOWN,
                         .repeat_ps = VP_UNKNOWN,
                         .repeat_runs = VP_UNKNOWN};
        VP_TRY(host_text(&m.name, h, name.n ? name : VP_STR("(no module)")));
        VP_TRY(vp_grow(&h->modules, &h->module_cap, h->module_count + 1, sizeof m, UINT32_MAX));
        h->modules[h->module_count] = m;
        i = (uint32_t)h->module_count++;
        VP_TRY(vp_map_set(by_key, key, i));
    }
    *at = i;
    return 0;
}

static int add_run(module_item *m, int64_t dur)
{
    size_t n = (size_t)m->runs;
    if ((n & (n - 1)) == 0) { /* it is full at every power of two */
        int64_t *p = vp_realloc_array(m->samples, n ? n * 2 : 1, sizeof *p);
        VP_NEED(p);
        m->samples = p;
    }
    m->samples[m->runs++] = dur;
    m->total_ps += dur;
    return 0;
}

/* On TPUs the line "XLA Modules" has every run (on the aligned clock only). The name of a kind is
 * read once: found[kind] is 1 + where its module stands. */
static int from_tracks(host_result *h, const trace *t, vp_map *by_key)
{
    VP_CLEANUP(vp_free_ptr) size_t *found = vp_calloc(t->kind_count, sizeof *found);
    VP_NEED(found);
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        for (size_t e = 0; k->role == SINK_ROLE_MODULES && e < k->count; e++) {
            size_t *at = &found[trace_kind_of(k, e)];
            if (!*at) {
                int64_t program = SINK_UNKNOWN;
                vp_str name =
                    trace_module_name(trace_str(t, t->kinds[trace_kind_of(k, e)].name), &program);
                VP_TRY(find_module(h, by_key, name, program, at));
                ++*at;
            }
            VP_TRY(add_run(&h->modules[*at - 1], trace_dur(k, e)));
        }
    }
    return 0;
}

/* On other devices a module's time is that of its ops, which do not tell how often it ran. */
static int from_ops(host_result *h, const trace *t, const kind_times *kt, vp_map *by_key)
{
    for (uint32_t k = 0; k < t->kind_count; k++) {
        int64_t program = t->kinds[k].program_id;
        size_t at;
        if (!kt->calls[k] || !t->kinds[k].module)
            continue;
        vp_str name = trace_module_name(trace_str(t, t->kinds[k].module), &program);
        VP_TRY(find_module(h, by_key, name, program, &at));
        h->modules[at].runs = VP_UNKNOWN;
        h->modules[at].total_ps += kt->self_ps[k];
    }
    return 0;
}

int modules_collect(host_result *h, const trace *t, const kind_times *kt)
{
    vp_map by_key;
    vp_map_init(&by_key);
    int rc = from_tracks(h, t, &by_key);
    if (rc == 0 && !h->module_count)
        rc = from_ops(h, t, kt, &by_key);
    vp_map_free(&by_key);
    return rc;
}
