/* The head of every JSON document. */
#include "trace/report/data/fields.h"
#include "trace/report/data/report_json.h"

/* docs/reference/json.md#conventions. Key order is part of the contract: it is that of the tables
 * in fields.c. */

void rep_json_head(vp_json *j, const char *schema)
{
    vp_json_begin_object(j);
    vp_json_kcstr(j, "schema", schema);
    vp_json_key(j, "tool");
    vp_json_begin_object(j);
    vp_json_kcstr(j, "name", "view_profile");
    vp_json_kcstr(j, "version", VP_VERSION);
    vp_json_end_object(j);
}

void rep_json_texts(vp_json *j, const char *key, const char *const *texts, size_t n)
{
    vp_json_key(j, key);
    vp_json_begin_array(j);
    for (size_t i = 0; i < n; i++)
        vp_json_cstr(j, texts[i]);
    vp_json_end_array(j);
}

void rep_json_open(vp_json *j, vp_buf *b, const vp_report *r, const char *schema)
{
    rep_json_out o = {.r = r};
    vp_json_init(&o.j, b);
    rep_json_head(&o.j, schema);
    rep_put_fields(&o, rep_head_fields, r);
    *j = o.j;
}
