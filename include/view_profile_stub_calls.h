/* Redirects the recording macros to a recorder that may be missing. Included by
 * view_profile_capture_macros.h, after the declarations that it replaces, if view_profile_stub.h
 * requested it. Names that begin with vp__ are private to the library. */
#ifndef VP_STUB /* included directly: the declarations come first and include this header */
#include "view_profile_stub.h"
#endif
#ifndef VIEW_PROFILE_STUB_CALLS_H
#define VIEW_PROFILE_STUB_CALLS_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* Functions used by the macros during a recording, and functions called by a program. */
#define VP__STUB_MACROS(CALL)                                                                      \
    CALL(vp__clock_ns)                                                                             \
    CALL(vp__prepare)                                                                              \
    CALL(vp__prepare_args)                                                                         \
    CALL(vp__scopes_left)                                                                          \
    CALL(vp__scope_finish)                                                                         \
    CALL(vp__rich_end)                                                                             \
    CALL(vp__step_opened)                                                                          \
    CALL(vp__site_of)                                                                              \
    CALL(vp__pair_begin)                                                                           \
    CALL(vp__pair_end)                                                                             \
    CALL(vp__instant)                                                                              \
    CALL(vp__counter)                                                                              \
    CALL(vp__counter_real)                                                                         \
    CALL(vp__flow)                                                                                 \
    CALL(vp__zone)                                                                                 \
    CALL(vp__zone_args)                                                                            \
    CALL(vp__me_place)
#define VP__STUB_CALLS(CALL)                                                                       \
    CALL(vp_name)                                                                                  \
    CALL(vp_thread_name)                                                                           \
    CALL(vp_meta_str)                                                                              \
    CALL(vp_meta_int)                                                                              \
    CALL(vp_meta_sharding)                                                                         \
    CALL(vp_now)                                                                                   \
    CALL(vp_flow_new)                                                                              \
    CALL(vp_step_begin)                                                                            \
    CALL(vp_step_end)                                                                              \
    CALL(vp_device_add)                                                                            \
    CALL(vp_track_add)                                                                             \
    CALL(vp_clock_add)                                                                             \
    CALL(vp_clock_sync)                                                                            \
    CALL(vp_device_clock)                                                                          \
    CALL(vp_record_span)                                                                           \
    CALL(vp_record_transfer)                                                                       \
    CALL(vp_record_collective)                                                                     \
    CALL(vp_correlation_push)                                                                      \
    CALL(vp_correlation_pop)

#define VP__STUB_POINTER(name) __typeof__(&name) name##_fn;
typedef struct vp__stub_table {
    VP__STUB_MACROS(VP__STUB_POINTER)
    VP__STUB_CALLS(VP__STUB_POINTER)
    uint32_t *on, *level;
    vp__step_fn **steps;
    uint32_t off;
    vp__step_fn *nobody;
    bool sought;
} vp__stub_table;

/* One table per program or library, shared by all of its sources. `on`, by which a recorder is
 * detected, is set last. */
#define VP__STUB_ONE __attribute__((weak, visibility("hidden")))
extern vp__stub_table vp__stub;
VP__STUB_ONE vp__stub_table vp__stub = {
#define VP__STUB_NONE(name) NULL,
    VP__STUB_MACROS(VP__STUB_NONE) VP__STUB_CALLS(VP__STUB_NONE) & vp__stub.off,
    &vp__stub.off,
    &vp__stub.nobody,
    0,
    NULL,
    false};

#define VP__STUB_TEXT_(x) #x
#define VP__STUB_TEXT(x) VP__STUB_TEXT_(x)

static inline void *vp__stub_library(void)
{
    const char *wanted = getenv("VIEW_PROFILE"), *path = getenv("VIEW_PROFILE_LIBRARY");
    if (dlsym(NULL, VP__STUB_TEXT(vp__on))) /* NULL: RTLD_DEFAULT, which some standards hide */
        return NULL;
    if (!wanted || !*wanted || getauxval(AT_SECURE))
        return NULL;
    return dlopen(path && *path ? path : "libview_profile_capture.so.0", RTLD_NOW | RTLD_GLOBAL);
}

#if !defined(VP_DISABLE)
void vp__stub_load(void);
VP__STUB_ONE __attribute__((constructor)) void vp__stub_load(void)
{
    vp__stub_table found = vp__stub;
    void *library, *on, *level, *steps, *function;
    bool all = true;
    if (vp__stub.sought)
        return;
    vp__stub.sought = true;
    library = vp__stub_library();
    on = dlsym(library, VP__STUB_TEXT(vp__on));
    level = dlsym(library, "vp__level");
    steps = dlsym(library, "vp__steps");
    if (!on || !level || !steps)
        return;
#define VP__STUB_TAKE(name)                                                                        \
    function = dlsym(library, #name);                                                              \
    all = all && function;                                                                         \
    memcpy(&found.name##_fn, &function, sizeof function);
    VP__STUB_MACROS(VP__STUB_TAKE)
    VP__STUB_CALLS(VP__STUB_TAKE)
    if (!all)
        return;
    found.sought = true;
    found.level = (uint32_t *)level;
    found.steps = (vp__step_fn **)steps;
    vp__stub = found;
    __atomic_store_n(&vp__stub.on, (uint32_t *)on, __ATOMIC_RELEASE);
}
#endif

#undef vp__on
#undef vp__me
#define vp__on (*vp__stub.on)
#define vp__level (*vp__stub.level)
#define vp__steps (*vp__stub.steps)
#define vp__me (*vp__stub.vp__me_place_fn())

#define vp__clock_ns() vp__stub.vp__clock_ns_fn()
#define vp__prepare(...) vp__stub.vp__prepare_fn(__VA_ARGS__)
#define vp__prepare_args(...) vp__stub.vp__prepare_args_fn(__VA_ARGS__)
#define vp__scopes_left(...) vp__stub.vp__scopes_left_fn(__VA_ARGS__)
#define vp__scope_finish(...) vp__stub.vp__scope_finish_fn(__VA_ARGS__)
#define vp__rich_end(...) vp__stub.vp__rich_end_fn(__VA_ARGS__)
#define vp__step_opened(...) vp__stub.vp__step_opened_fn(__VA_ARGS__)
#define vp__site_of(...) vp__stub.vp__site_of_fn(__VA_ARGS__)
#define vp__pair_begin(...) vp__stub.vp__pair_begin_fn(__VA_ARGS__)
#define vp__pair_end(...) vp__stub.vp__pair_end_fn(__VA_ARGS__)
#define vp__instant(...) vp__stub.vp__instant_fn(__VA_ARGS__)
#define vp__counter(...) vp__stub.vp__counter_fn(__VA_ARGS__)
#define vp__counter_real(...) vp__stub.vp__counter_real_fn(__VA_ARGS__)
#define vp__flow(...) vp__stub.vp__flow_fn(__VA_ARGS__)
#define vp__zone(...) vp__stub.vp__zone_fn(__VA_ARGS__)
#define vp__zone_args(...) vp__stub.vp__zone_args_fn(__VA_ARGS__)

#define VP__STUB_ASK(name, none, ...)                                                              \
    (vp__stub.name##_fn ? vp__stub.name##_fn(__VA_ARGS__) : (none))
#define vp_name(text) VP__STUB_ASK(vp_name, 0, text)
#define vp_thread_name(text) VP__STUB_ASK(vp_thread_name, 0, text)
#define vp_meta_str(key, value) VP__STUB_ASK(vp_meta_str, 0, key, value)
#define vp_meta_int(key, value) VP__STUB_ASK(vp_meta_int, 0, key, value)
#define vp_meta_sharding(...) VP__STUB_ASK(vp_meta_sharding, 0, __VA_ARGS__)
#define vp_now() (vp__stub.vp_now_fn ? vp__stub.vp_now_fn() : 0)
#define vp_flow_new() (vp__stub.vp_flow_new_fn ? vp__stub.vp_flow_new_fn() : 0)
#if !defined(VP_DISABLE) /* VP_DISABLE defines them already */
#define vp_step_begin(text, number) VP__STUB_ASK(vp_step_begin, 0, text, number)
#define vp_step_end() (vp__stub.vp_step_end_fn ? vp__stub.vp_step_end_fn() : 0)
#endif
#define vp_device_add(...) VP__STUB_ASK(vp_device_add, 0, __VA_ARGS__)
#define vp_track_add(...) VP__STUB_ASK(vp_track_add, 0, __VA_ARGS__)
#define vp_clock_add(hz) VP__STUB_ASK(vp_clock_add, 0, hz)
#define vp_clock_sync(...) VP__STUB_ASK(vp_clock_sync, 0, __VA_ARGS__)
#define vp_device_clock(...) VP__STUB_ASK(vp_device_clock, 0, __VA_ARGS__)
#define vp_record_span(...) VP__STUB_ASK(vp_record_span, 0, __VA_ARGS__)
#define vp_record_transfer(...) VP__STUB_ASK(vp_record_transfer, 0, __VA_ARGS__)
#define vp_record_collective(...) VP__STUB_ASK(vp_record_collective, 0, __VA_ARGS__)
#define vp_correlation_push()                                                                      \
    (vp__stub.vp_correlation_push_fn ? vp__stub.vp_correlation_push_fn() : 0)
#define vp_correlation_pop()                                                                       \
    (vp__stub.vp_correlation_pop_fn ? vp__stub.vp_correlation_pop_fn() : (void)0)

#endif
