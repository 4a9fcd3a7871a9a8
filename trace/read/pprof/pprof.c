#include "trace/read/pprof/pprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/arena.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/read/gzip/gzip.h"
#include "trace/read/pprof/pprof_fields.h"
#include "trace/read/semantics/user_files.h"

#define BYTES_MAX ((size_t)256 << 20)
#define TYPES_MAX 8 /* values per sample; JAX writes 2 */

typedef struct frame { /* innermost line of a location */
    uint64_t function;
    int64_t line;
} frame;

typedef struct function {
    uint64_t name, file; /* indices into strings */
} function;

typedef struct sample {
    uint64_t kind, device; /* indices into strings, 0: none */
    int64_t value[TYPES_MAX];
    vp_str locations; /* packed ids, innermost first */
} sample;

typedef struct reader {
    pp_profile public; /* first member */
    vp_arena arena;
    vp_str all;
    vp_str *strings;
    size_t string_count, string_cap;
    frame *frames;
    size_t frame_count, frame_cap;
    function *functions;
    size_t function_count, function_cap;
    vp_map frame_by_id, function_by_id, holder_by_key, device_by_string;
    size_t holder_cap, device_cap;
    size_t type_count, bytes_at, count_at; /* indices into a sample's values; SIZE_MAX: missing */
} reader;

static vp_str string_at(const reader *r, uint64_t i)
{
    return i < r->string_count ? r->strings[i] : VP_STR_NONE;
}

static int add_string(reader *r, vp_str s)
{
    VP_TRY(vp_grow(&r->strings, &r->string_cap, r->string_count + 1, sizeof s, VP_INTERN_MAX));
    r->strings[r->string_count++] = s;
    return 0;
}

/* Reads the numbers of a message by field, for fields below `n`. */
static void numbers_of(vp_str message, uint64_t *v, uint32_t n)
{
    vp_pb p = vp_pb_of(message);
    vp_pb_field f;
    memset(v, 0, n * sizeof *v);
    while (vp_pb_next(&p, &f) > 0)
        if (f.number < n && f.wire == VP_PB_VARINT)
            v[f.number] = f.u;
}

static int add_location(reader *r, vp_str message)
{
    vp_pb p = vp_pb_of(message);
    vp_pb_field f;
    uint64_t id = 0, v[PPROF_LINE_END] = {0};
    bool has_line = false;
    while (vp_pb_next(&p, &f) > 0) {
        if (f.number == PPROF_LOCATION_ID && f.wire == VP_PB_VARINT)
            id = f.u;
        else if (f.number == PPROF_LOCATION_LINE && f.wire == VP_PB_LEN && !has_line) {
            numbers_of(f.data, v, PPROF_LINE_END);
            has_line = true;
        }
    }
    VP_TRY(
        vp_grow(&r->frames, &r->frame_cap, r->frame_count + 1, sizeof *r->frames, VP_INTERN_MAX));
    r->frames[r->frame_count] = (frame){v[PPROF_LINE_FUNCTION_ID], (int64_t)v[PPROF_LINE_LINE]};
    return vp_map_set(&r->frame_by_id, id, (uint32_t)r->frame_count++);
}

static int add_function(reader *r, vp_str message)
{
    uint64_t v[PPROF_FUNCTION_END];
    numbers_of(message, v, PPROF_FUNCTION_END);
    VP_TRY(vp_grow(&r->functions, &r->function_cap, r->function_count + 1, sizeof *r->functions,
                   VP_INTERN_MAX));
    r->functions[r->function_count] =
        (function){v[PPROF_FUNCTION_NAME], v[PPROF_FUNCTION_FILENAME]};
    return vp_map_set(&r->function_by_id, v[PPROF_FUNCTION_ID], (uint32_t)r->function_count++);
}

/* First pass: tables to which samples refer. */
static int read_tables(reader *r)
{
    vp_pb p = vp_pb_of(r->all);
    vp_pb_field f;
    int rc;
    while ((rc = vp_pb_next(&p, &f)) > 0) {
        if (f.number == PPROF_PROFILE_TIME_NANOS && f.wire == VP_PB_VARINT)
            r->public.time_ns = (int64_t)f.u;
        if (f.wire != VP_PB_LEN)
            continue;
        if (f.number == PPROF_PROFILE_LOCATION)
            VP_TRY(add_location(r, f.data));
        else if (f.number == PPROF_PROFILE_FUNCTION)
            VP_TRY(add_function(r, f.data));
        else if (f.number == PPROF_PROFILE_STRING_TABLE)
            VP_TRY(add_string(r, f.data));
    }
    return rc < 0 ? vp_fail(VP_ECORRUPT, "damaged pprof profile") : 0;
}

/* Determines which value of a sample is in bytes, and which is a count. */
static int find_types(reader *r)
{
    vp_pb p = vp_pb_of(r->all);
    vp_pb_field f;
    r->bytes_at = r->count_at = SIZE_MAX;
    while (vp_pb_next(&p, &f) > 0) {
        uint64_t v[PPROF_VALUETYPE_END];
        if (f.number != PPROF_PROFILE_SAMPLE_TYPE || f.wire != VP_PB_LEN ||
            r->type_count == TYPES_MAX)
            continue;
        numbers_of(f.data, v, PPROF_VALUETYPE_END);
        vp_str unit = string_at(r, v[PPROF_VALUETYPE_UNIT]);
        if (vp_str_eq(unit, VP_STR("bytes")))
            r->bytes_at = r->type_count;
        else if (vp_str_eq(unit, VP_STR("count")))
            r->count_at = r->type_count;
        r->type_count++;
    }
    if (!r->type_count)
        return vp_fail(VP_ECORRUPT, "not a pprof profile");
    return r->bytes_at == SIZE_MAX ? vp_fail(VP_EUNSUPPORTED, "a pprof profile, but not of memory")
                                   : 0;
}

static void read_label(const reader *r, vp_str message, sample *s)
{
    uint64_t v[PPROF_LABEL_END];
    numbers_of(message, v, PPROF_LABEL_END);
    vp_str key = string_at(r, v[PPROF_LABEL_KEY]);
    if (vp_str_eq(key, VP_STR("kind")))
        s->kind = v[PPROF_LABEL_STR];
    else if (vp_str_eq(key, VP_STR("device")))
        s->device = v[PPROF_LABEL_STR];
}

/* Values may be packed or separate. */
static void read_values(sample *s, size_t *n, const vp_pb_field *f)
{
    vp_pb p = vp_pb_of(f->data);
    uint64_t v;
    if (f->wire == VP_PB_VARINT && *n < TYPES_MAX)
        s->value[(*n)++] = (int64_t)f->u;
    while (f->wire == VP_PB_LEN && *n < TYPES_MAX && vp_pb_varint(&p, &v))
        s->value[(*n)++] = (int64_t)v;
}

static void read_sample(const reader *r, vp_str message, sample *s)
{
    vp_pb p = vp_pb_of(message);
    vp_pb_field f;
    size_t n = 0;
    *s = (sample){0};
    while (vp_pb_next(&p, &f) > 0) {
        if (f.number == PPROF_SAMPLE_LOCATION_ID && f.wire == VP_PB_LEN)
            s->locations = f.data;
        else if (f.number == PPROF_SAMPLE_VALUE)
            read_values(s, &n, &f);
        else if (f.number == PPROF_SAMPLE_LABEL && f.wire == VP_PB_LEN)
            read_label(r, f.data, s);
    }
}

#define NO_STACK UINT64_MAX
#define NO_USER_FRAME (UINT64_MAX - 1) /* the whole stack is JAX's */

/* True for frames of other libraries than JAX, whose own only show how it allocates. */
static bool is_telling_frame(vp_str name, vp_str file)
{
    return name.n && *name.p != '<' && vp_str_find(file, VP_STR("/jax/_src/")) == file.n &&
           vp_str_find(file, VP_STR("/jaxlib/")) == file.n;
}

/* "<listcomp>", "<genexpr>": the function around it says more. */
static bool is_comprehension(vp_str name)
{
    return vp_str_ends(name, VP_STR("comp>")) || vp_str_eq(name, VP_STR("<genexpr>"));
}

/* The innermost frame of the user, else the innermost of a library other than JAX. */
static frame choose_frame(const reader *r, const sample *s)
{
    vp_pb p = vp_pb_of(s->locations);
    frame best = {NO_STACK, 0};
    bool user = false;
    uint64_t id;
    while (vp_pb_varint(&p, &id)) {
        uint32_t i = vp_map_get(&r->frame_by_id, id);
        uint32_t fn = i == VP_MAP_NONE ? i : vp_map_get(&r->function_by_id, r->frames[i].function);
        if (fn == VP_MAP_NONE)
            continue;
        vp_str name = string_at(r, r->functions[fn].name),
               file = string_at(r, r->functions[fn].file);
        if (rd_is_user_file(file) && !is_comprehension(name))
            return (frame){fn, r->frames[i].line};
        if (rd_is_user_file(file) && !user) {
            user = true;
            best = (frame){fn, r->frames[i].line};
        } else if (best.function >= NO_USER_FRAME) {
            best = is_telling_frame(name, file) ? (frame){fn, r->frames[i].line}
                                                : (frame){NO_USER_FRAME, 0};
        }
    }
    return best;
}

static int copy_to_arena(reader *r, const char **out, vp_str s)
{
    char *text = s.n ? vp_arena_strndup(&r->arena, s.p, s.n) : NULL;
    if (s.n && !text)
        return vp_no_memory();
    *out = text;
    return 0;
}

static int name_source(reader *r, const char **out, vp_str file, int64_t line)
{
    char text[VP_PATH_MAX + 32];
    int n =
        snprintf(text, sizeof text, "%.*s:%lld", VP_STR_CUT(file, VP_PATH_MAX), (long long)line);
    return copy_to_arena(r, out, file.n ? (vp_str){text, (size_t)n} : VP_STR_NONE);
}

static void add_saturated(int64_t *sum, int64_t v)
{
    if (v > 0 && __builtin_add_overflow(*sum, v, sum))
        *sum = INT64_MAX;
}

static int holder_of(reader *r, const sample *s, pp_holder **out)
{
    frame at = choose_frame(r, s);
    uint64_t key = vp_mix(vp_mix(vp_mix(s->kind) + s->device) + at.function) + (uint64_t)at.line;
    uint32_t i = vp_map_get(&r->holder_by_key, key);
    pp_profile *p = &r->public;
    pp_holder h = {0};
    if (i != VP_MAP_NONE) {
        *out = &p->holders[i];
        return 0;
    }
    VP_TRY(copy_to_arena(r, &h.kind, string_at(r, s->kind)));
    VP_TRY(copy_to_arena(r, &h.device, string_at(r, s->device)));
    if (at.function == NO_USER_FRAME) {
        VP_TRY(copy_to_arena(r, &h.function, VP_STR("(no frame of the user)")));
    } else if (at.function != NO_STACK) {
        const function *f = &r->functions[at.function];
        VP_TRY(copy_to_arena(r, &h.function, string_at(r, f->name)));
        VP_TRY(name_source(r, &h.source, string_at(r, f->file), at.line));
    }
    VP_TRY(vp_grow(&p->holders, &r->holder_cap, p->holder_count + 1, sizeof h, VP_INTERN_MAX));
    VP_TRY(vp_map_set(&r->holder_by_key, key, (uint32_t)p->holder_count));
    *out = &p->holders[p->holder_count++];
    **out = h;
    return 0;
}

static int pprof_device_of(reader *r, uint64_t string, pp_device **out)
{
    pp_profile *p = &r->public;
    pp_device d = {0};
    uint32_t i = vp_map_get(&r->device_by_string, string);
    if (i != VP_MAP_NONE) {
        *out = &p->devices[i];
        return 0;
    }
    VP_TRY(copy_to_arena(r, &d.name, string_at(r, string)));
    VP_TRY(vp_grow(&p->devices, &r->device_cap, p->device_count + 1, sizeof d, VP_INTERN_MAX));
    VP_TRY(vp_map_set(&r->device_by_string, string, (uint32_t)p->device_count));
    *out = &p->devices[p->device_count++];
    **out = d;
    return 0;
}

static int pprof_add_sample(reader *r, vp_str message)
{
    sample s;
    pp_holder *h;
    pp_device *d;
    read_sample(r, message, &s);
    int64_t bytes = s.value[r->bytes_at], count = 1;
    if (r->count_at != SIZE_MAX)
        count = s.value[r->count_at];
    VP_TRY(holder_of(r, &s, &h));
    VP_TRY(pprof_device_of(r, s.device, &d));
    add_saturated(&h->bytes, bytes);
    add_saturated(&h->count, count);
    add_saturated(&d->bytes, bytes);
    add_saturated(&d->count, count);
    add_saturated(&r->public.total_bytes, bytes);
    add_saturated(&r->public.total_count, count);
    r->public.samples++;
    return 0;
}

static int read_samples(reader *r)
{
    vp_pb p = vp_pb_of(r->all);
    vp_pb_field f;
    while (vp_pb_next(&p, &f) > 0)
        if (f.number == PPROF_PROFILE_SAMPLE && f.wire == VP_PB_LEN)
            VP_TRY(pprof_add_sample(r, f.data));
    return 0;
}

static int compare_nullable_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_holder_size(const void *a, const void *b)
{
    const pp_holder *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    int c = compare_nullable_text(x->function, y->function);
    c = c ? c : compare_nullable_text(x->source, y->source);
    c = c ? c : compare_nullable_text(x->kind, y->kind);
    return c ? c : compare_nullable_text(x->device, y->device);
}

static int by_device_name(const void *a, const void *b)
{
    return compare_nullable_text(((const pp_device *)a)->name, ((const pp_device *)b)->name);
}

static int read_profile(reader *r)
{
    VP_TRY(read_tables(r));
    VP_TRY(find_types(r));
    VP_TRY(read_samples(r));
    pp_profile *p = &r->public;
    if (p->holder_count)
        qsort(p->holders, p->holder_count, sizeof *p->holders, by_holder_size);
    if (p->device_count)
        qsort(p->devices, p->device_count, sizeof *p->devices, by_device_name);
    return 0;
}

/* Frees tables that are only needed while reading. */
static void drop_tables(reader *r)
{
    vp_free(r->strings);
    vp_free(r->frames);
    vp_free(r->functions);
    vp_map_free(&r->frame_by_id);
    vp_map_free(&r->function_by_id);
    vp_map_free(&r->holder_by_key);
    vp_map_free(&r->device_by_string);
    vp_free((void *)(uintptr_t)r->all.p);
    r->all = VP_STR_NONE;
}

static int slurp_undamaged(rd_stream *in, char **bytes, size_t *n)
{
    VP_TRY(rd_stream_slurp(in, BYTES_MAX, bytes, n));
    if (!in->damage.code)
        return 0;
    vp_free(*bytes);
    return vp_fail_copy(&in->damage);
}

/* Replaces gzip data by its content. */
static int inflate_in_place(char **bytes, size_t *n)
{
    VP_CLEANUP(vp_free_ptr) char *packed = *bytes;
    VP_CLEANUP(rd_stream_close) rd_stream *in = NULL;
    rd_stream *raw;
    VP_TRY(rd_stream_memory(&raw, packed, *n, 0));
    VP_TRY(gz_stream(&in, raw, false));
    return slurp_undamaged(in, bytes, n);
}

int pp_read(pp_profile **out, rd_stream *in)
{
    char *bytes;
    size_t n;
    VP_TRY(slurp_undamaged(in, &bytes, &n));
    if (gz_is(bytes, n))
        VP_TRY(inflate_in_place(&bytes, &n));
    reader *r = vp_calloc(1, sizeof *r);
    if (!r) {
        vp_free(bytes);
        return vp_no_memory();
    }
    r->all = (vp_str){bytes, n};
    vp_arena_init(&r->arena);
    int rc = read_profile(r);
    drop_tables(r);
    if (rc < 0) {
        pp_free(&r->public);
        return rc;
    }
    *out = &r->public;
    return 0;
}

void pp_free(pp_profile *p)
{
    reader *r = (reader *)p;
    if (!r)
        return;
    vp_free(p->holders);
    vp_free(p->devices);
    vp_arena_free(&r->arena);
    vp_free(r);
}
