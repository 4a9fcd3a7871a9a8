/* What a GPU's tracer collected, in the XSpace: streams, kernels, copies, and the calls that
 * launched them, as XLA's profiler names them (docs/reference/xprof.md#line-names). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zlib.h>

#include "tests/unit/recorded.h"
#include "tests/unit/tree.h"
#include "trace/capture/gpu/gpu_activity.h"
#include "trace/capture/pool/recorder.h"
#include "trace/model/trace.h"
#include "trace/read/xspace/xspace.h"

typedef struct fixture {
    tree t;
    recorded r;
    trace *x;
    int64_t start;
} fixture;

static vp_sid sid(gpu_activity *a, const char *name)
{
    vp_sid id;
    assert_int_equal(vp_intern_put(&a->names, vp_str_of(name), &id), 0);
    return id;
}

/* Call 7 on the main thread launches a kernel of 3 us; call 8 copies; a memset; overhead. */
static gpu_activity *made(const fixture *f, uint32_t main_tid)
{
    gpu_activity *a;
    int64_t s = f->start;
    assert_int_equal(gpu_activity_new(&a, false), 0);
    gpu_record call = {.start_ns = s + 1000, .end_ns = s + 1500, .correlation = 7};
    call.kind = GPU_RUNTIME;
    call.call.name = sid(a, "cudaLaunchKernel");
    call.call.tid = main_tid;
    gpu_activity_add(a, &call);
    gpu_record kernel = {.start_ns = s + 2000, .end_ns = s + 5000, .correlation = 7};
    kernel.device = 1;
    kernel.context = 3;
    kernel.stream = 14;
    kernel.kind = GPU_KERNEL;
    kernel.kernel.name = sid(a, "my_kernel");
    kernel.kernel.grid[0] = 108;
    kernel.kernel.grid[1] = kernel.kernel.grid[2] = 1;
    kernel.kernel.block[0] = 256;
    kernel.kernel.block[1] = kernel.kernel.block[2] = 1;
    kernel.kernel.registers = 32;
    gpu_activity_add(a, &kernel);
    gpu_record copy = {.start_ns = s + 6000, .end_ns = s + 6500, .correlation = 8};
    copy.device = 1;
    copy.stream = 14;
    copy.kind = GPU_COPY;
    copy.copy.bytes = 4096;
    copy.copy.copy_kind = 1;
    copy.copy.source_memory = 1;
    copy.copy.destination_memory = 3;
    gpu_activity_add(a, &copy);
    gpu_record set = {.start_ns = s + 7000, .end_ns = s + 7100, .device = 1, .stream = 15};
    set.kind = GPU_SET;
    set.set.bytes = 64;
    gpu_activity_add(a, &set);
    a->dropped = 5;
    gpu_activity_finish(a);
    return a;
}

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    rd_source *in;
    rd_options opts = {0};
    uint64_t bytes;
    uint32_t tid = 0;
    tree_make(&f->t);
    assert_int_equal(rec_make(&f->r, tree_at(&f->t, "prof"), VP_OUT_XPLANE), 0);
    f->start = vpcap_info_of(f->r.v)->start_unix_ns;
    for (uint32_t i = 0; i < vpcap_threads(f->r.v); i++)
        if (vp_str_eq(vpcap_thread_at(f->r.v, i).name, (vp_str){"main loop", 9}))
            tid = (uint32_t)vpcap_thread_at(f->r.v, i).tid;
    gpu_activity *a = made(f, tid);
    tree_dir(&f->t, "out");
    int fd = open(tree_at(&f->t, "out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(cap_write(&bytes, fd, f->r.v, a, VP_OUT_XPLANE | VP_OUT_TRACE_JSON), 0);
    close(fd);
    gpu_activity_free(a);
    fd = open(tree_at(&f->t, "out/box.xplane.pb"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(rd_source_fd(&in, fd), 0);
    assert_int_equal(trace_new(&f->x), 0);
    assert_int_equal(xs_read(&f->x->sink, in, &opts), 0);
    assert_int_equal(trace_seal(f->x), 0);
    rd_source_close(in);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    trace_free(f->x);
    rec_free(&f->r);
    tree_remove(&f->t);
    free(f);
    return 0;
}

static const trace_track *track_named(const trace *t, const char *process, const char *name)
{
    for (uint32_t i = 0; i < t->track_count; i++)
        if (vp_str_eq(trace_str(t, t->processes[t->tracks[i].process].name), vp_str_of(process)) &&
            vp_str_eq(trace_str(t, t->tracks[i].name), vp_str_of(name)))
            return &t->tracks[i];
    return NULL;
}

static const trace_kind *kind_at(const trace *t, const trace_track *k, size_t i)
{
    return &t->kinds[trace_kind_of(k, i)];
}

static void work_stands_on_its_stream(void **state)
{
    const fixture *f = *state;
    const trace *t = f->x;
    const trace_track *k = track_named(t, "/device:GPU:1", "Stream #14(Compute,MemcpyH2D)");
    assert_non_null(k);
    assert_int_equal(k->id, 14);
    assert_int_equal(k->role, SINK_ROLE_OPS);
    assert_int_equal(k->count, 2);
    assert_int_equal(trace_start(k, 0), 2000000);
    assert_int_equal(trace_dur(k, 0), 3000000);
    assert_true(vp_str_eq(trace_str(t, kind_at(t, k, 0)->name), VP_STR("my_kernel")));
    assert_int_equal(trace_start(k, 1), 6000000);
    assert_true(vp_str_eq(trace_str(t, kind_at(t, k, 1)->name), VP_STR("MemcpyH2D")));
    assert_int_equal(kind_at(t, k, 1)->bytes, 4096);
    assert_true(vp_str_eq(trace_str(t, kind_at(t, k, 1)->memcpy),
                          VP_STR("kind_src:pageable kind_dst:device size:4096 dest:1 async:0")));
    k = track_named(t, "/device:GPU:1", "Stream #15(Memset)");
    assert_non_null(k);
    assert_int_equal(k->count, 1);
}

/* On the track of its thread, and tied to the kernel; never to a launch of the program's own. */
static void the_call_stands_on_its_thread(void **state)
{
    const fixture *f = *state;
    const trace *t = f->x;
    const trace_track *k = track_named(t, "/host:CPU", "main loop");
    const trace_track *gpu = track_named(t, "/device:GPU:1", "Stream #14(Compute,MemcpyH2D)");
    size_t calls = 0;
    for (size_t i = 0; i < k->count; i++) {
        if (!vp_str_eq(trace_str(t, kind_at(t, k, i)->name), VP_STR("cudaLaunchKernel")))
            continue;
        calls++;
        assert_int_equal(trace_start(k, i), 1000000);
        assert_int_equal(trace_dur(k, i), 500000);
        assert_int_equal(trace_attr(k, SINK_CORRELATION, i), trace_attr(gpu, SINK_CORRELATION, 0));
        assert_true(trace_attr(k, SINK_CORRELATION, i) > INT32_MAX);
    }
    assert_int_equal(calls, 1);
    assert_true(trace_attr(gpu, SINK_CORRELATION, 0) != trace_attr(gpu, SINK_CORRELATION, 1));
}

/* In both outputs. */
static void what_was_dropped_is_said(void **state)
{
    fixture *f = *state;
    size_t said = 0;
    char head[4096] = {0};
    gzFile json = gzopen(tree_at(&f->t, "out/box.trace.json.gz"), "rb");
    assert_non_null(json);
    assert_true(gzread(json, head, sizeof head - 1) > 0);
    gzclose(json);
    assert_non_null(strstr(head, "\"warnings\":["));
    assert_non_null(strstr(head, ",\"5 records of the GPU were dropped\"]}"));
    for (uint32_t i = 0; i < f->x->quality_count; i++)
        said += strstr(f->x->quality[i].message, "5 records of the GPU were dropped") != NULL;
    assert_int_equal(said, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_stands_on_its_stream),
        cmocka_unit_test(the_call_stands_on_its_thread),
        cmocka_unit_test(what_was_dropped_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
