/* NVTX calls that use the recorder directly: a program annotated with NVIDIA's nvtx3/nvToolsExt.h
 * includes this header instead and links the recorder. It then needs neither NVIDIA's headers nor
 * an injection library. Names, types and constants are those of NVTX 3, so its source is unchanged.
 *
 *     #include <view_profile_nvtx_compat.h>       // was: <nvtx3/nvToolsExt.h>
 *     nvtxRangePushA(name); … nvtxRangePop();
 *
 * Ranges become zones, marks instants, domains categories of zones, payloads and categories args.
 * Ranges that are steps ("step 7", or "step" with its number as payload) become steps. Texts are
 * copied, may be built at run time, and are truncated to 1,023 bytes (wide ones as UTF-8). A
 * million distinct texts are kept; events with further ones are counted as dropped (vp_result).
 * Handles belong to the process and are never freed. All calls are thread-safe; none may be used in
 * signal handlers. Colors, and resources other than threads, are not recorded. The rest of NVTX 3
 * (CUDA, OpenCL, sync) only names things: such calls can be omitted. With VP_DISABLE or
 * NVTX_DISABLE everything compiles to nothing. */
#ifndef VIEW_PROFILE_NVTX_COMPAT_H
#define VIEW_PROFILE_NVTX_COMPAT_H

#if defined(NVTX_VERSION)
#error "include either view_profile_nvtx_compat.h or NVIDIA's own headers of NVTX"
#endif

#include <stddef.h>
#include <stdint.h>

#include "view_profile_capture.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NVTX_VERSION 3
#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxResourceAttributes_t))

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN, NVTX_COLOR_ARGB } nvtxColorType_t;

typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN,
    NVTX_MESSAGE_TYPE_ASCII,
    NVTX_MESSAGE_TYPE_UNICODE,
    NVTX_MESSAGE_TYPE_REGISTERED
} nvtxMessageType_t;

typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64,
    NVTX_PAYLOAD_TYPE_INT64,
    NVTX_PAYLOAD_TYPE_DOUBLE,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32,
    NVTX_PAYLOAD_TYPE_INT32,
    NVTX_PAYLOAD_TYPE_FLOAT
} nvtxPayloadType_t;

typedef enum nvtxResourceGenericType_t {
    NVTX_RESOURCE_TYPE_UNKNOWN = 0,
    NVTX_RESOURCE_TYPE_GENERIC_POINTER = 0x10001,
    NVTX_RESOURCE_TYPE_GENERIC_HANDLE = 0x10002,
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = 0x10003, /* a tid */
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = 0x10004
} nvtxResourceGenericType_t;

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st nvtxDomainRegistration;
typedef nvtxDomainRegistration *nvtxDomainHandle_t; /* NULL: the default domain */
typedef struct nvtxStringRegistration_st nvtxStringRegistration;
typedef nvtxStringRegistration *nvtxStringHandle_t;
typedef struct nvtxResourceHandle *nvtxResourceHandle_t;

typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size; /* NVTX_VERSION, NVTX_EVENT_ATTRIB_STRUCT_SIZE */
    uint32_t category;      /* 0: none */
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef nvtxEventAttributes_v2 nvtxEventAttributes_t;

typedef struct nvtxResourceAttributes_v0 {
    uint16_t version, size;
    int32_t identifierType; /* NVTX_RESOURCE_TYPE_… */
    union identifier_t {
        const void *pValue;
        uint64_t ullValue;
    } identifier;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxResourceAttributes_v0;
typedef nvtxResourceAttributes_v0 nvtxResourceAttributes_t;

/* Functions of the recorder, used by the calls below and by the injection library. */
VP_API void vp__nvtx_mark(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a);
VP_API void vp__nvtx_mark_text(const char *text);
VP_API nvtxRangeId_t vp__nvtx_start(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a);
VP_API nvtxRangeId_t vp__nvtx_start_text(const char *text);
VP_API void vp__nvtx_end(nvtxDomainHandle_t d, nvtxRangeId_t id);
VP_API int vp__nvtx_push(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a);
VP_API int vp__nvtx_push_text(const char *text);
VP_API int vp__nvtx_pop(nvtxDomainHandle_t d);
VP_API nvtxDomainHandle_t vp__nvtx_domain(const char *name);
VP_API nvtxDomainHandle_t vp__nvtx_domain_wide(const wchar_t *name);
VP_API nvtxStringHandle_t vp__nvtx_string(nvtxDomainHandle_t d, const char *text);
VP_API nvtxStringHandle_t vp__nvtx_string_wide(nvtxDomainHandle_t d, const wchar_t *text);
VP_API void vp__nvtx_category(nvtxDomainHandle_t d, uint32_t id, const char *name);
VP_API void vp__nvtx_category_wide(nvtxDomainHandle_t d, uint32_t id, const wchar_t *name);
VP_API void vp__nvtx_thread(uint32_t tid, const char *name);
VP_API void vp__nvtx_thread_wide(uint32_t tid, const wchar_t *name);
VP_API nvtxResourceHandle_t vp__nvtx_resource(nvtxDomainHandle_t d,
                                              const nvtxResourceAttributes_t *a);

#if defined(VP_DISABLE) || defined(NVTX_DISABLE)
#define VP__NVTX(call) ((void)0)
#define VP__NVTX_VALUE(call, without) (without)
#define vp__nvtx_is_heard() 0
#else
#define VP__NVTX(call) call
#define VP__NVTX_VALUE(call, without) call
/* True if a recording is active or waits for a step. Ranges that begin or end at other times are
 * not tracked: the recorder drops known ones when the next recording begins. */
#define vp__nvtx_is_heard() (VP__LOAD(vp__on) || VP__LOAD(vp__steps))
#endif
#define VP__NVTX_INLINE static inline __attribute__((unused))

/* Ranges of the calling thread. Return the depth of the new or ended range, from 0. Negative: there
 * is none, or (NVTX_NO_PUSH_POP_TRACKING) nothing records. Each domain has its own stack. */
VP__NVTX_INLINE int nvtxRangePushA(const char *message)
{
    (void)message;
    if (!vp__nvtx_is_heard())
        return NVTX_NO_PUSH_POP_TRACKING;
    return VP__NVTX_VALUE(vp__nvtx_push_text(message), NVTX_NO_PUSH_POP_TRACKING);
}

VP__NVTX_INLINE int nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
                                          const nvtxEventAttributes_t *attributes)
{
    (void)domain;
    (void)attributes;
    if (!vp__nvtx_is_heard())
        return NVTX_NO_PUSH_POP_TRACKING;
    return VP__NVTX_VALUE(vp__nvtx_push(domain, attributes), NVTX_NO_PUSH_POP_TRACKING);
}

VP__NVTX_INLINE int nvtxRangePushEx(const nvtxEventAttributes_t *attributes)
{
    return nvtxDomainRangePushEx(NULL, attributes);
}

VP__NVTX_INLINE int nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
    (void)domain;
    if (!vp__nvtx_is_heard())
        return NVTX_NO_PUSH_POP_TRACKING;
    return VP__NVTX_VALUE(vp__nvtx_pop(domain), NVTX_NO_PUSH_POP_TRACKING);
}

VP__NVTX_INLINE int nvtxRangePop(void)
{
    return nvtxDomainRangePop(NULL);
}

/* Ranges that any thread may end. 0: nothing records, or no space. */
VP__NVTX_INLINE nvtxRangeId_t nvtxRangeStartA(const char *message)
{
    (void)message;
    if (!vp__nvtx_is_heard())
        return 0;
    return VP__NVTX_VALUE(vp__nvtx_start_text(message), 0);
}

VP__NVTX_INLINE nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain,
                                                     const nvtxEventAttributes_t *attributes)
{
    (void)domain;
    (void)attributes;
    if (!vp__nvtx_is_heard())
        return 0;
    return VP__NVTX_VALUE(vp__nvtx_start(domain, attributes), 0);
}

VP__NVTX_INLINE nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *attributes)
{
    return nvtxDomainRangeStartEx(NULL, attributes);
}

VP__NVTX_INLINE void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    (void)domain;
    (void)id;
    VP__NVTX(vp__nvtx_end(domain, id));
}

VP__NVTX_INLINE void nvtxRangeEnd(nvtxRangeId_t id)
{
    nvtxDomainRangeEnd(NULL, id);
}

VP__NVTX_INLINE void nvtxMarkA(const char *message)
{
    (void)message;
    if (vp__nvtx_is_heard())
        VP__NVTX(vp__nvtx_mark_text(message));
}

VP__NVTX_INLINE void nvtxDomainMarkEx(nvtxDomainHandle_t domain,
                                      const nvtxEventAttributes_t *attributes)
{
    (void)domain;
    (void)attributes;
    if (vp__nvtx_is_heard())
        VP__NVTX(vp__nvtx_mark(domain, attributes));
}

VP__NVTX_INLINE void nvtxMarkEx(const nvtxEventAttributes_t *attributes)
{
    nvtxDomainMarkEx(NULL, attributes);
}

/* The same with wide texts. */
VP__NVTX_INLINE nvtxEventAttributes_t vp__nvtx_wide(const wchar_t *message)
{
    nvtxEventAttributes_t a = {NVTX_VERSION,
                               NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                               0,
                               NVTX_COLOR_UNKNOWN,
                               0,
                               NVTX_PAYLOAD_UNKNOWN,
                               0,
                               {0},
                               NVTX_MESSAGE_TYPE_UNICODE,
                               {NULL}};
    a.message.unicode = message;
    return a;
}

VP__NVTX_INLINE int nvtxRangePushW(const wchar_t *message)
{
    nvtxEventAttributes_t a = vp__nvtx_wide(message);
    return nvtxRangePushEx(&a);
}

VP__NVTX_INLINE nvtxRangeId_t nvtxRangeStartW(const wchar_t *message)
{
    nvtxEventAttributes_t a = vp__nvtx_wide(message);
    return nvtxRangeStartEx(&a);
}

VP__NVTX_INLINE void nvtxMarkW(const wchar_t *message)
{
    nvtxEventAttributes_t a = vp__nvtx_wide(message);
    nvtxMarkEx(&a);
}

/* Equal names give equal handles of domains and texts; the first name of a category is kept. */
VP__NVTX_INLINE nvtxDomainHandle_t nvtxDomainCreateA(const char *name)
{
    (void)name;
    return VP__NVTX_VALUE(vp__nvtx_domain(name), NULL);
}

VP__NVTX_INLINE nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t *name)
{
    (void)name;
    return VP__NVTX_VALUE(vp__nvtx_domain_wide(name), NULL);
}

/* Does nothing: open zones may still refer to the name. */
VP__NVTX_INLINE void nvtxDomainDestroy(nvtxDomainHandle_t domain)
{
    (void)domain;
}

VP__NVTX_INLINE nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain,
                                                             const char *string)
{
    (void)domain;
    (void)string;
    return VP__NVTX_VALUE(vp__nvtx_string(domain, string), NULL);
}

VP__NVTX_INLINE nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain,
                                                             const wchar_t *string)
{
    (void)domain;
    (void)string;
    return VP__NVTX_VALUE(vp__nvtx_string_wide(domain, string), NULL);
}

VP__NVTX_INLINE void nvtxDomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category,
                                             const char *name)
{
    (void)domain;
    (void)category;
    (void)name;
    VP__NVTX(vp__nvtx_category(domain, category, name));
}

VP__NVTX_INLINE void nvtxDomainNameCategoryW(nvtxDomainHandle_t domain, uint32_t category,
                                             const wchar_t *name)
{
    (void)domain;
    (void)category;
    (void)name;
    VP__NVTX(vp__nvtx_category_wide(domain, category, name));
}

VP__NVTX_INLINE void nvtxNameCategoryA(uint32_t category, const char *name)
{
    nvtxDomainNameCategoryA(NULL, category, name);
}

VP__NVTX_INLINE void nvtxNameCategoryW(uint32_t category, const wchar_t *name)
{
    nvtxDomainNameCategoryW(NULL, category, name);
}

/* threadId: result of gettid() of any thread of the process. */
VP__NVTX_INLINE void nvtxNameOsThreadA(uint32_t threadId, const char *name)
{
    (void)threadId;
    (void)name;
    VP__NVTX(vp__nvtx_thread(threadId, name));
}

VP__NVTX_INLINE void nvtxNameOsThreadW(uint32_t threadId, const wchar_t *name)
{
    (void)threadId;
    (void)name;
    VP__NVTX(vp__nvtx_thread_wide(threadId, name));
}

VP__NVTX_INLINE nvtxResourceHandle_t nvtxDomainResourceCreate(nvtxDomainHandle_t domain,
                                                              nvtxResourceAttributes_t *attributes)
{
    (void)domain;
    (void)attributes;
    return VP__NVTX_VALUE(vp__nvtx_resource(domain, attributes), NULL);
}

VP__NVTX_INLINE void nvtxDomainResourceDestroy(nvtxResourceHandle_t resource)
{
    (void)resource;
}

VP__NVTX_INLINE void nvtxInitialize(const void *reserved)
{
    (void)reserved;
}

/* As in nvToolsExt.h, names without a suffix depend on UNICODE. */
#if defined(UNICODE)
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxRangePush nvtxRangePushW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxDomainCreate nvtxDomainCreateW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#endif

#ifdef __cplusplus
}
#endif
#endif
