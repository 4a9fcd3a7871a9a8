/* The text of one event. */
#include "trace/base/err.h"
#include "trace/export/shared/times.h"
#include "trace/export/xspace/xspace_json.h"

/* Constants whose length the compiler knows. */
#define PUT(b, text) vp_buf_put(b, text, sizeof text - 1)

static char *copy_bytes_to(char *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

static void put_json_args(vp_buf *b, const xj_names *n, const xj_arg *args, uint32_t count)
{
    PUT(b, ",\"args\":{");
    for (uint32_t i = 0; i < count; i++) {
        vp_str key = n->keys[args[i].key].text;
        char *start = vp_buf_reserve(b, key.n + 2), *p = start;
        if (!p)
            return;
        if (i)
            *p++ = ',';
        p = copy_bytes_to(p, key.p, key.n);
        *p++ = ':';
        b->n += (size_t)(p - start);
        xj_put_value(b, &args[i]);
    }
    vp_buf_putc(b, '}');
}

/* A step_name among the args replaces the name and remains an arg. */
static void put_json_name(vp_buf *b, const xj_names *n, const xj_meta *m, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (n->keys[n->args[i].key].step) {
            xj_put_value(b, &n->args[i]);
            return;
        }
    }
    vp_buf_str(b, m->name);
}

/* `{"ph":"X",…,"ts":1,"dur":2,"name":` */
static int put_slice_head(vp_buf *b, const xj_place *place)
{
    static const char dur[] = ",\"dur\":", name[] = ",\"name\":";
    char *start = vp_buf_reserve(b, place->head.n + 2 * EX_US_MAX + sizeof dur + sizeof name);
    VP_NEED(start);
    char *p = copy_bytes_to(start, place->head.p, place->head.n);
    p = ex_us_text(p, place->span.start);
    p = copy_bytes_to(p, dur, sizeof dur - 1);
    p = ex_us_text(p, place->span.end - place->span.start);
    p = copy_bytes_to(p, name, sizeof name - 1);
    b->n += (size_t)(p - start);
    return 0;
}

/* Ids of async spans are local to the process: Perfetto would show global ids ("id") outside of any
 * process. */
static void put_async_head(vp_buf *b, const xj_place *p, char phase, int64_t ns)
{
    vp_buf_printf(b,
                  "{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"cat\":\"async\","
                  "\"id2\":{\"local\":\"0x%llx\"},\"ts\":",
                  phase, p->pid, p->tid, (unsigned long long)p->async);
    ex_put_us(b, ns);
    PUT(b, ",\"name\":");
}

static int put_event_head(vp_buf *b, const xj_place *p)
{
    if (!p->async)
        return put_slice_head(b, p);
    put_async_head(b, p, 'b', p->span.start);
    return b->status;
}

static void put_hex(vp_buf *b, uint64_t v)
{
    char digits[16];
    size_t i = sizeof digits;
    do
        digits[--i] = "0123456789abcdef"[v & 15];
    while (v >>= 4);
    vp_buf_put(b, digits + i, sizeof digits - i);
}

static void put_json_flow(vp_buf *b, const xj_flow *f)
{
    if (!f->out && !f->in)
        return;
    PUT(b, ",\"bind_id\":\"0x");
    put_hex(b, f->id);
    vp_buf_putc(b, '"');
    if (f->out)
        PUT(b, ",\"flow_out\":true");
    if (f->in)
        PUT(b, ",\"flow_in\":true");
}

static void put_json_async_end(vp_buf *b, const xj_names *n, const xj_meta *m, uint32_t count,
                               const xj_place *p)
{
    PUT(b, ",\n");
    put_async_head(b, p, 'e', p->span.end);
    put_json_name(b, n, m, count);
    vp_buf_putc(b, '}');
}

int xj_put_event(vp_buf *b, xj_names *n, xj_flows *flows, const xj_event *e, const xj_place *p)
{
    const xj_meta *m = xj_names_meta(n, e->metadata_id);
    xj_flow flow;
    if (!m)
        return VP_ENOMEM;
    uint32_t count = m->arg_count;
    memcpy(n->args, m->args, count * sizeof *n->args);
    VP_TRY(xj_names_stats(n, &count, e));
    VP_TRY(xj_flow_of(flows, &n->facts, p->device, &flow));
    VP_TRY(put_event_head(b, p));
    put_json_name(b, n, m, count);
    put_json_flow(b, &flow);
    if (count)
        put_json_args(b, n, n->args, count);
    vp_buf_putc(b, '}');
    if (p->async)
        put_json_async_end(b, n, m, count, p);
    if (e->duration_ps <= 0)
        VP_TRY(xj_put_memory(b, &n->facts, p));
    return b->status;
}
