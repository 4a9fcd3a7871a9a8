#include "trace/analyze/device/cover.h"

#include "trace/base/err.h"
#include "trace/base/mem.h"

typedef struct building {
    spans *out;
    unsigned mask;
} building;

static int cover_add_segment(void *ctx, const sweep_segment *s)
{
    building *b = ctx;
    return s->cover & b->mask ? spans_add(b->out, s->start, s->end) : 0;
}

int cover_build(cover *c, track_set set, const uint8_t *class_of, unsigned mask)
{
    building b = {&c->when, mask};
    int64_t sum = 0;
    *c = (cover){0};
    VP_TRY(sweep_run(set, class_of, cover_add_segment, &b));
    c->before = vp_realloc_array(NULL, c->when.n + 1, sizeof *c->before);
    VP_NEED(c->before);
    for (size_t i = 0; i < c->when.n; i++) {
        c->before[i] = sum;
        sum += c->when.v[i].end - c->when.v[i].start;
    }
    c->before[c->when.n] = sum;
    return 0;
}

void cover_free(cover *c)
{
    spans_free(&c->when);
    vp_free(c->before);
    c->before = NULL;
}

/* The covered time before t. */
static int64_t up_to(cover *c, int64_t t)
{
    size_t at = c->last = spans_behind(&c->when, t, c->last);
    bool inside = at < c->when.n && c->when.v[at].start < t;
    return c->before[at] + (inside ? t - c->when.v[at].start : 0);
}

int64_t cover_length(cover *c, int64_t start, int64_t end)
{
    return end > start ? up_to(c, end) - up_to(c, start) : 0;
}
