/* Writes a GPU's records in the form of XLA's profiler (docs/reference/xprof.md#line-names): a
 * plane per device, a line per stream, the calls on the threads that made them. */
#include "trace/capture/write/writer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/base/err.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"

/* CUPTI numbers launches from 1, like vp_correlation_push: this bit distinguishes its numbers. */
#define CUPTI_CORRELATION 0x80000000u
/* Stream number of a line that is not a stream. */
#define OVERHEAD_STREAM 0xffffffffu

enum { HAS_COMPUTE, HAS_H2D, HAS_D2H, HAS_D2D, HAS_P2P, HAS_OTHER, HAS_SET, HAS_OVERHEAD };
static const char *const labels[] = {"Compute",   "MemcpyH2D",   "MemcpyD2H", "MemcpyD2D",
                                     "MemcpyP2P", "MemcpyOther", "Memset",    "Overhead"};

typedef struct gpu_line {
    bool host;
    uint32_t device, stream; /* stream: or the thread id */
    uint32_t kinds;          /* bits of HAS_… */
    uint32_t line, thread;
} gpu_line;

typedef struct gpu {
    const gpu_activity *a;
    vl_lines *l;
    gpu_line *lines;
    size_t count, cap;
    vp_map by_key;   /* index of lines */
    uint32_t *names; /* by vp_sid: result of vl_name_add, plus 1 */
    int64_t start_ns;
} gpu;

static bool is_call_record(const gpu_record *r)
{
    return r->kind == GPU_RUNTIME || r->kind == GPU_DRIVER;
}

static unsigned work_of(const gpu_record *r)
{
    switch (r->kind) {
    case GPU_KERNEL:
        return HAS_COMPUTE;
    case GPU_SET:
        return HAS_SET;
    case GPU_OVERHEAD:
        return HAS_OVERHEAD;
    case GPU_PEER_COPY:
        return HAS_P2P;
    default:
        break;
    }
    switch (r->copy.copy_kind) { /* CUpti_ActivityMemcpyKind */
    case 1:
        return HAS_H2D;
    case 2:
        return HAS_D2H;
    case 8:
        return HAS_D2D;
    case 10:
        return HAS_P2P;
    default:
        return HAS_OTHER;
    }
}

static uint64_t gpu_line_key(const gpu_record *r)
{
    if (is_call_record(r))
        return UINT64_C(1) << 63 | r->call.tid;
    return (uint64_t)(r->device & 0x7fffffff) << 32 |
           (r->kind == GPU_OVERHEAD ? OVERHEAD_STREAM : r->stream);
}

static int line_of(gpu *g, const gpu_record *r, gpu_line **out)
{
    uint64_t key = gpu_line_key(r);
    uint32_t i = vp_map_get(&g->by_key, key);
    if (i == VP_MAP_NONE) {
        VP_TRY(vp_grow(&g->lines, &g->cap, g->count + 1, sizeof *g->lines, 100000));
        i = (uint32_t)g->count++;
        g->lines[i] = (gpu_line){.host = is_call_record(r),
                                 .device = r->device,
                                 .stream = (uint32_t)key,
                                 .thread = VPCAP_NONE};
        VP_TRY(vp_map_set(&g->by_key, key, i));
    }
    *out = &g->lines[i];
    return 0;
}

static int find_gpu_lines(gpu *g)
{
    gpu_line *line;
    for (size_t i = 0; i < g->a->count; i++) {
        VP_TRY(line_of(g, &g->a->records[i], &line));
        if (!line->host)
            line->kinds |= 1u << work_of(&g->a->records[i]);
    }
    return 0;
}

static int add_stream(gpu *g, gpu_line *k)
{
    char name[200];
    uint32_t plane;
    int n = snprintf(name, sizeof name, "/device:GPU:%u", k->device);
    VP_TRY(vl_plane_of(&plane, g->l, VL_GPU, k->device, (vp_str){name, (size_t)n}, VP_STR_NONE));
    if (k->stream == OVERHEAD_STREAM)
        return vl_line_add(&k->line, g->l, plane, k->stream, VP_STR("CUPTI overhead"));
    n = snprintf(name, sizeof name, "Stream #%u(", k->stream);
    for (unsigned i = 0; i < sizeof labels / sizeof *labels; i++)
        if (k->kinds >> i & 1u)
            n += snprintf(name + n, sizeof name - (size_t)n, "%s%s", name[n - 1] == '(' ? "" : ",",
                          labels[i]);
    name[n++] = ')';
    return vl_line_add(&k->line, g->l, plane, k->stream, (vp_str){name, (size_t)n});
}

/* Adds a line with the id of the thread's own line: readers treat equal ids as one timeline. */
static int add_call_thread_line(gpu *g, gpu_line *k)
{
    char text[40];
    uint32_t plane;
    vp_str name;
    VP_TRY(vl_plane_of(&plane, g->l, VL_HOST, 0, VP_STR("/host:CPU"), VP_STR_NONE));
    k->thread = vl_thread_of(g->l, k->stream, &name);
    if (k->thread == VPCAP_NONE) {
        int n = snprintf(text, sizeof text, "thread %u", k->stream);
        name = (vp_str){text, (size_t)n};
    }
    return vl_line_add(&k->line, g->l, plane, k->stream, name);
}

/* Demangles the name of a kernel if the program has loaded C++'s demangler. The result is allocated
 * with malloc. */
static char *demangle_kernel_name(const char *name)
{
    typedef char *demangle_fn(const char *, char *, size_t *, int *);
    static const char symbol[] = "__cxa_demangle";
    demangle_fn *demangle;
    int status = -1;
    void *found = dlsym(RTLD_DEFAULT, symbol);
    memcpy(&demangle, &found, sizeof demangle);
    if (!found || strncmp(name, "_Z", 2) != 0)
        return NULL;
    char *text = demangle(name, NULL, NULL, &status);
    return status == 0 ? text : NULL;
}

static int gpu_name_of(gpu *g, vp_sid id, uint32_t *out)
{
    vp_str name = gpu_name(g->a, id);
    if (!g->names[id]) {
        uint32_t made;
        char *text = demangle_kernel_name(name.p);
        int rc = vl_name_add(&made, g->l, text ? vp_str_of(text) : name.n ? name : VP_STR("?"));
        vp_free(text);
        VP_TRY(rc);
        g->names[id] = made + 1;
    }
    *out = g->names[id] - 1;
    return 0;
}

static const char *memory_name(unsigned kind) /* CUpti_ActivityMemoryKind */
{
    static const char *const names[] = {"unknown", "pageable", "pinned",        "device",
                                        "array",   "managed",  "device_static", "managed_static"};
    return kind < sizeof names / sizeof *names ? names[kind] : names[0];
}

typedef struct details {
    char text[240], context[20];
    vpcap_arg args[4];
    uint32_t count;
} details;

static void details_add_text(details *d, const char *key, const char *text)
{
    d->args[d->count++] =
        (vpcap_arg){.key = vp_str_of(key), .type = VPCAP_STR, .s = vp_str_of(text)};
}

static void details_add_bytes(details *d, uint64_t bytes)
{
    d->args[d->count++] =
        (vpcap_arg){.key = VP_STR("bytes_transferred"), .type = VPCAP_I64, .i = (int64_t)bytes};
}

static void describe_gpu_record(details *d, const gpu_record *r)
{
    d->count = 0;
    if (!is_call_record(r) && r->kind != GPU_OVERHEAD) {
        snprintf(d->context, sizeof d->context, "$$%u", r->context);
        details_add_text(d, "context_id", d->context);
    }
    if (r->kind == GPU_KERNEL) {
        snprintf(
            d->text, sizeof d->text,
            "regs:%u static_shared:%u dynamic_shared:%u grid:%d,%d,%d block:%d,%d,%d occ_pct:0",
            r->kernel.registers, r->kernel.static_shared, r->kernel.dynamic_shared,
            r->kernel.grid[0], r->kernel.grid[1], r->kernel.grid[2], r->kernel.block[0],
            r->kernel.block[1], r->kernel.block[2]);
        details_add_text(d, "kernel_details", d->text);
    } else if (r->kind == GPU_COPY || r->kind == GPU_PEER_COPY) {
        snprintf(d->text, sizeof d->text, "kind_src:%s kind_dst:%s size:%llu dest:%u async:%d",
                 memory_name(r->copy.source_memory), memory_name(r->copy.destination_memory),
                 (unsigned long long)r->copy.bytes,
                 r->kind == GPU_PEER_COPY ? r->copy.destination : r->device, r->copy.async);
        details_add_text(d, "memcpy_details", d->text);
        details_add_bytes(d, r->copy.bytes);
    } else if (r->kind == GPU_SET) {
        details_add_bytes(d, r->set.bytes);
    }
}

static int name_record(gpu *g, const gpu_record *r, uint32_t *name)
{
    if (is_call_record(r))
        return gpu_name_of(g, r->call.name, name);
    if (r->kind == GPU_KERNEL)
        return gpu_name_of(g, r->kernel.name, name);
    return vl_name_add(name, g->l, vp_str_of(labels[work_of(r)]));
}

static int add_record(gpu *g, const gpu_record *r)
{
    details d;
    gpu_line *line;
    vpcap_event e = {.kind = VPCAP_SPAN, .track = VPCAP_NONE};
    VP_TRY(line_of(g, r, &line));
    VP_TRY(name_record(g, r, &e.name));
    if (__builtin_sub_overflow(r->start_ns, g->start_ns, &e.start_ps) ||
        __builtin_mul_overflow(e.start_ps, INT64_C(1000), &e.start_ps) ||
        __builtin_mul_overflow(r->end_ns - r->start_ns, INT64_C(1000), &e.dur_ps))
        return 0;
    e.correlation = r->correlation ? r->correlation ^ CUPTI_CORRELATION : 0;
    describe_gpu_record(&d, r);
    e.args = d.args;
    e.arg_count = d.count;
    if (line->thread != VPCAP_NONE && e.correlation)
        VP_TRY(vl_launch_note(g->l, line->thread, &e));
    return vl_span_add(g->l, line->line, &e);
}

static int add_all(gpu *g)
{
    g->names = vp_calloc(g->a->names.count + 1, sizeof *g->names);
    VP_NEED(g->names);
    VP_TRY(find_gpu_lines(g));
    for (size_t i = 0; i < g->count; i++)
        VP_TRY(g->lines[i].host ? add_call_thread_line(g, &g->lines[i])
                                : add_stream(g, &g->lines[i]));
    for (size_t i = 0; i < g->a->count; i++)
        VP_TRY(add_record(g, &g->a->records[i]));
    return 0;
}

int wr_gpu_lines(void *ctx, vl_lines *l)
{
    gpu g = {.a = ctx, .l = l, .start_ns = vpcap_info_of(vl_image(l))->start_unix_ns};
    vp_map_init(&g.by_key);
    int rc = add_all(&g);
    vp_map_free(&g.by_key);
    vp_free(g.lines);
    vp_free(g.names);
    return rc;
}

size_t wr_gpu_warnings(vp_str out[WR_GPU_WARNINGS], char text[100], const gpu_activity *a)
{
    size_t n = 0;
    if (a && a->why[0])
        out[n++] = vp_str_of(a->why);
    if (a && a->dropped) {
        snprintf(text, 100, "%llu record%s of the GPU %s dropped", (unsigned long long)a->dropped,
                 a->dropped == 1 ? "" : "s", a->dropped == 1 ? "was" : "were");
        out[n++] = vp_str_of(text);
    }
    return n;
}
