#include "trace/read/json/json_reader.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"

static void held_init(cj_held *h)
{
    *h = (cj_held){0};
    vp_buf_init(&h->text, 2 * CJ_HELD_BYTES_MAX);
}

void cj_held_free(cj_held *h)
{
    vp_buf_free(&h->text);
    vp_free(h->v);
    *h = (cj_held){.over = true};
}

int cj_reader_init(cj_reader *r, sink *out, const rd_options *opts)
{
    *r = (cj_reader){.out = out,
                     .opts = opts,
                     .skip = js_skip_best(),
                     .base_ns = SINK_NO_TIME,
                     .last_ps = SINK_NO_TIME,
                     .extent_first_ps = INT64_MAX,
                     .extent_last_ps = INT64_MIN,
                     .last = {.thread = SINK_NONE}};
    for (size_t i = 0; i < CJ_MAPS; i++)
        vp_map_init(&r->maps[i]);
    vp_arena_init(&r->arena);
    held_init(&r->held);
    return vp_intern_init(&r->names, &r->arena);
}

void cj_reader_free(cj_reader *r)
{
    for (size_t i = 0; i < CJ_MAPS; i++)
        vp_map_free(&r->maps[i]);
    vp_intern_free(&r->names);
    vp_arena_free(&r->arena);
    vp_free(r->tokens);
    vp_free(r->processes);
    vp_free(r->threads);
    vp_free(r->devices);
    vp_free(r->models);
    vp_free(r->streams);
    vp_free(r->lanes);
    vp_free(r->edges);
    vp_free(r->scratch);
    cj_held_free(&r->held);
}

int cj_flush(cj_reader *r)
{
    size_t n = r->batch_n;
    r->batch_n = 0;
    return n ? r->out->events(r->out, r->batch, n) : 0;
}

int cj_emit(cj_reader *r, cj_thread *t, const sink_event *e)
{
    bool own_clock = e->aligned_start_ps != SINK_NO_TIME;
    int64_t end_ps;
    if (__builtin_add_overflow(own_clock ? e->aligned_start_ps : e->start_ps,
                               own_clock ? e->aligned_dur_ps : e->dur_ps, &end_ps))
        end_ps = INT64_MAX;
    if (t && t->last_ps < end_ps)
        t->last_ps = end_ps;
    if (r->last_ps < end_ps)
        r->last_ps = end_ps;
    r->batch[r->batch_n] = *e;
    if (e->extra) {
        r->extras[r->batch_n] = *e->extra;
        r->batch[r->batch_n].extra = &r->extras[r->batch_n];
    }
    r->batch_n++;
    return r->batch_n == CJ_BATCH ? cj_flush(r) : 0;
}
