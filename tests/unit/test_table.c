/* trace/report/table: which columns and rows of a table show, and what its encoders make of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/mem.h"
#include "trace/report/data/csv_table.h"
#include "trace/report/html/html_parts.h"
#include "trace/report/table/columns.h"
#include "trace/report/text/text_parts.h"

typedef struct inner {
    int64_t ps;
} inner;

typedef struct row {
    const char *name, *host, *text;
    int64_t ps, count, bytes, part, whole, rank, id, start, dur;
    double number, value;
    uint32_t device;
    const inner *more;
} row;

#define MS INT64_C(1000000000)

static vp_device devices[] = {{.name = "/device:A<0>", .host = "h1"}, {.name = "GPU 1"}};
static vp_report report = {.devices = devices, .device_count = 2};
static vp_view view = VP_VIEW_INIT;

static const row known = {.name = "a & b",
                          .host = "h1",
                          .text = "t,\"u\"",
                          .ps = 2 * MS,
                          .count = 12345,
                          .bytes = 2048,
                          .part = 1,
                          .whole = 4,
                          .rank = 3,
                          .id = -2,
                          .start = 3 * MS,
                          .dur = MS,
                          .number = 1.23,
                          .value = 0.5,
                          .device = 0};
static const row unknown = {.ps = VP_UNKNOWN,
                            .count = VP_UNKNOWN,
                            .bytes = VP_UNKNOWN,
                            .part = VP_UNKNOWN,
                            .rank = VP_UNKNOWN,
                            .id = VP_UNKNOWN,
                            .start = VP_NO_TIME,
                            .dur = VP_UNKNOWN,
                            .number = NAN,
                            .value = NAN,
                            .device = VP_NO_DEVICE};

/* ---- The three formats of a table; the caller frees ---- */

static char *as_text(const tbl *t, bool color)
{
    vp_view v = view;
    vp_buf b;
    v.width = 200;
    v.color = color;
    vp_buf_init(&b, 1u << 20);
    assert_int_equal(text_table(&b, &v, t), 0);
    return vp_buf_take(&b, NULL);
}

static char *as_html(const tbl *t)
{
    vp_buf b;
    page p = {.b = &b, .r = &report, .v = VP_VIEW_INIT};
    vp_buf_init(&b, 1u << 20);
    html_put_table(&p, t);
    return vp_buf_take(&b, NULL);
}

static char *as_csv(const tbl *t)
{
    csv_row_writer w;
    vp_buf b;
    vp_buf_init(&b, 1u << 20);
    csv_init_rows(&w, &b, t);
    tbl_each(t, csv_row, &w);
    return vp_buf_take(&b, NULL);
}

static void is_text(const tbl *t, const char *want)
{
    char *text = as_text(t, false);
    assert_string_equal(text, want);
    vp_free(text);
}

static void is_csv(const tbl *t, const char *want)
{
    char *text = as_csv(t);
    assert_string_equal(text, want);
    vp_free(text);
}

/* What stands between two marks of the page, the first that there are. */
static void is_html(const tbl *t, const char *from, const char *to, const char *want)
{
    char *text = as_html(t), *at = strstr(text, from), *end = at ? strstr(at, to) : NULL;
    assert_non_null(end);
    *end = '\0';
    assert_string_equal(at + strlen(from), want);
    vp_free(text);
}

#define IS_ROWS(t, want) is_html(t, "<tbody>\n", "</tbody>", want)
#define IS_HEADS(t, want) is_html(t, "<thead><tr>", "</tr></thead>", want)

#define ROW row

/* ---- Columns ---- */

static const tbl_column some[] = {
    {TBL_PS, AT(ps), PAGE("Page", NULL), TERM(2, "second"), CSV(3, "third")},
    {TBL_COUNT, AT(count), TERM(1, "first"), CSV(1, "first")},
    {TBL_COUNT, AT(count), PAGE("Devices", NULL), NEEDS(TBL_DEVICES), TERM(2, "behind second")},
    {TBL_COUNT, AT(count), PAGE("Hosts", NULL), NEEDS(TBL_HOSTS), TERM(3, "hosts"),
     TERM_NEEDS(TBL_HOSTS)},
    {TBL_COUNT, AT(count), PAGE("Both", NULL), NEEDS(TBL_DEVICES | TBL_HOSTS)},
    {TBL_COUNT, AT(count), CSV(2, "second")},
};

static void are(const tbl *t, tbl_format format, const char *want)
{
    const tbl_column *columns[TBL_COLUMNS_MAX];
    size_t n = tbl_columns_of(columns, t, format);
    char all[256] = "";
    for (size_t i = 0; i < n; i++) {
        const tbl_column *c = columns[i];
        strcat(all, format == TBL_AS_TEXT ? c->text : format == TBL_AS_CSV ? c->key : c->head);
        strcat(all, "|");
    }
    assert_string_equal(all, want);
}

/* Each format has columns of its own and an order of its own; places that are the same keep the
 * order of the array. */
static void columns_of_each_format(void **state)
{
    tbl t = {TBL_ROWS("Some", some, &known, 1), .has = TBL_DEVICES};
    (void)state;
    are(&t, TBL_AS_TEXT, "first|second|behind second|");
    are(&t, TBL_AS_HTML, "Page|Devices|");
    are(&t, TBL_AS_CSV, "first|second|third|");
    t.has = TBL_DEVICES | TBL_HOSTS;
    are(&t, TBL_AS_TEXT, "first|second|behind second|hosts|");
    are(&t, TBL_AS_HTML, "Page|Devices|Hosts|Both|");
    t.has = 0;
    are(&t, TBL_AS_TEXT, "first|second|behind second|");
    are(&t, TBL_AS_HTML, "Page|");
}

static void a_report_says_what_tables_have(void **state)
{
    vp_report r = {.device_count = 1, .host_count = 1};
    (void)state;
    assert_int_equal(tbl_has(&r), 0);
    r.device_count = 2;
    assert_int_equal(tbl_has(&r), TBL_DEVICES);
    r.host_count = 2;
    assert_int_equal(tbl_has(&r), TBL_DEVICES | TBL_HOSTS);
}

/* Figures stand to the right, words to the left; units in the heads are those of the scale. */
static void heads_by_kind(void **state)
{
    static const tbl_column columns[] = {
        {TBL_NAME, AT(name), PAGE("Name", NULL), TERM(0, "name")},
        {TBL_PS, AT(ps), SCALE(1), PAGE("Time", "a tip"), TERM_UNIT(0, "time")},
        {TBL_PS, AT(ps), PAGE("Other", NULL), TERM(0, "other")},
        {TBL_RANK, AT(rank), PAGE("#", NULL), TERM(0, "#")},
        {TBL_TEXT, AT(text), PAGE("Text", NULL), TERM(0, "text")},
        {TBL_BYTES, AT(bytes), PAGE("Bytes", NULL), TERM(0, "all bytes")},
    };
    tbl t = {TBL_ROWS("Heads", columns, &known, 1), .r = &report, .unit = {VP_UNIT_US, VP_UNIT_MS}};
    (void)state;
    is_text(&t, "name   time ms    other  #  text   all bytes\n"
                "a & b    2.000  2000.00  3  t,\"u\"    2.0 KiB\n");
    IS_HEADS(&t, "<th scope=\"col\" class=\"op\">Name</th>\n"
                 "<th scope=\"col\" class=\"\" title=\"a tip\">Time <span>ms</span></th>\n"
                 "<th scope=\"col\" class=\"\">Other <span>µs</span></th>\n"
                 "<th scope=\"col\" class=\"rank\">#</th>\n"
                 "<th scope=\"col\" class=\"text\">Text</th>\n"
                 "<th scope=\"col\" class=\"\">Bytes</th>\n");
}

/* ---- Cells ---- */

static void get_bar(tbl_value *out, const void *at)
{
    const row *x = at;
    out->n = x->part;
    out->whole = x->whole;
    out->scale = 2;
    out->text = "idle";
}

static const tbl_column kinds[] = {
    {TBL_NAME, AT(name), ALSO_OF_HOSTS(host), PAGE("", NULL), TERM(0, "name"), CSV(0, "name")},
    {TBL_PS, AT(ps), PAGE("", NULL), TERM(0, "ps"), CSV(0, "ps")},
    {TBL_COUNT, AT(count), PAGE("", NULL), TERM(0, "count"), CSV(0, "count")},
    {TBL_BYTES, AT(bytes), PAGE("", NULL), TERM(0, "bytes"), CSV(0, "bytes")},
    {TBL_SHARE, AT(part), ALSO(whole), PAGE("", NULL), TERM(0, "share"), CSV(0, "share")},
    {TBL_BAR, GET(get_bar), PAGE("", NULL), TERM(0, "bar"), CSV(0, "bar")},
    {TBL_NUMBER, AT(number), DIGITS(1), PAGE("", NULL), TERM(0, "number"), CSV(0, "number")},
    {TBL_VALUE, AT(value), PAGE("", NULL), TERM(0, "value"), CSV(0, "value")},
    {TBL_RANK, AT(rank), PAGE("", NULL), TERM(0, "rank"), CSV(0, "rank")},
    {TBL_TEXT, AT(text), PAGE("", NULL), TERM(0, "text"), CSV(0, "text")},
    {TBL_DEVICE, AT(device), PAGE("", NULL), TERM(0, "device"), CSV(0, "device")},
    {TBL_WHEN, AT(start), ALSO(dur), PAGE("", NULL), TERM(0, "when"), CSV(0, "when")},
};

static void cells_of_what_is_known(void **state)
{
    tbl t = {TBL_ROWS("Kinds", kinds, &known, 1), .r = &report, .unit = {VP_UNIT_MS},
             .has = TBL_HOSTS};
    (void)state;
    is_text(&t, "name      ps  count    bytes   share     bar  number  value  rank  text   device"
                "         when\n"
                "a & b  2.000  12345  2.0 KiB  25.00%  25.00%     1.2    0.5     3  t,\"u\"  "
                "/device:A<0>  3.000\n");
    IS_ROWS(&t, "<tr><th scope=\"row\" class=\"op\" title=\"a &amp; b\nh1\">"
                "<span class=\"name\">a &amp; b</span><span class=\"sub\">h1</span></th>"
                "<td>2.000</td><td>12,345</td><td>2.0 KiB</td><td>25.00%</td>"
                "<td class=\"share\"><svg aria-hidden=\"true\"><rect class=\"idle\" x=\"0.00%\" "
                "width=\"50.00%\" height=\"100%\"/></svg><b>25.00%</b></td>"
                "<td>1.2</td><td>0.5</td><td class=\"rank\">3</td>"
                "<td class=\"text long\" title=\"t,&quot;u&quot;\">t,&quot;u&quot;</td>"
                "<td class=\"text\">/device:A&lt;0&gt;</td><td>3.000 ms</td></tr>\n");
    is_csv(&t, "name,ps,count,bytes,share,bar,number,value,rank,text,device,when\n"
               "\"a & b\",2000000000,12345,2048,0.250000000,0.250000000,1.23,0.5,3,"
               "\"t,\"\"u\"\"\",\"/device:A<0>\",3000000000\n");
    t.has = 0; /* of one host it says nothing */
    is_html(&t, "<span class=\"name\">", "</th>", "a &amp; b</span>");
}

/* A dash, and as CSV nothing; what is of no device is the host's. */
static void cells_of_what_is_unknown(void **state)
{
    tbl t = {TBL_ROWS("Kinds", kinds, &unknown, 1), .r = &report, .unit = {VP_UNIT_MS},
             .has = TBL_HOSTS};
    (void)state;
    is_text(&t, "name  ps  count  bytes  share  bar  number  value  rank  text  device  when\n"
                "-      -      -      -      -    -       -      -     -  -     host       -\n");
    IS_ROWS(&t, "<tr><th scope=\"row\" class=\"op\" title=\"–\"><span class=\"name\">–</span></th>"
                "<td>–</td><td>–</td><td>–</td><td>–</td>"
                "<td class=\"share\"><svg aria-hidden=\"true\"><rect class=\"idle\" x=\"0.00%\" "
                "width=\"0.00%\" height=\"100%\"/></svg><b>–</b></td>"
                "<td>–</td><td>–</td><td class=\"rank\"></td><td class=\"text\">–</td>"
                "<td class=\"text\">host</td><td>–</td></tr>\n");
    is_csv(&t, "name,ps,count,bytes,share,bar,number,value,rank,text,device,when\n,,,,,,,,,,,\n");
}

static void ids_are_unsigned(void **state)
{
    static const tbl_column columns[] = {{TBL_ID, AT(id), PAGE("Id", NULL), TERM(0, "id")}};
    tbl t = {TBL_ROWS("Ids", columns, &known, 1), .r = &report};
    (void)state;
    is_text(&t, "                  id\n18446744073709551614\n");
    t.rows = &unknown;
    is_text(&t, "id\n -\n");
}

static void get_nothing(tbl_value *out, const void *at)
{
    (void)at;
    out->blank = true;
}

static void get_blank_figure(tbl_value *out, const void *at)
{
    (void)at;
    out->n = TBL_BLANK;
}

static void get_blank_number(tbl_value *out, const void *at)
{
    (void)at;
    out->d = TBL_BLANK_NUMBER;
}

/* What means nothing in a row is empty, whether the getter says so, the figure does, or the struct
 * that it is a member of is not there. */
static void blank_cells_are_empty(void **state)
{
    static const tbl_column columns[] = {
        {TBL_COUNT, GET(get_nothing), PAGE("A", NULL), TERM(0, "a"), CSV(0, "a")},
        {TBL_COUNT, GET(get_blank_figure), PAGE("B", NULL), TERM(0, "b"), CSV(0, "b")},
        {TBL_NUMBER, GET(get_blank_number), PAGE("C", NULL), TERM(0, "c"), CSV(0, "c")},
        {TBL_PS, VIA(more, inner, ps), PAGE("D", NULL), TERM(0, "d"), CSV(0, "d")},
        {TBL_COUNT, AT(count), PAGE("E", NULL), TERM(0, "e"), CSV(0, "e")},
    };
    static const inner more = {MS};
    row with = known;
    tbl t = {TBL_ROWS("Blank", columns, &with, 1), .r = &report, .unit = {VP_UNIT_MS}};
    (void)state;
    is_text(&t, "a  b  c  d      e\n            12345\n");
    IS_ROWS(&t, "<tr><td></td><td></td><td></td><td></td><td>12,345</td></tr>\n");
    is_csv(&t, "a,b,c,d,e\n,,,,12345\n");
    with.more = &more;
    is_csv(&t, "a,b,c,d,e\n,,,1000000000,12345\n");
}

/* A terminal bounds how wide a table is, not how many columns it has: none of them moves a row. */
static void every_column_has_its_place(void **state)
{
    tbl_column columns[TBL_COLUMNS_MAX];
    char want[2][4 * TBL_COLUMNS_MAX + 1] = {"", ""};
    const row rows[] = {{.count = 1}, {.count = 2}};
    tbl t = {TBL_ROWS("Wide", columns, rows, 2), .r = &report};
    (void)state;
    for (int i = 0; i < TBL_COLUMNS_MAX; i++) {
        columns[i] = (tbl_column){TBL_COUNT, AT(count), TERM(0, "n")};
        for (int k = 0; k < 2; k++)
            snprintf(want[k] + strlen(want[k]), 5, "%s%d", i ? "  " : "", k + 1);
    }
    view.width = 200;
    vp_buf b;
    vp_buf_init(&b, 1u << 20);
    assert_int_equal(text_table(&b, &view, &t), 0);
    view.width = 0;
    assert_non_null(strstr(vp_buf_cstr(&b), want[0]));
    assert_non_null(strstr(vp_buf_cstr(&b), want[1]));
    vp_buf_free(&b);
}

static void get_word(tbl_value *out, const void *at)
{
    const row *x = at;
    out->text = "word";
    out->below = x->part == 1 ? "a tip" : NULL;
    out->n = x->part;
    out->whole = x->whole;
}

/* A page has room for more than the word: why it, and how much of the whole. */
static void words_have_tips_and_shares(void **state)
{
    static const tbl_column columns[] = {
        {TBL_WORD, GET(get_word), PAGE("Word", NULL), TERM(0, "word"), CSV(0, "word")}};
    row rows[] = {known, known, known};
    tbl t = {TBL_ROWS("Words", columns, rows, 3), .r = &report};
    (void)state;
    rows[1].part = rows[1].whole; /* no share of what is all */
    rows[2].part = 0;             /* or none */
    IS_ROWS(
        &t,
        "<tr><td class=\"text word\" title=\"a tip\">word <span class=\"soft\">25.00%</span></td>"
        "</tr>\n<tr><td class=\"text word\">word</td></tr>\n<tr><td class=\"text "
        "word\">word</td></tr>\n");
    is_text(&t, "word\nword\nword\nword\n");
    is_csv(&t, "word\nword\nword\nword\n");
}

static void get_made(tbl_value *out, const void *at)
{
    (void)at;
    snprintf(out->made, sizeof out->made, "%s %d", (const char *)out->t->of, out->column->own);
    out->text = out->made;
}

/* One getter serves several columns, and what it makes lasts as long as the cell. */
static void getters_know_table_and_column(void **state)
{
    static const tbl_column columns[] = {
        {TBL_TEXT, GET(get_made), OWN(7), PAGE("A", NULL), TERM(0, "a"), CSV(0, "a")},
        {TBL_TEXT, GET(get_made), OWN(8), PAGE("B", NULL), TERM(0, "b"), CSV(0, "b")},
    };
    tbl t = {TBL_ROWS("Made", columns, &known, 1), .r = &report, .of = "made"};
    (void)state;
    is_text(&t, "a       b\nmade 7  made 8\n");
    is_csv(&t, "a,b\n\"made 7\",\"made 8\"\n");
    IS_ROWS(&t, "<tr><td class=\"text long\" title=\"made 7\">made 7</td>"
                "<td class=\"text long\" title=\"made 8\">made 8</td></tr>\n");
}

/* ---- The table's own cells ---- */

static tbl_style own_text(vp_buf *b, const tbl *t, const tbl_column *c, const void *at)
{
    (void)t;
    vp_buf_printf(b, "%d of %s", c->own, ((const row *)at)->host);
    return c->own == 1 ? TBL_BAD : TBL_PLAIN;
}

static void own_html(page *p, const tbl *t, const tbl_column *c, const void *at)
{
    vp_buf_printf(p->b, "<td>%s %d %s</td>", t->title, c->own, ((const row *)at)->host);
}

static void own_cells_are_the_tables(void **state)
{
    static const tbl_column columns[] = {
        {TBL_OWN, OWN(1), PAGE("A", NULL), TERM(0, "a"), STYLE(TBL_DIM)},
        {TBL_OWN_FIGURE, OWN(2), PAGE("B", NULL), TERM(0, "b, a long head")},
        {TBL_OWN_NAME, OWN(3), PAGE("C", NULL)},
    };
    tbl t = {TBL_ROWS("Own", columns, &known, 1), .r = &report, .own_text = own_text,
             .own_html = own_html};
    (void)state;
    is_text(&t, "a        b, a long head\n1 of h1         2 of h1\n");
    IS_ROWS(&t, "<tr><td>Own 1 h1</td><td>Own 2 h1</td><td>Own 3 h1</td></tr>\n");
    IS_HEADS(&t, "<th scope=\"col\" class=\"text\">A</th>\n<th scope=\"col\" class=\"\">B</th>\n"
                 "<th scope=\"col\" class=\"op\">C</th>\n");
}

static tbl_style dim(const tbl *t, const void *at)
{
    (void)t, (void)at;
    return TBL_DIM;
}

/* Of cell, column and row, the first that says one. */
static void styles_of_cells_come_first(void **state)
{
    static const tbl_column columns[] = {
        {TBL_OWN, OWN(1), TERM(0, "a"), STYLE(TBL_COPY)},
        {TBL_OWN, OWN(2), TERM(0, "b"), STYLE(TBL_COPY)},
        {TBL_OWN, OWN(3), TERM(0, "c")},
    };
    tbl t = {TBL_ROWS("Styles", columns, &known, 1), .r = &report, .own_text = own_text,
             .row_style = dim};
    (void)state;
    char *text = as_text(&t, true);
    assert_non_null(strstr(text, "\n\x1b[31m1 of h1\x1b[0m  \x1b[36m2 of h1\x1b[0m  "
                                 "\x1b[2m3 of h1\x1b[0m\n"));
    vp_free(text);
}

/* ---- Rows ---- */

enum { ROWS = 6 };
static const row numbered[ROWS] = {{.count = 1, .ps = 5}, {.count = 2, .ps = 9}, {.count = 3},
                                   {.count = 4},          {.count = 5},          {.count = 6}};
static const tbl_column counts[] = {
    {TBL_COUNT, AT(count), PAGE("N", NULL), TERM(0, "n"), CSV(0, "n")}};

static bool is_even(const tbl *t, const void *at)
{
    (void)t;
    return ((const row *)at)->count % 2 == 0;
}

static bool is_late(const tbl *t, const void *at)
{
    (void)t;
    return ((const row *)at)->count > 2;
}

static bool is_none(const tbl *t, const void *at)
{
    (void)t, (void)at;
    return false;
}

static void rows_beyond_the_most_are_counted(void **state)
{
    tbl t = {TBL_ROWS("Rows", counts, numbered, ROWS), .r = &report};
    (void)state;
    is_text(&t, "n\n1\n2\n3\n4\n5\n6\n");
    char *html = as_html(&t);
    assert_null(strstr(html, "class=\"note\""));
    vp_free(html);
    t.most = 2;
    is_text(&t, "n\n1\n2\n… 4 more\n");
    is_csv(&t, "n\n1\n2\n");
    IS_ROWS(&t, "<tr><td>1</td></tr>\n<tr><td>2</td></tr>\n");
    is_html(&t, "<p class=\"note\">", "</p>", "… 4 more");
    t.beyond = 10; /* rows of the profile that the report does not list */
    is_text(&t, "n\n1\n2\n… 14 more\n");
    t.most = 0;
    is_text(&t, "n\n1\n2\n3\n4\n5\n6\n… 10 more\n");
}

static void rows_that_do_not_show_are_not_counted(void **state)
{
    tbl t = {TBL_ROWS("Rows", counts, numbered, ROWS), .r = &report, .shows = is_even, .most = 2};
    (void)state;
    is_text(&t, "n\n2\n4\n… 1 more\n");
    assert_true(tbl_any(&t));
    t.shows = is_none;
    assert_false(tbl_any(&t));
    t.shows = NULL;
    assert_true(tbl_any(&t));
    t.row_count = 0;
    t.beyond = 3;
    assert_false(tbl_any(&t));
}

static void minor_rows_show_among_the_first(void **state)
{
    tbl t = {TBL_ROWS("Rows", counts, numbered, ROWS), .r = &report, .is_minor = is_late,
             .always = 3, .most = 5};
    (void)state;
    is_text(&t, "n\n1\n2\n3\n… 3 more\n");
    t.always = 0;
    is_text(&t, "n\n1\n2\n… 4 more\n");
    t.most = 1;
    is_text(&t, "n\n1\n… 5 more\n");
}

static void rows_by_pointers(void **state)
{
    const row *order[] = {&numbered[4], &numbered[1]};
    tbl t = {TBL_ROWS("Rows", counts, order, 2), .r = &report, .row_at = tbl_pointed};
    (void)state;
    is_text(&t, "n\n5\n2\n");
    assert_int_equal(tbl_largest(&t, offsetof(row, ps)), 9);
    t.row_count = 1;
    assert_int_equal(tbl_largest(&t, offsetof(row, ps)), 0);
}

static const char *class_of(const tbl *t, const void *at)
{
    return is_even(t, at) ? "even" : NULL;
}

static void rows_have_classes(void **state)
{
    tbl t = {TBL_ROWS("Rows", counts, numbered, 2), .r = &report, .row_class = class_of};
    (void)state;
    IS_ROWS(&t, "<tr><td>1</td></tr>\n<tr class=\"even\"><td>2</td></tr>\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_each_format),
        cmocka_unit_test(a_report_says_what_tables_have),
        cmocka_unit_test(heads_by_kind),
        cmocka_unit_test(cells_of_what_is_known),
        cmocka_unit_test(cells_of_what_is_unknown),
        cmocka_unit_test(ids_are_unsigned),
        cmocka_unit_test(blank_cells_are_empty),
        cmocka_unit_test(every_column_has_its_place),
        cmocka_unit_test(words_have_tips_and_shares),
        cmocka_unit_test(getters_know_table_and_column),
        cmocka_unit_test(own_cells_are_the_tables),
        cmocka_unit_test(styles_of_cells_come_first),
        cmocka_unit_test(rows_beyond_the_most_are_counted),
        cmocka_unit_test(rows_that_do_not_show_are_not_counted),
        cmocka_unit_test(minor_rows_show_among_the_first),
        cmocka_unit_test(rows_by_pointers),
        cmocka_unit_test(rows_have_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
