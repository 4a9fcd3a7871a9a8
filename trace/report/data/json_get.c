/* Reads structs from JSON by their fields. */
#include "trace/report/data/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace/analyze/result/result_words.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/report/labels/words.h"

/* Maximum of any value, and of the sum of one field over a report, so that sums of a few fields
 * over several reports fit in int64_t. 2^61 ps are 640 hours of devices. */
#define FIGURE_MAX VP_TIME_MAX_PS

int rep_bad_json(const rep_place *place, const char *what)
{
    char text[256];
    size_t at = sizeof text - 1;
    text[at] = 0;
    for (const rep_place *p = place; p; p = p->up) {
        char part[80];
        int n = p->index == SIZE_MAX ? snprintf(part, sizeof part, ".%.40s", p->key)
                                     : snprintf(part, sizeof part, "[%zu]", p->index);
        if (n < 0 || (size_t)n >= sizeof part || (size_t)n > at)
            break;
        at -= (size_t)n;
        memcpy(text + at, part, (size_t)n);
    }
    at += text[at] == '.';
    return vp_fail(VP_ECORRUPT, "%s %s", text[at] ? text + at : "the report", what);
}

int rep_get_text(rep_json_in *in, const char **out, const json_t *v, const rep_place *place)
{
    *out = NULL;
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_string(v))
        return rep_bad_json(place, "is not a string");
    *out = vp_arena_strndup(in->arena, json_string_value(v), json_string_length(v));
    return *out ? 0 : vp_no_memory();
}

static int get_text(rep_json_in *in, const char **out, const json_t *v, bool needed,
                    const rep_place *place)
{
    VP_TRY(rep_get_text(in, out, v, place));
    if (needed && !*out)
        *out = "";
    return 0;
}

static int get_integer(int64_t *out, const json_t *v, int64_t least, int64_t unknown, int64_t most,
                       const rep_place *place)
{
    *out = unknown;
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_integer(v))
        return rep_bad_json(place, "is not an integer");
    if (json_integer_value(v) < least || json_integer_value(v) > most)
        return rep_bad_json(place, "is out of range");
    *out = json_integer_value(v);
    return 0;
}

/* For non-negative values. */
static int check_sum(rep_json_in *in, const rep_field *f, int64_t v, const rep_place *place)
{
    uint32_t at = vp_map_get(&in->sum_at, (uint64_t)(uintptr_t)f);
    if (f->unsummed || in->in_tree || v <= 0)
        return 0;
    if (at == VP_MAP_NONE) {
        at = (uint32_t)in->sum_at.count;
        if (at == sizeof in->sums / sizeof *in->sums)
            return vp_fail(VP_ELIMIT, "more fields than sums");
        VP_TRY(vp_map_set(&in->sum_at, (uint64_t)(uintptr_t)f, at));
    }
    if (v > FIGURE_MAX - in->sums[at])
        return rep_bad_json(place, "is out of range when added to the previous value");
    in->sums[at] += v;
    return 0;
}

static int get_json_count(rep_json_in *in, const rep_field *f, int64_t *out, const json_t *v,
                          const rep_place *place)
{
    if (f->unsummed)
        return get_integer(out, v, 0, VP_UNKNOWN, INT64_MAX, place);
    VP_TRY(get_integer(out, v, 0, f->needed ? 0 : VP_UNKNOWN, FIGURE_MAX, place));
    return check_sum(in, f, *out, place);
}

/* Ids beyond 2^63-1 are quoted before parsing (report_read.c). */
static int get_id(int64_t *out, const json_t *v, const rep_place *place)
{
    uint64_t id;
    *out = VP_UNKNOWN;
    if (!v || json_is_null(v))
        return 0;
    if (json_is_string(v)) {
        vp_str digits = {json_string_value(v), json_string_length(v)};
        if (!vp_str_to_u64(digits, &id))
            return rep_bad_json(place, "is not an unsigned 64-bit integer");
        *out = (int64_t)id;
        return 0;
    }
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return rep_bad_json(place, "is not an unsigned 64-bit integer");
    *out = json_integer_value(v);
    return 0;
}

static int get_number(double *out, const json_t *v, double unknown, const rep_place *place)
{
    *out = unknown;
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_number(v))
        return rep_bad_json(place, "is not a number");
    *out = json_number_value(v);
    return 0;
}

static int get_bool(bool *out, const json_t *v, const rep_place *place)
{
    *out = false;
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_boolean(v))
        return rep_bad_json(place, "is not a boolean");
    *out = json_is_true(v);
    return 0;
}

static int get_word(int *out, const json_t *v, const char *const *words, const rep_place *place)
{
    *out = 0;
    if (!v || json_is_null(v))
        return 0;
    for (int i = 0; json_is_string(v) && words[i]; i++) {
        if (!strcmp(words[i], json_string_value(v))) {
            *out = i;
            return 0;
        }
    }
    return rep_bad_json(place, "is not one of the allowed values");
}

static int get_json_device(const rep_json_in *in, uint32_t *out, const json_t *object,
                           const rep_place *place)
{
    int64_t at;
    VP_TRY(get_integer(&at, json_object_get(object, "device_index"), 0, VP_UNKNOWN, UINT32_MAX,
                       place));
    if (at >= (int64_t)in->device_count)
        return rep_bad_json(place, "refers to a device that does not exist");
    *out = at < 0 ? VP_NO_DEVICE : (uint32_t)at;
    return 0;
}

_Static_assert((int)VP_CELLS <= (int)VP_CAUSES, "the sum fits");
static int get_by_word(int64_t *out, const json_t *v, const char *const *words,
                       const rep_place *place)
{
    if (v && !json_is_null(v) && !json_is_object(v))
        return rep_bad_json(place, "is not an object");
    for (size_t i = 0; words[i]; i++) {
        rep_place here = {place, words[i], SIZE_MAX};
        VP_TRY(get_integer(&out[i], json_object_get(v, words[i]), 0, 0, FIGURE_MAX / VP_CAUSES,
                           &here));
    }
    return 0;
}

/* Allocates an array's items; the length is stored in the struct. NULL if empty. */
static int new_array(rep_json_in *in, char **items, size_t *n, const rep_field *f, size_t size,
                     const json_t *v, char *base, const rep_place *place)
{
    *items = NULL;
    *n = 0;
    if (v && !json_is_null(v)) {
        if (!json_is_array(v))
            return rep_bad_json(place, "is not an array");
        *n = json_array_size(v);
    }
    if (*n && !(*items = vp_arena_zalloc(in->arena, *n * size))) /* n is limited by the file */
        return vp_no_memory();
    memcpy(base + f->at, items, sizeof *items);
    memcpy(base + f->count_at, n, sizeof *n);
    return 0;
}

static int get_list(rep_json_in *in, const rep_field *f, const json_t *v, char *base,
                    const rep_place *place)
{
    char *items;
    size_t n;
    VP_TRY(new_array(in, &items, &n, f, f->size, v, base, place));
    for (size_t i = 0; i < n; i++) {
        rep_place here = {place, "", i};
        VP_TRY(rep_get_fields(in, f->fields, json_array_get(v, i), items + i * f->size, &here));
    }
    return 0;
}

static int get_array(rep_json_in *in, const rep_field *f, const json_t *v, char *base,
                     const rep_place *place)
{
    size_t n, size = f->type == REP_TEXTS ? sizeof(const char *) : sizeof(int64_t);
    char *items;
    if (f->later && (!v || json_is_null(v)))
        return 0;
    VP_TRY(new_array(in, &items, &n, f, size, v, base, place));
    for (size_t i = 0; i < n; i++) {
        rep_place here = {place, "", i};
        char *at = items + i * size;
        const json_t *item = json_array_get(v, i);
        if (f->type == REP_TEXTS)
            VP_TRY(rep_get_text(in, (const char **)(void *)at, item, &here));
        else
            VP_TRY(get_integer((int64_t *)(void *)at, item, -FIGURE_MAX, 0, FIGURE_MAX, &here));
    }
    return 0;
}

static int get_by_device(rep_json_in *in, const rep_field *f, const json_t *v,
                         const rep_place *place)
{
    for (size_t i = 0; i < in->device_count; i++)
        VP_TRY(rep_get_fields(in, f->fields, NULL, &in->devices[i], place));
    for (size_t i = 0; i < json_array_size(v); i++) {
        rep_place here = {place, "", i};
        const json_t *item = json_array_get(v, i);
        uint32_t device = VP_NO_DEVICE;
        VP_TRY(get_json_device(in, &device, item, &here));
        if (device != VP_NO_DEVICE)
            VP_TRY(rep_get_fields(in, f->fields, item, &in->devices[device], &here));
    }
    return 0;
}

static int get_object(rep_json_in *in, const rep_field *f, const json_t *v, void *at,
                      const rep_place *place)
{
    void *led = NULL;
    if (!f->size)
        return rep_get_fields(in, f->fields, v, at, place);
    if (v && !json_is_null(v)) {
        led = vp_arena_zalloc(in->arena, f->size);
        VP_NEED(led);
        VP_TRY(rep_get_fields(in, f->fields, v, led, place));
    }
    memcpy(at, &led, sizeof led);
    return 0;
}

static int get_json_value(rep_json_in *in, const rep_field *f, const json_t *object, char *base,
                          const rep_place *place)
{
    const json_t *v = json_object_get(object, f->key);
    void *at = base + f->at;
    if (f->made)
        return 0;
    switch ((rep_field_type)f->type) {
    case REP_TEXT:
        return get_text(in, at, v, f->needed, place);
    case REP_COUNT:
        return get_json_count(in, f, at, v, place);
    case REP_TIME:
        return get_integer(at, v, -FIGURE_MAX, VP_NO_TIME, FIGURE_MAX, place);
    case REP_INTEGER:
        return get_integer(at, v, -FIGURE_MAX, 0, FIGURE_MAX, place);
    case REP_ID:
        return get_id(at, v, place);
    case REP_ROUNDED:
        return get_number(at, v, -1, place);
    case REP_NUMBER:
        return get_number(at, v, (double)NAN, place);
    case REP_BOOL:
        return get_bool(at, v, place);
    case REP_WORD:
        return get_word(at, v, f->words, place);
    case REP_DEVICE:
        return get_json_device(in, at, object, place);
    case REP_BY_WORD:
        return get_by_word(at, v, f->words, place);
    case REP_OBJECT:
        return get_object(in, f, v, at, place);
    case REP_LIST:
        return get_list(in, f, v, base, place);
    case REP_COUNTS:
    case REP_TEXTS:
        return get_array(in, f, v, base, place);
    case REP_BY_DEVICE:
        return get_by_device(in, f, v, place);
    case REP_CHILDREN:
    case REP_PAIRS:
    case REP_DELTAS:
        return 0;
    }
    return 0;
}

static size_t field_list_count(const rep_field *f, const void *base)
{
    size_t n;
    memcpy(&n, (const char *)base + f->count_at, sizeof n);
    return n;
}

/* Two arrays of one struct may share a length: starts and durations. */
static bool shares_count(const rep_field *f)
{
    return f->type == REP_COUNTS && f[-1].type == REP_COUNTS && f[-1].count_at == f->count_at;
}

int rep_get_fields(rep_json_in *in, const rep_field *fields, const json_t *object, void *base,
                   const rep_place *place)
{
    if (object && !json_is_null(object) && !json_is_object(object))
        return rep_bad_json(place, "is not an object");
    for (const rep_field *f = fields; f->key; f++) {
        rep_place here = {place, f->key, SIZE_MAX};
        size_t before = f->count_at ? field_list_count(f, base) : 0;
        VP_TRY(get_json_value(in, f, object, base, &here));
        if (f > fields && shares_count(f) && field_list_count(f, base) != before)
            return rep_bad_json(&here, "has a different length than the list before it");
    }
    return 0;
}
