
#include "trace/report/list.h"

#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/log.h"
#include "trace/report/text/grid.h"
#include "trace/report/words/numbers.h"
#include "trace/report/words/shown_rows.h"

/* Notes on a terminal; the JSON has them all. */
#define NOTES_MAX 20u

static const char *status_name(cat_status s)
{
    static const char *const names[] = {"ok", "unreadable", "unfinished", "empty"};
    return names[s];
}

/* ---- Text ---- */

static void head_row(grid *g)
{
    static const char *const titles[] = {"captured", "kind", "hosts", "size", "session", "status"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        grid_puts(g, titles[i], TBL_BOLD);
}

static void session_row(grid *g, const cat_session *s)
{
    tbl_style style = s->status == CAT_OK ? TBL_PLAIN : TBL_DIM;
    rep_put_time(&g->text, s->captured_unix_ns);
    grid_end(g, style);
    grid_escaped(g, s->kind, style);
    rep_put_count(&g->text, (int64_t)s->host_count, false);
    grid_end(g, style);
    rep_put_bytes(&g->text, s->bytes);
    grid_end(g, style);
    grid_escaped(g, s->name ? s->name : s->id, style);
    vp_buf_puts(&g->text, status_name(s->status));
    if (s->why) {
        vp_buf_puts(&g->text, ": ");
        vp_put_escaped(&g->text, vp_str_of(s->why));
    }
    grid_end(g, s->status == CAT_UNREADABLE ? TBL_BAD : style);
}

static int put_notes(vp_buf *b, const catalog *c, size_t width)
{
    size_t count = catalog_note_count(c);
    for (size_t i = 0; i < count && i < NOTES_MAX; i++) {
        const cat_note *note = catalog_note(c, i);
        grid_flow f = {.b = b, .width = width, .indent = 4, .gap = 1};
        vp_buf line;
        vp_buf_init(&line, VP_REPORT_BYTES_MAX);
        vp_put_escaped(&line, vp_str_of(note->path));
        vp_buf_puts(&line, ": not readable here: ");
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
    static const grid_column columns[] = {
        {.left = true, .drop = 1},
        {.left = true, .drop = TBL_DROP_LATE},
        {.drop = TBL_DROP_LATE + 1},
        {.drop = 2},
        {.left = true, .want = 24, .min = 12},
        {.left = true, .want = 12, .min = 6},
    };
    vp_view v = rep_view(view);
    size_t count = catalog_count(c), width = v.width > 0 ? (size_t)v.width : 100;
    int rc = 0;
    if (count) {
        grid g;
        grid_init(&g, columns, sizeof columns / sizeof *columns);
        head_row(&g);
        for (size_t i = 0; i < count; i++)
            session_row(&g, catalog_get(c, i));
        rc = grid_print(b, &g, width, v.color);
        grid_free(&g);
    } else {
        vp_buf_puts(b, "No sessions.\n");
    }
    return rc < 0 ? rc : put_notes(b, c, width);
}

/* ---- JSON: DESIGN 7 ---- */

static void put_session(vp_json *j, const cat_session *s)
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

static void put_list(vp_json *j, const catalog *c)
{
    vp_json_kcstr(j, "schema", "view_profile.list/1");
    vp_json_key(j, "sessions");
    vp_json_begin_array(j);
    for (size_t i = 0; i < catalog_count(c); i++)
        put_session(j, catalog_get(c, i));
    vp_json_end_array(j);
    vp_json_key(j, "notes"); /* what lies beside the sessions and why it is not one */
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
    put_list(&j, c);
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
    put_list(&j, c);
    vp_json_kbool(&j, "indexing", true);
    vp_json_key(&j, "found");
    vp_json_u64(&j, found);
    vp_json_key(&j, "looked_at");
    vp_json_u64(&j, looked_at);
    vp_json_end_object(&j);
    return vp_buf_putc(b, '\n');
}
