/* Parts of the text formats that `top` and `report` share. */
#ifndef VP_REPORT_TEXT_PARTS_H
#define VP_REPORT_TEXT_PARTS_H

#include "include/view_profile.h"
#include "trace/report/table/tbl.h"
#include "trace/report/text/grid.h"

size_t text_width(const vp_view *v);
/* Header lines and op table of one device. */
int text_ops(vp_buf *b, const vp_report *r, const vp_view *v, size_t device);
/* The op tables of the devices that the view shows, and one line for each other device. */
int text_tables(vp_buf *b, const vp_report *r, const vp_view *v);
/* Window and its four parts, one row per device that passes the filters, except those with skip[i].
 */
int text_breakdown(vp_buf *b, const vp_report *r, const vp_view *v, const bool *skip, size_t limit);
/* Quality entries from `least` up, at most `limit`, and a line on those not shown. */
int text_quality(vp_buf *b, const vp_report *r, const vp_view *v, vp_severity least, size_t limit);
/* Findings that fired, in full, and the other rules briefly. */
void text_findings(vp_buf *b, const vp_report *r, const vp_view *v);

/* ---- Tables, text_cells.c ---- */

void text_title(vp_buf *b, const vp_view *v, const char *title); /* after an empty line */
void text_head(grid *g, const char *word, const char *unit);     /* unit may be NULL */
/* "A  NAME  PATH": the runs that are compared; the path if it differs from the name. */
void text_side(vp_buf *b, const vp_view *v, const char *letter, const char *name, const char *path);
/* The table without its title, and with it. text_table.c */
int text_table(vp_buf *b, const vp_view *v, const tbl *t);
int text_titled_table(vp_buf *b, const vp_view *v, const tbl *t);
/* Row by row: text_row is the callback of tbl_each, text_finish prints and frees w->g. */
typedef struct text_row_writer {
    grid g;
    const tbl *t;
    const tbl_column *columns[TBL_COLUMNS_MAX];
    grid_column layout[TBL_COLUMNS_MAX];
    size_t n;
} text_row_writer;
void text_init_rows(text_row_writer *w, const tbl *t);
void text_row(void *ctx, const void *row);
/* Prints and frees; `more` rows are not shown. */
int text_finish(vp_buf *b, grid *g, const vp_view *v, size_t more);
/* Words in a separate, wrapped line; frees `line` and copies its error. */
void text_line(vp_buf *b, const vp_view *v, vp_buf *line);
void text_sentence(vp_buf *b, const vp_view *v, const char *words);

/* ---- Sections of the full report; each prints nothing if it has no data ---- */

int text_steps(vp_buf *b, const vp_report *r, const vp_view *v);
int text_idle(vp_buf *b, const vp_report *r, const vp_view *v);
int text_launches(vp_buf *b, const vp_report *r, const vp_view *v);
int text_communication(vp_buf *b, const vp_report *r, const vp_view *v);
int text_mfu(vp_buf *b, const vp_report *r, const vp_view *v);     /* MFU breakdown */
int text_hygiene(vp_buf *b, const vp_report *r, const vp_view *v); /* avoidable work of ops */
/* Threads, and metadata recorded by the program. */
int text_zones(vp_buf *b, const vp_report *r, const vp_view *v);
int text_host(vp_buf *b, const vp_report *r, const vp_view *v);   /* compile, host ops */
int text_memory(vp_buf *b, const vp_report *r, const vp_view *v); /* allocators */
/* Planned memory, one row per program. */
int text_plans(vp_buf *b, const vp_report *r, const vp_view *v);
/* "run NAME  captured …  2 hosts, 8 devices, 1234 events" */
void text_session(vp_buf *b, const vp_report *r, const vp_view *v);

#endif
