/* Writes JSON for Perfetto from Trace Event JSON in two passes: one for the plan, one for the
 * output. */
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/json/json_plan.h"

typedef struct whole {
    rd_stream s; /* first member */
    rd_stream *text;
    json_plan plan;
    jp_rewriter rewriter;
    bool begun;
} whole;

static int whole_next(rd_stream *s, char **p, size_t *n)
{
    whole *w = (whole *)(void *)s;
    if (w->begun) /* after the data before the events */
        VP_TRY(jp_make_rest(&w->plan));
    w->begun = true;
    int rc = w->text->next(w->text, p, n);
    s->raw_done = w->text->raw_done;
    s->raw_total = w->text->raw_total;
    s->damage = w->text->damage;
    return rc;
}

static void whole_close(rd_stream *s)
{
    whole *w = (whole *)(void *)s;
    rd_stream_close(&w->text);
    vp_buf_free(&w->rewriter.scratch);
    vp_buf_free(&w->rewriter.late);
    jp_free(&w->plan);
    vp_free(w);
}

static int open_whole_text(whole *w, const ex_input *in, ex_pick *pick)
{
    VP_TRY(jp_init(&w->plan));
    w->plan.pick = pick;
    VP_TRY(jp_make(&w->plan, in));
    ex_editor editor = jp_rewrite(&w->rewriter, &w->plan);
    editor.apart = w->plan.first != NULL;
    VP_TRY(in->open(in->ctx, &w->text));
    return ex_json_edited(&w->text, w->text, &editor);
}

int ex_json_whole(rd_stream **out, const ex_input *in, ex_pick *pick)
{
    whole *w = vp_calloc(1, sizeof *w);
    VP_NEED(w);
    w->s = (rd_stream){.next = whole_next, .close = whole_close, .total = -1};
    int rc = open_whole_text(w, in, pick);
    if (rc < 0)
        whole_close(&w->s);
    else
        *out = &w->s;
    return rc;
}
