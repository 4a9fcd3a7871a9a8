/* Writes structs as JSON by their fields. */
#include "trace/report/data/fields.h"

#include <string.h>

#include "trace/analyze/result/result_words.h"
#include "trace/base/err.h"
#include "trace/report/labels/words.h"

static void json_put_signed(vp_json *j, int64_t v, int64_t unknown)
{
    if (v == unknown)
        vp_json_null(j);
    else
        vp_json_i64(j, v);
}

static void json_put_count(vp_json *j, int64_t v)
{
    if (v < 0)
        vp_json_null(j);
    else
        vp_json_i64(j, v);
}

static void put_rounded(vp_json *j, double v)
{
    if (v >= 0 && v < 4e18)
        vp_json_i64(j, (int64_t)(v + 0.5));
    else
        vp_json_null(j);
}

static void json_put_device(rep_json_out *o, const char *key, uint32_t device)
{
    bool known = device < o->r->device_count;
    vp_json_kcstr(&o->j, key, known ? o->r->devices[device].name : NULL);
    vp_json_kcstr(&o->j, "host", known ? o->r->devices[device].host : NULL);
    vp_json_key(&o->j, "device_index");
    if (known && o->place[device] != VP_NO_DEVICE)
        vp_json_i64(&o->j, o->place[device]);
    else
        vp_json_null(&o->j);
}

static void put_by_word(vp_json *j, const char *const *words, const int64_t *ps)
{
    vp_json_begin_object(j);
    for (size_t i = 0; words[i]; i++)
        vp_json_ki64(j, words[i], ps[i]);
    vp_json_end_object(j);
}

static const void *list_at(const rep_field *f, const char *base, size_t *n)
{
    const void *list;
    memcpy(&list, base + f->at, sizeof list);
    memcpy(n, base + f->count_at, sizeof *n);
    return list;
}

/* Rows of a device that the view leaves out are left out, too. */
static bool is_shown_item(const rep_json_out *o, const rep_field *fields, const char *item)
{
    uint32_t device;
    if (fields->type != REP_DEVICE)
        return true;
    memcpy(&device, item + fields->at, sizeof device);
    return device >= o->r->device_count || o->place[device] != VP_NO_DEVICE;
}

static void json_put_list(rep_json_out *o, const rep_field *f, const char *base)
{
    size_t n;
    const char *items = list_at(f, base, &n);
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < n; i++)
        if (is_shown_item(o, f->fields, items + i * f->size))
            rep_put_object(o, f->fields, items + i * f->size);
    vp_json_end_array(&o->j);
}

static void put_by_device(rep_json_out *o, const rep_field *f)
{
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < o->r->device_count; i++) {
        if (o->place[i] == VP_NO_DEVICE)
            continue;
        vp_json_begin_object(&o->j);
        json_put_device(o, "device", (uint32_t)i);
        rep_put_fields(o, f->fields, &o->r->devices[i]);
        vp_json_end_object(&o->j);
    }
    vp_json_end_array(&o->j);
}

static void json_put_array(rep_json_out *o, const rep_field *f, const char *base)
{
    size_t n;
    const void *list = list_at(f, base, &n);
    if (f->later && n && !list) {
        vp_json_null(&o->j);
        return;
    }
    vp_json_begin_array(&o->j);
    for (size_t i = 0; i < n; i++) {
        if (f->type == REP_TEXTS)
            vp_json_cstr(&o->j, ((const char *const *)list)[i]);
        else if (f->sparse)
            json_put_count(&o->j, ((const int64_t *)list)[i]);
        else
            vp_json_i64(&o->j, ((const int64_t *)list)[i]);
    }
    vp_json_end_array(&o->j);
}

static int64_t integer_at(const char *at)
{
    int64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

static double number_at(const char *at)
{
    double v;
    memcpy(&v, at, sizeof v);
    return v;
}

static void json_put_word(vp_json *j, const rep_field *f, const char *at)
{
    int v;
    memcpy(&v, at, sizeof v);
    vp_json_cstr(j, f->words[v]);
}

static void json_put_object(rep_json_out *o, const rep_field *f, const char *at)
{
    const void *led = at;
    if (f->size)
        memcpy(&led, at, sizeof led);
    if (led)
        rep_put_object(o, f->fields, led);
    else
        vp_json_null(&o->j);
}

static void json_put_deltas(rep_json_out *o, const rep_field *f, const vp_delta *deltas)
{
    vp_json_begin_object(&o->j);
    for (size_t i = 0; f->words[i]; i++) {
        vp_json_key(&o->j, f->words[i]);
        rep_put_object(o, rep_delta_fields, &deltas[i]);
    }
    vp_json_end_object(&o->j);
}

static void json_put_field_value(rep_json_out *o, const rep_field *f, const char *base)
{
    const char *at = base + f->at, *text;
    if (f->put) {
        f->put(o, base);
        return;
    }
    switch ((rep_field_type)f->type) {
    case REP_TEXT:
        memcpy(&text, at, sizeof text);
        return vp_json_cstr(&o->j, text);
    case REP_COUNT:
        return json_put_count(&o->j, integer_at(at));
    case REP_TIME:
        return json_put_signed(&o->j, integer_at(at), VP_NO_TIME);
    case REP_INTEGER:
        return vp_json_i64(&o->j, integer_at(at));
    case REP_ID:
        return integer_at(at) == VP_UNKNOWN ? vp_json_null(&o->j)
                                            : vp_json_u64(&o->j, (uint64_t)integer_at(at));
    case REP_ROUNDED:
        return put_rounded(&o->j, number_at(at));
    case REP_NUMBER:
        return vp_json_double(&o->j, number_at(at));
    case REP_BOOL:
        return vp_json_bool(&o->j, *at != 0);
    case REP_WORD:
        return json_put_word(&o->j, f, at);
    case REP_BY_WORD:
        return put_by_word(&o->j, f->words, (const int64_t *)(const void *)at);
    case REP_DELTAS:
        return json_put_deltas(o, f, (const vp_delta *)(const void *)at);
    case REP_OBJECT:
        return json_put_object(o, f, at);
    case REP_LIST:
        return json_put_list(o, f, base);
    case REP_COUNTS:
    case REP_TEXTS:
        return json_put_array(o, f, base);
    case REP_BY_DEVICE:
        return put_by_device(o, f);
    case REP_CHILDREN:
        return vp_json_begin_array(&o->j);
    case REP_PAIRS:
    case REP_DEVICE: /* has keys of its own */
        return;
    }
}

void rep_put_fields(rep_json_out *o, const rep_field *fields, const void *base)
{
    for (const rep_field *f = fields; f->key; f++) {
        if (f->type == REP_DEVICE) {
            uint32_t device;
            memcpy(&device, (const char *)base + f->at, sizeof device);
            json_put_device(o, f->key, device);
            continue;
        }
        vp_json_key(&o->j, f->key);
        if (f->full && o->r->depth != VP_DEPTH_FULL)
            vp_json_null(&o->j);
        else
            json_put_field_value(o, f, base);
    }
}

void rep_put_object(rep_json_out *o, const rep_field *fields, const void *base)
{
    vp_json_begin_object(&o->j);
    rep_put_fields(o, fields, base);
    vp_json_end_object(&o->j);
}
