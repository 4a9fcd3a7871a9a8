/* Recordings whose image is inspected instead of written: every event of every thread, copied while
 * the image exists. */
#ifndef VP_TESTS_UNIT_CAPTURE_TOOLS_H
#define VP_TESTS_UNIT_CAPTURE_TOOLS_H

#include <pthread.h>

#include "tests/unit/tree.h"
#include "trace/base/err.h"
#include "trace/capture/pool/recorder.h"

#define SEEN_EVENTS 200000u
#define SEEN_ARGS 15

typedef struct seen_event {
    char name[64], category[16], arg_text[256];
    vpcap_event e;
    vpcap_arg args[SEEN_ARGS]; /* of the first three: key and s point into arg_text */
    uint32_t thread;
} seen_event;

static struct {
    unsigned times; /* an output was written */
    vpcap_info info;
    char host[64], session[64];
    seen_event *events;
    uint32_t event_count;
    vpcap_thread threads[2048];
    char thread_names[8][96];
    uint32_t thread_count;
    char metas[8][2][64], devices[8][64], tracks[8][64];
    uint32_t meta_count, device_count, track_count;
    int fail_with; /* a writer that fails */
} seen;

static inline void seen_text(char *dst, size_t cap, vp_str s)
{
    snprintf(dst, cap, "%.*s", VP_STR_ARG(s));
}

static inline void seen_args(seen_event *to, const vpcap_event *e)
{
    size_t at = 0;
    for (uint32_t i = 0; i < e->arg_count; i++) {
        size_t room = sizeof to->arg_text - at;
        int n = snprintf(to->arg_text + at, room, "%.*s=", VP_STR_ARG(e->args[i].key));
        if (e->args[i].type == VPCAP_I64)
            n +=
                snprintf(to->arg_text + at + n, room - (size_t)n, "%lld;", (long long)e->args[i].i);
        else if (e->args[i].type == VPCAP_F64)
            n += snprintf(to->arg_text + at + n, room - (size_t)n, "%g;", e->args[i].f);
        else
            n += snprintf(to->arg_text + at + n, room - (size_t)n, "%.*s;",
                          VP_STR_ARG(e->args[i].s));
        at += (size_t)n < room ? (size_t)n : room - 1;
    }
}

static inline void seen_thread(const vpcap *v, uint32_t i)
{
    vpcap_cursor *c;
    vpcap_event e;
    seen.threads[i] = vpcap_thread_at(v, i);
    if (i < 8)
        seen_text(seen.thread_names[i], 96, seen.threads[i].name);
    assert_int_equal(vpcap_cursor_new(&c, v, i), 0);
    while (vpcap_next(c, &e)) {
        seen_event *to = &seen.events[seen.event_count++];
        vpcap_name name = vpcap_name_at(v, e.name);
        assert_true(seen.event_count < SEEN_EVENTS);
        *to = (seen_event){.e = e, .thread = i};
        seen_text(to->name, sizeof to->name, name.name);
        seen_text(to->category, sizeof to->category, name.category);
        seen_args(to, &e);
    }
    vpcap_cursor_free(c);
}

static inline void seen_image(const vpcap *v)
{
    if (!seen.events)
        seen.events = calloc(SEEN_EVENTS, sizeof *seen.events);
    seen.times++;
    seen.info = *vpcap_info_of(v);
    seen_text(seen.host, sizeof seen.host, seen.info.host);
    seen_text(seen.session, sizeof seen.session, seen.info.session);
    seen.event_count = 0;
    seen.thread_count = vpcap_threads(v);
    seen.meta_count = vpcap_metas(v);
    seen.device_count = vpcap_devices(v);
    seen.track_count = vpcap_tracks(v);
    for (uint32_t i = 0; i < seen.thread_count; i++)
        seen_thread(v, i);
    for (uint32_t i = 0; i < seen.meta_count && i < 8; i++) {
        seen_text(seen.metas[i][0], 64, vpcap_meta_at(v, i).key);
        seen_text(seen.metas[i][1], 64, vpcap_meta_at(v, i).value);
    }
    for (uint32_t i = 0; i < seen.device_count && i < 8; i++)
        seen_text(seen.devices[i], 64, vpcap_device_at(v, i).model);
    for (uint32_t i = 0; i < seen.track_count && i < 8; i++)
        seen_text(seen.tracks[i], 64, vpcap_track_at(v, i).name);
}

static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

static inline int seen_write(uint64_t *bytes, int run_fd, const vpcap *v,
                             const struct gpu_activity *gpu, unsigned outputs)
{
    (void)run_fd;
    (void)gpu;
    (void)outputs;
    if (seen.fail_with)
        return vp_fail(seen.fail_with, "the test says so");
    pthread_mutex_lock(&seen_lock); /* several may be written at once */
    seen_image(v);
    pthread_mutex_unlock(&seen_lock);
    *bytes = 1;
    return 0;
}

/* Counts only finished events: for images with too many events to store. */
static inline int count_write(uint64_t *bytes, int run_fd, const vpcap *v,
                              const struct gpu_activity *gpu, unsigned outputs)
{
    (void)run_fd;
    (void)gpu;
    (void)outputs;
    seen.times++;
    seen.info = *vpcap_info_of(v);
    seen.event_count = 0;
    seen.thread_count = vpcap_threads(v);
    for (uint32_t i = 0; i < seen.thread_count; i++) {
        vpcap_cursor *c;
        vpcap_event e;
        assert_int_equal(vpcap_cursor_new(&c, v, i), 0);
        while (vpcap_next(c, &e))
            seen.event_count += e.kind != VPCAP_LOST && !e.open;
        vpcap_cursor_free(c);
    }
    *bytes = 1;
    return 0;
}

static inline const seen_event *seen_find(const char *name)
{
    for (uint32_t i = 0; i < seen.event_count; i++)
        if (strcmp(seen.events[i].name, name) == 0)
            return &seen.events[i];
    fail_msg("no event %s", name);
    return NULL;
}

static inline uint32_t seen_count(const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < seen.event_count; i++)
        n += strcmp(seen.events[i].name, name) == 0;
    return n;
}

static tree here; /* fixture of every test: created before it and removed after it */

static inline int here_make(void **state)
{
    (void)state;
    unsigned times = 0;
    seen_event *events = seen.events;
    memset(&seen, 0, sizeof seen);
    seen.events = events;
    seen.times = times;
    cap_writer = seen_write;
    tree_make(&here);
    return 0;
}

static inline int here_remove(void **state)
{
    (void)state;
    tree_remove(&here);
    return 0;
}

static inline vp_config here_config(void)
{
    vp_config cfg = VP_CONFIG_INIT;
    cfg.dir = here.root;
    cfg.host = "host";
    cfg.pool_bytes = 1 << 20;
    cfg.export_now = true;
    return cfg;
}

static inline vp_recording *here_start(void)
{
    vp_config cfg = here_config();
    vp_recording *r = NULL;
    assert_int_equal(vp_start(&r, &cfg), 0);
    return r;
}

#define here_test(f) cmocka_unit_test_setup_teardown(f, here_make, here_remove)

#endif
