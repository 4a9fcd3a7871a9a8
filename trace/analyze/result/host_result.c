#include "trace/analyze/result/host_result.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/sums.h"

void host_result_init(host_result *h)
{
    *h = (host_result){.base_unix_ns = VP_UNKNOWN, .capture_ps = VP_UNKNOWN};
    h->steps = (vp_steps){.counted = VP_UNKNOWN,
                          .median_ps = VP_UNKNOWN,
                          .p90_ps = VP_UNKNOWN,
                          .p95_ps = VP_UNKNOWN,
                          .mad_ps = VP_UNKNOWN,
                          .mean_ps = VP_UNKNOWN,
                          .min_ps = VP_UNKNOWN,
                          .max_ps = VP_UNKNOWN,
                          .excess_ps = VP_UNKNOWN};
    vp_arena_init(&h->arena);
    vp_arena_init(&h->step_rows);
}

void host_result_free(host_result *h)
{
    for (size_t i = 0; i < h->module_count; i++)
        vp_free(h->modules[i].samples);
#define FREE(type, rows, count, cap) vp_free(h->rows);
    HOST_LISTS(FREE)
    HOST_FULL_LISTS(FREE)
#undef FREE
    vp_free(h->scopes);
    vp_free(h->modules);
    vp_free(h->steps.list);
    vp_free(h->compile.functions);
    vp_arena_free(&h->arena);
    vp_arena_free(&h->step_rows);
    packed_steps_free(&h->packed);
    host_result_init(h);
}

int host_unpack_steps(host_result *h, int threads)
{
    return packed_steps_unpack(&h->packed, &h->steps, &h->step_rows, h->origin_ps, threads);
}

/* A name in a file may contain a NUL byte, a C string cannot: it becomes the symbol for it, U+2400.
 */
static int spell_nul(const char **out, host_result *h, vp_str s)
{
    vp_buf b;
    int rc = 0;
    vp_buf_init(&b, SIZE_MAX / 8);
    for (size_t i = 0; rc >= 0 && i < s.n; i++)
        rc = s.p[i] ? vp_buf_putc(&b, s.p[i]) : vp_buf_puts(&b, "\xe2\x90\x80");
    if (rc >= 0)
        rc = host_text(out, h, vp_buf_view(&b));
    vp_buf_free(&b);
    return rc;
}

int host_text(const char **out, host_result *h, vp_str s)
{
    if (s.n && memchr(s.p, 0, s.n))
        return spell_nul(out, h, s);
    char *copy = s.n ? vp_arena_strndup(&h->arena, s.p, s.n) : NULL;
    if (s.n && !copy)
        return vp_no_memory();
    *out = copy;
    return 0;
}

int host_quality(host_result *h, const trace_quality *q)
{
    vp_quality out = {.code = q->code,
                      .severity = q->severity == SINK_ERROR     ? VP_SEV_ERROR
                                  : q->severity == SINK_WARNING ? VP_SEV_WARNING
                                                                : VP_SEV_INFO,
                      .event = q->event,
                      .byte = q->byte,
                      .partial = q->partial};
    VP_TRY(host_text(&out.message, h, vp_str_of(q->message)));
    VP_TRY(vp_grow(&h->quality, &h->quality_cap, h->quality_count + 1, sizeof out, UINT32_MAX));
    h->quality[h->quality_count++] = out;
    return 0;
}

int host_note(host_result *h, const char *code, vp_severity severity, const char *message)
{
    sink_severity s = severity == VP_SEV_ERROR     ? SINK_ERROR
                      : severity == VP_SEV_WARNING ? SINK_WARNING
                                                   : SINK_INFO;
    if (h->quality_count >= VP_QUALITY_MAX) {
        h->quality_dropped++;
        return 0;
    }
    return host_quality(h, &(trace_quality){code, s, message, -1, -1, false});
}

int thread_text(const char **out, host_result *h, const trace *t, uint32_t track)
{
    char text[48];
    if (track >= t->track_count)
        return 0;
    vp_str name = trace_str(t, t->tracks[track].name);
    if (!name.n)
        name = (vp_str){text, (size_t)snprintf(text, sizeof text, "thread %lld",
                                               (long long)t->tracks[track].id)};
    return host_text(out, h, name);
}

bool host_all_cpu(const host_result *h)
{
    for (size_t d = 0; d < h->device_count; d++)
        if (h->devices[d].kind != VP_DEVICE_CPU)
            return false;
    return h->device_count > 0;
}

void roof_add(vp_roof *sum, const vp_roof *more)
{
    sum->flops = vp_add_known(sum->flops, more->flops);
    sum->bytes = vp_add_known(sum->bytes, more->bytes);
    sum->peak_ps = vp_add_most(sum->peak_ps, more->peak_ps);
    sum->memory_ps = vp_add_most(sum->memory_ps, more->memory_ps);
    for (size_t i = 0; i < VP_CELLS; i++)
        sum->cell_ps[i] = vp_add_most(sum->cell_ps[i], more->cell_ps[i]);
    if (more->source > sum->source)
        sum->source = more->source;
}

static int64_t take_known(int64_t sum, int64_t less)
{
    return sum < 0 || less < 0 ? sum : sum > less ? sum - less : 0;
}

void roof_take(vp_roof *sum, const vp_roof *less)
{
    sum->flops = take_known(sum->flops, less->flops);
    sum->bytes = take_known(sum->bytes, less->bytes);
    sum->peak_ps = take_known(sum->peak_ps, less->peak_ps);
    sum->memory_ps = take_known(sum->memory_ps, less->memory_ps);
    for (size_t i = 0; i < VP_CELLS; i++)
        sum->cell_ps[i] = take_known(sum->cell_ps[i], less->cell_ps[i]);
}
