#include "trace/capture/bench/bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"
#include "trace/capture/disk/small_files.h"
#include "trace/capture/pool/recorder.h"

/* ---- The directory ---- */

static int bench_make_dir(vp_bench *b, const char *root)
{
    char stamp[32];
    struct tm t;
    time_t now = (time_t)b->start_unix_s;
    localtime_r(&now, &t);
    strftime(stamp, sizeof stamp, "%Y%m%d_%H%M%S", &t);
    VP_TRY(cap_make_dirs(root));
    int n = snprintf(b->dir, sizeof b->dir, "%s/%dgpu_%s", root, b->devices, stamp);
    if (n < 0 || (size_t)n >= sizeof b->dir)
        return vp_fail(VP_ELIMIT, "the path is too long");
    return cap_make_alone(b->dir);
}

int vp_bench_open(vp_bench **out, const char *root, int devices)
{
    char dir[VP_PATH_MAX];
    if (!out)
        return vp_fail(VP_EARG, "vp_bench_open needs a pointer for the bench");
    if (devices < 1)
        return vp_fail(VP_EARG, "a bench of %d devices: a bench on the host has 1", devices);
    VP_TRY(cap_user_dir(dir, root, "tensorboard_logs"));
    vp_bench *b = vp_calloc(1, sizeof *b);
    VP_NEED(b);
    b->devices = devices;
    b->start_unix_s = (int64_t)time(NULL);
    int rc = bench_make_dir(b, dir);
    if (rc < 0) {
        vp_free(b);
        return rc;
    }
    *out = b;
    return 0;
}

const char *vp_bench_dir(const vp_bench *b)
{
    return b ? b->dir : NULL;
}

void vp_bench_free(vp_bench *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->method_count; i++) {
        vp_free(b->methods[i].name);
        vp_free(b->methods[i].run_s);
        vp_free(b->methods[i].error);
    }
    for (size_t i = 0; i < b->value_count; i++)
        vp_free(b->values[i].key);
    vp_free(b->said);
    vp_free(b);
}

/* ---- Methods ---- */

void vp_bench_error(vp_bench *b, const char *text)
{
    if (b) {
        vp_free(b->said);
        b->said = text ? vp_strdup(text) : NULL;
    }
}

int vp_bench_add(vp_bench *b, const char *name, int (*fn)(void *arg), void *arg)
{
    if (!b || !name || !*name || !fn || bench_is_ours(BENCH_RESULTS, name))
        return vp_fail(VP_EARG, "a method needs a name and a function");
    for (size_t i = 0; i < b->method_count; i++)
        if (strcmp(b->methods[i].name, name) == 0)
            return vp_fail(VP_EARG, "a method \"%s\" exists already", name);
    if (b->method_count == BENCH_METHODS_MAX)
        return vp_fail(VP_ELIMIT, "more than %u methods", BENCH_METHODS_MAX);
    bench_method m = {.fn = fn, .arg = arg};
    VP_TRY(cap_named_dir(m.trace_dir, b->dir, name, "_trace"));
    m.name = vp_strdup(name);
    VP_NEED(m.name);
    b->methods[b->method_count++] = m;
    return 0;
}

size_t bench_order(const vp_bench *b, unsigned repeat, size_t k)
{
    return repeat % 2 ? b->method_count - 1 - k : k;
}

/* Calls the method and sets *seconds to its duration. */
static void bench_call_method(vp_bench *b, bench_method *m, double *seconds)
{
    vp_bench_error(b, NULL);
    int64_t start = vp_now_ns();
    int rc = m->fn(m->arg);
    *seconds = (double)(vp_now_ns() - start) / 1e9;
    if (rc == 0)
        return;
    char text[64];
    snprintf(text, sizeof text, "the method returned %d", rc);
    m->failed = true;
    m->failed_s = *seconds;
    m->error = vp_strdup(b->said ? b->said : text);
}

static void bench_warm_up(vp_bench *b, bench_method *m, unsigned warmups)
{
    for (unsigned i = 0; i < warmups && !m->failed; i++) {
        double s;
        bench_call_method(b, m, &s);
        if (i == 0)
            m->first_call_s = s;
        m->warmup_s += s;
    }
}

/* If both the method and its recording fail, the method's failure is kept. */
static int run_recorded(vp_bench *b, bench_method *m)
{
    vp_config cfg = VP_CONFIG_INIT;
    vp_result result = VP_RESULT_INIT;
    vp_recording *r;
    double seconds;
    cfg.dir = m->trace_dir;
    cfg.export_now = true;
    VP_TRY(vp_start(&r, &cfg));
    m->traced = true;
    cap_begun zone;
    cap_begin(&zone, vp_name(m->name), false, 0);
    bench_call_method(b, m, &seconds);
    cap_end(&zone);
    int rc = vp_stop(r, &result);
    m->export_s += (double)result.export_ns / 1e9;
    if (!m->failed)
        m->run_s[m->runs++] = seconds;
    return rc;
}

static int bench_make_room(vp_bench *b, unsigned repeats)
{
    for (size_t i = 0; i < b->method_count; i++) {
        bench_method *m = &b->methods[i];
        double *room = vp_realloc_array(m->run_s, m->runs + repeats, sizeof *room);
        VP_NEED(room);
        m->run_s = room;
    }
    return 0;
}

int vp_bench_run(vp_bench *b, unsigned warmups, unsigned repeats)
{
    if (!b || !repeats || repeats > BENCH_REPEATS_MAX || warmups > BENCH_REPEATS_MAX || b->repeats)
        return vp_fail(VP_EARG, "a bench can run only once, with 1 to %u runs", BENCH_REPEATS_MAX);
    VP_TRY(bench_make_room(b, repeats));
    b->warmups = warmups;
    b->repeats = repeats;
    bench_read_memory(&b->initial, false);
    for (size_t i = 0; i < b->method_count; i++)
        bench_warm_up(b, &b->methods[i], warmups);
    bench_read_memory(&b->initial, true); /* for GPUs whose context was created meanwhile */
    for (unsigned i = 0; i < repeats; i++)
        for (size_t k = 0; k < b->method_count; k++) {
            bench_method *m = &b->methods[bench_order(b, i, k)];
            if (!m->failed)
                VP_TRY(run_recorded(b, m));
        }
    bench_read_memory(&b->final, false);
    return 0;
}
