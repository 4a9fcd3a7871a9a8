/* libcupti.so, found and loaded at run time, with its functions by name and without its headers.
 * Private to cupti.c. Once loaded it stays loaded, because it has our callbacks. */
#ifndef VP_CAPTURE_CUPTI_LIBRARY_H
#define VP_CAPTURE_CUPTI_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* The values of CUptiResult that are handled specially. */
enum {
    CUPTI_OK = 0,
    CUPTI_NOT_INITIALIZED = 15,
    CUPTI_VIRTUALIZED = 33,
    CUPTI_NO_PRIVILEGES = 35,
    CUPTI_OTHER_PROFILER_API = 36,
    CUPTI_OTHER_SUBSCRIBER = 39,
    CUPTI_VIRTUALIZED_NO_PRIVILEGES = 40,
    CUPTI_UNKNOWN = 999
};
enum { CUPTI_THREAD_IDS_OF_SYSTEM = 1, CUPTI_FLUSH_FINISHED = 0, CUPTI_FLUSH_FORCED = 1 };
enum { CUPTI_DOMAIN_DRIVER = 1, CUPTI_DOMAIN_RUNTIME = 2 };

typedef void cupti_requested_fn(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_completed_fn(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                size_t valid);
typedef uint64_t cupti_timestamp_fn(void);
typedef void cupti_callback_fn(void *user, int domain, uint32_t id, const void *data);

/* Functions above the line are required; the others are NULL if CUPTI is too old for them. */
typedef struct cupti_library {
    int (*version)(uint32_t *version);
    int (*timestamp)(uint64_t *ns);
    int (*register_callbacks)(cupti_requested_fn *requested, cupti_completed_fn *completed);
    int (*enable)(int kind);
    int (*disable)(int kind);
    int (*flush)(uint32_t flag);
    int (*next_record)(uint8_t *buffer, size_t valid, void **record);
    int (*dropped)(void *context, uint32_t stream, size_t *count);
    /* ---- */
    int (*result_string)(int result, const char **text);
    int (*register_timestamp)(cupti_timestamp_fn *fn);
    int (*thread_ids)(int type);
    int (*subscribe)(void **subscriber, cupti_callback_fn *fn, void *user);
    int (*unsubscribe)(void *subscriber);
    int (*call_name)(int domain, uint32_t id, const char **name);
    uint32_t newer; /* its version if newer than all known versions; else 0 */
} cupti_library;

/* Loads CUPTI from path. NULL: from anywhere, preferring what the process has loaded.
 * VP_EGPU_UNAVAILABLE. */
int cupti_library_load(cupti_library *out, const char *path);
void cupti_library_find(char *out, size_t cap);

#endif
