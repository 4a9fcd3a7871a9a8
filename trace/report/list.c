
#include "trace/report/list.h"

#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/table/columns.h"
#include "trace/report/text/text_parts.h"
#include "trace/report/labels/numbers.h"
#include "trace/report/labels/shown_rows.h"

/* Maximum notes on a terminal; the JSON has all. */
#define NOTES_MAX 20u

static const char *status_name(cat_status s)
{
    static const char *const names[] = {"ok", "unreadable", "unfinished", "empty"};
    return names[s];
}

/* ---- Text ---- */

static void get_name(tbl_value *out, const void *row)
{
    const cat_session *s = row;
    out->text = s->name ? s->name : s->id;
}

enum { CAPTURED, HOSTS, STATUS }; /* own cells */

#define ROW cat_session
static const tbl_column session_columns[] = {
    {TBL_OWN, OWN(CAPTURED), TERM(1, "captured"), DROP(1)},
    {TBL_TEXT, AT(kind), TERM(2, "kind"), DROP(TBL_DROP_LATE)},
    {TBL_OWN_FIGURE, OWN(HOSTS), TERM(3, "hosts"), DROP(TBL_DROP_LATE + 1)},
    {TBL_BYTES, AT(bytes), TERM(4, "size"), DROP(2)},
    {TBL_NAME, GET(get_name), TERM(5, "run"), SHORT(24, 12)},
    {TBL_OWN, OWN(STATUS), TERM(6, "status"), SHORT(12, 6)},
};
#undef ROW

static tbl_style text_put_run_own(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const cat_session *s = row;
    (void)t;
    if (c->own == CAPTURED) {
        rep_put_time(b, s->captured_unix_ns);
    } else if (c->own == HOSTS) {
        rep_put_count(b, (int64_t)s->host_count, false);
    } else {
        vp_buf_puts(b, status_name(s->status));
        vp_buf_puts(b, s->why ? ": " : "");
        vp_put_escaped(b, vp_str_of(s->why));
        return s->status == CAT_UNREADABLE ? TBL_BAD : TBL_PLAIN;
    }
    return TBL_PLAIN;
}

static tbl_style run_row_style(const tbl *t, const void *row)
{
    (void)t;
    return ((const cat_session *)row)->status == CAT_OK ? TBL_PLAIN : TBL_DIM;
}

/* Names are stored in the order in which they were found, so the next ones are prefetched. */
static const void *session_at(const tbl *t, size_t i)
{
    const cat_session *soon = catalog_get(t->of, i + 4);
    if (soon)
        __builtin_prefetch(soon->name);
    return catalog_get(t->of, i);
}

static int text_put_catalog_notes(vp_buf *b, const catalog *c, size_t width)
{
    size_t count = catalog_note_count(c);
    for (size_t i = 0; i < count && i < NOTES_MAX; i++) {
        const cat_note *note = catalog_note(c, i);
        grid_flow f = {.b = b, .width = width, .indent = 4, .gap = 1};
        vp_buf line;
        vp_buf_init(&line, VP_REPORT_BYTES_MAX);
        vp_put_escaped(&line, vp_str_of(note->path));
        vp_buf_puts(&line, ": cannot be read: ");
        vp_put_escaped(&line, vp_str_of(note->why));
        vp_buf_puts(b, i ? "" : "\n");
        grid_flow_words(&f, &line);
        grid_flow_end(&f);
        vp_buf_free(&line);
    }
    if (count > NOTES_MAX)
        vp_buf_printf(b, "… %zu more\n", count - NOTES_MAX);
    return b->status;
}

int rep_list_text(vp_buf *b, const catalog *c, const vp_view *view)
{
    vp_view v = rep_view(view);
    tbl t = {TBL_COLUMNS(session_columns),  .of = c,
             .row_count = catalog_count(c), .row_at = session_at,
             .own_text = text_put_run_own,  .row_style = run_row_style};
    int rc = t.row_count ? text_table(b, &v, &t) : vp_buf_puts(b, "No runs.\n");
    return rc < 0 ? rc : text_put_catalog_notes(b, c, text_width(&v));
}

/* ---- JSON: docs/reference/json.md#list ---- */

static void json_put_listed_run(vp_json *j, const cat_session *s)
{
    vp_json_begin_object(j);
    vp_json_kcstr(j, "id", s->id);
    vp_json_kcstr(j, "name", s->name);
    vp_json_kcstr(j, "path", s->path);
    vp_json_kcstr(j, "kind", s->kind);
    vp_json_kcount(j, "captured_unix_ns", s->captured_unix_ns);
    vp_json_kcount(j, "bytes", s->bytes);
    vp_json_key(j, "hosts");
    vp_json_begin_array(j);
    for (size_t i = 0; i < s->host_count; i++)
        vp_json_cstr(j, s->hosts[i].name);
    vp_json_end_array(j);
    vp_json_key(j, "files");
    vp_json_begin_array(j);
    for (size_t i = 0; i < s->file_count; i++) {
        vp_json_begin_object(j);
        vp_json_kcstr(j, "path", s->files[i].path);
        vp_json_kcstr(j, "kind", rd_format_name(s->files[i].kind.format));
        vp_json_kcount(j, "bytes", s->files[i].bytes);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
    vp_json_kcstr(j, "status", status_name(s->status));
    vp_json_kcstr(j, "why", s->why);
    vp_json_end_object(j);
}

static void json_put_run_list(vp_json *j, const catalog *c)
{
    vp_json_kcstr(j, "schema", "view_profile.list/1");
    vp_json_key(j, "sessions");
    vp_json_begin_array(j);
    for (size_t i = 0; i < catalog_count(c); i++)
        json_put_listed_run(j, catalog_get(c, i));
    vp_json_end_array(j);
    vp_json_key(j, "notes"); /* entries next to the runs, and why they are no runs */
    vp_json_begin_array(j);
    for (size_t i = 0; i < catalog_note_count(c); i++) {
        vp_json_begin_object(j);
        vp_json_kcstr(j, "path", catalog_note(c, i)->path);
        vp_json_kcstr(j, "why", catalog_note(c, i)->why);
        vp_json_end_object(j);
    }
    vp_json_end_array(j);
}

int rep_list_json_with(vp_buf *b, const catalog *c, rep_more_fn *more, void *ctx)
{
    vp_json j;
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    json_put_run_list(&j, c);
    if (more)
        more(&j, ctx);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}

int rep_list_json(vp_buf *b, const catalog *c)
{
    return rep_list_json_with(b, c, NULL, NULL);
}

int rep_list_json_growing(vp_buf *b, const catalog *c, uint64_t found, uint64_t looked_at)
{
    vp_json j;
    vp_json_init(&j, b);
    vp_json_begin_object(&j);
    json_put_run_list(&j, c);
    vp_json_kbool(&j, "indexing", true);
    vp_json_key(&j, "found");
    vp_json_u64(&j, found);
    vp_json_key(&j, "looked_at");
    vp_json_u64(&j, looked_at);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}
