#include "trace/report/flame/stack_stream.h"

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/base/mem.h"

/* Minimum length of a piece. */
#define PIECE_BYTES (64u << 10)

/* ---- Folded ---- */

static void folded_put_frame(vp_buf *b, const char *name)
{
    size_t from = b->n;
    vp_put_escaped(b, name && *name ? vp_str_of(name) : VP_STR("(no name)"));
    for (size_t i = from; b->status >= 0 && i < b->n; i++)
        if (b->p[i] == ';')
            b->p[i] = ':';
}

static int folded_put_line(flame_stream *t)
{
    const vp_report *r = t->s->r;
    const flame_stack *k = &t->s->v[t->at];
    if (t->at++ >= t->s->n)
        return 0;
    if (!k->ns)
        return 1;
    VP_TRY(flame_frames_of(&t->frames, t->s, k));
    if (r->host_count > 1) {
        folded_put_frame(&t->piece, r->devices[k->device].host);
        vp_buf_putc(&t->piece, ';');
    }
    folded_put_frame(&t->piece, r->devices[k->device].name);
    for (size_t i = t->frames.n; i-- > 0;) {
        vp_buf_putc(&t->piece, ';');
        folded_put_frame(&t->piece, r->scopes[t->frames.v[i]].name);
    }
    if (k->op) {
        vp_buf_putc(&t->piece, ';');
        folded_put_frame(&t->piece, k->op);
    }
    vp_buf_putc(&t->piece, ' ');
    vp_buf_i64(&t->piece, k->ns);
    vp_buf_putc(&t->piece, '\n');
    return t->piece.status < 0 ? t->piece.status : 1;
}

/* ---- Either ---- */

int flame_stream_open(flame_stream *t, const flame_stacks *s, flame_form form)
{
    *t = (flame_stream){.s = s, .step = folded_put_line};
    vp_buf_init(&t->piece, VP_REPORT_BYTES_MAX);
    vp_arena_init(&t->arena);
    int rc = form == FLAME_SPEEDSCOPE ? flame_speedscope_open(t) : 0;
    if (rc < 0)
        flame_stream_close(t);
    return rc;
}

int flame_stream_next(flame_stream *t, char **p, size_t *n)
{
    int rc = 1;
    t->piece.n = 0;
    while (rc > 0 && t->piece.n < PIECE_BYTES)
        rc = t->step(t);
    if (rc < 0)
        return rc;
    *p = t->piece.p;
    *n = t->piece.n;
    return t->piece.n > 0;
}

void flame_stream_close(flame_stream *t)
{
    vp_buf_free(&t->piece);
    vp_free(t->frames.v);
    vp_free(t->of_scope);
    vp_free(t->of_op);
    vp_intern_free(&t->names);
    vp_arena_free(&t->arena);
}
