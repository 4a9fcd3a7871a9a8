#include "trace/capture/nvtx.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <wchar.h>

#include "trace/capture/nvtx_range.h"

/* NvtxExportTableID, NvtxCallbackModule and the slots of its functions. */
enum { TABLE_CALLBACKS = 1 };
enum { MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum {
    CORE_MARK_EX = 1,
    CORE_MARK_A,
    CORE_MARK_W,
    CORE_START_EX,
    CORE_START_A,
    CORE_START_W,
    CORE_END,
    CORE_PUSH_EX,
    CORE_PUSH_A,
    CORE_PUSH_W,
    CORE_POP,
    CORE_NAME_CATEGORY_A,
    CORE_NAME_CATEGORY_W,
    CORE_NAME_THREAD_A,
    CORE_NAME_THREAD_W,
    CORE_SLOTS
};
enum {
    CORE2_MARK_EX = 1,
    CORE2_START_EX,
    CORE2_END,
    CORE2_PUSH_EX,
    CORE2_POP,
    CORE2_NAME_CATEGORY_A = 8,
    CORE2_NAME_CATEGORY_W,
    CORE2_REGISTER_A,
    CORE2_REGISTER_W,
    CORE2_CREATE_A,
    CORE2_CREATE_W,
    CORE2_DESTROY,
    CORE2_INITIALIZE,
    CORE2_SLOTS
};

typedef void nvtx_fn(void);

typedef struct callback_table {
    size_t struct_size;
    int (*module_table)(int module, nvtx_fn ****table, unsigned *size);
} callback_table;

/* nvtxEventAttributes_t. What is beyond its `size` is not there. */
typedef struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        uint32_t u32;
        int32_t i32;
        float f32;
    } payload;
    int32_t message_type;
    union {
        const char *text;
        const wchar_t *wide;
        const void *registered;
    } message;
} attributes;
enum { PAYLOAD_U64 = 1, PAYLOAD_I64, PAYLOAD_F64, PAYLOAD_U32, PAYLOAD_I32, PAYLOAD_F32 };
enum { MESSAGE_TEXT = 1, MESSAGE_WIDE, MESSAGE_REGISTERED };

/* ---- What the program says, in our words ----------------------------------------------------- */

/* UTF-8 of a wide text (4 bytes a character on Linux), cut at NVTX_NAME_MAX. */
static const char *narrow(char *out, const wchar_t *wide)
{
    size_t n = 0;
    for (; wide && *wide && n + 4 < NVTX_NAME_MAX; wide++) {
        uint32_t c = (uint32_t)*wide;
        if (c < 0x80) {
            out[n++] = (char)c;
        } else if (c < 0x800) {
            out[n++] = (char)(0xc0 | c >> 6);
            out[n++] = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            out[n++] = (char)(0xe0 | c >> 12);
            out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
            out[n++] = (char)(0x80 | (c & 0x3f));
        } else {
            out[n++] = (char)(0xf0 | (c >> 18 & 0x07));
            out[n++] = (char)(0x80 | (c >> 12 & 0x3f));
            out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
            out[n++] = (char)(0x80 | (c & 0x3f));
        }
    }
    out[n] = 0;
    return out;
}

static void take_payload(nvtx_event *e, const attributes *a)
{
    vp_arg *p = &e->payload;
    switch (a->payload_type) {
    case PAYLOAD_U64:
    case PAYLOAD_I64:
        *p = (vp_arg){"payload", VP_ARG_I64, {.i = a->payload.i64}};
        break;
    case PAYLOAD_U32:
        *p = (vp_arg){"payload", VP_ARG_I64, {.i = a->payload.u32}};
        break;
    case PAYLOAD_I32:
        *p = (vp_arg){"payload", VP_ARG_I64, {.i = a->payload.i32}};
        break;
    case PAYLOAD_F64:
        *p = (vp_arg){"payload", VP_ARG_F64, {.f = a->payload.f64}};
        break;
    case PAYLOAD_F32:
        *p = (vp_arg){"payload", VP_ARG_F64, {.f = (double)a->payload.f32}};
        break;
    default:
        break;
    }
}

/* buffer holds NVTX_NAME_MAX bytes and lives as long as e. */
static nvtx_event event_of(char *buffer, nvtx_domain *d, const attributes *a)
{
    nvtx_event e = {.domain = d, .text = ""};
    if (!a || a->size < sizeof *a)
        return e;
    e.category = a->category;
    take_payload(&e, a);
    switch (a->message_type) {
    case MESSAGE_TEXT:
        e.text = a->message.text ? a->message.text : "";
        break;
    case MESSAGE_WIDE:
        e.text = narrow(buffer, a->message.wide);
        break;
    case MESSAGE_REGISTERED:
        e.registered = a->message.registered;
        break;
    default:
        break;
    }
    return e;
}

static nvtx_event plain(const char *text)
{
    return (nvtx_event){.text = text ? text : ""};
}

/* ---- The functions of domains ---------------------------------------------------------------- */

static void domain_mark_ex(nvtx_domain *d, const attributes *a)
{
    char buffer[NVTX_NAME_MAX];
    nvtx_event e = event_of(buffer, d, a);
    nvtx_mark(&e);
}

static uint64_t domain_start_ex(nvtx_domain *d, const attributes *a)
{
    char buffer[NVTX_NAME_MAX];
    nvtx_event e = event_of(buffer, d, a);
    return nvtx_start(&e);
}

static void domain_end(nvtx_domain *d, uint64_t id)
{
    (void)d;
    nvtx_end(id);
}

static int domain_push_ex(nvtx_domain *d, const attributes *a)
{
    char buffer[NVTX_NAME_MAX];
    nvtx_event e = event_of(buffer, d, a);
    return nvtx_push(&e);
}

static int domain_pop(nvtx_domain *d)
{
    return nvtx_pop(d);
}

static const void *register_a(nvtx_domain *d, const char *text)
{
    return nvtx_register(d, text ? text : "");
}

static const void *register_w(nvtx_domain *d, const wchar_t *text)
{
    char buffer[NVTX_NAME_MAX];
    return nvtx_register(d, narrow(buffer, text));
}

static nvtx_domain *create_a(const char *name)
{
    return nvtx_domain_of(name ? name : "");
}

static nvtx_domain *create_w(const wchar_t *name)
{
    char buffer[NVTX_NAME_MAX];
    return nvtx_domain_of(narrow(buffer, name));
}

/* Domains stay: zones that carry their names may still be open. */
static void destroy(nvtx_domain *d)
{
    (void)d;
}

static void initialize(const void *reserved)
{
    (void)reserved;
}

/* ---- The functions of the core: those of no domain ------------------------------------------- */

static void mark_ex(const attributes *a)
{
    domain_mark_ex(NULL, a);
}

static void mark_a(const char *text)
{
    nvtx_event e = plain(text);
    nvtx_mark(&e);
}

static void mark_w(const wchar_t *text)
{
    char buffer[NVTX_NAME_MAX];
    mark_a(narrow(buffer, text));
}

static uint64_t start_ex(const attributes *a)
{
    return domain_start_ex(NULL, a);
}

static uint64_t start_a(const char *text)
{
    nvtx_event e = plain(text);
    return nvtx_start(&e);
}

static uint64_t start_w(const wchar_t *text)
{
    char buffer[NVTX_NAME_MAX];
    return start_a(narrow(buffer, text));
}

static void end(uint64_t id)
{
    domain_end(NULL, id);
}

static int push_ex(const attributes *a)
{
    return domain_push_ex(NULL, a);
}

static int push_a(const char *text)
{
    nvtx_event e = plain(text);
    return nvtx_push(&e);
}

static int push_w(const wchar_t *text)
{
    char buffer[NVTX_NAME_MAX];
    return push_a(narrow(buffer, text));
}

static int pop(void)
{
    return domain_pop(NULL);
}

static void name_category_a(uint32_t id, const char *text)
{
    nvtx_name_category(NULL, id, text);
}

static void name_category_w(uint32_t id, const wchar_t *text)
{
    char buffer[NVTX_NAME_MAX];
    nvtx_name_category(NULL, id, narrow(buffer, text));
}

static void name_thread_a(uint32_t tid, const char *text)
{
    nvtx_name_thread(tid, text);
}

static void name_thread_w(uint32_t tid, const wchar_t *text)
{
    char buffer[NVTX_NAME_MAX];
    nvtx_name_thread(tid, narrow(buffer, text));
}

/* ---- Attaching ------------------------------------------------------------------------------- */

#define FN(f) ((nvtx_fn *)(void (*)(void))(f))

static void fill(const callback_table *t, int module, nvtx_fn *const *functions, unsigned count)
{
    nvtx_fn ***table = NULL;
    unsigned size = 0;
    if (!t->module_table(module, &table, &size) || !table)
        return;
    for (unsigned i = 1; i < count && i < size; i++)
        if (functions[i] && table[i])
            *table[i] = functions[i];
}

int nvtx_attach(nvtx_export_fn *tables)
{
    static nvtx_fn *const core[CORE_SLOTS] = {
        [CORE_MARK_EX] = FN(mark_ex),
        [CORE_MARK_A] = FN(mark_a),
        [CORE_MARK_W] = FN(mark_w),
        [CORE_START_EX] = FN(start_ex),
        [CORE_START_A] = FN(start_a),
        [CORE_START_W] = FN(start_w),
        [CORE_END] = FN(end),
        [CORE_PUSH_EX] = FN(push_ex),
        [CORE_PUSH_A] = FN(push_a),
        [CORE_PUSH_W] = FN(push_w),
        [CORE_POP] = FN(pop),
        [CORE_NAME_CATEGORY_A] = FN(name_category_a),
        [CORE_NAME_CATEGORY_W] = FN(name_category_w),
        [CORE_NAME_THREAD_A] = FN(name_thread_a),
        [CORE_NAME_THREAD_W] = FN(name_thread_w),
    };
    static nvtx_fn *const core2[CORE2_SLOTS] = {
        [CORE2_MARK_EX] = FN(domain_mark_ex), [CORE2_START_EX] = FN(domain_start_ex),
        [CORE2_END] = FN(domain_end),         [CORE2_PUSH_EX] = FN(domain_push_ex),
        [CORE2_POP] = FN(domain_pop),         [CORE2_NAME_CATEGORY_A] = FN(nvtx_name_category),
        [CORE2_NAME_CATEGORY_W] = NULL,       [CORE2_REGISTER_A] = FN(register_a),
        [CORE2_REGISTER_W] = FN(register_w),  [CORE2_CREATE_A] = FN(create_a),
        [CORE2_CREATE_W] = FN(create_w),      [CORE2_DESTROY] = FN(destroy),
        [CORE2_INITIALIZE] = FN(initialize),
    };
    nvtx_install();
    const callback_table *t = tables(TABLE_CALLBACKS);
    if (!t || t->struct_size < sizeof *t || !t->module_table)
        return 0;
    fill(t, MODULE_CORE, core, CORE_SLOTS);
    fill(t, MODULE_CORE2, core2, CORE2_SLOTS);
    return 1;
}
