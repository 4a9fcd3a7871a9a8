/* Text tables and flowing lines that fit a terminal. Cells contain escaped UTF-8; widths are
 * terminal columns. Failures are sticky in the buffers. The caller frees a grid. */
#ifndef VP_REPORT_GRID_H
#define VP_REPORT_GRID_H

#include "trace/base/buf.h"
#include "trace/report/table/tbl.h"

typedef struct grid_column {
    bool left;       /* aligned left, else right */
    unsigned drop;   /* if the lines are too wide, the column with the highest rank is dropped
                      * first; 0: never; below TBL_DROP_LATE only if shortening is not sufficient */
    unsigned want;   /* cells may be shortened in the middle to this width; 0: never */
    unsigned min;    /* and to this one before columns of low rank are dropped; 0: never */
    bool keep_end;   /* shortened at the start, because the end of a path identifies it */
    bool place;      /* cells name source lines: links, if the grid has them */
    bool tell_apart; /* cells that would be shortened to the same text show the part that differs */
} grid_column;

/* A range of a text of at most VP_REPORT_BYTES_MAX. */
typedef struct grid_cell {
    uint32_t end;      /* in text */
    uint32_t width;    /* in columns, set by grid_print */
    uint32_t parts_at; /* byte at which it differs from cells that would look the same; 0: none */
    uint8_t style;     /* tbl_style */
} grid_cell;

typedef struct grid {
    const grid_column *columns;
    size_t column_count;
    vp_buf text;
    grid_cell *cells; /* row by row */
    size_t cell_count, cell_cap;
    const char *links; /* as vp_view.source_links */
} grid;

void grid_init(grid *g, const grid_column *columns, size_t column_count);
void grid_free(grid *g);
/* Append a cell's text to &g->text, then end it. Errors are kept in g->text.status. */
void grid_end(grid *g, tbl_style style);
/* Prints every row. Lines exceed width only if the columns with rank 0 need more. */
int grid_print(vp_buf *b, grid *g, size_t width, bool color);

/* Shortens s in the middle with "…" to at most width columns. */
int grid_put_short(vp_buf *b, vp_str s, size_t width);
/* The same, keeping the end. */
int grid_put_end(vp_buf *b, vp_str s, size_t width);
/* The same, keeping the text around column `at`, between two "…". */
int grid_put_around(vp_buf *b, vp_str s, size_t width, size_t at);
vp_str grid_cell_text(const grid *g, size_t i);
/* Sets parts_at of a column's cells for that width. grid_apart.c */
int grid_tell_apart(grid *g, size_t column, size_t width);
/* Begins and ends a link to a source line, "model.py:12" or "/home/me/model.py:12 step"; false: no
 * link. root: as vp_view.source_links. */
bool grid_link_on(vp_buf *b, vp_str place, const char *root);
void grid_link_off(vp_buf *b);
void grid_color_on(vp_buf *b, tbl_style style, bool color);
void grid_color_off(vp_buf *b, tbl_style style, bool color);

/* Pieces in a line, wrapped between pieces and continued with an indent. */
typedef struct grid_flow {
    vp_buf *b;
    size_t width, column, indent, gap;
} grid_flow;
/* One unbreakable piece, shortened if needed. Both take the content of `text`, clear it for the
 * next piece, and copy its error to f->b. */
void grid_flow_put(grid_flow *f, vp_buf *text);
void grid_flow_words(grid_flow *f, vp_buf *text); /* breaks at spaces */
void grid_flow_end(grid_flow *f);

#endif
