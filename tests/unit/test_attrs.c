/* What single events say beyond their times: hand-made files of both formats, and real files with
 * counts from an independent decoder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/rows.h"
#include "tests/unit/traces.h"
#include "tests/unit/xspace_maker.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog.h"
#include "trace/model/trace.h"
#include "trace/read/semantics/attrs.h"
#include "trace/read/json/chrome_json.h"
#include "trace/read/xspace/xspace.h"

static trace *read_json(const char *text, bool device_only)
{
    trace *t;
    rd_stream *in;
    rd_options opts = {.device_only = device_only};
    assert_int_equal(rd_stream_memory(&in, text, strlen(text), 4096), 0);
    assert_int_equal(trace_new(&t), 0);
    assert_int_equal(cj_read(&t->sink, in, &opts), 0);
    rd_stream_close(&in);
    assert_int_equal(trace_seal(t), 0);
    return t;
}

static trace *read_space(vp_buf *space, bool device_only)
{
    trace *t;
    rd_source *in;
    rd_options opts = {.device_only = device_only};
    vp_str bytes = vp_buf_view(space);
    assert_int_equal(rd_source_memory(&in, bytes.p, bytes.n), 0);
    assert_int_equal(trace_new(&t), 0);
    assert_int_equal(xs_read(&t->sink, in, &opts), 0);
    rd_source_close(in);
    vp_buf_free(space);
    assert_int_equal(trace_seal(t), 0);
    return t;
}

/* The only event of that name; every test names its events apart. */
static int64_t attr_of(const trace *t, const char *name, sink_attr a)
{
    int64_t found = SINK_NO_VALUE;
    size_t n = 0;
    for (uint32_t i = 0; i < t->track_count; i++)
        for (size_t e = 0; e < t->tracks[i].count; e++) {
            const trace_kind *k = &t->kinds[trace_kind_of(&t->tracks[i], e)];
            if (!vp_str_eq(trace_str(t, k->name), vp_str_of(name)))
                continue;
            n++;
            found = trace_attr(&t->tracks[i], a, e);
        }
    assert_int_equal(n, 1);
    return found;
}

static const trace_track *track_named(const trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->track_count; i++)
        if (vp_str_eq(trace_str(t, t->tracks[i].name), vp_str_of(name)))
            return &t->tracks[i];
    fail_msg("no track %s", name);
    return NULL;
}

static size_t count_attr(const trace *t, sink_attr a)
{
    size_t n = 0;
    for (uint32_t i = 0; i < t->track_count; i++)
        for (size_t e = 0; e < t->tracks[i].count; e++)
            n += trace_attr(&t->tracks[i], a, e) != SINK_NO_VALUE;
    return n;
}

static const char kineto[] =
    "{\"traceEvents\": ["
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":"
    "9,"
    "\"args\":{\"External id\":5,\"correlation\":77}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
    "\"ts\":2,\"dur\":1,\"args\":{\"cbid\":211,\"correlation\":4294967296}},"
    "{\"ph\":\"X\",\"cat\":\"Runtime\",\"name\":\"none\",\"pid\":1,\"tid\":1,\"ts\":4,\"dur\":1,"
    "\"args\":{\"correlation\":0}},"
    "{\"ph\":\"X\",\"cat\":\"hip_driver\",\"name\":\"hipLaunch\",\"pid\":1,\"tid\":1,\"ts\":5,"
    "\"dur\":1,\"args\":{\"correlation\":\"9\"}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":6,\"dur\":3,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":4294967296}},"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#16\",\"pid\":1,\"tid\":1,"
    "\"ts\":0,\"dur\":20},"
    "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#17\",\"pid\":0,\"tid\":"
    "7,"
    "\"ts\":0,\"dur\":20},"
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":"
    "7,"
    "\"s\":\"t\",\"args\":{\"Total Reserved\":4096,\"Total Allocated\":512,\"Bytes\":-256,"
    "\"Addr\":140,\"Device Id\":3,\"Device Type\":1}}]}";

static void kineto_events_have_attributes(void **state)
{
    (void)state;
    trace *t = read_json(kineto, false);
    assert_int_equal(attr_of(t, "cudaLaunchKernel", SINK_CORRELATION), INT64_C(4294967296));
    assert_int_equal(attr_of(t, "gemm", SINK_CORRELATION), INT64_C(4294967296));
    assert_int_equal(attr_of(t, "hipLaunch", SINK_CORRELATION), 9);
    assert_int_equal(attr_of(t, "none", SINK_CORRELATION), SINK_NO_VALUE);
    assert_int_equal(attr_of(t, "aten::add", SINK_CORRELATION), SINK_NO_VALUE);
    assert_int_equal(attr_of(t, "ProfilerStep#16", SINK_STEP), 16);
    assert_int_equal(attr_of(t, "ProfilerStep#17", SINK_STEP), SINK_NO_VALUE);
    assert_int_equal(attr_of(t, "[memory]", SINK_MEM_DELTA), -256);
    assert_int_equal(attr_of(t, "[memory]", SINK_MEM_USED), 512);
    assert_int_equal(attr_of(t, "[memory]", SINK_MEM_RESERVED), 4096);
    assert_int_equal(attr_of(t, "[memory]", SINK_MEM_DEVICE), 3);
    assert_int_equal(track_named(t, "[memory]")->count, 1);
    assert_int_equal(track_named(t, "1")->role, SINK_ROLE_PLAIN);
    assert_int_equal(track_named(t, "7")->role, SINK_ROLE_DERIVED); /* annotations of its stream */
    trace_free(t);
}

/* Op tables pay for no attribute. */
static void op_tables_read_no_attributes(void **state)
{
    (void)state;
    trace *t = read_json(kineto, true);
    for (unsigned a = 0; a < SINK_ATTRS; a++)
        assert_int_equal(count_attr(t, (sink_attr)a), 0);
    trace_free(t);
}

static const char xla[] =
    "{\"traceEvents\": ["
    "{\"ph\":\"M\",\"pid\":701,\"name\":\"process_name\",\"args\":{\"name\":\"/host:CPU\"}},"
    "{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":\"/device:TPU:0\"}},"
    "{\"ph\":\"M\",\"pid\":2,\"tid\":3,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Ops\"}},"
    "{\"ph\":\"X\",\"pid\":701,\"tid\":1,\"ts\":1,\"dur\":5,\"name\":\"train\",\"args\":"
    "{\"iter_num\":\"9\",\"step_num\":\"7\",\"_r\":\"1\",\"group_id\":\"2\",\"_pt\":\"15\",\"_p\":"
    "\"1\"}},"
    "{\"ph\":\"X\",\"pid\":701,\"tid\":1,\"ts\":7,\"dur\":5,\"name\":\"run\",\"args\":"
    "{\"run_id\":\"-631349958\",\"_ct\":\"15\",\"_c\":\"1\",\"correlation_id\":\"12\"}},"
    "{\"ph\":\"X\",\"pid\":701,\"tid\":1,\"ts\":9,\"dur\":1,\"name\":\"send\",\"args\":"
    "{\"flow\":\"14\"}},"
    "{\"ph\":\"X\",\"pid\":701,\"tid\":1,\"ts\":9,\"dur\":1,\"name\":\"receive\",\"args\":"
    "{\"flow\":\"13\"}},"
    "{\"ph\":\"X\",\"pid\":701,\"tid\":1,\"ts\":8,\"name\":\"MemoryDeallocation\",\"args\":"
    "{\"bytes_allocated\":\"100\",\"bytes_available\":\"900\",\"bytes_reserved\":\"24\","
    "\"allocation_bytes\":\"50\",\"allocator_name\":\"GPU_5_bfc\"}},"
    "{\"ph\":\"X\",\"pid\":2,\"tid\":3,\"ts\":2,\"dur\":1,\"name\":\"all-reduce.1\",\"args\":"
    "{\"hlo_category\":\"all-reduce\",\"run_id\":\"3\",\"all_reduce_unique_id\":\"8589934593\"}}"
    "]}";

static void xla_json_has_attributes(void **state)
{
    (void)state;
    trace *t = read_json(xla, false);
    assert_int_equal(attr_of(t, "train", SINK_STEP), 7);
    assert_int_equal(attr_of(t, "train", SINK_ROOT), 1);
    assert_int_equal(attr_of(t, "train", SINK_GROUP), 2);
    assert_int_equal(attr_of(t, "train", SINK_FLOW_OUT), rd_flow_key(15, 1));
    assert_int_equal(attr_of(t, "run", SINK_FLOW_IN), rd_flow_key(15, 1));
    assert_int_equal(attr_of(t, "run", SINK_RUN), -631349958);
    assert_int_equal(attr_of(t, "run", SINK_CORRELATION), 12);
    /* Flow 3: direction out (2) and in (1). */
    assert_int_equal(attr_of(t, "send", SINK_FLOW_OUT), attr_of(t, "receive", SINK_FLOW_IN));
    assert_int_equal(attr_of(t, "send", SINK_FLOW_IN), SINK_NO_VALUE);
    assert_int_equal(attr_of(t, "MemoryDeallocation", SINK_MEM_DELTA), -50);
    assert_int_equal(attr_of(t, "MemoryDeallocation", SINK_MEM_USED), 100);
    assert_int_equal(attr_of(t, "MemoryDeallocation", SINK_MEM_FREE), 900);
    assert_int_equal(attr_of(t, "MemoryDeallocation", SINK_MEM_RESERVED), 24);
    assert_int_equal(attr_of(t, "MemoryDeallocation", SINK_MEM_DEVICE), 5);
    assert_int_equal(track_named(t, "GPU_5_bfc")->count, 1);
    assert_int_equal(attr_of(t, "all-reduce.1", SINK_RUN), INT64_C(8589934593));
    trace_free(t);
}

static vp_buf attr_space(void)
{
    static const char *const stats[] = {"correlation_id",
                                        "step_num",
                                        "iter_num",
                                        "_r",
                                        "group_id",
                                        "_pt",
                                        "_p",
                                        "_ct",
                                        "_c",
                                        "run_id",
                                        "bytes_allocated",
                                        "allocation_bytes",
                                        "allocator_name",
                                        "index_on_host",
                                        "bytes_reserved",
                                        "bytes_available",
                                        "GPU_4_bfc"};
    static const char *const names[] = {"cuLaunchKernel", "train", "consumer",
                                        "MemoryDeallocation"};
    static const struct {
        unsigned event, stat, field;
        uint64_t v;
    } values[] = {{1, 1, 3, 12},   {2, 2, 4, 7},   {2, 3, 4, 9},   {2, 4, 4, 1},   {2, 5, 4, 3},
                  {2, 6, 4, 15},   {2, 7, 4, 1},   {3, 8, 4, 15},  {3, 9, 4, 1},   {3, 10, 4, 5},
                  {4, 11, 4, 100}, {4, 12, 4, 50}, {4, 13, 7, 17}, {4, 15, 4, 24}, {4, 16, 4, 900}};
    vp_buf space = mk_new(), plane = mk_plane(1, "/host:CPU"), line = mk_line(1, "python", 0);
    vp_buf device = mk_plane(2, "/device:GPU:0"), stream = mk_line(3, "Stream #7(Compute)", 0), st;
    for (unsigned e = 1; e <= 4; e++) {
        st = mk_new();
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            if (values[i].event == e)
                mk_stat_u(&st, 4, values[i].stat, values[i].field, values[i].v);
        mk_event(&line, e, 100 * e, e == 4 ? 0 : 10, &st);
        mk_event_meta(&plane, e, vp_str_of(names[e - 1]), NULL, NULL);
    }
    for (unsigned i = 0; i < sizeof stats / sizeof *stats; i++)
        mk_stat_meta(&plane, i + 1, stats[i]);
    st = mk_new();
    mk_stat_u(&st, 4, 11, 4, 64);
    mk_stat_u(&st, 4, 12, 4, 64);
    mk_stat_text(&st, 4, 13, 5, VP_STR("gpu_host_bfc"));
    mk_event(&line, 5, 700, 0, &st);
    mk_event_meta(&plane, 5, VP_STR("MemoryAllocation"), NULL, NULL);
    st = mk_new();
    mk_stat_u(&st, 4, 1, 3, 12);
    mk_event(&stream, 1, 150, 30, &st);
    mk_event_meta(&device, 1, VP_STR("gemm"), NULL, NULL);
    mk_stat_meta(&device, 1, "correlation_id");
    mk_nest(&plane, 3, &line);
    mk_nest(&device, 3, &stream);
    mk_nest(&space, 1, &plane);
    mk_nest(&space, 1, &device);
    return space;
}

static void xspaces_have_attributes(void **state)
{
    (void)state;
    vp_buf space = attr_space();
    trace *t = read_space(&space, false);
    assert_int_equal(attr_of(t, "cuLaunchKernel", SINK_CORRELATION), 12);
    assert_int_equal(attr_of(t, "gemm", SINK_CORRELATION), 12);
    assert_int_equal(attr_of(t, "train", SINK_STEP), 7);
    assert_int_equal(attr_of(t, "train", SINK_ROOT), 1);
    assert_int_equal(attr_of(t, "train", SINK_GROUP), 3);
    assert_int_equal(attr_of(t, "train", SINK_FLOW_OUT), rd_flow_key(15, 1));
    assert_int_equal(attr_of(t, "consumer", SINK_FLOW_IN), rd_flow_key(15, 1));
    assert_int_equal(attr_of(t, "consumer", SINK_RUN), 5);
    assert_int_equal(attr_of(t, "MemoryDeallocation", SINK_MEM_DELTA), -50);
    assert_int_equal(attr_of(t, "MemoryDeallocation", SINK_MEM_USED), 100);
    assert_int_equal(attr_of(t, "MemoryDeallocation", SINK_MEM_FREE), 900);
    assert_int_equal(attr_of(t, "MemoryDeallocation", SINK_MEM_RESERVED), 24);
    assert_int_equal(attr_of(t, "MemoryDeallocation", SINK_MEM_DEVICE), 4);
    assert_int_equal(track_named(t, "GPU_4_bfc")->count, 1);
    assert_int_equal(attr_of(t, "MemoryAllocation", SINK_MEM_DELTA), 64);
    assert_int_equal(attr_of(t, "MemoryAllocation", SINK_MEM_DEVICE), SINK_NO_VALUE);
    assert_int_equal(track_named(t, "gpu_host_bfc")->count, 1);
    assert_int_equal(track_named(t, "python")->count, 3);
    trace_free(t);
    space = attr_space();
    t = read_space(&space, true);
    for (unsigned a = 0; a < SINK_ATTRS; a++)
        assert_int_equal(count_attr(t, (sink_attr)a), 0);
    trace_free(t);
}

static trace *read_real(const char *path)
{
    static const cat_options options = CAT_OPTIONS_INIT;
    char full[VP_PATH_MAX];
    catalog *c;
    trace *t;
    traces_need(path);
    assert_int_equal(catalog_open(&c, traces_path(full, sizeof full, path), &options), 0);
    const cat_file *f = &catalog_get(c, 0)->files[0];
    const rd_options all = {.device_only = false};
    assert_int_equal(trace_new(&t), 0);
    if (f->kind.format == RD_XSPACE) {
        rd_source *in;
        vp_error damage = {0};
        assert_int_equal(catalog_source(&in, c, f, &damage), 0);
        assert_int_equal(xs_read(&t->sink, in, &all), 0);
        rd_source_close(in);
    } else {
        rd_stream *in;
        assert_int_equal(catalog_stream(&in, c, f, false), 0);
        assert_int_equal(cj_read(&t->sink, in, &all), 0);
        rd_stream_close(&in);
    }
    catalog_free(c);
    assert_int_equal(trace_seal(t), 0);
    return t;
}

/* How many events of the tracks of this role carry a correlation that one of a plain track has. */
static size_t linked(const trace *t)
{
    vp_map calls;
    size_t n = 0;
    vp_map_init(&calls);
    for (int ops = 0; ops < 2; ops++)
        for (uint32_t i = 0; i < t->track_count; i++) {
            const trace_track *k = &t->tracks[i];
            for (size_t e = 0; (k->role == SINK_ROLE_OPS) == ops && e < k->count; e++) {
                int64_t c = trace_attr(k, SINK_CORRELATION, e);
                if (c == SINK_NO_VALUE)
                    continue;
                if (ops)
                    n += vp_map_get(&calls, (uint64_t)c) != VP_MAP_NONE;
                else
                    assert_int_equal(vp_map_set(&calls, (uint64_t)c, 1), 0);
            }
        }
    vp_map_free(&calls);
    return n;
}

static size_t flow_links(const trace *t)
{
    vp_map producers;
    size_t n = 0;
    vp_map_init(&producers);
    for (int in = 0; in < 2; in++)
        for (uint32_t i = 0; i < t->track_count; i++)
            for (size_t e = 0; e < t->tracks[i].count; e++) {
                int64_t key = trace_attr(&t->tracks[i], in ? SINK_FLOW_IN : SINK_FLOW_OUT, e);
                if (key == SINK_NO_VALUE)
                    continue;
                if (in)
                    n += vp_map_get(&producers, (uint64_t)key) != VP_MAP_NONE;
                else
                    assert_int_equal(vp_map_set(&producers, (uint64_t)key, 1), 0);
            }
    vp_map_free(&producers);
    return n;
}

/* Counted by a decoder of its own in Python, not by this reader. */
static const struct counted {
    const char *path;
    size_t correlations, linked, flows, steps, runs, used, deltas;
} counted[] = {
    {"pytorch_cuda/pytorch__kineto/samples/resnet50_num_workers_0/"
     "worker0.1623143566756.pt.trace.json.gz",
     11923 + 9096, 9096, 0, 6, 0, 0, 12838},
    {"pytorch_cuda/AMD-AGI__TraceLens/h100/Falconsai_nsfw_image_detection__1016002.json.gz",
     383 + 156, 156, 0, 1, 0, 620, 620},
    {"jax_gpu_rocm/AMD-AGI__TraceLens/mi300/jax_conv_minimal_08/tw003.xplane.pb", 234 + 235, 235,
     195, 0, 0, 230, 230},
    /* 600 of the 620 runs are ops, which stand on their device too. */
    {"jax_cpu/mnist_train/plugins/profile/2026_11_21_06_33_16/vm.xplane.pb", 0, 0, 827, 20,
     620 + 600, 0, 0},
    {"jax_cpu/mnist_train/plugins/profile/2026_11_21_06_33_16/vm.trace.json.gz", 0, 0, 0, 20,
     620 + 600, 0, 0},
    {"jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb", 0, 0, 2189 + 600, 0, 1254,
     906, 453},
    {"tf_gpu/openxla__xprof/demo/plugins/profile/GPU-multi-worker/34.83.195.179_6003.xplane.pb",
     1556 + 1556, 1556, 99, 530, 0, 2493, 2493},
};

static void a_real_file_has_what_was_counted(void **state)
{
    const struct counted *want = *state;
    trace *t = read_real(want->path);
    assert_int_equal(count_attr(t, SINK_CORRELATION), want->correlations);
    assert_int_equal(linked(t), want->linked);
    assert_int_equal(flow_links(t), want->flows);
    assert_int_equal(count_attr(t, SINK_STEP), want->steps);
    assert_int_equal(count_attr(t, SINK_RUN), want->runs);
    assert_int_equal(count_attr(t, SINK_MEM_USED), want->used);
    assert_int_equal(count_attr(t, SINK_MEM_DELTA), want->deltas);
    trace_free(t);
}

static const trace_kind *kind_named(const trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->kind_count; i++)
        if (t->kinds[i].is_op && vp_str_eq(trace_str(t, t->kinds[i].name), vp_str_of(name)))
            return &t->kinds[i];
    fail_msg("no kind %s", name);
    return NULL;
}

/* 1,024 bfloat16 in and 8,192 out of an all-gather over 8: 16,384 bytes. */
static void nccl_kernels_know_their_message(void **state)
{
    static const char text[] =
        "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllGather_RING_LL\",\"pid\":0,"
        "\"tid\":7,\"ts\":1,\"dur\":2,\"args\":{\"device\":0,\"correlation\":4,\"Collective name\":"
        "\"_allgather_base\",\"In msg nelems\":1024,\"Out msg nelems\":8192,\"Group size\":8,"
        "\"dtype\":\"BFloat16\"}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":4,"
        "\"dur\":2,\"args\":{\"device\":0,\"Group size\":8,\"dtype\":\"Float\"}},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_Odd\",\"pid\":0,\"tid\":7,"
        "\"ts\":8,\"dur\":2,\"args\":{\"device\":0,\"In msg nelems\":9223372036854775807,"
        "\"dtype\":\"Long\"}}]";
    (void)state;
    for (int device_only = 0; device_only < 2; device_only++) {
        trace *t = read_json(text, device_only);
        assert_int_equal(kind_named(t, "ncclDevKernel_AllGather_RING_LL")->bytes, 16384);
        assert_int_equal(kind_named(t, "ncclDevKernel_AllGather_RING_LL")->group_size, 8);
        assert_int_equal(kind_named(t, "gemm")->group_size, SINK_UNKNOWN);
        assert_int_equal(kind_named(t, "gemm")->bytes, SINK_UNKNOWN);
        assert_int_equal(kind_named(t, "ncclDevKernel_Odd")->bytes, SINK_UNKNOWN);
        trace_free(t);
    }
}

static void copies_say_what_memory_they_move(void **state)
{
    static const vp_str details = {"kind_src:pageable kind_dst:device size:64 dest:0 async:1", 56};
    vp_buf space = mk_new(), plane = mk_plane(1, "/device:GPU:0"),
           line = mk_line(1, "Stream #1(MemcpyH2D)", 0), st = mk_new();
    (void)state;
    mk_stat_text(&st, 4, 1, 5, details);
    mk_event(&line, 1, 0, 5, &st);
    mk_nest(&plane, 3, &line);
    mk_event_meta(&plane, 1, VP_STR("MemcpyH2D"), NULL, NULL);
    mk_stat_meta(&plane, 1, "memcpy_details");
    mk_nest(&space, 1, &plane);
    trace *t = read_space(&space, false);
    assert_true(vp_str_eq(trace_str(t, kind_named(t, "MemcpyH2D")->memcpy), details));
    assert_int_equal(kind_named(t, "MemcpyH2D")->bytes, 64);
    trace_free(t);
    t = read_json("[{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":"
                  "\"/device:GPU:0\"}},{\"ph\":\"M\",\"pid\":2,\"tid\":1,\"name\":\"thread_name\","
                  "\"args\":{\"name\":\"Stream #1(MemcpyH2D)\"}},{\"ph\":\"X\",\"pid\":2,\"tid\":1,"
                  "\"ts\":1,\"dur\":5,\"name\":\"MemcpyH2D\",\"args\":{\"memcpy_details\":"
                  "\"kind_src:pageable kind_dst:device size:64 dest:0 async:1\"}}]",
                  false);
    assert_true(vp_str_eq(trace_str(t, kind_named(t, "MemcpyH2D")->memcpy), details));
    trace_free(t);
}

/* Eight devices on one CPU; groups stand in the HLO protos, permutes have pairs instead. */
static void hlo_protos_name_the_group(void **state)
{
    trace *t = read_real("jax_cpu/multi_device/plugins/profile/2026_11_21_06_33_21/vm.xplane.pb");
    (void)state;
    assert_int_equal(kind_named(t, "psum_invariant.7")->group_size, 8);
    assert_int_equal(kind_named(t, "all_gather.7")->group_size, 8);
    assert_int_equal(kind_named(t, "reduce_scatter.7")->group_size, 8);
    assert_int_equal(kind_named(t, "all-to-all")->group_size, 8);
    assert_int_equal(kind_named(t, "ppermute.3")->group_size, SINK_UNKNOWN);
    trace_free(t);
}

/* replica_groups=[4,2]<=[2,4]T(1,0) */
static void hlo_text_names_the_group(void **state)
{
    trace *t = read_real("jax_tpu/openxla__xprof/test_xplanes/v2__tpu_inference_2.xplane.pb");
    (void)state;
    assert_int_equal(kind_named(t, "all-reduce")->group_size, 2);
    trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kineto_events_have_attributes),
        cmocka_unit_test(op_tables_read_no_attributes),
        cmocka_unit_test(xla_json_has_attributes),
        cmocka_unit_test(xspaces_have_attributes),
        cmocka_unit_test(nccl_kernels_know_their_message),
        cmocka_unit_test(copies_say_what_memory_they_move),
        cmocka_unit_test(hlo_protos_name_the_group),
        cmocka_unit_test(hlo_text_names_the_group),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + RUN_ROWS(a_real_file_has_what_was_counted, counted);
}
