#include "trace/base/err.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/secret.h"

/* Only this pointer is thread-local; the error itself is allocated on a thread's first failure.
 * Libraries loaded by dlopen share 1.6 KB of static thread-local storage, and an error takes half
 * of that. */
static _Thread_local vp_error *own;
static const vp_error none = {.offset = -1, .event = -1};
/* The last error of all threads that could not allocate one of their own. Read-only. */
static vp_error no_memory = {.code = VP_ENOMEM, .offset = -1, .event = -1};
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void free_thread_error(void *p)
{
    own = NULL;
    vp_free(p);
}

static void create_error_key(void)
{
    has_key = pthread_key_create(&key, free_thread_error) == 0;
}

/* This thread's error, allocated on first use; NULL if out of memory. */
static vp_error *thread_error(void)
{
    if (own && own != &no_memory)
        return own;
    own = &no_memory;
    pthread_once(&once, create_error_key);
    vp_error *e = has_key ? vp_malloc(sizeof *e) : NULL;
    if (!e)
        return NULL;
    if (pthread_setspecific(key, e) != 0) {
        vp_free(e);
        return NULL;
    }
    *e = none;
    return own = e;
}

static void store_thread_error(const vp_error *err)
{
    vp_error *last = thread_error();
    if (last)
        *last = *err;
}

const vp_error *vp_error_last(void)
{
    return own ? own : &none;
}

const char *vp_status_name(int code)
{
    static const char *const names[] = {"ok",
                                        "out of memory",
                                        "bad argument",
                                        "i/o error",
                                        "corrupt",
                                        "unsupported",
                                        "not found",
                                        "limit reached",
                                        "refused",
                                        "in use",
                                        "cancelled",
                                        "empty",
                                        "remote error",
                                        "not active",
                                        "forked",
                                        "disk full",
                                        "clock",
                                        "no GPU tracing",
                                        "GPU tracing in use",
                                        "not permitted",
                                        "recording full",
                                        "unknown version"};
    return code <= 0 && -code < (int)(sizeof names / sizeof *names) ? names[-code] : "unknown";
}

int vp_fail(int code, const char *fmt, ...)
{
    va_list ap;
    vp_error e = {.code = code, .offset = -1, .event = -1};
    va_start(ap, fmt);
    vsnprintf(e.message, sizeof e.message, fmt, ap);
    va_end(ap);
    vp_hide_secrets(e.message, sizeof e.message);
    store_thread_error(&e);
    return code;
}

int vp_no_memory(void)
{
    return vp_fail(VP_ENOMEM, "out of memory");
}

int vp_check_version(int version, int known, const char *type, const char *init)
{
    if (version == known)
        return 0;
    if (!version)
        return vp_fail(VP_EVERSION, "this %s has no version: start from %s", type, init);
    return vp_fail(VP_EVERSION, "%s of version %d, where this library knows %d: start from %s",
                   type, version, known, init);
}

static void copy_printable(char *dst, size_t cap, const char *src)
{
    size_t o = 0;
    for (; *src && o + 5 < cap; src++) {
        unsigned char c = (unsigned char)*src;
        if (c >= 0x20 && c != 0x7f)
            dst[o++] = (char)c;
        else
            o += (size_t)snprintf(dst + o, 5, "\\x%02x", c);
    }
    dst[o] = 0;
}

int vp_fail_at(int code, const char *path, int64_t event, int64_t offset)
{
    vp_error *last = thread_error();
    if (!last)
        return code;
    if (path && !last->path[0]) {
        copy_printable(last->path, sizeof last->path, path);
        vp_hide_secrets(last->path, sizeof last->path);
    }
    if (last->event < 0)
        last->event = event;
    if (last->offset < 0)
        last->offset = offset;
    return code;
}

int vp_fail_copy(const vp_error *err)
{
    vp_error e = *err; /* a copy, because err may be this thread's last error */
    store_thread_error(&e);
    return e.code;
}

void vp_error_clear(void)
{
    if (own == &no_memory)
        own = NULL;
    else if (own)
        *own = none;
}

char *vp_error_line(const vp_error *err, char *dst, unsigned long cap)
{
    int n = 0;
    size_t o = 0;
    dst[0] = 0;
    if (err->path[0])
        n = snprintf(dst, cap, "%s: ", err->path);
    o = n > 0 ? (size_t)n : 0;
    if (o < cap && err->event >= 0) {
        n = snprintf(dst + o, cap - o, "event %lld%s", (long long)err->event,
                     err->offset >= 0 ? ", " : ": ");
        o += n > 0 ? (size_t)n : 0;
    }
    if (o < cap && err->offset >= 0) {
        n = snprintf(dst + o, cap - o, "byte %lld: ", (long long)err->offset);
        o += n > 0 ? (size_t)n : 0;
    }
    if (o < cap)
        snprintf(dst + o, cap - o, "%s",
                 err->message[0] ? err->message : vp_status_name(err->code));
    return dst;
}
