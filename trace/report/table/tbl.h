/* A table consists of rows of structs and columns that describe how to show one field each. A
 * column is one constant for all formats: text, HTML and CSV. The encoders are text_table (text/),
 * html_put_table (html/) and csv_put_table (data/). A table owns nothing: columns are constant,
 * rows belong to the report, and the table lives only until its caller returns. */
#ifndef VP_REPORT_TBL_H
#define VP_REPORT_TBL_H

#include <math.h>

#include "include/view_profile.h"
#include "trace/base/buf.h"

struct page;
struct tbl;
struct tbl_column;

/* Style of a cell on a terminal with colors. */
typedef enum tbl_style { TBL_PLAIN, TBL_BOLD, TBL_DIM, TBL_COMM, TBL_COPY, TBL_BAD } tbl_style;

/* The content of a column, and the type of its field. Unknown figures are a dash, and empty in CSV.
 */
typedef enum tbl_kind {
    TBL_PS,        /* int64_t, a duration in the unit at the column's `scale` */
    TBL_PLACED,    /* the same; on a page a link to its place in time, which needs a getter */
    TBL_COUNT,     /* int64_t */
    TBL_BYTES,     /* int64_t */
    TBL_SHARE,     /* two int64_t: a part and its denominator */
    TBL_BAR,       /* the same with a bar on a page; the value sets its length and color */
    TBL_NUMBER,    /* double, with the column's digits, or more for two significant digits */
    TBL_RATIO,     /* the same with exactly the column's digits */
    TBL_VALUE,     /* double, a figure recorded by the program: as many digits as needed */
    TBL_RANK,      /* int64_t */
    TBL_ID,        /* int64_t of 64 bits, printed unsigned; VP_UNKNOWN is a dash */
    TBL_NAME,      /* const char * from a file: the name of the row; on a page with a second line */
    TBL_TEXT,      /* const char * from a file */
    TBL_WORD,      /* const char *, trusted; a page adds the tooltip, and the share of n */
    TBL_DEVICE,    /* uint32_t, an index into the report's devices; "host" for no device */
    TBL_WHEN,      /* two int64_t: a start, and the duration */
    TBL_COURSE,    /* int64_t, a duration; on a page with a chart over the steps */
    TBL_OWN,       /* text by the table's own_text and own_html */
    TBL_OWN_NAME,  /* the same for the name of the row */
    TBL_OWN_BAR,   /* the same for a bar on a page */
    TBL_OWN_FIGURE /* the same for figures */
} tbl_kind;

/* A figure that does not apply to its row: an empty cell; unknown figures are a dash. */
#define TBL_BLANK (INT64_MIN + 1)
#define TBL_BLANK_NUMBER (-INFINITY)

/* A cell. Members that its kind does not name are ignored. */
typedef struct tbl_value {
    /* The context of a cell, for getters. */
    const struct tbl *t;
    const struct tbl_column *column;
    int64_t n;     /* the figure, the part, the start or the device */
    int64_t whole; /* the denominator of n; duration of the event that starts at n, or `start` */
    int64_t start; /* TBL_PLACED */
    int64_t scale; /* TBL_BAR: the value of the full bar */
    double d;      /* TBL_NUMBER, TBL_RATIO, TBL_VALUE */
    /* The text. TBL_BAR, TBL_RATIO: the CSS class; TBL_RATIO: NULL for none. */
    const char *text;
    /* TBL_NAME: a second line, or NULL. TBL_WORD, TBL_RATIO: the tooltip, or NULL. */
    const char *below;
    uint32_t at_device; /* TBL_WHEN, TBL_PLACED on a page: the device of the timeline, VP_NO_DEVICE:
                           the host's */
    const char *host;   /* if at_device is not set */
    const int64_t *course; /* TBL_COURSE: this many durations, by step */
    size_t course_count;
    char made[32];   /* buffer for a text made by a getter */
    tbl_style style; /* TBL_PLAIN: the text of the column */
    bool blank;      /* as TBL_BLANK */
} tbl_value;

/* Columns from this rank on are dropped, highest first, before any is shortened; see grid_column.
 */
#define TBL_DROP_LATE 10u

enum { TBL_SCALES = 3, TBL_COLUMNS_MAX = 48 };

/* Features of a table; columns that need a missing feature are left out. */
enum {
    TBL_DEVICES = 1, /* several of them */
    TBL_HOSTS = 2    /* several of them */
};

/* The suffix of a column head on a page; for durations it is the unit. */
typedef enum tbl_unit {
    TBL_UNIT_NONE,
    TBL_UNIT_PERCENT,
    TBL_UNIT_PERCENT_OF_WINDOW,
    TBL_UNIT_GB_PER_S,
    TBL_UNIT_GFLOP_PER_S,
    TBL_UNIT_COUNT,
    TBL_UNIT_OPS
} tbl_unit;

/* Aligned by kind: figures right, words left. */
typedef struct tbl_column {
    unsigned kind : 5;     /* tbl_kind */
    unsigned own : 4;      /* id of a cell that the formats write, or the argument of a getter */
    unsigned scale : 2;    /* TBL_PS, TBL_WHEN: index of its unit in the table's units */
    unsigned digits : 2;   /* TBL_NUMBER, TBL_RATIO */
    unsigned style : 3;    /* tbl_style */
    unsigned sort : 3;     /* on a page: 1 + the vp_sort of its head; 0: none */
    unsigned left : 1;     /* whatever its kind */
    unsigned keep_end : 1; /* see grid_column, also for drop, want and min */
    unsigned tell_apart : 1;
    unsigned place : 1; /* "model.py:12": a link on a terminal that supports links */
    /* The head on a terminal ends with its unit. On a page this applies to every duration, and to
     * own cells with this flag. */
    unsigned says_unit : 1;
    /* Position among the columns of a terminal and of CSV: ascending, then in the order of the
     * array. A page uses the order of the array. */
    unsigned text_order : 4, key_order : 6;
    unsigned drop : 4, want : 6, min : 5; /* if the terminal is too narrow */
    /* Bits that must be set in the table's `has`, or the column is left out. */
    unsigned needs : 9, text_needs : 9;
    unsigned unit : 3; /* tbl_unit: suffix of the head on a page */
    /* The fields, if `get` is NULL. `also` of TBL_NAME may be 0 for none, and is ignored if the
     * table's `has` lacks a bit of also_needs. Fields are in the row, or in the struct to which the
     * pointer at via - 1 of the row leads; the cell is blank if that is NULL. */
    uint16_t at, also, via;
    uint8_t also_needs;
    const char *text;       /* head on a terminal; NULL: column not shown */
    const char *head, *tip; /* on a page; NULL: column not shown, no tooltip */
    const char *key;        /* in CSV; NULL: column not written */
    void (*get)(tbl_value *out, const void *row);
} tbl_column;

typedef struct tbl {
    const char *title;     /* ours */
    const char *css_class; /* CSS class of the table on a page; NULL: "list" */
    const tbl_column *columns;
    size_t column_count;
    const vp_report *r;
    const vp_view *v;
    const void *of; /* context of getters and own cells, in addition to the row */
    const void *rows;
    size_t row_size, row_count;
    /* Returns a row that is not in an array of rows; NULL: rows[i]. */
    const void *(*row_at)(const struct tbl *t, size_t i);
    bool (*shows)(const struct tbl *t, const void *row); /* NULL: all */
    size_t most;                                         /* rows to show; 0: all */
    size_t beyond; /* number of known rows that are not passed */
    /* Minor rows, which are shown only among the first `always` rows. NULL: no row is minor. */
    bool (*is_minor)(const struct tbl *t, const void *row);
    size_t always;
    vp_unit unit[TBL_SCALES];
    unsigned has;
    /* Appends the text of a cell of TBL_OWN and similar kinds, escaped; TBL_PLAIN: the text of the
     * column. */
    tbl_style (*own_text)(vp_buf *b, const struct tbl *t, const tbl_column *c, const void *row);
    /* Puts the whole cell, <td> included. */
    void (*own_html)(struct page *p, const struct tbl *t, const tbl_column *c, const void *row);
    const char *(*row_class)(const struct tbl *t, const void *row); /* CSS, NULL: none */
    /* Style of cells and columns without a style, on a terminal; NULL: none. */
    tbl_style (*row_style)(const struct tbl *t, const void *row);
} tbl;

/* Initializers of tables: with columns, and with title and rows. */
#define TBL_COLUMNS(the_columns)                                                                   \
    .columns = (the_columns), .column_count = sizeof(the_columns) / sizeof *(the_columns)
#define TBL_ROWS(the_title, the_columns, the_rows, count)                                          \
    .title = (the_title), TBL_COLUMNS(the_columns), .rows = (the_rows),                            \
    .row_size = sizeof *(the_rows), .row_count = (count)

/* Terminal style of a class. */
tbl_style tbl_class_style(vp_op_class c);

typedef enum tbl_format { TBL_AS_TEXT, TBL_AS_HTML, TBL_AS_CSV } tbl_format;

/* Features of the tables of a report, for `has`. */
unsigned tbl_has(const vp_report *r);
/* `row_at` for arrays of pointers to rows. */
const void *tbl_pointed(const tbl *t, size_t i);
/* Selects the columns that a format shows, in its order; returns their number. */
size_t tbl_columns_of(const tbl_column *out[TBL_COLUMNS_MAX], const tbl *t, tbl_format format);
bool tbl_is_own(const tbl_column *c);
void tbl_get(tbl_value *out, const tbl *t, const tbl_column *c, const void *row);
/* Calls put for each shown row; returns how many rows are not shown. */
size_t tbl_each(const tbl *t, void (*put)(void *ctx, const void *row), void *ctx);
bool tbl_any(const tbl *t); /* at least one row is shown */
/* The largest int64_t at that offset of the rows, or 0; for choosing a unit. */
int64_t tbl_largest(const tbl *t, size_t at);

#endif
