/* What the recorder's image holds is what its files say, to the picosecond: read back by our own
 * readers, from the XSpace and from the JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/recorded.h"
#include "tests/unit/tree.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/vpcap/vpcap_layout.h"
#include "trace/vpcap/vpcap_xspace.h"
#include "trace/capture/pool/recorder.h"
#include "trace/model/trace.h"
#include "trace/read/semantics/attrs.h"
#include "trace/read/json/chrome_json.h"
#include "trace/read/gzip/gzip.h"
#include "trace/read/semantics/roles.h"
#include "trace/read/xspace/xspace.h"

typedef struct fixture {
    tree t;
    recorded r;
    trace *xplane, *json;
} fixture;

static trace *read_xplane(const char *path)
{
    trace *t;
    rd_source *in;
    rd_options opts = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(rd_source_fd(&in, fd), 0);
    assert_int_equal(trace_new(&t), 0);
    assert_int_equal(xs_read(&t->sink, in, &opts), 0);
    assert_int_equal(trace_seal(t), 0);
    rd_source_close(in);
    return t;
}

static trace *read_json(const char *path)
{
    trace *t;
    rd_stream *file, *in;
    rd_options opts = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(rd_stream_fd(&file, fd), 0);
    assert_int_equal(gz_stream(&in, file, true), 0);
    assert_int_equal(trace_new(&t), 0);
    assert_int_equal(cj_read(&t->sink, in, &opts), 0);
    assert_int_equal(in->damage.code, 0);
    assert_int_equal(trace_seal(t), 0);
    rd_stream_close(&in);
    return t;
}

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    uint64_t bytes;
    tree_make(&f->t);
    assert_int_equal(rec_make(&f->r, tree_at(&f->t, "prof"), 0), 0);
    tree_dir(&f->t, "out");
    int fd = open(tree_at(&f->t, "out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(cap_write(&bytes, fd, f->r.v, NULL,
                               VP_OUT_XPLANE | VP_OUT_TRACE_JSON | VP_OUT_PERFETTO_JSON),
                     0);
    close(fd);
    f->xplane = read_xplane(tree_at(&f->t, "out/box.xplane.pb"));
    f->json = read_json(tree_at(&f->t, "out/box.trace.json.gz"));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    trace_free(f->xplane);
    trace_free(f->json);
    rec_free(&f->r);
    tree_remove(&f->t);
    free(f);
    return 0;
}

/* ---- Events as the image has them, and as a trace has them ---- */

typedef struct item {
    int64_t start, dur, step, group, correlation;
    uint64_t flow_out, flow_in;
    char name[40];
} item;

typedef struct items {
    item *v;
    size_t n;
} items;

static int by_place(const void *pa, const void *pb)
{
    const item *a = pa, *b = pb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->dur != b->dur)
        return a->dur > b->dur ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void sort_items(items *l)
{
    qsort(l->v, l->n, sizeof *l->v, by_place);
}

static void add_item(items *l, const vpcap *v, const vpcap_event *e)
{
    item *it;
    if (!(l->n & (l->n - 1))) /* at every power of two */
        l->v = realloc(l->v, (l->n ? 2 * l->n : 1) * sizeof *l->v);
    it = &l->v[l->n++];
    *it = (item){.start = e->start_ps,
                 .dur = e->dur_ps,
                 .step = e->kind == VPCAP_STEP ? e->number : SINK_NO_VALUE,
                 .correlation = e->correlation ? (int64_t)e->correlation : SINK_NO_VALUE,
                 .flow_out = e->flow_out,
                 .flow_in = e->flow_in};
    vp_str name = vpcap_name_at(v, e->name).name;
    snprintf(it->name, sizeof it->name, "%.*s", VP_STR_ARG(name));
}

/* Of one thread what stands on its own line, or what stands on a track. */
static items image_items(const vpcap *v, uint32_t thread, uint32_t track)
{
    items l = {0};
    for (uint32_t i = 0; i < vpcap_threads(v); i++) {
        vpcap_cursor *c;
        vpcap_event e;
        assert_int_equal(vpcap_cursor_new(&c, v, i), 0);
        while (vpcap_next(c, &e) > 0) {
            bool on_line = e.kind != VPCAP_SPAN && e.kind != VPCAP_COUNTER;
            if (track == VPCAP_NONE ? on_line && i == thread
                                    : e.kind == VPCAP_SPAN && e.track == track)
                add_item(&l, v, &e);
        }
        vpcap_cursor_free(c);
    }
    sort_items(&l);
    return l;
}

static items trace_items(const trace *t, const trace_track *k)
{
    items l = {calloc(k->count + 1, sizeof(item)), k->count};
    for (size_t i = 0; i < k->count; i++) {
        l.v[i] = (item){.start = trace_start(k, i),
                        .dur = trace_dur(k, i),
                        .step = trace_attr(k, SINK_STEP, i),
                        .group = trace_attr(k, SINK_GROUP, i),
                        .correlation = trace_attr(k, SINK_CORRELATION, i)};
        int64_t out = trace_attr(k, SINK_FLOW_OUT, i), in = trace_attr(k, SINK_FLOW_IN, i);
        l.v[i].flow_out = out == SINK_NO_VALUE ? 0 : (uint64_t)out;
        l.v[i].flow_in = in == SINK_NO_VALUE ? 0 : (uint64_t)in;
        vp_str name = trace_str(t, t->kinds[trace_kind_of(k, i)].name);
        snprintf(l.v[i].name, sizeof l.v[i].name, "%.*s", VP_STR_ARG(name));
    }
    sort_items(&l);
    return l;
}

static const trace_track *track_of(const trace *t, const char *process, const char *name,
                                   int64_t id)
{
    for (uint32_t i = 0; i < t->track_count; i++) {
        const trace_track *k = &t->tracks[i];
        if (vp_str_eq(trace_str(t, t->processes[k->process].name), vp_str_of(process)) &&
            (!name || vp_str_eq(trace_str(t, k->name), vp_str_of(name))) && (id < 0 || k->id == id))
            return k;
    }
    return NULL;
}

static uint64_t flow_key(uint64_t flow)
{
    return flow ? (uint64_t)rd_flow_key(0, flow) : 0;
}

static void expect_same(const items *want, const items *got)
{
    assert_int_equal(want->n, got->n);
    for (size_t i = 0; i < want->n; i++) {
        const item *a = &want->v[i], *b = &got->v[i];
        assert_int_equal(a->start, b->start);
        assert_int_equal(a->dur, b->dur);
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->step, b->step);
        assert_int_equal(a->correlation, b->correlation);
        assert_int_equal(flow_key(a->flow_out), b->flow_out);
        assert_int_equal(flow_key(a->flow_in), b->flow_in);
    }
}

/* ---- Tests ---- */

static void expect_threads(const fixture *f, const trace *t)
{
    size_t events = 0;
    assert_int_equal(vpcap_threads(f->r.v), 3);
    for (uint32_t i = 0; i < 3; i++) {
        vpcap_thread thread = vpcap_thread_at(f->r.v, i);
        const trace_track *k = track_of(t, "/host:CPU", NULL, thread.tid);
        assert_non_null(k);
        if (thread.name.n)
            assert_true(vp_str_eq(trace_str(t, k->name), thread.name));
        items want = image_items(f->r.v, i, VPCAP_NONE), got = trace_items(t, k);
        expect_same(&want, &got);
        events += got.n;
        free(want.v);
        free(got.v);
    }
    /* Main: a step's 2,800 inner zones, load, crossing, hand over and itself; the compilation; what
     * is open at the time. Loner: 12,000 and 12 and itself. */
    assert_true(events >= REC_STEPS * (4 * REC_INNER + 4) + 12000 + 12);
}

static void zones_of_threads_are_in_the_xspace(void **state)
{
    const fixture *f = *state;
    expect_threads(f, f->xplane);
}

static void zones_of_threads_are_in_the_json(void **state)
{
    const fixture *f = *state;
    expect_threads(f, f->json);
}

static void lines_of_the_xspace_are_sorted(void **state)
{
    const fixture *f = *state;
    for (uint32_t i = 0; i < f->xplane->track_count; i++)
        assert_true(f->xplane->tracks[i].sorted);
}

static void times_begin_with_the_recording(void **state)
{
    const fixture *f = *state;
    const vpcap_info *info = vpcap_info_of(f->r.v);
    assert_true(info->start_unix_ns > INT64_C(1700000000000000000));
    assert_int_equal(f->xplane->base_unix_ns, info->start_unix_ns);
    assert_int_equal(f->xplane->capture_start_ps, 0);
    assert_true(f->xplane->capture_end_ps >= info->end_ps);
    assert_true(f->xplane->capture_end_ps < info->end_ps + 1000);
}

/* The step of this thread that a zone lies in, by looking at all of them. By a coarse clock (1 us,
 * emulated) a zone of no length may lie where one step ends and the next begins: it is the later
 * one's. */
static int64_t step_around(const items *main_line, const item *it)
{
    int64_t around = SINK_NO_VALUE;
    for (size_t i = 0; i < main_line->n; i++) {
        const item *s = &main_line->v[i];
        if (s->step != SINK_NO_VALUE && s->start <= it->start &&
            it->start + it->dur <= s->start + s->dur)
            around = s->step - REC_FIRST_STEP;
    }
    return around;
}

static const item *flow_source(const items *l, uint64_t flow)
{
    for (size_t i = 0; i < l->n; i++)
        if (flow && l->v[i].flow_out == flow)
            return &l->v[i];
    return NULL;
}

static void expect_groups(const trace *t)
{
    const trace_track *main_track = track_of(t, "/host:CPU", "main loop", -1);
    const trace_track *worker = track_of(t, "/host:CPU", "worker", -1);
    assert_non_null(main_track);
    assert_non_null(worker);
    items m = trace_items(t, main_track), w = trace_items(t, worker);
    size_t grouped = 0, consumed = 0;
    for (size_t i = 0; i < m.n; i++) {
        assert_int_equal(m.v[i].group, step_around(&m, &m.v[i]));
        grouped += m.v[i].group != SINK_NO_VALUE;
    }
    assert_int_equal(grouped, REC_STEPS * (4 * REC_INNER + 4));
    int64_t group = SINK_NO_VALUE, until = 0;
    for (size_t i = 0; i < w.n; i++) { /* sorted: a consumer before what lies in it */
        const item *source = flow_source(&m, w.v[i].flow_in);
        if (source) {
            group = source->group;
            until = w.v[i].start + w.v[i].dur;
            consumed++;
        }
        bool inside = w.v[i].start + w.v[i].dur <= until;
        assert_int_equal(w.v[i].group, inside ? group : SINK_NO_VALUE);
    }
    assert_int_equal(consumed, REC_STEPS);
    free(m.v);
    free(w.v);
}

static void groups_are_the_steps_in_the_json(void **state)
{
    const fixture *f = *state;
    expect_groups(f->json);
}

static void tracks_become_streams_of_devices(void **state)
{
    static const char *const names[] = {"Stream #1(compute)", "Stream #9(MemcpyH2D)",
                                        "Stream #1(queue)"};
    static const char *const planes[] = {"/device:GPU:0", "/device:GPU:0", "/device:CUSTOM:NIC:0"};
    const fixture *f = *state;
    assert_int_equal(vpcap_tracks(f->r.v), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const trace_track *k = track_of(f->xplane, planes[i], names[i], -1);
        assert_non_null(k);
        assert_int_equal(k->role, SINK_ROLE_OPS);
        items want = image_items(f->r.v, 0, i), got = trace_items(f->xplane, k);
        expect_same(&want, &got);
        assert_int_equal(got.n, i == 0 ? 2 * REC_STEPS : i == 1 ? REC_STEPS : 1);
        free(want.v);
        free(got.v);
    }
    const trace_track *k = track_of(f->xplane, planes[0], names[0], -1);
    const trace_process *p = &f->xplane->processes[k->process];
    assert_int_equal(p->kind, SINK_PROCESS_GPU);
    assert_int_equal(p->ordinal, 0);
    assert_true(vp_str_eq(trace_str(f->xplane, p->model), VP_STR("Model X")));
}

/* Launched in the step whose flow the worker took. */
static void device_work_belongs_to_the_step_that_launched_it(void **state)
{
    const fixture *f = *state;
    const trace_track *k = track_of(f->json, "/device:GPU:0", "Stream #1(compute)", -1);
    items l = trace_items(f->json, k);
    int64_t step = 0;
    for (size_t i = 0; i < l.n; i++) {
        bool launched = l.v[i].correlation != SINK_NO_VALUE;
        assert_int_equal(launched, strncmp(l.v[i].name, "matmul", 6) == 0);
        assert_int_equal(l.v[i].group, launched ? step++ : SINK_NO_VALUE);
    }
    assert_int_equal(step, REC_STEPS);
    free(l.v);
}

/* XProf makes its line of steps only of files that it groups itself. */
static void the_xspace_leaves_grouping_to_xprof(void **state)
{
    const fixture *f = *state;
    for (uint32_t i = 0; i < f->xplane->track_count; i++)
        assert_null(f->xplane->tracks[i].attr[SINK_GROUP]);
}

static const trace_kind *kind_named(const trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->kind_count; i++)
        if (vp_str_eq(trace_str(t, t->kinds[i].name), vp_str_of(name)))
            return &t->kinds[i];
    return NULL;
}

static void ops_carry_what_analyses_read(void **state)
{
    const fixture *f = *state;
    const trace *t = f->xplane;
    const trace_kind *matmul = kind_named(t, "matmul # 1 \xe2\x9c\x93");
    const trace_kind *copy = kind_named(t, "MemcpyH2D"), *reduce = kind_named(t, "all-reduce");
    assert_non_null(matmul);
    assert_non_null(copy);
    assert_non_null(reduce);
    assert_true(matmul->is_op);
    assert_true(matmul->flops >= 2000 && matmul->flops < 2000 + REC_STEPS);
    assert_int_equal(matmul->bytes, 64);
    assert_int_equal(copy->bytes, REC_BYTES);
    assert_int_equal(reduce->bytes, 8 * REC_BYTES);
    assert_int_equal(reduce->group_size, 4);
    const trace_kind *inner = kind_named(t, "inner"), *compile = kind_named(t, "jit_train_step");
    assert_true(vp_str_find(trace_str(t, inner->source), VP_STR("recorded.h:")) <
                trace_str(t, inner->source).n);
    assert_non_null(compile);
}

static void counters_stand_on_a_line_of_their_own(void **state)
{
    const fixture *f = *state;
    const trace_track *k = track_of(f->xplane, "/host:CPU", "_counters_", -1);
    assert_non_null(k);
    assert_int_equal(k->role, SINK_ROLE_COUNTER);
    assert_int_equal(k->count, 2 * REC_STEPS);
}

static char *inflated(fixture *f, const char *name)
{
    rd_stream *file, *in;
    char *text;
    size_t n;
    int fd = open(tree_at(&f->t, name), O_RDONLY | O_CLOEXEC);
    assert_int_equal(rd_stream_fd(&file, fd), 0);
    assert_int_equal(gz_stream(&in, file, true), 0);
    assert_int_equal(rd_stream_slurp(in, 1u << 30, &text, &n), 0);
    rd_stream_close(&in);
    return text;
}

/* jax.profiler's perfetto_trace.json.gz is its trace.json.gz without metadata. */
static void perfettos_copy_is_the_same_without_metadata(void **state)
{
    fixture *f = *state;
    char *ours = inflated(f, "out/box.trace.json.gz");
    char *perfetto = inflated(f, "out/perfetto_trace.json.gz");
    assert_non_null(strstr(ours, "\"metadata\":"));
    assert_null(strstr(perfetto, "\"metadata\":"));
    assert_string_equal(strstr(ours, "\"traceEvents\":"), strstr(perfetto, "\"traceEvents\":"));
    vp_free(ours);
    vp_free(perfetto);
}

static void no_temporary_file_stays(void **state)
{
    fixture *f = *state;
    assert_int_equal(tree_count(&f->t, "out"), 3);
}

static uint64_t events_of(const vpcap *v)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < vpcap_threads(v); i++) {
        vpcap_cursor *c;
        vpcap_event e;
        assert_int_equal(vpcap_cursor_new(&c, v, i), 0);
        while (vpcap_next(c, &e) > 0)
            n++;
        vpcap_cursor_free(c);
    }
    return n;
}

/* A damaged clock: every event lies further from the start than times reach, so all of them are at
 * the end of the scale. The XSpace has them nevertheless. */
static void times_off_the_scale_lose_no_event(void **state)
{
    static const uint64_t shifts[] = {UINT64_C(1) << 62, UINT64_C(3) << 62, UINT64_C(1) << 63};
    fixture *f = *state;
    char *image = malloc(f->r.n);
    memcpy(image, f->r.image, f->r.n);
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        vpcap *v;
        vx_counts counts;
        vpcap_header *h = (vpcap_header *)image;
        h->start.ticks = ((const vpcap_header *)f->r.image)->start.ticks + shifts[i];
        assert_int_equal(vpcap_open(&v, image, f->r.n), 0);
        int fd = open(tree_at(&f->t, "damaged.pb"), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
        assert_int_equal(vx_write(&counts, fd, v, NULL, NULL, NULL, 0), 0);
        close(fd);
        assert_int_equal(counts.events, events_of(v));
        vpcap_free(v);
    }
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zones_of_threads_are_in_the_xspace),
        cmocka_unit_test(zones_of_threads_are_in_the_json),
        cmocka_unit_test(lines_of_the_xspace_are_sorted),
        cmocka_unit_test(times_begin_with_the_recording),
        cmocka_unit_test(groups_are_the_steps_in_the_json),
        cmocka_unit_test(tracks_become_streams_of_devices),
        cmocka_unit_test(device_work_belongs_to_the_step_that_launched_it),
        cmocka_unit_test(the_xspace_leaves_grouping_to_xprof),
        cmocka_unit_test(ops_carry_what_analyses_read),
        cmocka_unit_test(counters_stand_on_a_line_of_their_own),
        cmocka_unit_test(perfettos_copy_is_the_same_without_metadata),
        cmocka_unit_test(no_temporary_file_stays),
        cmocka_unit_test(times_off_the_scale_lose_no_event),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
