/* Output of `list`: the runs of a profile directory, as text and JSON
 * (docs/reference/cli.md#list-output, docs/reference/json.md#list). */
#ifndef VP_REPORT_LIST_H
#define VP_REPORT_LIST_H

#include "include/view_profile.h"
#include "trace/base/buf.h"
#include "trace/base/json.h"
#include "trace/model/catalog/catalog.h"

int rep_list_text(vp_buf *b, const catalog *c, const vp_view *v);
int rep_list_json(vp_buf *b, const catalog *c);
/* The same; more(j, ctx) adds keys at the end. */
typedef void rep_more_fn(vp_json *j, void *ctx);
int rep_list_json_with(vp_buf *b, const catalog *c, rep_more_fn *more, void *ctx);
/* The same for a list that is still incomplete: with "indexing", the number of runs found and of
 * files read. */
int rep_list_json_growing(vp_buf *b, const catalog *c, uint64_t found, uint64_t looked_at);

#endif
