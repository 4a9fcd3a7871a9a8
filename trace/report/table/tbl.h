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

/* How a cell looks on a terminal with colours. */
typedef enum tbl_style { TBL_PLAIN, TBL_BOLD, TBL_DIM, TBL_COMM, TBL_COPY, TBL_BAD } tbl_style;

/* What a column shows, and the type of its field. Unknown figures are a dash, and empty as CSV. */
typedef enum tbl_kind {
    TBL_PS,        /* int64_t, a duration in the unit of the column's scale */
    TBL_PLACED,    /* the same; on a page a link to where it lies, which takes a getter */
    TBL_COUNT,     /* int64_t */
    TBL_BYTES,     /* int64_t */
    TBL_SHARE,     /* two int64_t: a part, and what it is a part of */
    TBL_BAR,       /* the same with a bar on a page; its value says of what length and colour */
    TBL_NUMBER,    /* double, with the column's digits, or more for two of its own */
    TBL_RATIO,     /* the same with the column's digits and no more */
    TBL_VALUE,     /* double, a figure of the program's own: as many digits as it takes */
    TBL_RANK,      /* int64_t */
    TBL_ID,        /* int64_t of 64 bits, printed unsigned; VP_UNKNOWN is a dash */
    TBL_NAME,      /* const char * of a file: what the row is about; on a page another below it */
    TBL_TEXT,      /* const char * of a file */
    TBL_WORD,      /* const char *, ours; a page adds the tip, and n's share of a larger whole */
    TBL_DEVICE,    /* uint32_t, its place among the report's devices; "host" for none of them */
    TBL_WHEN,      /* two int64_t: a start, and the length of what starts there */
    TBL_COURSE,    /* int64_t, a duration; on a page with its course over the steps */
    TBL_OWN,       /* words by the table's own_text and own_html */
    TBL_OWN_NAME,  /* the same of what the row is about */
    TBL_OWN_BAR,   /* the same of a bar on a page */
    TBL_OWN_FIGURE /* the same of figures */
} tbl_kind;

/* A figure that means nothing in its row: an empty cell, where unknown ones are a dash. */
#define TBL_BLANK (INT64_MIN + 1)
#define TBL_BLANK_NUMBER (-INFINITY)

/* A cell. What a kind does not name is not looked at. */
typedef struct tbl_value {
    /* Of what it is a cell: what a getter may ask. */
    const struct tbl *t;
    const struct tbl_column *column;
    int64_t n;     /* the figure, the part, the start or the device */
    int64_t whole; /* what n is a part of; how long what starts at n, or `start`, lasts */
    int64_t start; /* TBL_PLACED */
    int64_t scale; /* TBL_BAR: what the whole bar would stand for */
    double d;      /* TBL_NUMBER, TBL_RATIO, TBL_VALUE */
    /* The text. Of TBL_BAR and TBL_RATIO the CSS class, of the latter NULL for none. */
    const char *text;
    /* TBL_NAME: a second line, or NULL. TBL_WORD, TBL_RATIO: the tip, or NULL. */
    const char *below;
    uint32_t at_device;    /* TBL_WHEN, TBL_PLACED on a page: whose timeline it is on, VP_NO_DEVICE:
                              the host's */
    const char *host;      /* where at_device is none */
    const int64_t *course; /* TBL_COURSE: as many durations, by step */
    size_t course_count;
    char made[32];   /* where a getter may put a text that it makes */
    tbl_style style; /* TBL_PLAIN: the column's */
    bool blank;      /* as TBL_BLANK */
} tbl_value;

/* Columns from this rank on go, the highest first, before any is shortened; see grid_column. */
#define TBL_DROP_LATE 10u

enum { TBL_SCALES = 3, TBL_COLUMNS_MAX = 48 };

/* What a table may have; columns that need what it has not are left out. */
enum {
    TBL_DEVICES = 1, /* several of them */
    TBL_HOSTS = 2    /* several of them */
};

/* What a head on a page says beside its word; that of durations is the unit of their scale. */
typedef enum tbl_unit {
    TBL_UNIT_NONE,
    TBL_UNIT_PERCENT,
    TBL_UNIT_PERCENT_OF_WINDOW,
    TBL_UNIT_GB_PER_S,
    TBL_UNIT_GFLOP_PER_S,
    TBL_UNIT_COUNT,
    TBL_UNIT_OPS
} tbl_unit;

/* Aligned by kind: figures to the right, words to the left. */
typedef struct tbl_column {
    unsigned kind : 5;     /* tbl_kind */
    unsigned own : 4;      /* which of the table's own cells, or of what a getter serves */
    unsigned scale : 2;    /* TBL_PS, TBL_WHEN: the place of its unit in the table's units */
    unsigned digits : 2;   /* TBL_NUMBER, TBL_RATIO */
    unsigned style : 3;    /* tbl_style */
    unsigned sort : 3;     /* on a page: 1 + the vp_sort that its head asks for; 0: none */
    unsigned left : 1;     /* whatever its kind */
    unsigned keep_end : 1; /* see grid_column, as for drop, want and min */
    unsigned tell_apart : 1;
    unsigned place : 1; /* "model.py:12": a link on a terminal that has them */
    /* The head on a terminal ends in the unit of its scale; on a page that of every duration does,
     * and of own cells where it does here. */
    unsigned says_unit : 1;
    /* Where it stands among the columns of a terminal and of CSV: ascending, and in the order of
     * the array where it is the same. On a page the order is the array's. */
    unsigned text_order : 4, key_order : 6;
    unsigned drop : 4, want : 6, min : 5; /* when the terminal is too narrow */
    /* Bits that the table's `has` must hold for the column to be there. */
    unsigned needs : 9, text_needs : 9;
    unsigned unit : 3; /* tbl_unit: of a head on a page */
    /* The fields, where `get` is none; `also` of TBL_NAME may be 0 for none, and is left out where
     * the table's `has` lacks a bit of also_needs. They are of the row, or of the struct that the
     * pointer at via - 1 of the row leads to, with a blank where it is NULL. */
    uint16_t at, also, via;
    uint8_t also_needs;
    const char *text;       /* its head on a terminal; NULL: not there */
    const char *head, *tip; /* on a page; NULL: not there, no tip */
    const char *key;        /* as CSV; NULL: not there */
    void (*get)(tbl_value *out, const void *row);
} tbl_column;

typedef struct tbl {
    const char *title;     /* ours */
    const char *css_class; /* of the table on a page; NULL: "list" */
    const tbl_column *columns;
    size_t column_count;
    const vp_report *r;
    const vp_view *v;
    const void *of; /* what getters and own cells need beside the row */
    const void *rows;
    size_t row_size, row_count;
    /* A row that does not lie in an array of rows; NULL: rows[i]. */
    const void *(*row_at)(const struct tbl *t, size_t i);
    bool (*shows)(const struct tbl *t, const void *row); /* NULL: all */
    size_t most;                                         /* rows to show; 0: all */
    size_t beyond;                                       /* rows that are known of, and not here */
    /* Rows that say little: they show among the first `always` rows only. NULL: none is. */
    bool (*is_minor)(const struct tbl *t, const void *row);
    size_t always;
    vp_unit unit[TBL_SCALES];
    unsigned has;
    /* Appends the text of a cell of TBL_OWN and the like, escaped; TBL_PLAIN: the column's. */
    tbl_style (*own_text)(vp_buf *b, const struct tbl *t, const tbl_column *c, const void *row);
    /* Puts the whole cell, <td> included. */
    void (*own_html)(struct page *p, const struct tbl *t, const tbl_column *c, const void *row);
    const char *(*row_class)(const struct tbl *t, const void *row); /* CSS, NULL: none */
    /* On a terminal, of cells and columns that have none; NULL: none. */
    tbl_style (*row_style)(const struct tbl *t, const void *row);
} tbl;

/* What a table starts as: its columns, and with a title and rows of its own. */
#define TBL_COLUMNS(the_columns)                                                                   \
    .columns = (the_columns), .column_count = sizeof(the_columns) / sizeof *(the_columns)
#define TBL_ROWS(the_title, the_columns, the_rows, count)                                          \
    .title = (the_title), TBL_COLUMNS(the_columns), .rows = (the_rows),                            \
    .row_size = sizeof *(the_rows), .row_count = (count)

/* How what is of that class stands out on a terminal. */
tbl_style tbl_class_style(vp_op_class c);

typedef enum tbl_format { TBL_AS_TEXT, TBL_AS_HTML, TBL_AS_CSV } tbl_format;

/* What a table of the report may have: `has`. */
unsigned tbl_has(const vp_report *r);
/* Rows that are an array of pointers to them: `row_at`. */
const void *tbl_pointed(const tbl *t, size_t i);
/* The columns that a format shows of the table, in its order; returns how many. */
size_t tbl_columns_of(const tbl_column *out[TBL_COLUMNS_MAX], const tbl *t, tbl_format format);
bool tbl_is_own(const tbl_column *c);
void tbl_get(tbl_value *out, const tbl *t, const tbl_column *c, const void *row);
/* Calls put for each row to show; returns how many rows are not shown. */
size_t tbl_each(const tbl *t, void (*put)(void *ctx, const void *row), void *ctx);
bool tbl_any(const tbl *t); /* some row is to show */
/* The largest int64_t at that place of the rows, or 0: what a unit is chosen for. */
int64_t tbl_largest(const tbl *t, size_t at);

#endif
