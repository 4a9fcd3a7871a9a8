#include "trace/report/table/files_table.h"

#include "trace/base/log.h"
#include "trace/report/table/columns.h"

#define ROW vp_report_file
static const tbl_column file_columns[] = {
    {TBL_OWN_NAME, OWN(FILES_PATH), PAGE("File", NULL)},
    {TBL_OWN, OWN(FILES_KIND), PAGE("Kind", NULL), TERM(3, "kind"), DROP(2)},
    {TBL_BYTES, AT(bytes), PAGE("Size", NULL), TERM(1, "size")},
    {TBL_COUNT, AT(events), PAGE("Events", NULL), TERM(2, "events"), DROP(1)},
    {TBL_OWN, OWN(FILES_STATE), PAGE("State", NULL)},
    {TBL_NAME, AT(path), TERM(4, "file"), SHORT(24, 12)},
};
#undef ROW

/* On a terminal the state is in the column of the kind. */
static tbl_style text_put_file_kind(vp_buf *b, const tbl *t, const tbl_column *c, const void *row)
{
    const vp_report_file *f = row;
    (void)t;
    (void)c;
    vp_put_escaped(b, vp_str_of(f->kind));
    vp_buf_puts(b, f->partial ? " (partial)" : "");
    return f->partial ? TBL_BAD : TBL_PLAIN;
}

void tbl_files(tbl *t, const vp_report *r, const vp_view *v)
{
    *t = (tbl){TBL_ROWS("Files", file_columns, r->files, r->file_count), .r = r, .v = v,
               .own_text = text_put_file_kind};
}
