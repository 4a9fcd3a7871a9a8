/* An XSpace read by several threads: the trace is the one that a single thread makes, whatever the
 * file holds and wherever it is damaged, and failures end all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/xspace_maker.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/model/trace.h"
#include "trace/read/xspace/xs_walk.h"
#include "trace/read/xspace/xspace.h"

static uint64_t dice;
static uint64_t roll(uint64_t n)
{
    dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (dice >> 33) % n;
}

enum { OFFSET = 1, DURATION, CORRELATION, HLO_OP, ORDINAL, PRODUCER, CONSUMER, FREE, USED, TF_OP };

static void stat_names(vp_buf *plane)
{
    static const char *const names[] = {"device_offset_ps",
                                        "device_duration_ps",
                                        "correlation_id",
                                        "hlo_op",
                                        "device_ordinal",
                                        "_p",
                                        "_c",
                                        "bytes_available",
                                        "bytes_allocated",
                                        "tf_op"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        mk_stat_meta(plane, (int64_t)i + 1, names[i]);
}

/* Events of a device: most on its own clock, some out of order, some with kinds of their own. */
static vp_buf device_line(int64_t id, const char *name, unsigned n)
{
    vp_buf line = mk_line(id, name, 1000);
    for (unsigned i = 0; i < n; i++) {
        vp_buf stats = mk_new();
        uint64_t at = 1000000 + (uint64_t)i * 5000 + roll(12000);
        if (roll(10))
            mk_stat_u(&stats, 4, OFFSET, 3, at + 77);
        if (roll(9))
            mk_stat_u(&stats, 4, DURATION, 3, 100 + roll(9000));
        if (!roll(5))
            mk_stat_u(&stats, 4, CORRELATION, 3, i + 1);
        if (!roll(7))
            mk_stat_text(&stats, 4, TF_OP, 5, roll(2) ? VP_STR("a/b") : VP_STR("a/c"));
        mk_event(&line, 1 + (int64_t)roll(40), (int64_t)at, 100 + (int64_t)roll(9000), &stats);
    }
    return line;
}

static vp_buf host_line(int64_t id, const char *name, unsigned n)
{
    vp_buf line = mk_line(id, name, 1000);
    for (unsigned i = 0; i < n; i++) {
        vp_buf stats = mk_new();
        switch (roll(6)) {
        case 0:
            mk_stat_text(&stats, 4, HLO_OP, 5, roll(2) ? VP_STR("dot.1") : VP_STR("add.2"));
            mk_stat_u(&stats, 4, ORDINAL, 3, roll(3));
            mk_stat_u(&stats, 4, PRODUCER, 3, i);
            break;
        case 1:
            mk_stat_u(&stats, 4, CONSUMER, 3, i - (i > 0));
            break;
        case 2:
            mk_stat_u(&stats, 4, FREE, 3, 1000 + roll(100));
            mk_stat_u(&stats, 4, USED, 3, 50 + roll(100));
            break;
        default:
            break;
        }
        mk_event(&line, 1 + (int64_t)roll(42), (int64_t)i * 4000 + (int64_t)roll(3000),
                 (int64_t)roll(20) * 300, &stats);
    }
    return line;
}

static void event_names(vp_buf *plane)
{
    for (int64_t i = 1; i <= 40; i++) {
        char name[40];
        int n = snprintf(name, sizeof name, i % 4 ? "fusion.%d" : "end: fusion.%d", (int)i);
        mk_event_meta(plane, i, (vp_str){name, (size_t)n}, NULL, NULL);
    }
}

static void nest_line(vp_buf *plane, vp_buf line)
{
    mk_nest(plane, 3, &line);
}

/* Above 3 MB: parts of many lines, and lines of many parts. */
static vp_buf make_space(bool device)
{
    vp_buf space = mk_new();
    dice = device ? 1 : 2;
    for (int again = 0; again < 2; again++) { /* planes of one name are one process */
        vp_buf plane = mk_plane(2, "/device:TPU:0");
        stat_names(&plane);
        event_names(&plane);
        if (device) {
            nest_line(&plane, device_line(1, "XLA Modules", 50));
            nest_line(&plane, device_line(2, "XLA Ops", 45000));
        }
        mk_nest(&space, 1, &plane);
    }
    vp_buf plane = mk_plane(9, "/host:CPU");
    stat_names(&plane);
    event_names(&plane);
    nest_line(&plane, mk_line(4, "empty", 1000));
    for (int i = 0; i < 150; i++) {
        char name[20];
        snprintf(name, sizeof name, "thread %d", i % 140);
        nest_line(&plane, host_line(i, name, (unsigned)roll(150)));
    }
    nest_line(&plane, host_line(7, "long", device ? 20000 : 150000));
    mk_nest(&space, 1, &plane);
    return space;
}

typedef struct space {
    vp_buf device, host;
} space;

static int make_spaces(void **state)
{
    static space s;
    s.device = make_space(true);
    s.host = make_space(false);
    assert_true(s.device.n > 3 << 20 && s.host.n > 3 << 20);
    *state = &s;
    return 0;
}

static int free_spaces(void **state)
{
    space *s = *state;
    vp_buf_free(&s->device);
    vp_buf_free(&s->host);
    return 0;
}

/* What is wanted of a space. */
typedef enum wanted { ALL, DEVICES, DEVICES_UNCOUNTED, WANTED_COUNT } wanted;

static int read_by(trace **out, vp_str bytes, int threads, wanted what,
                   int (*progress)(void *, int64_t, int64_t))
{
    rd_source *in;
    rd_options opts = {.device_only = what != ALL,
                       .uncounted = what == DEVICES_UNCOUNTED,
                       .threads = threads,
                       .progress = progress};
    *out = NULL;
    if (rd_source_memory(&in, bytes.p, bytes.n) < 0)
        return VP_ENOMEM;
    int rc = trace_new(out);
    if (rc >= 0)
        rc = xs_read(&(*out)->sink, in, &opts);
    rd_source_close(in);
    if (rc < 0) {
        trace_free(*out);
        *out = NULL;
    }
    return rc;
}

static void same_track(const trace_track *a, const trace_track *b)
{
    assert_int_equal(a->process, b->process);
    assert_int_equal(a->name, b->name);
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->role, b->role);
    assert_int_equal(a->sorted, b->sorted);
    assert_int_equal(a->count, b->count);
    assert_int_equal(trace_has_aligned(a), trace_has_aligned(b));
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(trace_start(a, i), trace_start(b, i));
        assert_int_equal(trace_dur(a, i), trace_dur(b, i));
        assert_int_equal(trace_kind_of(a, i), trace_kind_of(b, i));
        assert_int_equal(trace_aligned_start(a, i), trace_aligned_start(b, i));
        assert_int_equal(trace_aligned_end(a, i), trace_aligned_end(b, i));
        for (sink_attr x = 0; x < SINK_ATTRS; x++)
            assert_int_equal(trace_attr(a, x, i), trace_attr(b, x, i));
    }
}

static void same_trace(const trace *a, const trace *b)
{
    assert_int_equal(a->event_count, b->event_count);
    assert_int_equal(a->skipped_count, b->skipped_count);
    assert_int_equal(a->process_count, b->process_count);
    for (uint32_t i = 0; i < a->process_count; i++) {
        assert_int_equal(a->processes[i].name, b->processes[i].name);
        assert_int_equal(a->processes[i].id, b->processes[i].id);
    }
    assert_int_equal(a->track_count, b->track_count);
    for (uint32_t i = 0; i < a->track_count; i++)
        same_track(&a->tracks[i], &b->tracks[i]);
    assert_int_equal(a->kind_count, b->kind_count);
    for (uint32_t i = 0; i < a->kind_count; i++) {
        assert_int_equal(a->kinds[i].name, b->kinds[i].name);
        assert_int_equal(a->kinds[i].scope, b->kinds[i].scope);
        assert_int_equal(a->kinds[i].hlo_op, b->kinds[i].hlo_op);
        assert_int_equal(a->kinds[i].is_op, b->kinds[i].is_op);
    }
    assert_int_equal(a->names.count, b->names.count);
    assert_int_equal(a->quality_count, b->quality_count);
    for (uint32_t i = 0; i < a->quality_count; i++) {
        assert_string_equal(a->quality[i].message, b->quality[i].message);
        assert_int_equal(a->quality[i].byte, b->quality[i].byte);
    }
    assert_int_equal(a->extent_start_ps, b->extent_start_ps);
    assert_int_equal(a->extent_end_ps, b->extent_end_ps);
}

/* Events read, by all numbers of threads alike. */
static uint64_t same_by_all(vp_str bytes)
{
    static const int threads[] = {2, 3, 16};
    uint64_t events = 0;
    for (wanted what = ALL; what < WANTED_COUNT; what++) {
        trace *one, *many;
        int rc = read_by(&one, bytes, 1, what, NULL);
        if (rc >= 0)
            assert_int_equal(trace_seal(one), 0);
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            assert_int_equal(read_by(&many, bytes, threads[i], what, NULL), rc);
            if (rc >= 0) {
                assert_int_equal(trace_seal_by(many, threads[i]), 0);
                same_trace(one, many);
            }
            trace_free(many);
        }
        events += one ? one->event_count : 0;
        trace_free(one);
    }
    return events;
}

static void test_any_number_of_threads(void **state)
{
    const space *s = *state;
    assert_true(same_by_all(vp_buf_view(&s->device)) > 2 * 90000 + 20000);
    assert_true(same_by_all(vp_buf_view(&s->host)) > 150000);
}

static void test_cut_anywhere(void **state)
{
    const space *s = *state;
    dice = 3;
    for (int i = 0; i < 6; i++) {
        vp_str all = vp_buf_view(i % 2 ? &s->device : &s->host);
        same_by_all(vp_str_head(all, all.n / 2 + roll(all.n / 2)));
    }
}

static void test_damaged_anywhere(void **state)
{
    space *s = *state;
    dice = 4;
    for (int i = 0; i < 6; i++) {
        vp_buf *b = i % 2 ? &s->device : &s->host;
        char *p = b->p + roll(b->n), before = *p;
        *p = (char)roll(256);
        same_by_all(vp_buf_view(b));
        *p = before;
    }
}

static void test_memory_that_fails(void **state)
{
    const space *s = *state;
    trace *t;
    for (int threads = 1; threads < 4; threads += 2)
        for (uint64_t k = 1, n = 1; k < n + 1; k += 1 + k) {
            vp_mem_fail_at(0, false);
            vp_mem_fail_at(k, true);
            int rc = read_by(&t, vp_buf_view(&s->device), threads, ALL, NULL);
            n = vp_mem_fail_at(0, false);
            if (k > n)
                break;
            assert_int_equal(rc, VP_ENOMEM);
            assert_null(t);
        }
}

/* ---- Lines of several sections (xs_walk.h) ------------------------------------------------- */

#define SECTIONS (XS_SECTION_BYTES * 9 / 4)

static void one_stat(vp_buf *line, uint64_t i)
{
    vp_buf stats = mk_new();
    mk_stat_u(&stats, 4, CORRELATION, 3, i + 1);
    mk_event(line, 1 + (int64_t)(i % 40), (int64_t)i * 1000, 7, &stats);
}

/* More stats than a guess looks at: their tag is that of events, so that guesses end in them. */
static void many_stats(vp_buf *line, uint64_t i)
{
    vp_buf stats = mk_new();
    for (uint64_t k = 0; k < 90 + roll(400); k++)
        mk_stat_u(&stats, 4, FREE, 3, 128 + roll(1 << 20));
    mk_event(line, 1 + (int64_t)(i % 40), (int64_t)i * 1000, 7, &stats);
}

/* Events longer than a section among small ones, of bytes that look like the tag of events. */
static void long_text(vp_buf *line, uint64_t i)
{
    vp_buf stats = mk_new(), text = mk_new();
    size_t n = i % 5000 == 4999 ? (size_t)XS_SECTION_BYTES + roll(100000) : roll(300);
    while (text.n < n)
        vp_buf_putc(&text, 0x22);
    mk_stat_text(&stats, 4, TF_OP, 6, vp_buf_view(&text));
    vp_buf_free(&text);
    mk_event(line, 1 + (int64_t)(i % 40), (int64_t)i * 1000, 7, &stats);
}

/* Fields between the events that are none, and names behind them. */
static void other_fields(vp_buf *line, uint64_t i)
{
    if (i % 7 == 0)
        vp_pb_put_u64(line, 9, i);
    if (i % 1000 == 0)
        vp_pb_put_len(line, 2, VP_STR("not the first name"));
    mk_event(line, 1 + (int64_t)(i % 40), (int64_t)i * 1000, 7, NULL);
}

static uint64_t fill(vp_buf *line, void (*event)(vp_buf *, uint64_t))
{
    uint64_t n = 0;
    while (line->n < (size_t)SECTIONS)
        event(line, n++);
    return n;
}

static void test_lines_of_several_sections(void **state)
{
    (void)state;
    static void (*const contents[])(vp_buf *, uint64_t) = {one_stat, many_stats, long_text,
                                                           other_fields};
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        trace *t;
        vp_buf file = mk_new(), plane = mk_plane(1, "/host:CPU"), line = mk_line(3, "thread", 1);
        dice = 5 + i;
        uint64_t n = fill(&line, contents[i]);
        vp_pb_put_len(&line, 11, VP_STR("shown"));
        stat_names(&plane);
        event_names(&plane);
        nest_line(&plane, line);
        mk_nest(&file, 1, &plane);
        for (int threads = 1; threads < 6; threads += 2) {
            assert_int_equal(read_by(&t, vp_buf_view(&file), threads, ALL, NULL), 0);
            assert_int_equal(trace_seal(t), 0);
            assert_int_equal(t->track_count, 1);
            assert_int_equal(t->tracks[0].count, n);
            for (uint64_t e = 0; e < n; e++)
                assert_int_equal(trace_start(&t->tracks[0], e), (int64_t)e * 1000 + 1000);
            vp_str name = trace_str(t, t->tracks[0].name);
            assert_true(vp_str_eq(name, VP_STR("shown")));
            assert_int_equal(t->quality_count, 0);
            trace_free(t);
        }
        if (i == 1) /* cut off, and damaged: once each */
            same_by_all(vp_str_head(vp_buf_view(&file), file.n / 3 * 2));
        file.p[file.n / 2] = (char)0xff;
        if (i == 0)
            same_by_all(vp_buf_view(&file));
        vp_buf_free(&file);
    }
}

typedef struct calls {
    _Atomic uint32_t of[1000];
    _Atomic uint32_t all;
    uint32_t fails;
} calls;

static int call(void *ctx, uint32_t i)
{
    calls *c = ctx;
    c->of[i]++;
    c->all++;
    return i == c->fails ? vp_fail(VP_ELIMIT, "number %u", i) : 0;
}

static void test_each_is_called_once(void **state)
{
    (void)state;
    for (int threads = 0; threads < 40; threads += 3) {
        calls c = {.fails = UINT32_MAX};
        assert_int_equal(vp_each(threads, 1000, call, &c), 0);
        for (size_t i = 0; i < 1000; i++)
            assert_int_equal(c.of[i], 1);
        assert_int_equal(vp_each(threads, 0, call, &c), 0);
        assert_int_equal(c.all, 1000);
    }
}

static void test_a_call_that_fails_ends_all(void **state)
{
    (void)state;
    calls c = {.fails = 20};
    assert_int_equal(vp_each(1, 1000, call, &c), VP_ELIMIT);
    assert_int_equal(c.all, 21);
    assert_int_equal(vp_each(4, 1000, call, &c), VP_ELIMIT);
    assert_string_equal(vp_error_last()->message, "number 20");
}

static int stop_late(void *ctx, int64_t done, int64_t total)
{
    (void)ctx;
    return done > total / 2;
}

static void test_stopped_in_the_middle(void **state)
{
    const space *s = *state;
    trace *t;
    assert_int_equal(read_by(&t, vp_buf_view(&s->device), 4, ALL, stop_late), VP_ECANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_damaged_anywhere),
        cmocka_unit_test(test_memory_that_fails),
        cmocka_unit_test(test_stopped_in_the_middle),
        cmocka_unit_test(test_lines_of_several_sections),
        cmocka_unit_test(test_each_is_called_once),
        cmocka_unit_test(test_a_call_that_fails_ends_all),
    };
    return cmocka_run_group_tests(tests, make_spaces, free_spaces);
}
