/* Building blocks of pages. Markup rules: no scripts, no style attributes (bars are SVG rects with
 * a width), every byte from a file through rep_html_escape, names truncated only by CSS. */
#ifndef VP_REPORT_HTML_PARTS_H
#define VP_REPORT_HTML_PARTS_H

#include "trace/report/html/html.h"
#include "trace/report/table/tbl.h"

typedef struct page {
    vp_buf *b;
    const vp_report *r; /* NULL on a page about two reports */
    vp_view v;
    rep_links links; /* empty for a standalone page */
    bool *full;      /* by device: has an op table */
    size_t matching; /* devices that pass the filters */
} page;

void html_text(page *p, const char *z);                 /* escaped; NULL gives "–" */
void html_puts(page *p, const char *markup);            /* trusted HTML, not escaped */
void html_duration(page *p, int64_t ps, int64_t scale); /* "12.345 ms" */
void html_number(page *p, int64_t ps, vp_unit unit);    /* "12.345" */
/* A rect that fills part/whole of its SVG, starting at `from_hundredths` of a percent. */
void html_rect(page *p, const char *css_class, int64_t from_hundredths, int64_t width_hundredths);
int64_t html_hundredths(int64_t part, int64_t whole); /* clamped to 0..REP_PERCENT_ALL */
/* A path segment or query value; the output of percent-encoding needs no HTML escapes. */
void html_url(page *p, const char *z);
/* The same, keeping the slashes and colons of "/path/file.py:12". */
void html_path(page *p, const char *z);
/* "?group=…&by=…" of the view with one key replaced ("": none); escaped for an attribute. */
void html_query(page *p, const char *key, const char *value);
/* URL of the page of one step, or of all steps (VP_UNKNOWN). */
void html_step_query(page *p, int64_t step);
void html_device_query(page *p, const vp_device *d);
/* A column head; it sorts on the server if the page has controls. */
void html_sort_head(page *p, const char *text, const char *unit, const char *title, vp_sort sort);
/* Opens a link to the calls of one op; false, without output, if there is no server. */
bool html_open_op(page *p, const vp_op *op);

/* The frame of a page (html_frame.c): up to and including the navigation bar, inside a <header>
 * that the caller closes; and the end of the document. */
void html_begin(page *p, const char *title); /* raw */
void html_end(page *p);

/* ---- Parts of sections (html_cells.c); texts are trusted unless documented as "raw" ---- */

void html_section(page *p, const char *id, const char *title); /* with its heading and anchor */
void html_section_end(page *p);
/* A table that scrolls separately: html_table, html_head for each column, html_rows, rows,
 * html_table_end. `more` counts rows that are not shown. */
void html_table(page *p, const char *css_class, const char *title);
void html_head(page *p, const char *css_class, const char *text, const char *unit,
               const char *title);
void html_rows(page *p);
void html_table_end(page *p, size_t more);
/* A complete table: frame, heads, rows and the number of rows not shown. html_table.c */
void html_put_table(page *p, const tbl *t);
void html_titled_table(page *p, const tbl *t);                 /* within a section */
int html_table_section(page *p, const char *id, const tbl *t); /* is the section */
/* Only heads and rows, for another kind of frame; html_row is the callback of tbl_each. */
typedef struct html_row_writer {
    page *p;
    const tbl *t;
    const tbl_column *columns[TBL_COLUMNS_MAX];
    size_t n;
} html_row_writer;
void html_init_rows(html_row_writer *w, page *p, const tbl *t);
void html_open_table(const html_row_writer *w); /* its frame and heads; html_table_end closes it */
void html_heads(const html_row_writer *w);
void html_row(void *ctx, const void *row);
/* The table's foot: blank cells at its end are merged. */
void html_last_row(html_row_writer *w, const void *row);
/* Cells; unknown figures and texts are a dash. Raw texts are escaped. */
void html_name_cell(page *p, const char *name, const char *below); /* the row's header */
void html_device_cell(page *p, uint32_t device);
/* keep_end: a long text is shortened at its start, as for paths. */
void html_text_cell(page *p, const char *text, bool keep_end);
void html_ps_cell(page *p, int64_t ps, vp_unit unit);
void html_count_cell(page *p, int64_t n);
void html_bytes_cell(page *p, int64_t bytes);
void html_percent_cell(page *p, int64_t part, int64_t whole);
void html_double_cell(page *p, double v, int decimals);
/* part/whole as text, part/scale as a bar. */
void html_bar_cell(page *p, const char *css_class, int64_t part, int64_t scale, int64_t whole);
/* A time, as a link to its range on the host's timeline if a server has one. The host (raw, NULL:
 * any) is used if there is no device. */
void html_place(page *p, uint32_t device, const char *host, int64_t start_ps, int64_t dur_ps);
void html_place_cell(page *p, uint32_t device, const char *host, int64_t start_ps, int64_t dur_ps);
/* Only the opening <a> of such a link; false, without output, if there is none. */
bool html_open_place(page *p, uint32_t device, const char *host, int64_t start_ps, int64_t dur_ps);
/* Pairs of a <dl class="facts">; pairs with unknown figures are left out. */
void html_open_fact(page *p, const char *name);
void html_close_fact(page *p);
void html_duration_fact(page *p, const char *name, int64_t ps);
void html_count_fact(page *p, const char *name, int64_t n);

/* ---- Small pictures (html_chart.c) ---- */

/* A line chart from 0 to top, or to the largest y if that is more; unknown values interrupt the
 * line. x ascends; NULL: equal distances. Hidden from screen readers, because the same data is in a
 * text next to it. */
void html_curve(page *p, const char *css_class, const int64_t *x, const int64_t *y, size_t n,
                int64_t top);
/* A rect in hundredths of a percent of its SVG. */
typedef struct html_box {
    int64_t x, y, width, height;
} html_box;
void html_block(page *p, const char *css_class, html_box box);

#endif
