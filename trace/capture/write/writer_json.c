/* Writes a recording as Trace Event JSON in XLA's form (docs/reference/xprof.md#trace-json). */
#include "trace/capture/write/writer.h"

#include <math.h>
#include <stdio.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/mem.h"
#include "trace/capture/write/writer_gzip.h"

/* Process ids of XLA's writer (docs/reference/xprof.md#trace-json). */
enum { PID_HOST = 701, PID_DEVICE = 1, PID_CUSTOM = 501 };

/* Texts made once per name. */
typedef struct named {
    vp_str quoted;
    vp_str common; /* text after the times in all of its events */
} named;

typedef struct json {
    vp_buf out;
    vp_buf head; /* start of each plain zone of the line, up to its start time */
    bool any;    /* an event has been written */
    const vl_lines *lines;
    const vl_plane *plane;
    vp_arena arena;
    named *named; /* by name; NULL: not made yet */
    size_t named_cap;
} json;

static const char two_digits[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

/* Writes up to DIGITS_MAX bytes and returns their end. */
#define DIGITS_MAX 20
static char *put_decimal_digits(char *p, uint64_t v)
{
    char text[2 * DIGITS_MAX] = {0}, *q = text + DIGITS_MAX;
    for (; v >= 100; v /= 100)
        memcpy(q -= 2, two_digits + v % 100 * 2, 2);
    if (v >= 10)
        memcpy(q -= 2, two_digits + v * 2, 2);
    else
        *--q = (char)('0' + v);
    memcpy(p, q, DIGITS_MAX); /* a constant length, so that it is inlined as two instructions */
    return p + (text + DIGITS_MAX - q);
}

/* Writes picoseconds as exact microseconds, in up to US_MAX bytes; returns the end. */
#define US_MAX (DIGITS_MAX + 8)
static char *put_microseconds(char *p, int64_t ps)
{
    uint64_t v = ps < 0 ? 0 - (uint64_t)ps : (uint64_t)ps;
    uint32_t part = (uint32_t)(v % 1000000);
    *p = '-';
    p = put_decimal_digits(p + (ps < 0), v / 1000000);
    *p++ = '.';
    memcpy(p, two_digits + part / 10000 * 2, 2);
    memcpy(p + 2, two_digits + part / 100 % 100 * 2, 2);
    memcpy(p + 4, two_digits + part % 100 * 2, 2);
    return p + 6;
}

static void put_us(vp_buf *b, int64_t ps)
{
    char text[US_MAX];
    vp_buf_put(b, text, (size_t)(put_microseconds(text, ps) - text));
}

/* JSON has no infinities and no NaN: those are written as text. */
static void put_real(vp_buf *b, double f)
{
    if (isfinite(f))
        vp_buf_printf(b, "%.17g", f);
    else
        vp_buf_puts(b, isnan(f) ? "\"nan\"" : f > 0 ? "\"inf\"" : "\"-inf\"");
}

static void json_put_key(vp_buf *b, const char *key)
{
    if (b->n && b->p[b->n - 1] != '{')
        vp_buf_putc(b, ',');
    vp_buf_putc(b, '"');
    vp_buf_puts(b, key);
    vp_buf_puts(b, "\":");
}

static void json_put_int(vp_buf *b, const char *key, int64_t v)
{
    json_put_key(b, key);
    vp_buf_i64(b, v);
}

static void json_put_arg(vp_buf *b, const vpcap_arg *a)
{
    if (b->n && b->p[b->n - 1] != '{')
        vp_buf_putc(b, ',');
    vp_json_quote(b, a->key.n ? a->key : VP_STR("value"));
    vp_buf_putc(b, ':');
    if (a->type == VPCAP_STR)
        vp_json_quote(b, a->s);
    else if (a->type == VPCAP_F64)
        put_real(b, a->f);
    else
        vp_buf_i64(b, a->i);
}

static void json_put_source(vp_buf *b, const vpcap_name *name)
{
    json_put_key(b, "source");
    vp_json_quote(b, name->file);
    b->n -= b->n > 0; /* the line number is inside the quotes */
    vp_buf_putc(b, ':');
    vp_buf_u64(b, name->line);
    vp_buf_putc(b, '"');
}

/* Appends for example ,"name":"forward","args":{"category":"…","source":"file.c:12" */
static void put_common(vp_buf *b, const vpcap_name *name)
{
    vp_buf_puts(b, ",\"name\":");
    vp_json_quote(b, name->name);
    vp_buf_puts(b, ",\"args\":{");
    if (name->category.n) {
        json_put_key(b, "category");
        vp_json_quote(b, name->category);
    }
    if (name->file.n)
        json_put_source(b, name);
}

static int make_named(json *j, uint32_t i)
{
    vp_buf text;
    vpcap_name name = vl_name_at(j->lines, i);
    if (i >= j->named_cap) {
        size_t before = j->named_cap;
        VP_TRY(vp_grow(&j->named, &j->named_cap, (size_t)i + 1, sizeof *j->named, VPCAP_NONE));
        memset(j->named + before, 0, (j->named_cap - before) * sizeof *j->named);
    }
    vp_buf_init(&text, SIZE_MAX / 4);
    vp_json_quote(&text, name.name);
    size_t quoted = text.n;
    put_common(&text, &name);
    int rc = text.status;
    if (rc >= 0) {
        const char *p = vp_arena_strndup(&j->arena, text.p, text.n);
        j->named[i] = (named){{p, quoted}, {p ? p + quoted : NULL, p ? text.n - quoted : 0}};
        rc = p ? 0 : vp_no_memory();
    }
    vp_buf_free(&text);
    return rc;
}

/* NULL: out of memory (recorded). */
static const named *named_of(json *j, uint32_t name)
{
    if ((name >= j->named_cap || !j->named[name].quoted.n) && make_named(j, name) < 0)
        return NULL;
    return &j->named[name];
}

static void json_put_step_args(json *j, vp_buf *b, const vpcap_event *e)
{
    vp_str name = j->named[e->name].quoted;
    json_put_int(b, "_r", 1);
    json_put_int(b, "step_num", e->number);
    json_put_key(b, "step_name");
    vp_buf_put(b, name.p, name.n - 1);
    vp_buf_putc(b, ' ');
    vp_buf_i64(b, e->number);
    vp_buf_putc(b, '"');
}

static void json_put_flow_args(vp_buf *b, const vpcap_event *e)
{
    if (e->flow_out) {
        json_put_int(b, "_pt", 0);
        json_put_key(b, "_p");
        vp_buf_u64(b, e->flow_out);
    }
    if (e->flow_in) {
        json_put_int(b, "_ct", 0);
        json_put_key(b, "_c");
        vp_buf_u64(b, e->flow_in);
    }
}

static void json_put_event_args(json *j, vp_buf *b, const vpcap_event *e)
{
    if (e->kind == VPCAP_STEP)
        json_put_step_args(j, b, e);
    if (e->kind == VPCAP_LOST)
        json_put_int(b, "lost_zones", e->number);
    if (e->correlation)
        json_put_int(b, "correlation_id", e->correlation);
    if (e->open)
        json_put_int(b, "unfinished", 1);
    json_put_flow_args(b, e);
    if (e->kind == VPCAP_COMPILE && !vl_name_at(j->lines, e->name).category.n) {
        json_put_key(b, "category");
        vp_buf_puts(b, "\"compile\"");
    }
    for (uint32_t i = 0; i < e->arg_count; i++)
        json_put_arg(b, &e->args[i]);
}

static uint32_t pid_of_plane(const vl_plane *p)
{
    return p->kind == VL_HOST     ? PID_HOST
           : p->kind == VL_CUSTOM ? PID_CUSTOM + (uint32_t)p->id
                                  : PID_DEVICE + (uint32_t)p->id;
}

static void json_put_event_head(vp_buf *b, const char *ph, const vl_line *line, const vl_plane *p)
{
    vp_buf_puts(b, "{\"ph\":\"");
    vp_buf_puts(b, ph);
    vp_buf_puts(b, "\",\"pid\":");
    vp_buf_u64(b, pid_of_plane(p));
    vp_buf_puts(b, ",\"tid\":");
    vp_buf_u64(b, (uint32_t)line->id);
    vp_buf_puts(b, ",\"ts\":");
}

static void json_put_event_place(vp_buf *b, const char *ph, const vl_line *line, const vl_plane *p,
                                 int64_t start)
{
    json_put_event_head(b, ph, line, p);
    put_us(b, start);
}

static void put_flow_event(vp_buf *b, const char *ph, uint64_t id, const vl_line *line,
                           const vl_plane *p, int64_t at)
{
    json_put_event_place(b, ph, line, p, at);
    vp_buf_puts(b, ",\"cat\":\"flow\",\"name\":\"flow\",\"id\":");
    vp_buf_u64(b, id);
    if (*ph == 'f')
        vp_buf_puts(b, ",\"bp\":\"e\"");
    vp_buf_puts(b, "},\n");
}

static int put_counter(vp_buf *b, const named *name, const vl_line *line, const vl_plane *p,
                       const vpcap_event *e)
{
    json_put_event_place(b, "C", line, p, e->start_ps);
    vp_buf_puts(b, ",\"name\":");
    vp_buf_str(b, name->quoted);
    vp_buf_puts(b, ",\"args\":{\"value\":");
    if (e->is_real)
        put_real(b, e->real);
    else
        vp_buf_i64(b, e->number);
    return b->status;
}

/* Writes the flows of a zone and then the zone; its args stay open so that its group can be
 * added. */
static int json_encode_event(void *ctx, const vl_lines *l, const vl_line *line,
                             const vpcap_event *e, vp_buf *b)
{
    json *j = ctx;
    const vl_plane *p = vl_plane_at(l, line->plane);
    j->lines = l;
    const named *name = named_of(j, e->name);
    if (!name)
        return VP_ENOMEM;
    if (e->kind == VPCAP_COUNTER)
        return put_counter(b, name, line, p, e);
    if (e->flow_out)
        put_flow_event(b, "s", e->flow_out, line, p, e->start_ps);
    if (e->flow_in)
        put_flow_event(b, "f", e->flow_in, line, p, e->start_ps);
    if (e->kind == VPCAP_LOST) { /* a mark on the thread, which readers do not count as work */
        json_put_event_place(b, "i", line, p, e->start_ps);
        vp_buf_puts(b, ",\"s\":\"t\"");
    } else {
        json_put_event_place(b, "X", line, p, e->start_ps);
        vp_buf_puts(b, ",\"dur\":");
        put_us(b, e->dur_ps);
    }
    vp_buf_str(b, name->common);
    json_put_event_args(j, b, e);
    return b->status;
}

static void json_begin_event(json *j)
{
    vp_buf_puts(&j->out, j->any ? ",\n" : "\n");
    j->any = true;
}

static int end_event(vp_buf *b, char last, int64_t group)
{
    if (group >= 0) {
        vp_buf_puts(b, last == '{' ? "\"group_id\":" : ",\"group_id\":");
        vp_buf_i64(b, group);
    }
    return vp_buf_puts(b, "}}");
}

static int json_write_event(void *ctx, const char *p, size_t n, int64_t group)
{
    json *j = ctx;
    json_begin_event(j);
    vp_buf_put(&j->out, p, n);
    return end_event(&j->out, p[n - 1], group);
}

static char *append_text(char *p, vp_str s)
{
    memcpy(p, s.p, s.n);
    return p + s.n;
}

/* Maximum size of a zone without the text of its line and its name: times and a group. */
#define PLAIN_MAX (2 * US_MAX + DIGITS_MAX + 40)

static char *json_put_plain_event(char *p, vp_str head, vp_str common, const vpcap_plain *z,
                                  int64_t group)
{
    p = put_microseconds(append_text(p, head), z->start_ps);
    p = put_microseconds(append_text(p, VP_STR(",\"dur\":")), z->dur_ps);
    p = append_text(p, common);
    if (group >= 0) {
        *p = ',';
        p = append_text(p + (common.p[common.n - 1] != '{'), VP_STR("\"group_id\":"));
        p = put_decimal_digits(p, (uint64_t)group);
    }
    return append_text(p, VP_STR("}}"));
}

static int json_write_plain_events(void *ctx, const vl_lines *l, const vl_line *line,
                                   const vpcap_plain *zones, const uint32_t *order, uint32_t n,
                                   const int64_t *groups)
{
    json *j = ctx;
    vp_str head = vp_buf_view(&j->head);
    j->lines = l;
    (void)line;
    for (uint32_t i = 0; i < n; i++) {
        const vpcap_plain *z = &zones[order[i]];
        const named *k = named_of(j, z->name);
        if (!k)
            return VP_ENOMEM;
        char *p = vp_buf_reserve(&j->out, head.n + k->common.n + PLAIN_MAX);
        if (!p)
            return j->out.status;
        char *end = json_put_plain_event(p, head, k->common, z, groups[i]);
        VP_TRY(vp_buf_wrote(&j->out, (size_t)(end - p)));
    }
    return 0;
}

static int json_put_metadata(json *j, const vl_line *line, const char *what, vp_str name)
{
    vp_buf *b = &j->out;
    json_begin_event(j);
    vp_buf_puts(b, "{\"ph\":\"M\",\"pid\":");
    vp_buf_u64(b, pid_of_plane(j->plane));
    if (line) {
        vp_buf_puts(b, ",\"tid\":");
        vp_buf_u64(b, (uint32_t)line->id);
    }
    vp_buf_puts(b, ",\"name\":\"");
    vp_buf_puts(b, what);
    vp_buf_puts(b, "\",\"args\":{\"name\":");
    vp_json_quote(b, name);
    return vp_buf_puts(b, "}}");
}

static int json_begin_plane(void *ctx, const vl_lines *l, const vl_plane *p)
{
    json *j = ctx;
    j->lines = l;
    j->plane = p;
    return json_put_metadata(j, NULL, "process_name", p->name);
}

static int json_end_plane(void *ctx, const vl_lines *l, const vl_plane *p)
{
    json *j = ctx;
    (void)l;
    (void)p;
    return j->out.status;
}

static int json_begin_line(void *ctx, const vl_line *line)
{
    json *j = ctx;
    j->head.n = 0;
    vp_buf_puts(&j->head, ",\n"); /* the event that names the line precedes */
    json_put_event_head(&j->head, "X", line, j->plane);
    VP_TRY(j->head.status);
    return json_put_metadata(j, line, "thread_name", line->name);
}

static int json_end_line(void *ctx, const vl_line *line)
{
    json *j = ctx;
    (void)line;
    return j->out.status;
}

static int say_loss(void *ctx, vp_str sentence)
{
    vp_buf *b = ctx;
    if (b->n && b->p[b->n - 1] != '[')
        vp_buf_putc(b, ',');
    return vp_json_quote(b, sentence);
}

static int put_warnings(vp_buf *b, const vpcap *v, const gpu_activity *gpu)
{
    vp_str of_gpu[WR_GPU_WARNINGS];
    char text[100];
    size_t n = wr_gpu_warnings(of_gpu, text, gpu);
    vp_buf_puts(b, "\"warnings\":[");
    VP_TRY(vx_losses(v, say_loss, b));
    for (size_t i = 0; i < n; i++)
        VP_TRY(say_loss(b, of_gpu[i]));
    return vp_buf_putc(b, ']');
}

static int put_opening(json *j, const vpcap *v, const gpu_activity *gpu, bool with_metadata)
{
    const vpcap_info *info = vpcap_info_of(v);
    vp_buf *b = &j->out;
    vp_buf_puts(b, "{\"displayTimeUnit\":\"ns\",");
    if (with_metadata) {
        vp_buf_puts(b, "\"metadata\":{\"highres-ticks\":true},\"otherData\":{\"start_unix_ns\":\"");
        vp_buf_i64(b, info->start_unix_ns);
        vp_buf_puts(b, "\",\"host\":");
        vp_json_quote(b, info->host);
        vp_buf_putc(b, ',');
        VP_TRY(put_warnings(b, v, gpu));
        vp_buf_puts(b, "},");
    }
    return vp_buf_puts(b, "\"traceEvents\":[");
}

static int json_write_all(json *j, const vpcap *v, const gpu_activity *gpu, bool with_metadata)
{
    vl_encoder enc = {json_encode_event,
                      json_begin_plane,
                      json_end_plane,
                      json_begin_line,
                      json_end_line,
                      json_write_event,
                      json_write_plain_events,
                      true,
                      j};
    VP_TRY(put_opening(j, v, gpu, with_metadata));
    VP_TRY(vl_write(v, &enc, gpu ? wr_gpu_lines : NULL, (void *)gpu));
    VP_TRY(vp_buf_puts(&j->out, "\n]}\n"));
    return vp_buf_flush(&j->out);
}

int wr_json(uint64_t *bytes, int fd, const vpcap *v, const gpu_activity *gpu, bool with_metadata)
{
    wz_file file;
    json j = {0};
    VP_TRY(wz_open(&file, fd, true));
    vp_arena_init(&j.arena);
    vp_buf_init(&j.head, SIZE_MAX / 4);
    vp_buf_init_stream(&j.out, wz_write, &file);
    int rc = json_write_all(&j, v, gpu, with_metadata);
    if (rc >= 0)
        rc = wz_finish(&file);
    if (rc >= 0)
        *bytes = file.bytes;
    wz_free(&file);
    vp_buf_free(&j.out);
    vp_buf_free(&j.head);
    vp_free(j.named);
    vp_arena_free(&j.arena);
    return rc;
}
