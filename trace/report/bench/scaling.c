#include "trace/report/bench/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/report/data/fields.h"
#include "trace/report/data/report_json.h"

#define ROWS_MAX 100000u
#define DEVICES_MAX INT64_C(100000000)

void scaling_init(scaling *s)
{
    *s = (scaling){0};
    vp_arena_init(&s->arena);
}

void scaling_free(scaling *s)
{
    vp_free(s->rows);
    vp_arena_free(&s->arena);
    *s = (scaling){0};
}

static int stop_at_first_file(void *ctx, const char *file)
{
    (void)ctx;
    (void)file;
    return 1;
}

bool scaling_is_results(const char *path)
{
    return scaling_each_file(path, stop_at_first_file, NULL) == 1;
}

/* ---- Reading ---- */

/* Seconds; VP_UNKNOWN if the value is not a valid time. */
static int64_t json_seconds_to_ps(const json_t *v)
{
    double seconds = json_number_value(v);
    if (!json_is_number(v) || !(seconds >= 0 && seconds <= (double)VP_TIME_MAX_PS / 1e12))
        return VP_UNKNOWN;
    return (int64_t)llround(seconds * 1e12);
}

static int keep_json_text(const char **out, scaling *s, const json_t *v)
{
    size_t n = json_string_length(v);
    *out = json_is_string(v) ? vp_arena_strndup(&s->arena, json_string_value(v), n) : NULL;
    return json_is_string(v) && !*out ? vp_no_memory() : 0;
}

/* Invalid times are left out. */
static int keep_runs(scaling_row *row, scaling *s, const json_t *v)
{
    size_t n = json_array_size(v); /* 0 if it is not an array */
    int64_t *runs = n ? vp_arena_alloc(&s->arena, n * sizeof *runs) : NULL;
    if (n && !runs)
        return vp_no_memory();
    row->run_ps = runs;
    for (size_t i = 0; i < n; i++) {
        int64_t ps = json_seconds_to_ps(json_array_get(v, i));
        if (ps != VP_UNKNOWN)
            runs[row->runs++] = ps;
    }
    return 0;
}

/* A file without a list of runs has one run. */
static int keep_one_run(scaling_row *row, scaling *s)
{
    int64_t *run = vp_arena_alloc(&s->arena, sizeof *run);
    VP_NEED(run);
    *run = row->time_ps;
    row->run_ps = run;
    row->runs = 1;
    return 0;
}

static int add_method(scaling *s, int64_t devices, const char *name, const json_t *v)
{
    VP_TRY(vp_grow(&s->rows, &s->cap, s->count + 1, sizeof *s->rows, ROWS_MAX));
    scaling_row row = {.devices = devices,
                       .ok = json_is_true(json_object_get(v, "success")),
                       .time_ps = json_seconds_to_ps(json_object_get(v, "execution_time")),
                       .place = s->count,
                       .first_call_ps = json_seconds_to_ps(json_object_get(v, "first_call_s")),
                       .warmup_ps = json_seconds_to_ps(json_object_get(v, "warmup_s")),
                       .export_ps = json_seconds_to_ps(json_object_get(v, "export_s")),
                       .method = vp_arena_strndup(&s->arena, name, strlen(name))};
    VP_NEED(row.method);
    VP_TRY(keep_runs(&row, s, json_object_get(v, "run_s")));
    if (!row.runs && row.ok && row.time_ps != VP_UNKNOWN)
        VP_TRY(keep_one_run(&row, s));
    VP_TRY(keep_json_text(&row.error, s, json_object_get(v, "error")));
    VP_TRY(keep_json_text(&row.trace, s, json_object_get(v, "tensorboard_trace")));
    s->rows[s->count++] = row;
    return 0;
}

/* An entry with a success flag and a duration is a method. */
static int add_methods(scaling *s, json_t *root)
{
    size_t before = s->count;
    const json_t *devices = json_object_get(root, "gpu_count");
    const char *key;
    json_t *v;
    if (!json_is_integer(devices) || json_integer_value(devices) < 0 ||
        json_integer_value(devices) > DEVICES_MAX)
        return vp_fail(VP_EUNSUPPORTED, "gpu_count is not a number of devices");
    json_object_foreach(root, key, v)
    {
        if (json_is_boolean(json_object_get(v, "success")) && json_object_get(v, "execution_time"))
            VP_TRY(add_method(s, json_integer_value(devices), key, v));
    }
    return s->count > before ? 0 : vp_fail(VP_EEMPTY, "no method has results in it");
}

static int scaling_add_file(void *ctx, const char *path)
{
    scaling *s = ctx;
    json_error_t e;
    vp_buf b;
    vp_buf_init(&b, VP_REPORT_READ_MAX);
    int rc = rep_read_text(&b, path);
    if (rc >= 0) {
        json_t *root = json_loadb(b.p ? b.p : "", b.n, JSON_REJECT_DUPLICATES, &e);
        rc = root ? add_methods(s, root) : vp_fail(VP_ECORRUPT, "invalid JSON: %.200s", e.text);
        json_decref(root);
    }
    vp_buf_free(&b);
    return rc < 0 ? vp_fail_at(rc, path, -1, -1) : 0;
}

int scaling_add(scaling *s, const char *path)
{
    return scaling_each_file(path, scaling_add_file, s);
}

/* ---- Relating ---- */

static int by_method(const void *pa, const void *pb)
{
    const scaling_row *a = pa, *b = pb;
    int order = strcmp(a->method, b->method);
    return order ? order : (a->devices > b->devices) - (a->devices < b->devices);
}

static void relate_to_fewest(scaling_row *r, const scaling_row *fewest)
{
    if (!r->ok || !fewest || r->time_ps <= 0 || fewest->time_ps <= 0)
        return;
    r->speed_up = (double)fewest->time_ps / (double)r->time_ps;
    if (r->devices > 0 && fewest->devices > 0)
        r->efficiency = r->speed_up * (double)fewest->devices / (double)r->devices;
}

void scaling_relate(scaling *s)
{
    const scaling_row *fewest = NULL;
    if (s->count)
        qsort(s->rows, s->count, sizeof *s->rows, by_method);
    for (size_t i = 0; i < s->count; i++) {
        scaling_row *r = &s->rows[i];
        if (i && strcmp(r->method, s->rows[i - 1].method) != 0)
            fewest = NULL;
        if (!fewest && r->ok)
            fewest = r;
        relate_to_fewest(r, fewest);
    }
}

/* ---- Printing ---- */

static void put_unless(vp_json *j, const char *key, double v, double unknown)
{
    vp_json_kdouble(j, key, v == unknown ? NAN : v);
}

int rep_scaling_json(vp_buf *b, const scaling *s)
{
    vp_json j;
    vp_json_init(&j, b);
    rep_json_head(&j, "view_profile.scaling/1");
    vp_json_key(&j, "results");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < s->count; i++) {
        const scaling_row *r = &s->rows[i];
        vp_json_begin_object(&j);
        vp_json_kcstr(&j, "method", r->method);
        vp_json_ki64(&j, "devices", r->devices);
        vp_json_kbool(&j, "success", r->ok);
        vp_json_kcount(&j, "time_ps", r->time_ps);
        vp_json_kcount(&j, "first_call_ps", r->first_call_ps);
        put_unless(&j, "speed_up", r->speed_up, 0);
        put_unless(&j, "efficiency_percent", 100 * r->efficiency, 0);
        vp_json_kcstr(&j, "error", r->error);
        vp_json_kcstr(&j, "tensorboard_trace", r->trace);
        vp_json_end_object(&j);
    }
    vp_json_end_array(&j);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}
