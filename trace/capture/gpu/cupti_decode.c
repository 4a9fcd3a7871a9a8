#include "trace/capture/gpu/cupti_decode.h"

#include <string.h>

#include "trace/base/err.h"

/* Maximum bytes of a kernel's name; C++ templates reach some thousand bytes. */
#define NAME_MAX_BYTES 65536u

/* Record, field, offset, size. */
#define FIELDS(F)                                                                                  \
    F(Kernel, registersPerThread, 6, 2)                                                            \
    F(Kernel, start, 16, 8)                                                                        \
    F(Kernel, end, 24, 8)                                                                          \
    F(Kernel, deviceId, 40, 4)                                                                     \
    F(Kernel, contextId, 44, 4)                                                                    \
    F(Kernel, streamId, 48, 4)                                                                     \
    F(Kernel, gridX, 52, 4)                                                                        \
    F(Kernel, gridY, 56, 4)                                                                        \
    F(Kernel, gridZ, 60, 4)                                                                        \
    F(Kernel, blockX, 64, 4)                                                                       \
    F(Kernel, blockY, 68, 4)                                                                       \
    F(Kernel, blockZ, 72, 4)                                                                       \
    F(Kernel, staticSharedMemory, 76, 4)                                                           \
    F(Kernel, dynamicSharedMemory, 80, 4)                                                          \
    F(Kernel, correlationId, 92, 4)                                                                \
    F(Kernel, name, 104, 8)                                                                        \
    F(Memcpy, copyKind, 4, 1)                                                                      \
    F(Memcpy, srcKind, 5, 1)                                                                       \
    F(Memcpy, dstKind, 6, 1)                                                                       \
    F(Memcpy, flags, 7, 1)                                                                         \
    F(Memcpy, bytes, 8, 8)                                                                         \
    F(Memcpy, start, 16, 8)                                                                        \
    F(Memcpy, end, 24, 8)                                                                          \
    F(Memcpy, deviceId, 32, 4)                                                                     \
    F(Memcpy, contextId, 36, 4)                                                                    \
    F(Memcpy, streamId, 40, 4)                                                                     \
    F(Memcpy, correlationId, 44, 4)                                                                \
    F(MemcpyPtoP, copyKind, 4, 1)                                                                  \
    F(MemcpyPtoP, srcKind, 5, 1)                                                                   \
    F(MemcpyPtoP, dstKind, 6, 1)                                                                   \
    F(MemcpyPtoP, flags, 7, 1)                                                                     \
    F(MemcpyPtoP, bytes, 8, 8)                                                                     \
    F(MemcpyPtoP, start, 16, 8)                                                                    \
    F(MemcpyPtoP, end, 24, 8)                                                                      \
    F(MemcpyPtoP, deviceId, 32, 4)                                                                 \
    F(MemcpyPtoP, contextId, 36, 4)                                                                \
    F(MemcpyPtoP, streamId, 40, 4)                                                                 \
    F(MemcpyPtoP, srcDeviceId, 44, 4)                                                              \
    F(MemcpyPtoP, dstDeviceId, 52, 4)                                                              \
    F(MemcpyPtoP, correlationId, 60, 4)                                                            \
    F(Memset, value, 4, 4)                                                                         \
    F(Memset, bytes, 8, 8)                                                                         \
    F(Memset, start, 16, 8)                                                                        \
    F(Memset, end, 24, 8)                                                                          \
    F(Memset, deviceId, 32, 4)                                                                     \
    F(Memset, contextId, 36, 4)                                                                    \
    F(Memset, streamId, 40, 4)                                                                     \
    F(Memset, correlationId, 44, 4)                                                                \
    F(API, cbid, 4, 4)                                                                             \
    F(API, start, 8, 8)                                                                            \
    F(API, end, 16, 8)                                                                             \
    F(API, threadId, 28, 4)                                                                        \
    F(API, correlationId, 32, 4)                                                                   \
    F(API, returnValue, 36, 4)                                                                     \
    F(Overhead, overheadKind, 4, 4)                                                                \
    F(Overhead, start, 24, 8)                                                                      \
    F(Overhead, end, 32, 8)

#define AS_ENUM(record, field, offset, size) AT_##record##_##field = (offset),
#define AS_ROW(record, field, offset, size) {#record, #field, offset, size},
enum { FIELDS(AS_ENUM) AT_END };
const cupti_field cupti_fields[] = {FIELDS(AS_ROW){NULL, NULL, 0, 0}};

/* Bytes that are read of each record, which the buffer must contain. */
enum {
    KERNEL_BYTES = AT_Kernel_name + 8,
    COPY_BYTES = AT_Memcpy_correlationId + 4,
    PEER_BYTES = AT_MemcpyPtoP_correlationId + 4,
    SET_BYTES = AT_Memset_correlationId + 4,
    CALL_BYTES = AT_API_returnValue + 4,
    OVERHEAD_BYTES = AT_Overhead_end + 8
};

#define GET(type, name)                                                                            \
    static type name(const uint8_t *p, size_t offset)                                              \
    {                                                                                              \
        type v;                                                                                    \
        memcpy(&v, p + offset, sizeof v);                                                          \
        return v;                                                                                  \
    }
GET(uint16_t, get_u16)
GET(uint32_t, get_u32)
GET(uint64_t, get_u64)
GET(int32_t, get_i32)
GET(const char *, get_text)

/* State for decoding records. */
typedef struct source {
    gpu_activity *to;
    const cupti_clock *clock;
    int64_t from;
    cupti_call_name_fn *name;
} source;

int64_t cupti_clock_unix(const cupti_clock *c, uint64_t device_ns)
{
    if (device_ns > INT64_MAX)
        return INT64_MAX;
    __int128 since = (__int128)(int64_t)device_ns - c->device0;
    __int128 device = (__int128)c->device1 - c->device0, ours = (__int128)c->unix1 - c->unix0;
    __int128 unix_ns = c->unix0 + (device > 0 && ours > 0 ? since * ours / device : since);
    return unix_ns > INT64_MAX ? INT64_MAX : unix_ns < INT64_MIN ? INT64_MIN : (int64_t)unix_ns;
}

vp_str cupti_plain_name(const char *name)
{
    vp_str s = vp_str_of(name);
    size_t at = vp_str_rfind_char(s, '_');
    if (at + 2 >= s.n || s.p[at + 1] != 'v')
        return s;
    for (size_t i = at + 2; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return s;
    return vp_str_head(s, at);
}

/* Sets the times. CUPTI writes 0 for unknown times: such a record is counted and skipped
 * (false). */
static bool take_record_times(gpu_record *out, const source *s, uint64_t start, uint64_t end)
{
    if (!start || !end || end < start || end > INT64_MAX) {
        s->to->damaged++;
        return false;
    }
    out->start_ns = cupti_clock_unix(s->clock, start);
    out->end_ns = cupti_clock_unix(s->clock, end);
    if (out->start_ns < s->from) {
        s->to->outside++;
        return false;
    }
    return true;
}

static vp_sid name_id(const source *s, vp_str name)
{
    vp_sid id = 0;
    (void)vp_intern_put(&s->to->names, vp_str_head(name, NAME_MAX_BYTES), &id);
    return id; /* if out of memory, the name is lost but the record is kept */
}

static bool take_kernel(gpu_record *r, const source *s, const uint8_t *p)
{
    if (!take_record_times(r, s, get_u64(p, AT_Kernel_start), get_u64(p, AT_Kernel_end)))
        return false;
    const char *name = get_text(p, AT_Kernel_name);
    r->kind = GPU_KERNEL;
    r->correlation = get_u32(p, AT_Kernel_correlationId);
    r->device = get_u32(p, AT_Kernel_deviceId);
    r->context = get_u32(p, AT_Kernel_contextId);
    r->stream = get_u32(p, AT_Kernel_streamId);
    for (size_t i = 0; i < 3; i++) {
        r->kernel.grid[i] = get_i32(p, AT_Kernel_gridX + 4 * i);
        r->kernel.block[i] = get_i32(p, AT_Kernel_blockX + 4 * i);
    }
    r->kernel.registers = get_u16(p, AT_Kernel_registersPerThread);
    r->kernel.static_shared = get_u32(p, AT_Kernel_staticSharedMemory);
    r->kernel.dynamic_shared = get_u32(p, AT_Kernel_dynamicSharedMemory);
    r->kernel.name = name_id(s, vp_str_of(name));
    return true;
}

/* Both kinds of copies have the same fields up to the stream. */
static bool take_copy(gpu_record *r, const source *s, const uint8_t *p, bool peer)
{
    if (!take_record_times(r, s, get_u64(p, AT_Memcpy_start), get_u64(p, AT_Memcpy_end)))
        return false;
    r->kind = peer ? GPU_PEER_COPY : GPU_COPY;
    r->correlation = get_u32(p, peer ? AT_MemcpyPtoP_correlationId : AT_Memcpy_correlationId);
    r->device = get_u32(p, AT_Memcpy_deviceId);
    r->context = get_u32(p, AT_Memcpy_contextId);
    r->stream = get_u32(p, AT_Memcpy_streamId);
    r->copy.bytes = get_u64(p, AT_Memcpy_bytes);
    r->copy.copy_kind = p[AT_Memcpy_copyKind];
    r->copy.source_memory = p[AT_Memcpy_srcKind];
    r->copy.destination_memory = p[AT_Memcpy_dstKind];
    r->copy.async = p[AT_Memcpy_flags] & 1;
    r->copy.source = peer ? get_u32(p, AT_MemcpyPtoP_srcDeviceId) : r->device;
    r->copy.destination = peer ? get_u32(p, AT_MemcpyPtoP_dstDeviceId) : r->device;
    return true;
}

static bool take_set(gpu_record *r, const source *s, const uint8_t *p)
{
    if (!take_record_times(r, s, get_u64(p, AT_Memset_start), get_u64(p, AT_Memset_end)))
        return false;
    r->kind = GPU_SET;
    r->correlation = get_u32(p, AT_Memset_correlationId);
    r->device = get_u32(p, AT_Memset_deviceId);
    r->context = get_u32(p, AT_Memset_contextId);
    r->stream = get_u32(p, AT_Memset_streamId);
    r->set.bytes = get_u64(p, AT_Memset_bytes);
    r->set.value = get_u32(p, AT_Memset_value);
    return true;
}

static bool take_call(gpu_record *r, const source *s, const uint8_t *p, bool runtime)
{
    if (!take_record_times(r, s, get_u64(p, AT_API_start), get_u64(p, AT_API_end)))
        return false;
    r->kind = runtime ? GPU_RUNTIME : GPU_DRIVER;
    r->correlation = get_u32(p, AT_API_correlationId);
    r->call.id = get_u32(p, AT_API_cbid);
    r->call.tid = get_u32(p, AT_API_threadId);
    r->call.status = get_i32(p, AT_API_returnValue);
    r->call.name = s->name ? name_id(s, cupti_plain_name(s->name(runtime, r->call.id))) : 0;
    return true;
}

static bool take_overhead(gpu_record *r, const source *s, const uint8_t *p)
{
    if (!take_record_times(r, s, get_u64(p, AT_Overhead_start), get_u64(p, AT_Overhead_end)))
        return false;
    r->kind = GPU_OVERHEAD;
    r->overhead.kind = get_u32(p, AT_Overhead_overheadKind);
    return true;
}

/* True if n bytes contain the whole record; otherwise it is counted as damaged. */
static bool holds_whole_record(const source *s, size_t n, size_t need)
{
    s->to->damaged += n < need;
    return n >= need;
}

static bool take_gpu_record(gpu_record *r, const source *s, const uint8_t *p, size_t n)
{
    switch (get_u32(p, 0)) {
    case CUPTI_KIND_KERNEL:
    case CUPTI_KIND_CONCURRENT_KERNEL:
        return holds_whole_record(s, n, KERNEL_BYTES) && take_kernel(r, s, p);
    case CUPTI_KIND_MEMCPY:
        return holds_whole_record(s, n, COPY_BYTES) && take_copy(r, s, p, false);
    case CUPTI_KIND_MEMCPY2:
        return holds_whole_record(s, n, PEER_BYTES) && take_copy(r, s, p, true);
    case CUPTI_KIND_MEMSET:
        return holds_whole_record(s, n, SET_BYTES) && take_set(r, s, p);
    case CUPTI_KIND_RUNTIME:
    case CUPTI_KIND_DRIVER:
        return holds_whole_record(s, n, CALL_BYTES) &&
               take_call(r, s, p, get_u32(p, 0) == CUPTI_KIND_RUNTIME);
    case CUPTI_KIND_OVERHEAD:
        return holds_whole_record(s, n, OVERHEAD_BYTES) && take_overhead(r, s, p);
    default:
        s->to->unknown++;
        return false;
    }
}

/* Estimated number of records after an invalid or incomplete one, by the average size of the
 * previous ones, because iteration cannot continue. */
static uint64_t records_after(size_t valid, size_t last, size_t records)
{
    size_t each = records > 1 ? last / (records - 1) : CALL_BYTES;
    size_t behind = records ? last + each : 0;
    return behind < valid ? (valid - behind + each - 1) / each : 1;
}

void cupti_decode(gpu_activity *a, uint8_t *buffer, size_t valid, const cupti_clock *clock,
                  int64_t from, cupti_next_fn *next, cupti_call_name_fn *name)
{
    source s = {.to = a, .clock = clock, .from = from, .name = name};
    const uint8_t *last = NULL;
    size_t records = 0;
    void *record = NULL;
    int result;
    while ((result = next(buffer, valid, &record)) == 0) {
        const uint8_t *p = record;
        /* Records must be in order and within the buffer; otherwise decoding ends here. */
        if (p < buffer || p >= buffer + valid || (size_t)(buffer + valid - p) < 4 ||
            (last && p <= last)) {
            a->damaged++;
            return;
        }
        records++;
        gpu_record r = {0};
        if (take_gpu_record(&r, &s, p, (size_t)(buffer + valid - p)))
            gpu_activity_add(a, &r);
        last = p;
    }
    if (result != CUPTI_RECORDS_END)
        a->dropped += records_after(valid, last ? (size_t)(last - buffer) : 0, records);
}
