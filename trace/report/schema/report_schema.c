/* JSON Schema 2020-12 of the documents, from the field tables. Keys that a schema does not list are
 * allowed, because later versions add some. `x-unit` and `x-null` are annotations. */
#include "trace/report/schema/documents.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"

/* The version of every schema; a change that is not an addition would need another one. */
#define VERSION 1

static void schema_put_annotations(vp_json *j, const char *about, const char *unit,
                                   const char *null)
{
    vp_json_kcstr(j, "description", about);
    if (unit)
        vp_json_kcstr(j, "x-unit", unit);
    if (null)
        vp_json_kcstr(j, "x-null", null);
}

static void schema_put_type(vp_json *j, const char *type, bool nullable)
{
    vp_json_key(j, "type");
    if (!nullable) {
        vp_json_cstr(j, type);
        return;
    }
    vp_json_begin_array(j);
    vp_json_cstr(j, type);
    vp_json_cstr(j, "null");
    vp_json_end_array(j);
}

/* "$ref": the object of a table. */
static void schema_put_reference(vp_json *j, const rep_field *fields)
{
    char ref[64];
    snprintf(ref, sizeof ref, "#/$defs/%s", rep_table_name(fields));
    vp_json_kcstr(j, "$ref", ref);
}

static void schema_put_object_type(vp_json *j, const rep_field *fields, bool nullable)
{
    if (!nullable) {
        schema_put_reference(j, fields);
        return;
    }
    vp_json_key(j, "anyOf");
    vp_json_begin_array(j);
    vp_json_begin_object(j);
    schema_put_reference(j, fields);
    vp_json_end_object(j);
    vp_json_begin_object(j);
    vp_json_kcstr(j, "type", "null");
    vp_json_end_object(j);
    vp_json_end_array(j);
}

static void schema_put_words(vp_json *j, const char *const *words, bool nullable)
{
    vp_json_key(j, "enum");
    vp_json_begin_array(j);
    for (; *words; words++)
        vp_json_cstr(j, *words);
    if (nullable)
        vp_json_null(j);
    vp_json_end_array(j);
}

static void schema_put_names(vp_json *j, const char *const *words)
{
    vp_json_key(j, "required");
    vp_json_begin_array(j);
    for (; *words; words++)
        vp_json_cstr(j, *words);
    vp_json_end_array(j);
}

static void schema_put_by_word(vp_json *j, const rep_field *f)
{
    const rep_word_list *l = rep_words_of(f);
    vp_json_key(j, "properties");
    vp_json_begin_object(j);
    for (size_t i = 0; l && i < l->n; i++) {
        vp_json_key(j, l->words[i]);
        vp_json_begin_object(j);
        schema_put_type(j, "integer", false);
        vp_json_ki64(j, "minimum", 0);
        schema_put_annotations(j, l->about[i], rep_field_unit(f), NULL);
        vp_json_end_object(j);
    }
    vp_json_end_object(j);
    schema_put_names(j, f->words);
}

/* vp_delta by word. */
static void schema_put_deltas(vp_json *j, const rep_field *f)
{
    const rep_word_list *l = rep_words_of(f);
    vp_json_key(j, "properties");
    vp_json_begin_object(j);
    for (size_t i = 0; l && i < l->n; i++) {
        vp_json_key(j, l->words[i]);
        vp_json_begin_object(j);
        schema_put_reference(j, rep_delta_fields);
        schema_put_annotations(j, l->about[i], NULL, NULL);
        vp_json_end_object(j);
    }
    vp_json_end_object(j);
    schema_put_names(j, f->words);
}

static void schema_put_items(vp_json *j, const char *type, bool nullable)
{
    vp_json_key(j, "items");
    vp_json_begin_object(j);
    schema_put_type(j, type, nullable);
    vp_json_end_object(j);
}

static void schema_put_table(vp_json *j, const rep_field *fields, bool by_device);

static void schema_put_field_type(vp_json *j, const rep_field *f, bool nullable)
{
    switch ((rep_field_type)f->type) {
    case REP_TEXT:
        return schema_put_type(j, "string", nullable);
    case REP_COUNT:
    case REP_ROUNDED:
        schema_put_type(j, "integer", nullable);
        return vp_json_ki64(j, "minimum", 0);
    case REP_TIME:
    case REP_INTEGER:
        return schema_put_type(j, "integer", nullable);
    case REP_ID:
        schema_put_type(j, "integer", nullable);
        vp_json_ki64(j, "minimum", 0);
        vp_json_key(j, "maximum");
        return vp_json_u64(j, UINT64_MAX);
    case REP_NUMBER:
        return schema_put_type(j, "number", nullable);
    case REP_BOOL:
        return schema_put_type(j, "boolean", nullable);
    case REP_WORD:
        return schema_put_words(j, f->words, nullable);
    case REP_BY_WORD:
        schema_put_type(j, "object", nullable);
        return schema_put_by_word(j, f);
    case REP_DELTAS:
        schema_put_type(j, "object", nullable);
        return schema_put_deltas(j, f);
    case REP_OBJECT:
        return schema_put_object_type(j, f->fields, nullable);
    case REP_LIST:
    case REP_CHILDREN:
        schema_put_type(j, "array", nullable);
        vp_json_key(j, "items");
        vp_json_begin_object(j);
        schema_put_reference(j, f->fields);
        return vp_json_end_object(j);
    case REP_COUNTS:
        schema_put_type(j, "array", nullable);
        return schema_put_items(j, "integer", f->sparse);
    case REP_TEXTS:
        schema_put_type(j, "array", nullable);
        return schema_put_items(j, "string", false);
    case REP_PAIRS:
        schema_put_type(j, "array", nullable);
        vp_json_key(j, "items");
        vp_json_begin_object(j);
        schema_put_type(j, "array", false);
        schema_put_items(j, "integer", false);
        vp_json_ki64(j, "minItems", 2);
        vp_json_ki64(j, "maxItems", 2);
        return vp_json_end_object(j);
    case REP_BY_DEVICE:
        schema_put_type(j, "array", nullable);
        vp_json_key(j, "items");
        return schema_put_table(j, f->fields, true);
    case REP_DEVICE: /* three keys */
        return;
    }
}

static void schema_put_device_keys(vp_json *j, const char *key, const char *about, const char *null)
{
    vp_json_key(j, key);
    vp_json_begin_object(j);
    schema_put_type(j, "string", null);
    schema_put_annotations(j, about, NULL, null);
    vp_json_end_object(j);
    vp_json_key(j, "host");
    vp_json_begin_object(j);
    schema_put_type(j, "string", true);
    schema_put_annotations(j, "Host of that device.", NULL, "unknown");
    vp_json_end_object(j);
    vp_json_key(j, "device_index");
    vp_json_begin_object(j);
    schema_put_type(j, "integer", null);
    vp_json_ki64(j, "minimum", 0);
    schema_put_annotations(j, "Position of that device in `devices`.", "index", null);
    vp_json_end_object(j);
}

static void schema_put_field(vp_json *j, const rep_document *d, const rep_field *f)
{
    const char *null = rep_field_null(f);
    if (f->type == REP_DEVICE) {
        schema_put_device_keys(j, f->key, f->about, null);
        return;
    }
    vp_json_key(j, f->key);
    vp_json_begin_object(j);
    if (d && !strcmp(f->key, "schema"))
        vp_json_kcstr(j, "const", d->schema);
    else
        schema_put_field_type(j, f, null || f->full);
    schema_put_annotations(j, f->about, rep_field_unit(f), null);
    vp_json_end_object(j);
}

static void schema_put_required(vp_json *j, const rep_field *fields)
{
    for (const rep_field *f = fields; f->key; f++) {
        if (f->later || f->optional)
            continue;
        vp_json_cstr(j, f->key);
        if (f->type == REP_DEVICE) {
            vp_json_cstr(j, "host");
            vp_json_cstr(j, "device_index");
        }
    }
}

static void schema_put_table(vp_json *j, const rep_field *fields, bool by_device)
{
    static const rep_field device[] = {{.key = "device", .type = REP_DEVICE, .needed = true}, {0}};
    vp_json_begin_object(j);
    vp_json_kcstr(j, "description", rep_table_about(fields));
    vp_json_kcstr(j, "type", "object");
    vp_json_key(j, "properties");
    vp_json_begin_object(j);
    if (by_device)
        schema_put_device_keys(j, device->key, "Name of the device.", NULL);
    for (const rep_field *f = fields; f->key; f++)
        schema_put_field(j, NULL, f);
    vp_json_end_object(j);
    vp_json_key(j, "required");
    vp_json_begin_array(j);
    if (by_device)
        schema_put_required(j, device);
    schema_put_required(j, fields);
    vp_json_end_array(j);
    vp_json_end_object(j);
}

static void schema_put_parts(vp_json *j, const rep_document *d, bool whole)
{
    vp_json_key(j, "required");
    vp_json_begin_array(j);
    for (const rep_part *part = d->parts; part->fields; part++)
        if (part->whole == whole)
            schema_put_required(j, part->fields);
    vp_json_end_array(j);
}

/* A complete report has all its parts. */
static void schema_put_condition(vp_json *j, const rep_document *d)
{
    bool any = false;
    for (const rep_part *part = d->parts; part->fields; part++)
        any |= part->whole;
    if (!any)
        return;
    vp_json_key(j, "if");
    vp_json_begin_object(j);
    vp_json_key(j, "properties");
    vp_json_begin_object(j);
    vp_json_key(j, "complete");
    vp_json_begin_object(j);
    vp_json_kbool(j, "const", true);
    vp_json_end_object(j);
    vp_json_end_object(j);
    vp_json_end_object(j);
    vp_json_key(j, "then");
    vp_json_begin_object(j);
    schema_put_parts(j, d, true);
    vp_json_end_object(j);
}

static void schema_put_definitions(vp_json *j, const rep_document *d)
{
    rep_tables t;
    rep_tables_of(&t, d);
    vp_json_key(j, "$defs");
    vp_json_begin_object(j);
    for (size_t i = 0; i < t.n; i++) {
        vp_json_key(j, rep_table_name(t.list[i]));
        schema_put_table(j, t.list[i], false);
    }
    vp_json_end_object(j);
}

static void schema_put_document(vp_buf *b, const rep_document *d)
{
    char id[96];
    vp_json j;
    snprintf(id, sizeof id, "urn:view-profile:%s:%d", d->name, VERSION);
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    vp_json_kcstr(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    vp_json_kcstr(&j, "$id", id);
    vp_json_kcstr(&j, "title", d->title);
    vp_json_kcstr(&j, "description", d->about);
    vp_json_kcstr(&j, "type", "object");
    vp_json_key(&j, "properties");
    vp_json_begin_object(&j);
    for (const rep_part *part = d->parts; part->fields; part++)
        for (const rep_field *f = part->fields; f->key; f++)
            schema_put_field(&j, d, f);
    vp_json_end_object(&j);
    schema_put_parts(&j, d, false);
    schema_put_condition(&j, d);
    schema_put_definitions(&j, d);
    vp_json_end_object(&j);
}

/* Breaks lines between the members of the outer objects, so that each field is one line. */
static void schema_put_lines(vp_buf *out, vp_str s)
{
    enum { LEVELS = 4 };
    bool in_object[64] = {false}, quoted = false;
    unsigned depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (quoted) {
            vp_buf_putc(out, c);
            if (c == '\\')
                vp_buf_putc(out, s.p[++i]);
            quoted = c != '"';
            continue;
        }
        quoted = c == '"';
        if (c == '}' && depth <= LEVELS)
            vp_buf_printf(out, "\n%*s", (int)depth - 1, "");
        vp_buf_putc(out, c);
        if (c == '{' || c == '[')
            in_object[++depth] = c == '{';
        depth -= c == '}' || c == ']';
        if ((c == '{' || c == ',') && in_object[depth] && depth <= LEVELS)
            vp_buf_printf(out, "\n%*s", (int)depth, "");
        else if (c == ':' || c == ',')
            vp_buf_putc(out, ' ');
    }
    vp_buf_putc(out, '\n');
}

int rep_schema_json(vp_buf *b, const char *name)
{
    vp_buf flat;
    const rep_document *d = rep_documents;
    while (d->name && strcmp(d->name, name) != 0)
        d++;
    if (!d->name)
        return vp_fail(VP_ENOTFOUND, "no schema is called %.60s", name);
    vp_buf_init(&flat, VP_REPORT_BYTES_MAX);
    schema_put_document(&flat, d);
    schema_put_lines(b, vp_buf_view(&flat));
    vp_buf_free(&flat);
    return b->status;
}
