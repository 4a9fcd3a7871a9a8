/* trace/read/xspace on hand-made spaces: every oddity of docs/reference/xprof.md#xspace and
 * docs/reference/jax-cpu.md#planes-and-threads, and damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/xspace_maker.h"
#include "trace/analyze/host_analysis.h"
#include "trace/analyze/result/host_result.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/model/trace.h"
#include "trace/read/xspace/xspace.h"

static int read_bytes(trace **out, vp_str bytes, bool device_only)
{
    rd_source *in;
    rd_options opts = {.device_only = device_only};
    assert_int_equal(rd_source_memory(&in, bytes.p, bytes.n), 0);
    assert_int_equal(trace_new(out), 0);
    int rc = xs_read(&(*out)->sink, in, &opts);
    rd_source_close(in);
    if (rc < 0) {
        trace_free(*out);
        *out = NULL;
        return rc;
    }
    assert_int_equal(trace_seal(*out), 0);
    return rc;
}

static trace *read_space(vp_buf *space, bool device_only)
{
    trace *t;
    assert_int_equal(read_bytes(&t, vp_buf_view(space), device_only), 0);
    vp_buf_free(space);
    return t;
}

static const trace_track *track_named(const trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->track_count; i++)
        if (vp_str_eq(trace_str(t, t->tracks[i].name), vp_str_of(name)))
            return &t->tracks[i];
    fail_msg("no track %s", name);
    return NULL;
}

static vp_str kind_name(const trace *t, const trace_track *k, size_t i)
{
    return trace_str(t, t->kinds[trace_kind_of(k, i)].name);
}

/* A TPU plane: ops on the device's own clock, a derived line that repeats them, modules. */
static vp_buf tpu_space(void)
{
    vp_buf space = mk_new(), plane = mk_plane(2, "/device:TPU:0");
    vp_buf ops = mk_line(3, "XLA Ops", 1000), st;
    for (int i = 0; i < 3; i++) {
        st = mk_new();
        mk_stat_u(&st, 4, 1, 3, 5000u + 100u * (unsigned)i); /* device_offset_ps */
        mk_stat_u(&st, 4, 2, 3, 40);                         /* device_duration_ps */
        mk_event(&ops, 7, 10 * i, 9, &st);
    }
    vp_buf derived = mk_line(4, "Framework Ops", 1000), modules = mk_line(5, "XLA Modules", 1000);
    mk_event(&derived, 7, 0, 30, NULL);
    mk_event(&modules, 8, 0, 30, NULL);
    mk_nest(&plane, 3, &ops);
    mk_nest(&plane, 3, &derived);
    mk_nest(&plane, 3, &modules);
    st = mk_new();
    mk_stat_text(&st, 5, 3, 5, VP_STR("loop fusion"));
    mk_stat_u(&st, 5, 4, 3, 4096);
    mk_stat_u(&st, 5, 5, 7, 6); /* tf_op by reference to a stat's name */
    mk_event_meta(&plane, 7, VP_STR("%fusion.1 = f32[8]{0} fusion(f32[8] %p)"), "fusion.1", &st);
    mk_event_meta(&plane, 8, VP_STR("jit_f(12190760917235803885)"), NULL, NULL);
    mk_stat_meta(&plane, 1, "device_offset_ps");
    mk_stat_meta(&plane, 2, "device_duration_ps");
    mk_stat_meta(&plane, 3, "hlo_category");
    mk_stat_meta(&plane, 4, "bytes_accessed");
    mk_stat_meta(&plane, 5, "tf_op");
    mk_stat_meta(&plane, 6, "jit(f)/add:");
    mk_nest(&space, 1, &plane);
    return space;
}

static void the_device_clock_wins(void **state)
{
    (void)state;
    vp_buf space = tpu_space();
    trace *t = read_space(&space, true);
    const trace_track *k = track_named(t, "XLA Ops");
    assert_int_equal(k->count, 3);
    assert_int_equal(k->role, SINK_ROLE_OPS);
    assert_int_equal(trace_start(k, 2), 5200);
    assert_int_equal(trace_dur(k, 2), 40);
    assert_int_equal(trace_aligned_start(k, 2), 1000020);
    assert_int_equal(trace_aligned_end(k, 2), 1000020 + 9);
    const trace_kind *kind = &t->kinds[trace_kind_of(k, 0)];
    assert_true(vp_str_eq(trace_str(t, kind->name), VP_STR("fusion.1")));
    assert_true(vp_str_eq(trace_str(t, kind->category), VP_STR("loop fusion")));
    assert_true(vp_str_eq(trace_str(t, kind->scope), VP_STR("jit(f)/add")));
    assert_true(vp_str_eq(trace_str(t, kind->opcode), VP_STR("fusion")));
    assert_int_equal(kind->bytes, 4096);
    assert_int_equal(t->event_count, 4); /* three ops, one module run */
    assert_int_equal(t->skipped_count, 1);
    host_result h;
    host_result_init(&h);
    assert_int_equal(host_analyze(&h, t, VP_GROUP_NAME, VP_DEPTH_FULL), 0);
    assert_int_equal(h.devices[0].breakdown.window_ps, 240);
    assert_int_equal(h.devices[0].breakdown.busy_ps, 120);
    assert_int_equal(h.ops[0].slowest_start_ps, 1000000);
    assert_int_equal(h.module_count, 1);
    assert_string_equal(h.modules[0].name, "jit_f");
    assert_int_equal((uint64_t)h.modules[0].program_id, UINT64_C(12190760917235803885));
    assert_int_equal(h.modules[0].runs, 1);
    host_result_free(&h);
    trace_free(t);
}

/* Ops of a few kinds out of order on two lines, many of equal length. named: their metadata say
 * their module; mixed: the first ones are on the host's clock alone. */
static vp_buf many_ops(bool named, bool mixed)
{
    static const char *const lines[] = {"XLA Ops", "Async XLA Ops"};
    vp_buf space = mk_new(), plane = mk_plane(2, "/device:TPU:0");
    unsigned dice = 1;
    for (int l = 0; l < 2; l++) {
        vp_buf line = mk_line(l + 1, lines[l], 1000);
        for (unsigned i = 0; i < 20000; i++) {
            vp_buf st = mk_new();
            dice = dice * 1103515245 + 12345;
            if (!mixed || i > 10000) {
                mk_stat_u(&st, 4, 1, 3, 5000 + 100 * (uint64_t)(i / 3 * 3 + (dice >> 20) % 4));
                mk_stat_u(&st, 4, 2, 3, (dice >> 24) % 50);
            }
            mk_event(&line, 1 + (dice >> 8) % 9, 7 * (int64_t)i, 9, &st);
        }
        mk_nest(&plane, 3, &line);
    }
    mk_stat_meta(&plane, 1, "device_offset_ps");
    mk_stat_meta(&plane, 2, "device_duration_ps");
    mk_stat_meta(&plane, 3, "hlo_module");
    for (int64_t i = 1; i <= 9; i++) {
        const char name[] = {'o', 'p', (char)('a' + i % 3), 0};
        vp_buf st = mk_new();
        if (named)
            mk_stat_text(&st, 5, 3, 5, i % 2 ? VP_STR("jit_f") : VP_STR("jit_g"));
        mk_event_meta(&plane, i, vp_str_of(name), NULL, &st);
    }
    mk_nest(&space, 1, &plane);
    return space;
}

static trace *read_longest(const vp_buf *space)
{
    rd_source *in;
    trace *t;
    rd_options opts = {.device_only = true, .longest_only = true};
    assert_int_equal(rd_source_memory(&in, space->p, space->n), 0);
    assert_int_equal(trace_new(&t), 0);
    assert_int_equal(xs_read(&t->sink, in, &opts), 0);
    assert_int_equal(trace_seal(t), 0);
    rd_source_close(in);
    return t;
}

static void the_longest_have_places_alone(void **state)
{
    (void)state;
    vp_buf space = many_ops(true, false);
    trace *few = read_longest(&space), *all = read_space(&space, true);
    assert_false(few->places_missing);
    assert_false(trace_has_aligned(track_named(few, "XLA Ops")));
    assert_int_equal(few->event_count, all->event_count);
    static const vp_group groups[] = {VP_GROUP_NAME, VP_GROUP_RAW, VP_GROUP_MODULE};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        host_result a, b;
        host_result_init(&a);
        host_result_init(&b);
        assert_int_equal(host_analyze(&a, few, groups[g], VP_DEPTH_OPS), 0);
        assert_int_equal(host_analyze(&b, all, groups[g], VP_DEPTH_OPS), 0);
        assert_true(a.devices[0].own_clock && b.devices[0].own_clock);
        assert_int_equal(a.op_count, b.op_count);
        assert_true(a.op_count > 1);
        for (size_t i = 0; i < a.op_count; i++) {
            assert_int_equal(a.ops[i].slowest_start_ps, b.ops[i].slowest_start_ps);
            assert_int_equal(a.ops[i].slowest_dur_ps, b.ops[i].slowest_dur_ps);
            assert_int_equal(a.ops[i].self_ps, b.ops[i].self_ps);
        }
        host_result_free(&a);
        host_result_free(&b);
    }
    trace_free(few);
    trace_free(all);
}

static void missing_places_are_told(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        vp_buf space = many_ops(i, i);
        trace *t = read_longest(&space);
        assert_true(t->places_missing);
        trace_free(t);
        vp_buf_free(&space);
    }
}

/* Planes of one name are one process; lines of one id and name one track; negative ids, unknown
 * fields and metadata ids, a line without timestamp, a stat that stands twice (the last counts). */
static void odd_spaces_are_read(void **state)
{
    (void)state;
    vp_buf space = mk_new();
    for (int i = 0; i < 2; i++) {
        vp_buf plane = mk_plane(1, "/device:GPU:0"),
               line = mk_line(-77, "Stream #5(MemcpyH2D,Compute)", 0);
        vp_buf st = mk_new();
        mk_stat_text(&st, 4, 300, 5,
                     VP_STR("kind_src:pinned kind_dst:device size:11 dest:0 async:1"));
        mk_stat_text(&st, 4, 300, 5,
                     VP_STR("kind_src:pinned kind_dst:device size:99 dest:0 async:1"));
        mk_event(&line, -4, 100 * i, 10, &st);
        mk_event(&line, 12345, 100 * i + 20, 5, NULL); /* no such metadata */
        vp_pb_put_u64(&line, 77, 1);
        vp_pb_put_len(&line, 99, VP_STR("future"));
        mk_nest(&plane, 3, &line);
        mk_event_meta(&plane, -4, VP_STR("MemcpyH2D"), NULL, NULL);
        mk_stat_meta(&plane, 300, "memcpy_details");
        vp_pb_put_len(&plane, 50, VP_STR("future"));
        mk_nest(&space, 1, &plane);
    }
    vp_pb_put_len(&space, 3, VP_STR("dropped 5 events"));
    trace *t = read_space(&space, true);
    assert_int_equal(t->process_count, 1);
    assert_int_equal(t->track_count, 1);
    const trace_track *k = &t->tracks[0];
    assert_int_equal(k->count, 4);
    assert_int_equal(k->id, -77);
    assert_true(vp_str_eq(kind_name(t, k, 0), VP_STR("MemcpyH2D")));
    assert_int_equal(t->kinds[trace_kind_of(k, 0)].bytes, 99);
    assert_int_equal(kind_name(t, k, 1).n, 0);
    assert_int_equal(t->quality_count, 1);
    assert_string_equal(t->quality[0].message, "dropped 5 events");
    trace_free(t);
}

/* XLA:CPU: `dot` launched on one thread, ended on another; a synchronous op; two devices. */
static void cpu_ops_last_until_their_end(void **state)
{
    (void)state;
    vp_buf space = mk_new(), plane = mk_plane(0, "/host:CPU");
    vp_buf a = mk_line(10, "tf_XLAEigen/1", 0), b = mk_line(11, "tf_XLAEigen/2", 0), st;
    st = mk_new();
    mk_stat_text(&st, 4, 1, 5, VP_STR("dot.5"));
    mk_stat_u(&st, 4, 2, 4, 0);
    mk_stat_u(&st, 4, 3, 4, 15); /* _pt */
    mk_stat_u(&st, 4, 4, 4, 42); /* _p */
    mk_event(&a, 1, 100, 10, &st);
    st = mk_new();
    mk_stat_u(&st, 4, 5, 4, 15);
    mk_stat_u(&st, 4, 6, 4, 42);
    mk_event(&b, 2, 400, 3, &st); /* "end: dot.5" */
    st = mk_new();
    mk_stat_text(&st, 4, 1, 5, VP_STR("add.1"));
    mk_stat_u(&st, 4, 2, 4, 1);
    mk_event(&b, 3, 500, 20, &st);
    mk_event(&b, 9, 700, 20, NULL); /* not an op */
    mk_nest(&plane, 3, &a);
    mk_nest(&plane, 3, &b);
    mk_event_meta(&plane, 1, VP_STR("dot.5"), NULL, NULL);
    mk_event_meta(&plane, 2, VP_STR("end: dot.5"), NULL, NULL);
    mk_event_meta(&plane, 3, VP_STR("add.1"), NULL, NULL);
    mk_event_meta(&plane, 9, VP_STR("ThreadpoolListener::Record"), NULL, NULL);
    const char *const stats[] = {"hlo_op", "device_ordinal", "_pt", "_p", "_ct", "_c"};
    for (int i = 0; i < 6; i++)
        mk_stat_meta(&plane, i + 1, stats[i]);
    mk_nest(&space, 1, &plane);
    trace *t = read_space(&space, true);
    uint32_t devices = 0;
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        if (k->role != SINK_ROLE_OPS)
            continue;
        devices++;
        assert_true(k->one_timeline);
        assert_int_equal(k->count, 1);
        bool first = vp_str_eq(trace_str(t, t->processes[k->process].name), VP_STR("/host:CPU:0"));
        assert_int_equal(trace_start(k, 0), first ? 100 : 500);
        assert_int_equal(trace_dur(k, 0), first ? 303 : 20);
    }
    assert_int_equal(devices, 2);
    assert_int_equal(t->skipped_count, 4);
    trace_free(t);
}

/* Lines may carry Unix time: 1.7e18 ns do not fit in int64 ps, so the base moves. */
static void unix_timestamps_become_the_base(void **state)
{
    (void)state;
    vp_buf space = mk_new(), plane = mk_plane(1, "/device:GPU:0");
    for (int i = 0; i < 2; i++) {
        vp_buf line =
            mk_line(i, i ? "Stream #2" : "Stream #1", INT64_C(1700000000000000000) + 1000 * i);
        mk_event(&line, 1, 7, 5, NULL);
        mk_nest(&plane, 3, &line);
    }
    mk_event_meta(&plane, 1, VP_STR("k"), NULL, NULL);
    mk_nest(&space, 1, &plane);
    trace *t = read_space(&space, true);
    assert_int_equal(t->base_unix_ns, INT64_C(1700000000000000000));
    assert_int_equal(trace_start(track_named(t, "Stream #1"), 0), 7);
    assert_int_equal(trace_start(track_named(t, "Stream #2"), 0), 1000007);
    trace_free(t);
}

/* A space that does not say when its profile began and ended: from the first event, 7 ps after the
 * base, to the end of the last, on the host. Unknown where the host's events were not read. */
static void without_environment_the_capture_is_the_extent(void **state)
{
    (void)state;
    vp_buf space = mk_new(), device = mk_plane(1, "/device:GPU:0"), host = mk_plane(0, "/host:CPU");
    vp_buf stream = mk_line(1, "Stream #1", INT64_C(1700000000000000000));
    vp_buf thread = mk_line(2, "python", INT64_C(1700000000000000000));
    mk_event(&stream, 1, 7, 5, NULL);
    mk_event(&thread, 1, 20, 100, NULL);
    mk_event(&thread, 1, 130, 0, NULL);
    mk_nest(&device, 3, &stream);
    mk_nest(&host, 3, &thread);
    mk_event_meta(&device, 1, VP_STR("k"), NULL, NULL);
    mk_event_meta(&host, 1, VP_STR("f"), NULL, NULL);
    mk_nest(&space, 1, &device);
    mk_nest(&space, 1, &host);
    vp_str bytes = vp_buf_view(&space);
    trace *t;
    assert_int_equal(read_bytes(&t, bytes, true), 0);
    assert_int_equal(t->capture_start_ps, SINK_NO_TIME);
    trace_free(t);
    t = read_space(&space, false);
    assert_int_equal(t->base_unix_ns, INT64_C(1700000000000000000));
    assert_int_equal(t->capture_start_ps, 7);
    assert_int_equal(t->capture_end_ps, 130);
    trace_free(t);
}

static uint64_t skipped_by(vp_str bytes, bool uncounted)
{
    rd_source *in;
    trace *t;
    rd_options opts = {.device_only = true, .uncounted = uncounted};
    assert_int_equal(rd_source_memory(&in, bytes.p, bytes.n), 0);
    assert_int_equal(trace_new(&t), 0);
    assert_int_equal(xs_read(&t->sink, in, &opts), 0);
    assert_int_equal(t->event_count, 4);
    assert_int_equal(t->process_count, 2);
    uint64_t n = t->skipped_count;
    rd_source_close(in);
    trace_free(t);
    return n;
}

/* A derived line of the device with one event, and two lines of a host: of four events, and empty.
 */
static void host_events_need_not_be_counted(void **state)
{
    (void)state;
    vp_buf space = tpu_space(), plane = mk_plane(0, "/host:CPU"), line = mk_line(1, "python", 0),
           empty = mk_line(2, "idle", 0);
    for (int i = 0; i < 4; i++)
        mk_event(&line, 1, 5, 10, NULL);
    mk_nest(&plane, 3, &line);
    mk_nest(&plane, 3, &empty);
    mk_nest(&space, 1, &plane);
    assert_int_equal(skipped_by(vp_buf_view(&space), false), 1 + 4);
    uint64_t n = skipped_by(vp_buf_view(&space), true);
    assert_true(n > 1 && n < 1 + 4);
    vp_buf_free(&space);
}

static void host_events_come_when_asked_for(void **state)
{
    (void)state;
    vp_buf space = tpu_space(), plane = mk_plane(0, "/host:CPU"), line = mk_line(1, "python", 0);
    mk_event(&line, 1, 5, 10, NULL);
    mk_nest(&plane, 3, &line);
    mk_event_meta(&plane, 1, VP_STR("$a.py:1 f"), NULL, NULL);
    mk_nest(&space, 1, &plane);
    vp_str bytes = vp_buf_view(&space);
    trace *t;
    assert_int_equal(read_bytes(&t, bytes, true), 0);
    assert_int_equal(t->event_count, 4);
    assert_int_equal(t->skipped_count, 2);
    trace_free(t);
    t = read_space(&space, false);
    assert_int_equal(t->event_count, 5);
    assert_int_equal(t->skipped_count, 1); /* the derived line is only counted */
    assert_int_equal(trace_start(track_named(t, "python"), 0), 5);
    trace_free(t);
}

/* An event larger than the window, and events on its edge. */
static void large_events_do_not_fit_the_window(void **state)
{
    (void)state;
    vp_buf space = mk_new(), plane = mk_plane(1, "/device:GPU:0"),
           line = mk_line(1, "Stream #1", 0);
    char *big = vp_calloc(1, 3u << 20);
    for (int i = 0; i < 5; i++) {
        vp_buf st = mk_new();
        mk_stat_text(&st, 4, 9, 5, (vp_str){big, i == 2 ? 3u << 20 : 300000u + (unsigned)i});
        mk_event(&line, 1, i * 10, 5, &st);
    }
    vp_free(big);
    mk_nest(&plane, 3, &line);
    mk_event_meta(&plane, 1, VP_STR("k"), NULL, NULL);
    mk_stat_meta(&plane, 9, "blob");
    mk_nest(&space, 1, &plane);
    trace *t = read_space(&space, true);
    assert_int_equal(track_named(t, "Stream #1")->count, 5);
    assert_false(t->partial);
    trace_free(t);
}

/* Cut anywhere: a good prefix with `partial`, or a refusal; never more events than there are. */
static void every_cut_gives_a_prefix(void **state)
{
    (void)state;
    vp_buf space = tpu_space();
    size_t last = 0;
    for (size_t n = 0; n < space.n; n++) {
        char *exact = vp_strndup(space.p, n);
        trace *t;
        int rc = read_bytes(&t, (vp_str){exact, n}, true);
        if (rc < 0) {
            assert_int_equal(rc, VP_ECORRUPT);
        } else {
            assert_true(t->partial);
            assert_true(t->event_count + t->skipped_count <= 5);
            last = t->event_count + t->skipped_count;
            trace_free(t);
        }
        vp_free(exact);
    }
    assert_int_equal(last, 5); /* the metadata at the end was all that the last cuts missed */
    vp_buf_free(&space);
}

static void every_flipped_byte_is_survived(void **state)
{
    (void)state;
    vp_buf space = tpu_space();
    for (size_t i = 0; i < space.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            trace *t;
            space.p[i] ^= (char)(1 << bit);
            if (read_bytes(&t, vp_buf_view(&space), bit & 1) == 0)
                trace_free(t);
            space.p[i] ^= (char)(1 << bit);
        }
    vp_buf_free(&space);
}

static void times_out_of_range_are_counted(void **state)
{
    (void)state;
    vp_buf space = mk_new(), plane = mk_plane(1, "/device:GPU:0"),
           line = mk_line(1, "Stream #1", 0), e;
    mk_event(&line, 1, INT64_MAX, 5, NULL);
    mk_event(&line, 1, 0, -5, NULL);
    e = mk_new();
    vp_pb_put_u64(&e, 1, 1);
    vp_pb_put_u64(&e, 5, 12); /* num_occurrences: no place in time */
    mk_nest(&line, 4, &e);
    mk_nest(&plane, 3, &line);
    mk_event_meta(&plane, 1, VP_STR("k"), NULL, NULL);
    mk_nest(&space, 1, &plane);
    trace *t = read_space(&space, true);
    assert_int_equal(t->event_count, 1);
    assert_int_equal(trace_dur(track_named(t, "Stream #1"), 0), 0);
    assert_int_equal(t->skipped_count, 2);
    assert_int_equal(t->quality_count, 3);
    trace_free(t);
}

static void memory_failures_are_clean(void **state)
{
    (void)state;
    vp_buf space = tpu_space();
    for (uint64_t k = 1;; k++) {
        rd_source *in;
        trace *t;
        rd_options opts = {.device_only = true};
        assert_int_equal(rd_source_memory(&in, space.p, space.n), 0);
        assert_int_equal(trace_new(&t), 0);
        vp_mem_fail_at(k, false);
        int rc = xs_read(&t->sink, in, &opts);
        bool reached = vp_mem_fail_at(0, false) >= k;
        trace_free(t);
        rd_source_close(in);
        if (!reached) {
            assert_int_equal(rc, 0);
            break;
        }
        assert_int_equal(rc, VP_ENOMEM);
    }
    vp_buf_free(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_clock_wins),
        cmocka_unit_test(the_longest_have_places_alone),
        cmocka_unit_test(missing_places_are_told),
        cmocka_unit_test(odd_spaces_are_read),
        cmocka_unit_test(cpu_ops_last_until_their_end),
        cmocka_unit_test(unix_timestamps_become_the_base),
        cmocka_unit_test(without_environment_the_capture_is_the_extent),
        cmocka_unit_test(host_events_need_not_be_counted),
        cmocka_unit_test(host_events_come_when_asked_for),
        cmocka_unit_test(large_events_do_not_fit_the_window),
        cmocka_unit_test(every_cut_gives_a_prefix),
        cmocka_unit_test(every_flipped_byte_is_survived),
        cmocka_unit_test(times_out_of_range_are_counted),
        cmocka_unit_test(memory_failures_are_clean),
    };
    return cmocka_run_group_tests_name("xspace", tests, NULL, NULL);
}
