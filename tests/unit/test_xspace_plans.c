/* An XSpace whose first device has been read by several threads when hundreds of long lines are
 * announced to them: each of them is gone over once, and read. Its bytes are made as they are
 * read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/xspace_maker.h"
#include "trace/base/err.h"
#include "trace/model/trace.h"
#include "trace/read/xspace/xs_walk.h"
#include "trace/read/xspace/xspace.h"

#define LINES 1500
#define EVENTS 3
/* Lines that are slow to read, and how slow: all are announced while somebody is at one of them. */
#define SLOW 4
#define SLOW_US 2000

/* The file: head, then LINES times the line. */
typedef struct file {
    vp_buf head, line;
} file;

static int read_file(void *ctx, void *buf, size_t n, int64_t offset)
{
    const file *f = ctx;
    char *to = buf;
    int64_t begin = (int64_t)f->head.n;
    if (offset >= begin && offset < begin + SLOW * (int64_t)f->line.n)
        usleep(SLOW_US);
    while (n) {
        uint64_t at = (uint64_t)offset;
        vp_str from = at < f->head.n
                          ? vp_str_skip(vp_buf_view(&f->head), at)
                          : vp_str_skip(vp_buf_view(&f->line), (at - f->head.n) % f->line.n);
        size_t part = n < from.n ? n : from.n;
        memcpy(to, from.p, part);
        to += part;
        n -= part;
        offset += (int64_t)part;
    }
    return 0;
}

static void close_file(void *ctx)
{
    file *f = ctx;
    vp_buf_free(&f->head);
    vp_buf_free(&f->line);
}

/* Its lines are worth being handed over (xs_walk.h). */
static vp_buf long_line(const char *name, int64_t bytes)
{
    vp_buf line = mk_line(1, name, 1000), text = mk_new();
    while ((int64_t)text.n < bytes / EVENTS)
        vp_buf_str(&text, VP_STR("a long text of a stat "));
    for (int64_t i = 0; i < EVENTS; i++) {
        vp_buf stats = mk_new();
        mk_stat_text(&stats, 4, 1, 6, vp_buf_view(&text));
        mk_event(&line, 1, 1000 * i, 500, &stats);
    }
    vp_buf_free(&text);
    return line;
}

static vp_buf named_plane(const char *name)
{
    vp_buf plane = mk_plane(1, name);
    mk_event_meta(&plane, 1, VP_STR("fusion.1"), NULL, NULL);
    mk_stat_meta(&plane, 1, "a stat");
    return plane;
}

static file make_file(void)
{
    file f = {mk_new(), mk_new()};
    vp_buf device = named_plane("/device:TPU:0"), host = named_plane("/host:CPU"),
           ops = long_line("XLA Ops", 3 * XS_SECTION_BYTES),
           line = long_line("thread", XS_SECTION_BYTES / 4);
    mk_nest(&device, 3, &ops);
    mk_nest(&f.head, 1, &device);
    mk_nest(&f.line, 3, &line);
    vp_buf_putc(&f.head, 1 << 3 | 2);
    vp_pb_put_varint(&f.head, host.n + LINES * f.line.n);
    vp_buf_str(&f.head, vp_buf_view(&host));
    vp_buf_free(&host);
    return f;
}

static void test_lines_announced_to_busy_threads(void **state)
{
    (void)state;
    for (int threads = 1; threads < 5; threads += 3) {
        file f = make_file();
        rd_source *in;
        trace *t;
        const rd_options opts = {.threads = threads};
        const rd_calls calls = {read_file, NULL, close_file, &f};
        assert_int_equal(rd_source_calls(&in, (int64_t)(f.head.n + LINES * f.line.n), &calls), 0);
        assert_int_equal(trace_new(&t), 0);
        assert_int_equal(xs_read(&t->sink, in, &opts), 0);
        assert_int_equal(t->event_count, EVENTS * (1 + LINES));
        assert_int_equal(t->quality_count, 0);
        trace_free(t);
        rd_source_close(in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_announced_to_busy_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
