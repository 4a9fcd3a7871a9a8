/* Converts Trace Event JSON to a .pftrace: the same events as in the JSON export (json_plan.h),
 * with typed arguments and times in whole ns. The first pass ends before the first byte is
 * returned; the second runs after the tracks of processes and threads were written. */
#include "trace/export/pftrace/pft_json.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/pftrace/pft_added.h"
#include "trace/export/shared/stream_out.h"

/* ---- The second pass ------------------------------------------------------------------------ */

/* The input of the spool: the second pass, whose bytes are counted. */
typedef struct counted {
    rd_stream s; /* first member */
    pft_json *x;
} counted;

static int counted_next(rd_stream *s, char **p, size_t *n)
{
    pft_json *x = ((counted *)(void *)s)->x;
    int rc = x->text->next(x->text, p, n);
    if (rc > 0)
        x->spooled += (int64_t)*n;
    s->damage = x->text->damage;
    return rc;
}

static int open_second(pft_json *x, const ex_input *in)
{
    ex_editor editor = pft_json_second(x);
    VP_TRY(in->open(in->ctx, &x->text));
    return ex_json_edited(&x->text, x->text, &editor);
}

static int fill_spool(pft_json *x)
{
    counted c = {.s = {.next = counted_next, .total = -1}, .x = x};
    x->said = true;
    VP_TRY(rd_source_spool(&x->spool.source, &c.s, &x->s.damage));
    x->s.raw_done = x->text->raw_done;
    x->s.raw_total = x->text->raw_total;
    rd_stream_close(&x->text);
    return 0;
}

/* Allocates the entries per thread and event of the complete plan. */
static int make_thread_places(pft_json *x)
{
    x->thread_count = x->plan.thread_count;
    x->process_count = x->plan.process_count;
    x->record = vp_calloc(x->plan.place_count + 1, sizeof *x->record);
    x->on_thread = vp_calloc(x->thread_count + 1, sizeof *x->on_thread);
    VP_NEED(x->record && x->on_thread);
    for (size_t i = 0; i < x->thread_count; i++)
        x->on_thread[i] = PFT_QUEUE_EMPTY;
    return 0;
}

static int pft_json_make(pft_json *x, const ex_input *in, ex_pick *pick)
{
    VP_TRY(jp_init(&x->plan));
    VP_TRY(pft_table_init(&x->table));
    VP_TRY(pft_json_own_names(x));
    VP_TRY(ex_out_init(&x->out));
    x->plan.pick = pick;
    x->plan.keep_spans = true;
    VP_TRY(jp_make(&x->plan, in));
    x->second.plan = &x->plan;
    if (x->plan.planned)
        VP_TRY(make_thread_places(x));
    return open_second(x, in);
}

/* ---- The stream ----------------------------------------------------------------------------- */

/* 0: there is no plan yet, and the reader first gets the output that does not depend on it. */
static int pft_json_prepare(pft_json *x)
{
    bool waits = !x->headed && !x->plan.planned;
    if (!x->headed)
        VP_TRY(pft_begin_trace(&x->writer));
    x->headed = true;
    if (waits || x->record)
        return !waits;
    VP_TRY(jp_make_rest(&x->plan));
    VP_TRY(make_thread_places(x));
    return 1;
}

static int pft_json_begin(pft_json *x)
{
    const json_plan *p = &x->plan;
    x->begun = true;
    return pft_begin_table(&x->writer, p->least_ns == INT64_MAX ? 0 : pft_json_ns(x, p->least_ns));
}

/* 1 when all is written. */
static int write_on(pft_json *x)
{
    int done = pft_json_tracks(x);
    if (done > 0 && !x->said) {
        if (x->out.n > RD_HEADROOM) /* the reader can start with this */
            return 0;
        VP_TRY(fill_spool(x));
        done = pft_json_tracks(x);
    }
    if (done > 0 && !x->begun)
        VP_TRY(pft_json_begin(x));
    while (done > 0 && x->name < x->table.texts.count) {
        if (ex_out_full(&x->out))
            return 0;
        VP_TRY(pft_table_tell(&x->table, &x->writer, &x->scratch, &x->name));
    }
    if (done > 0)
        done = pft_json_threads(x);
    if (done > 0)
        done = pft_json_besides(x);
    return done > 0 ? pft_json_missing(x) : done;
}

/* Additional events at the end. 1: there are more. */
static int pft_json_put_added(pft_json *x)
{
    struct ex_added *added;
    int rc = jp_added(&added, &x->plan);
    return rc > 0 ? pft_added(added, &x->writer, &x->ends) : rc;
}

static int json_next(rd_stream *s, char **p, size_t *n)
{
    pft_json *x = (pft_json *)(void *)s;
    ex_out_reset(&x->out);
    int ready = pft_json_prepare(x);
    VP_TRY(ready);
    if (!ready)
        return ex_out_chunk(&x->out, p, n);
    if (!x->ended) {
        int done = write_on(x);
        VP_TRY(done);
        x->ended = done;
    }
    if (x->ended && !x->added && !ex_out_full(&x->out)) {
        int more = pft_json_put_added(x);
        VP_TRY(more);
        x->added = !more;
    }
    return x->out.status < 0 ? x->out.status : ex_out_chunk(&x->out, p, n);
}

static void json_close(rd_stream *s)
{
    pft_json *x = (pft_json *)(void *)s;
    rd_stream_close(&x->text);
    pft_spool_free(&x->spool);
    jp_free(&x->plan);
    pft_table_free(&x->table);
    vp_map_free(&x->flows);
    vp_map_free(&x->beside_at);
    vp_free(x->besides);
    vp_free(x->marks);
    vp_free(x->on_thread);
    vp_free(x->record);
    vp_free(x->run.marks);
    pft_ends_free(&x->ends);
    pft_pool_free(&x->pool);
    pft_free(&x->writer);
    vp_buf_free(&x->out);
    vp_buf_free(&x->scratch);
    vp_buf_free(&x->place);
    vp_free(x);
}

int ex_pftrace_from_json(rd_stream **out, const ex_input *in, ex_pick *pick)
{
    pft_json *x = vp_calloc(1, sizeof *x);
    VP_NEED(x);
    x->s = (rd_stream){.next = json_next, .close = json_close, .total = -1};
    vp_map_init(&x->flows);
    vp_map_init(&x->beside_at);
    vp_buf_init(&x->scratch, 4 * (size_t)VP_JSON_EVENT_MAX);
    vp_buf_init(&x->place, 4 * (size_t)VP_JSON_EVENT_MAX);
    pft_init(&x->writer, &x->out, pick);
    int rc = pft_json_make(x, in, pick);
    if (rc < 0)
        json_close(&x->s);
    else
        *out = &x->s;
    return rc;
}
