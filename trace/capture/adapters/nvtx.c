#include "trace/capture/adapters/nvtx.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "include/view_profile_nvtx_compat.h"
#include "trace/base/thread.h"
#include "trace/capture/adapters/nvtx_range.h"

/* From NvtxExportTableID and NvtxCallbackModule. */
enum { TABLE_CALLBACKS = 1 };
enum { MODULE_CORE = 1, MODULE_CORE2 = 5 };
typedef void nvtx_fn(void);

typedef struct callback_table {
    size_t struct_size;
    int (*module_table)(int module, nvtx_fn ****table, unsigned *size);
} callback_table;

/* ---- Conversion of the program's data ---- */

/* Converts a wide text (4 bytes per character on Linux) to UTF-8, truncated to NVTX_NAME_MAX. */
static const char *utf8_of_wide(char *out, const wchar_t *wide)
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

static void take_payload(nvtx_event *e, const nvtxEventAttributes_t *a)
{
    vp_arg *p = &e->payload;
    switch (a->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
    case NVTX_PAYLOAD_TYPE_INT64:
        *p = (vp_arg){"payload", VP_ARG_I64, {.i = a->payload.llValue}};
        break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        *p = (vp_arg){"payload", VP_ARG_I64, {.i = a->payload.uiValue}};
        break;
    case NVTX_PAYLOAD_TYPE_INT32:
        *p = (vp_arg){"payload", VP_ARG_I64, {.i = a->payload.iValue}};
        break;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
        *p = (vp_arg){"payload", VP_ARG_F64, {.f = a->payload.dValue}};
        break;
    case NVTX_PAYLOAD_TYPE_FLOAT:
        *p = (vp_arg){"payload", VP_ARG_F64, {.f = (double)a->payload.fValue}};
        break;
    default:
        break;
    }
}

/* The text of a message. buffer: NVTX_NAME_MAX bytes, which must live as long as the result.
 * *registered: the handle of a registered text; the result is then "". */
static const char *nvtx_message_text(char *buffer, int32_t type, nvtxMessageValue_t message,
                                     const void **registered)
{
    *registered = type == NVTX_MESSAGE_TYPE_REGISTERED ? message.registered : NULL;
    if (type == NVTX_MESSAGE_TYPE_UNICODE)
        return utf8_of_wide(buffer, message.unicode);
    return type == NVTX_MESSAGE_TYPE_ASCII && message.ascii ? message.ascii : "";
}

/* Attributes of a program with fewer fields, according to its size, are ignored. */
static nvtx_event nvtx_event_of(char *buffer, nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    nvtx_event e = {.domain = (nvtx_domain *)d, .text = ""};
    if (!a || a->size < sizeof *a)
        return e;
    e.category = a->category;
    take_payload(&e, a);
    e.text = nvtx_message_text(buffer, a->messageType, a->message, &e.registered);
    return e;
}

static nvtx_event nvtx_plain_event(const char *text)
{
    return (nvtx_event){.text = text ? text : ""};
}

/* ---- Functions with a domain ---- */

void vp__nvtx_mark(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    char buffer[NVTX_NAME_MAX];
    nvtx_event e = nvtx_event_of(buffer, d, a);
    nvtx_mark(&e);
}

nvtxRangeId_t vp__nvtx_start(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    char buffer[NVTX_NAME_MAX];
    nvtx_event e = nvtx_event_of(buffer, d, a);
    return nvtx_start(&e);
}

void vp__nvtx_end(nvtxDomainHandle_t d, nvtxRangeId_t id)
{
    (void)d;
    nvtx_end(id);
}

int vp__nvtx_push(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    char buffer[NVTX_NAME_MAX];
    nvtx_event e = nvtx_event_of(buffer, d, a);
    return nvtx_push(&e);
}

int vp__nvtx_pop(nvtxDomainHandle_t d)
{
    return nvtx_pop((nvtx_domain *)d);
}

nvtxStringHandle_t vp__nvtx_string(nvtxDomainHandle_t d, const char *text)
{
    return (nvtxStringHandle_t)nvtx_register((nvtx_domain *)d, text ? text : "");
}

nvtxStringHandle_t vp__nvtx_string_wide(nvtxDomainHandle_t d, const wchar_t *text)
{
    char buffer[NVTX_NAME_MAX];
    return vp__nvtx_string(d, utf8_of_wide(buffer, text));
}

nvtxDomainHandle_t vp__nvtx_domain(const char *name)
{
    return (nvtxDomainHandle_t)nvtx_domain_of(name ? name : "");
}

nvtxDomainHandle_t vp__nvtx_domain_wide(const wchar_t *name)
{
    char buffer[NVTX_NAME_MAX];
    return vp__nvtx_domain(utf8_of_wide(buffer, name));
}

void vp__nvtx_category(nvtxDomainHandle_t d, uint32_t id, const char *name)
{
    nvtx_name_category((nvtx_domain *)d, id, name ? name : "");
}

void vp__nvtx_category_wide(nvtxDomainHandle_t d, uint32_t id, const wchar_t *name)
{
    char buffer[NVTX_NAME_MAX];
    vp__nvtx_category(d, id, utf8_of_wide(buffer, name));
}

/* Names of resources; only threads are recorded. */
nvtxResourceHandle_t vp__nvtx_resource(nvtxDomainHandle_t d, const nvtxResourceAttributes_t *a)
{
    char buffer[NVTX_NAME_MAX];
    const void *registered;
    (void)d;
    if (!a || a->size < sizeof *a)
        return NULL;
    const char *text = nvtx_message_text(buffer, a->messageType, a->message, &registered);
    if (registered)
        text = nvtx_text(registered);
    if (a->identifierType == NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE)
        nvtx_name_thread((uint32_t)a->identifier.ullValue, text);
    else if (a->identifierType == NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX &&
             pthread_equal((pthread_t)a->identifier.ullValue, pthread_self()))
        nvtx_name_thread((uint32_t)vp_thread_number(), text);
    return NULL;
}

/* Domains are never freed, because open zones may still refer to their names. */
static void nvtx_domain_destroy(nvtxDomainHandle_t d)
{
    (void)d;
}

static void destroy_resource(nvtxResourceHandle_t r)
{
    (void)r;
}

static void nvtx_initialize(const void *reserved)
{
    (void)reserved;
}

/* ---- Functions of the core, without a domain ---- */

void vp__nvtx_mark_text(const char *text)
{
    nvtx_event e = nvtx_plain_event(text);
    nvtx_mark(&e);
}

nvtxRangeId_t vp__nvtx_start_text(const char *text)
{
    nvtx_event e = nvtx_plain_event(text);
    return nvtx_start(&e);
}

int vp__nvtx_push_text(const char *text)
{
    nvtx_event e = nvtx_plain_event(text);
    return nvtx_push(&e);
}

void vp__nvtx_thread(uint32_t tid, const char *name)
{
    nvtx_name_thread(tid, name ? name : "");
}

void vp__nvtx_thread_wide(uint32_t tid, const wchar_t *name)
{
    char buffer[NVTX_NAME_MAX];
    nvtx_name_thread(tid, utf8_of_wide(buffer, name));
}

/* ---- Attaching ------------------------------------------------------------------------------- */

#define FN(f) ((nvtx_fn *)(void (*)(void))(f))

static void nvtx_fill_module_table(const callback_table *t, int module, nvtx_fn *const *functions,
                                   unsigned count)
{
    nvtx_fn ***table = NULL;
    unsigned size = 0;
    if (!t->module_table(module, &table, &size) || !table)
        return;
    for (unsigned i = 1; i < count && i < size; i++)
        if (functions[i] && table[i])
            *table[i] = functions[i];
}

/* By slot, from 1; the comments are the slots' names in NVTX: NvtxCallbackIdCore
 * (NVTX_CBID_CORE_…), whose calls have no domain, and NvtxCallbackIdCore2. */
static nvtx_fn *const core[] = {
    NULL,
    FN(nvtxMarkEx),           /* MarkEx */
    FN(vp__nvtx_mark_text),   /* MarkA */
    FN(nvtxMarkW),            /* MarkW */
    FN(nvtxRangeStartEx),     /* RangeStartEx */
    FN(vp__nvtx_start_text),  /* RangeStartA */
    FN(nvtxRangeStartW),      /* RangeStartW */
    FN(nvtx_end),             /* RangeEnd */
    FN(nvtxRangePushEx),      /* RangePushEx */
    FN(vp__nvtx_push_text),   /* RangePushA */
    FN(nvtxRangePushW),       /* RangePushW */
    FN(nvtxRangePop),         /* RangePop */
    FN(nvtxNameCategoryA),    /* NameCategoryA */
    FN(nvtxNameCategoryW),    /* NameCategoryW */
    FN(vp__nvtx_thread),      /* NameOsThreadA */
    FN(vp__nvtx_thread_wide), /* NameOsThreadW */
};
static nvtx_fn *const core2[] = {
    NULL,
    FN(vp__nvtx_mark),          /* DomainMarkEx */
    FN(vp__nvtx_start),         /* DomainRangeStartEx */
    FN(vp__nvtx_end),           /* DomainRangeEnd */
    FN(vp__nvtx_push),          /* DomainRangePushEx */
    FN(vp__nvtx_pop),           /* DomainRangePop */
    FN(vp__nvtx_resource),      /* DomainResourceCreate */
    FN(destroy_resource),       /* DomainResourceDestroy */
    FN(vp__nvtx_category),      /* DomainNameCategoryA */
    FN(vp__nvtx_category_wide), /* DomainNameCategoryW */
    FN(vp__nvtx_string),        /* DomainRegisterStringA */
    FN(vp__nvtx_string_wide),   /* DomainRegisterStringW */
    FN(vp__nvtx_domain),        /* DomainCreateA */
    FN(vp__nvtx_domain_wide),   /* DomainCreateW */
    FN(nvtx_domain_destroy),    /* DomainDestroy */
    FN(nvtx_initialize),        /* Initialize */
};
#define SLOTS(table) (unsigned)(sizeof(table) / sizeof *(table))

int nvtx_attach(nvtx_export_fn *tables)
{
    nvtx_install();
    const callback_table *t = tables(TABLE_CALLBACKS);
    if (!t || t->struct_size < sizeof *t || !t->module_table)
        return 0;
    nvtx_fill_module_table(t, MODULE_CORE, core, SLOTS(core));
    nvtx_fill_module_table(t, MODULE_CORE2, core2, SLOTS(core2));
    return 1;
}
