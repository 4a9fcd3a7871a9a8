/* Perfetto's own test cases for Trace Event JSON (expected/google__perfetto): the slices that its
 * importer must give are the ones that we give. Their figures are in ns; a slice that Perfetto
 * leaves open has dur -1. We keep more than the queries select (async and global events), so every
 * expected row must be found, not the reverse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/traces.h"
#include "tests/unit/json_sink.h"

static char *slurp(const char *name, const char *suffix, size_t *n)
{
    char rel[256], path[4096];
    snprintf(rel, sizeof rel, "expected/google__perfetto/%s%s", name, suffix);
    FILE *f = fopen(traces_path(path, sizeof path, rel), "rb");
    assert_non_null(f);
    char *p = malloc(1 << 20);
    *n = fread(p, 1, (1 << 20) - 1, f);
    p[*n] = 0;
    fclose(f);
    return p;
}

/* The column of a field in the header line, or -1. */
static int column_of(const char *header, const char *field)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", field);
    int column = 0;
    const char *line_end = strchrnul(header, '\n');
    const char *at = strstr(header, quoted);
    if (!at || at > line_end)
        return -1;
    for (const char *p = header; p < at; p++)
        column += *p == ',';
    return column;
}

/* The text of a column (no case has a comma in a field). */
static void cell_of(const char *row, int column, char *out, size_t cap)
{
    for (; column > 0; column--)
        row = strchr(row, ',') + 1;
    size_t n = strcspn(row, ",\n");
    if (*row == '"') {
        row++;
        n -= 2;
    }
    assert_true(n < cap);
    memcpy(out, row, n);
    out[n] = 0;
}

static bool has_slice(const rec *r, const char *name, long long ts, long long dur, bool with_times)
{
    for (size_t i = 0; i < r->event_n; i++) {
        const sink_event *e = &r->events[i];
        __int128 start = (__int128)e->start_ps + (r->has_base ? (__int128)r->base_ns * 1000 : 0);
        if (strcmp(r->kinds[e->kind].k.name.p, name))
            continue;
        if (!with_times || (start == (__int128)ts * 1000 && (dur < 0 || e->dur_ps == dur * 1000)))
            return true;
    }
    return false;
}

static const char *const cases[] = {
    "decimal_timestamp_slices",
    "display_time_unit_slices",
    "json_all_slice_types",
    "json_flow",
    "json_metadata",
    "json_trailing_comma",
    "same_ts_duration_slice_then_zero_duration_slice_unnesting",
    "same_ts_two_duration_slice_unnesting",
    "same_ts_two_zero_duration_slice_nesting",
    "string_pid_tid",
    "string_ts_and_dur",
    "string_tts_and_tdur",
    "x_event_order",
};

static void check_case(const char *name, const char *json, size_t n, const char *rows)
{
    rec *r = rec_new();
    rd_stream *in;
    size_t checked = 0;
    assert_int_equal(rd_stream_memory(&in, json, n, 0), 0);
    assert_int_equal(cj_read(&r->s, in, NULL), 0);
    rd_stream_close(&in);
    rows += strspn(rows, " \n");
    int ts = column_of(rows, "ts"), dur = column_of(rows, "dur"), title = column_of(rows, "name");
    assert_true(title >= 0);
    for (const char *row = strchr(rows, '\n'); row && *(row += strspn(row, " \n"));
         row = strchr(row, '\n')) {
        char cell[3][256] = {"", "0", "0"};
        cell_of(row, title, cell[0], sizeof cell[0]);
        if (ts >= 0)
            cell_of(row, ts, cell[1], sizeof cell[1]);
        if (dur >= 0)
            cell_of(row, dur, cell[2], sizeof cell[2]);
        if (!has_slice(r, cell[0], atoll(cell[1]), atoll(cell[2]), ts >= 0 && dur >= 0))
            fail_msg("%s: no slice %s at %s for %s ns", name, cell[0], cell[1], cell[2]);
        checked++;
    }
    assert_true(checked > 0);
    rec_free(r);
}

static void test_perfetto_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n, rows_n;
        char *json = slurp(cases[i], ".json", &n),
             *rows = slurp(cases[i], ".expected.csv", &rows_n);
        check_case(cases[i], json, n, rows);
        free(json);
        free(rows);
    }
}

/* Perfetto imports neither; we say why. */
static void test_invalid_times_give_no_slice(void **state)
{
    (void)state;
    size_t n;
    char *json = slurp("invalid_string_ts_and_dur", ".json", &n);
    rec *r = rec_new();
    rd_stream *in;
    assert_int_equal(rd_stream_memory(&in, json, n, 0), 0);
    assert_int_equal(cj_read(&r->s, in, NULL), 0);
    rd_stream_close(&in);
    assert_int_equal(r->event_n, 0);
    assert_string_equal(r->quality[0].code, "bad-event");
    rec_free(r);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perfetto_cases),
        cmocka_unit_test(test_invalid_times_give_no_slice),
    };
    return cmocka_run_group_tests_name("json_perfetto", tests, NULL, NULL);
}
