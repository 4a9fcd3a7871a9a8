/* Exports that may begin early: those of large files begin before all of the file was seen, are the
 * same to the byte, and what breaks late breaks the stream; those of small files wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/xspace_maker.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/export/export.h"
#include "trace/export/shared/stream_out.h"

/* What an event says, so that few of them make a large file. */
#define SAYS (64u << 10)
#define LARGE (EX_EARLY_BYTES / SAYS + 40)
#define SMALL (EX_EARLY_BYTES / SAYS - 40)

/* Which events are which: the last lies across the one before it, so that the plan matters. */
static int64_t start_of(int64_t i, int64_t events)
{
    return i + 1 < events ? 10 * i : 10 * (i - 1) + 5;
}

static vp_buf said(void)
{
    vp_buf b = mk_new();
    for (size_t i = 0; i < SAYS; i++)
        vp_buf_putc(&b, (char)('a' + i % 23));
    return b;
}

/* A space is one plane of one line; a text lacks its last bracket. */
static vp_buf make_space(int64_t events)
{
    vp_buf space = mk_new(), plane = mk_plane(1, "/host:CPU"), line = mk_line(7, "main", 0);
    vp_buf says = said();
    mk_event_meta(&plane, 1, VP_STR("op"), NULL, NULL);
    mk_stat_meta(&plane, 1, "says");
    for (int64_t i = 0; i < events; i++) {
        vp_buf stats = mk_new();
        mk_stat_text(&stats, 4, 1, 5, vp_buf_view(&says));
        mk_event(&line, 1, 1000 * start_of(i, events), 9000, &stats);
    }
    mk_nest(&plane, 3, &line);
    mk_nest(&space, 1, &plane);
    vp_buf_free(&says);
    return space;
}

static vp_buf make_text(int64_t events)
{
    vp_buf text = mk_new(), says = said();
    vp_buf_puts(&text, "{\"traceName\":\"a\",\"traceEvents\":[");
    for (int64_t i = 0; i < events; i++) {
        vp_buf_printf(&text,
                      "%s{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":%lld,\"dur\":9,"
                      "\"name\":\"op\",\"args\":{\"says\":\"",
                      i ? "," : "", (long long)start_of(i, events));
        vp_buf_str(&text, vp_buf_view(&says));
        vp_buf_puts(&text, "\"}}");
    }
    vp_buf_puts(&text, "]");
    vp_buf_free(&says);
    return text;
}

/* What is read. */
static vp_buf input;

static bool broken; /* it fails at its end */

typedef struct breaking {
    rd_stream s; /* first member */
    rd_stream *of;
} breaking;

static int breaking_next(rd_stream *s, char **p, size_t *n)
{
    rd_stream *of = ((breaking *)(void *)s)->of;
    int rc = of->next(of, p, n);
    return rc || !broken ? rc : vp_fail(VP_EIO, "broken");
}

static void breaking_close(rd_stream *s)
{
    rd_stream_close(&((breaking *)(void *)s)->of);
    vp_free(s);
}

static int open_text(void *ctx, rd_stream **out)
{
    (void)ctx;
    breaking *b = vp_calloc(1, sizeof *b);
    assert_non_null(b);
    b->s = (rd_stream){.next = breaking_next, .close = breaking_close, .total = -1};
    *out = &b->s;
    return rd_stream_memory(&b->of, input.p, input.n, 0);
}

static int json_of_json(rd_stream **out, ex_pick *pick)
{
    return ex_json_whole(out, &(ex_input){.open = open_text}, pick);
}

static int pftrace_of_json(rd_stream **out, ex_pick *pick)
{
    return ex_pftrace_from_json(out, &(ex_input){.open = open_text}, pick);
}

static int json_of_xspace(rd_stream **out, ex_pick *pick)
{
    rd_source *in;
    assert_int_equal(rd_source_memory(&in, input.p, input.n), 0);
    return ex_json_from_xspace(out, in, pick);
}

static int pftrace_of_xspace(rd_stream **out, ex_pick *pick)
{
    rd_source *in;
    assert_int_equal(rd_source_memory(&in, input.p, input.n), 0);
    return ex_pftrace_from_xspace(out, in, pick);
}

static const struct {
    int (*open)(rd_stream **out, ex_pick *pick);
    bool text;
    const char *begin; /* NULL: one packet */
} ways[] = {
    {json_of_json, true, "{\"traceName\":\"a\",\"traceEvents\":["},
    {pftrace_of_json, true, NULL},
    {json_of_xspace, false, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["},
    {pftrace_of_xspace, false, NULL},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void make_input(bool text, int64_t events)
{
    input = text ? make_text(events) : make_space(events);
    if (text)
        vp_buf_puts(&input, "}");
    assert_int_equal(input.status, 0);
}

static vp_str slurp(rd_stream *s)
{
    char *p;
    size_t n;
    assert_int_equal(rd_stream_slurp(s, (size_t)1 << 30, &p, &n), 0);
    rd_stream_close(&s);
    return (vp_str){p, n};
}

static vp_str chunk_of(rd_stream *s)
{
    char *p;
    size_t n;
    assert_int_equal(s->next(s, &p, &n), 1);
    return (vp_str){p, n};
}

/* What arrives first is what stands before all events, and no more. */
static void is_begin(vp_str chunk, const char *begin)
{
    if (begin)
        assert_true(vp_str_eq(chunk, vp_str_of(begin)));
    else
        assert_true(chunk.n > 2 && chunk.p[0] == 0x0a && (size_t)chunk.p[1] == chunk.n - 2);
}

static void large_ones_begin_early_and_are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        ex_pick early = {.early = true};
        rd_stream *s;
        make_input(ways[i].text, LARGE);
        assert_int_equal(ways[i].open(&s, NULL), 0);
        vp_str whole = slurp(s);
        assert_int_equal(ways[i].open(&s, &early), 0);
        assert_int_equal(early.last, 0); /* nothing is decided */
        vp_str chunk = chunk_of(s);
        is_begin(chunk, ways[i].begin);
        assert_true(vp_str_starts(whole, chunk));
        size_t n = chunk.n;
        vp_str rest = slurp(s);
        assert_true(vp_str_eq(vp_str_skip(whole, n), rest));
        vp_free((char *)whole.p);
        vp_free((char *)rest.p);
        vp_buf_free(&input);
    }
}

static void small_ones_are_known_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        ex_pick early = {.early = true};
        rd_stream *s;
        make_input(ways[i].text, SMALL);
        assert_int_equal(ways[i].open(&s, &early), 0);
        assert_true(chunk_of(s).n > 40);
        rd_stream_close(&s);
        vp_buf_free(&input);
    }
}

/* What fails, as a disk does, fails before the first byte of a small file's stream, and behind it
 * of a large one's. */
static void what_breaks_late_breaks_the_stream(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        for (size_t i = 0; i < WAYS; i++) {
            ex_pick early = {.early = true};
            rd_stream *s;
            char *p;
            size_t n;
            if (!ways[i].text)
                continue;
            make_input(true, large ? LARGE : SMALL);
            broken = true;
            assert_int_equal(ways[i].open(&s, &early), large ? 0 : VP_EIO);
            if (large) {
                is_begin(chunk_of(s), ways[i].begin);
                assert_int_equal(s->next(s, &p, &n), VP_EIO);
                rd_stream_close(&s);
            }
            broken = false;
            vp_buf_free(&input);
        }
    }
}

/* Without an event by then it may turn out to be none, and the other half of the host is sent. */
static void without_an_event_they_wait(void **state)
{
    (void)state;
    ex_pick early = {.early = true};
    rd_stream *s;
    input = mk_new();
    vp_buf_puts(&input, "{\"a\":\"");
    for (int64_t i = 0; i < EX_EARLY_BYTES; i += 16)
        vp_buf_puts(&input, "0123456789abcdef");
    vp_buf_puts(&input, "\",\"traceEvents\":[]}");
    assert_int_equal(json_of_json(&s, &early), 0);
    vp_str made = slurp(s);
    assert_true(vp_str_ends(made, VP_STR("\"traceEvents\":[]}\n")));
    vp_free((char *)made.p);
    vp_buf_free(&input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_ones_begin_early_and_are_the_same),
        cmocka_unit_test(small_ones_are_known_whole),
        cmocka_unit_test(what_breaks_late_breaks_the_stream),
        cmocka_unit_test(without_an_event_they_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
