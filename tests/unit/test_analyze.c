/* trace/analyze on hand-made traces: the tiny examples of docs/reference/metrics.md#breakdown,
 * classes and names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/analyze/device/classify.h"
#include "trace/analyze/result/order_statistics.h"
#include "trace/analyze/host_analysis.h"
#include "trace/analyze/result/host_result.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

typedef struct made {
    trace *t;
    uint32_t process, track;
} made;

static made make(sink_process_kind kind, sink_role role)
{
    made m = {0};
    assert_int_equal(trace_new(&m.t), 0);
    sink *s = &m.t->sink;
    assert_int_equal(s->process(s, &(sink_process){VP_STR("dev"), 1, kind, 0}, &m.process), 0);
    assert_int_equal(s->track(s, &(sink_track){m.process, VP_STR("ops"), 1, role, false}, &m.track),
                     0);
    return m;
}

static uint32_t new_track(made *m)
{
    uint32_t id;
    sink *s = &m->t->sink;
    assert_int_equal(
        s->track(s, &(sink_track){m->process, VP_STR("x"), 2, SINK_ROLE_OPS, false}, &id), 0);
    return id;
}

static uint32_t kind_of(made *m, const char *name)
{
    sink_kind k = {
        .name = vp_str_of(name), .program_id = -1, .bytes = -1, .flops = -1, .is_op = true};
    uint32_t id;
    for (uint32_t i = 0; i < m->t->kind_count; i++)
        if (vp_str_eq(trace_str(m->t, m->t->kinds[i].name), k.name))
            return i;
    assert_int_equal(m->t->sink.kind(&m->t->sink, &k, &id), 0);
    return id;
}

static void put(made *m, uint32_t track, const char *name, int64_t start, int64_t end)
{
    sink_event e = {start, end - start, SINK_NO_TIME, 0, track, kind_of(m, name), NULL};
    assert_int_equal(m->t->sink.events(&m->t->sink, &e, 1), 0);
}

static const vp_op *op_named(const host_result *h, const char *name)
{
    for (size_t i = 0; i < h->op_count; i++)
        if (!strcmp(h->ops[i].name, name))
            return &h->ops[i];
    fail_msg("no op %s", name);
    return NULL;
}

static void analyze(host_result *h, made *m, vp_group by)
{
    assert_int_equal(trace_seal(m->t), 0);
    host_result_init(h);
    assert_int_equal(host_analyze(h, m->t, by, VP_DEPTH_FULL), 0);
}

static void done(host_result *h, made *m)
{
    host_result_free(h);
    trace_free(m->t);
}

/* A file may name its devices in the order of their first events. */
static void devices_come_by_number(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t ordinal;
    } in_file[] = {{"CPU:10", 10}, {"CPU:2", 2}, {"other", -1}, {"CPU:0", 0}, {"CPU:0 part", 0}};
    static const char *const want[] = {"other", "CPU:0", "CPU:0 part", "CPU:2", "CPU:10"};
    made m = {0};
    host_result h;
    assert_int_equal(trace_new(&m.t), 0);
    sink *s = &m.t->sink;
    for (size_t i = 0; i < 5; i++) {
        sink_process p = {vp_str_of(in_file[i].name), 1, SINK_PROCESS_CPU, in_file[i].ordinal};
        assert_int_equal(s->process(s, &p, &m.process), 0);
        put(&m, new_track(&m), in_file[i].name, (int64_t)i, 9);
    }
    analyze(&h, &m, VP_GROUP_NAME);
    assert_int_equal(h.device_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(h.devices[i].name, want[i]);
        assert_int_equal(h.devices[i].events, 1);
    }
    for (size_t i = 0; i < h.op_count; i++)
        assert_int_equal(h.devices[h.ops[i].device].start_ps, h.ops[i].slowest_start_ps);
    done(&h, &m);
}

/* XLA:CPU tells no category, but an opcode: grouped by category, ops part by what the tables show.
 */
static void categories_are_those_that_are_shown(void **state)
{
    (void)state;
    static const char *const opcodes[] = {"dot", "fusion", "dot", ""};
    made m = make(SINK_PROCESS_CPU, SINK_ROLE_OPS);
    sink *s = &m.t->sink;
    host_result h;
    for (int i = 0; i < 4; i++) {
        char name[] = {(char)('a' + i), 0};
        sink_kind k = {.name = vp_str_of(name),
                       .opcode = vp_str_of(opcodes[i]),
                       .program_id = -1,
                       .bytes = -1,
                       .flops = -1,
                       .is_op = true};
        sink_event e = {i * 10, i + 1, SINK_NO_TIME, 0, m.track, 0, NULL};
        assert_int_equal(s->kind(s, &k, &e.kind), 0);
        assert_int_equal(s->events(s, &e, 1), 0);
    }
    analyze(&h, &m, VP_GROUP_CATEGORY);
    assert_int_equal(h.op_count, 3);
    assert_int_equal(op_named(&h, "dot")->self_ps, 1 + 3);
    assert_int_equal(op_named(&h, "fusion")->self_ps, 2);
    assert_string_equal(op_named(&h, "fusion")->category, "fusion");
    assert_int_equal(op_named(&h, "compute")->self_ps, 4);
    done(&h, &m);
}

/* A1: W=[0,100): C=[0,10)[10,30)[40,60)[90,95); M=[20,50); X=[55,70), and the window closed by an
 * empty op at 100. compute 55 + exposed_comm 10 + exposed_copy 10 + idle 25 = 100. */
static void the_breakdown_adds_up(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU, SINK_ROLE_OPS);
    uint32_t comm = new_track(&m), copy = new_track(&m);
    host_result h;
    put(&m, m.track, "mm", 0, 10);
    put(&m, m.track, "mm", 10, 30);
    put(&m, m.track, "mm", 40, 60);
    put(&m, m.track, "mm", 90, 95);
    put(&m, m.track, "mm", 100, 100);
    put(&m, comm, "ncclAllReduce", 20, 50);
    put(&m, copy, "Memcpy HtoD", 55, 70);
    analyze(&h, &m, VP_GROUP_NAME);
    const vp_breakdown *b = &h.devices[0].breakdown;
    assert_int_equal(b->window_ps, 100);
    assert_int_equal(b->compute_ps, 55);
    assert_int_equal(b->comm_ps, 30);
    assert_int_equal(b->overlap_comm_ps, 20);
    assert_int_equal(b->exposed_comm_ps, 10);
    assert_int_equal(b->copy_ps, 15);
    assert_int_equal(b->exposed_copy_ps, 10);
    assert_int_equal(b->busy_ps, 75);
    assert_int_equal(b->idle_ps, 25);
    done(&h, &m);
}

/* A6's host line: step[0,100), f[0,40) with an inner f[1,39), compile[5,25), execute[26,38) and
 * overflow[90,110), which crosses the step's end. Self: step 50, f 8, compile 20, execute 12,
 * overflow 20; total of f 40 (outermost only); Σ self = 110 = busy. */
static void self_time_survives_crossings(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_HOST, SINK_ROLE_PLAIN);
    host_result h;
    put(&m, m.track, "step", 0, 100);
    put(&m, m.track, "f", 0, 40);
    put(&m, m.track, "f", 1, 39);
    put(&m, m.track, "compile", 5, 25);
    put(&m, m.track, "execute", 26, 38);
    put(&m, m.track, "overflow", 90, 110);
    analyze(&h, &m, VP_GROUP_NAME);
    assert_false(h.has_devices);
    assert_int_equal(op_named(&h, "step")->self_ps, 50);
    assert_int_equal(op_named(&h, "f")->self_ps, 8);
    assert_int_equal(op_named(&h, "f")->total_ps, 40);
    assert_int_equal(op_named(&h, "f")->calls, 2);
    assert_int_equal(op_named(&h, "compile")->self_ps, 20);
    assert_int_equal(op_named(&h, "execute")->self_ps, 12);
    assert_int_equal(op_named(&h, "overflow")->self_ps, 20);
    assert_int_equal(op_named(&h, "overflow")->total_ps, 20);
    assert_int_equal(h.devices[0].self_ps, 110);
    assert_int_equal(h.devices[0].breakdown.busy_ps, 110);
    assert_int_equal(h.quality_count, 1); /* one crossing, said */
    assert_string_equal(h.quality[0].code, "crossing");
    done(&h, &m);
}

/* A2: durations 50, 60, 10. HTA gives mean = max = 120 here. Population deviation: mean 40,
 * variance (100+400+900)/3. */
static void statistics_are_of_calls(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_TPU, SINK_ROLE_OPS);
    host_result h;
    put(&m, m.track, "k.1", 0, 50);
    put(&m, m.track, "k.2", 100, 160);
    put(&m, m.track, "k.3", 200, 210);
    analyze(&h, &m, VP_GROUP_NAME);
    const vp_op *op = op_named(&h, "k");
    assert_int_equal(op->calls, 3);
    assert_int_equal(op->total_ps, 120);
    assert_int_equal(op->min_ps, 10);
    assert_int_equal(op->p50_ps, 50);
    assert_int_equal(op->p95_ps, 60);
    assert_int_equal(op->max_ps, 60);
    assert_int_equal(op->raw_names, 3);
    assert_int_equal(op->slowest_start_ps, 100);
    assert_true(op->stddev_ps > 21.60 && op->stddev_ps < 21.61);
    done(&h, &m);
    m = make(SINK_PROCESS_TPU, SINK_ROLE_OPS);
    put(&m, m.track, "k.1", 0, 50);
    put(&m, m.track, "k.2", 100, 160);
    analyze(&h, &m, VP_GROUP_RAW);
    assert_int_equal(op_named(&h, "k.2")->calls, 1);
    done(&h, &m);
}

/* Requests on one track: two of one name cross, so that none of them is inside another of its name,
 * and all count. Busy [0,35) us: self. */
static void spans_that_cross_all_count(void **state)
{
    enum { US = 1000000 };
    static const int64_t request[][2] = {{0, 10}, {2, 5}, {8, 20}, {9, 35}, {30, 34}};
    (void)state;
    for (int device = 0; device < 2; device++) {
        made m = make(device ? SINK_PROCESS_TPU : SINK_PROCESS_HOST,
                      device ? SINK_ROLE_OPS : SINK_ROLE_PLAIN);
        host_result h;
        for (size_t i = 0; i < 5; i++)
            put(&m, m.track, "request", request[i][0] * US, request[i][1] * US);
        analyze(&h, &m, VP_GROUP_NAME);
        assert_int_equal(op_named(&h, "request")->total_ps, (10 + 3 + 12 + 26 + 4) * US);
        assert_int_equal(op_named(&h, "request")->self_ps, 35 * US);
        assert_int_equal(op_named(&h, "request")->max_ps, 26 * US);
        assert_int_equal(op_named(&h, "request")->p50_ps, 10 * US);
        done(&h, &m);
    }
}

/* Calls that only seem to cross, since their file rounds to whole us, nest: the inner ones count in
 * the outer. */
static void rounding_makes_no_spans(void **state)
{
    enum { US = 1000000 };
    (void)state;
    made m = make(SINK_PROCESS_HOST, SINK_ROLE_PLAIN);
    host_result h;
    put(&m, m.track, "f", 0, 10 * US);
    put(&m, m.track, "f", 2 * US, 5 * US);
    put(&m, m.track, "f", 9 * US, 20 * US);
    put(&m, m.track, "f", 12 * US, 21 * US);
    put(&m, m.track, "f", 13 * US, 14 * US);
    analyze(&h, &m, VP_GROUP_NAME);
    assert_int_equal(op_named(&h, "f")->total_ps, (10 + 11 + 9) * US);
    done(&h, &m);
}

/* Any order of the same events gives the same figures; Σ self of a track is its busy time. */
static void order_does_not_matter(void **state)
{
    enum { N = 400 };
    int64_t start[N], end[N], self[2] = {0}, total[2] = {0};
    int order[N];
    (void)state;
    srand(7);
    for (int i = 0; i < N; i++) {
        start[i] = rand() % 3000;
        end[i] = start[i] + rand() % 200;
        order[i] = i;
    }
    for (int round = 0; round < 2; round++) {
        made m = make(SINK_PROCESS_GPU, SINK_ROLE_OPS);
        host_result h;
        for (int i = 0; i < N; i++) {
            char name[8];
            snprintf(name, sizeof name, "n%d", order[i] % 5);
            put(&m, m.track, name, start[order[i]], end[order[i]]);
        }
        analyze(&h, &m, VP_GROUP_NAME);
        const vp_breakdown *b = &h.devices[0].breakdown;
        assert_int_equal(h.devices[0].self_ps, b->busy_ps);
        assert_int_equal(b->compute_ps + b->exposed_comm_ps + b->exposed_copy_ps + b->idle_ps,
                         b->window_ps);
        self[round] = op_named(&h, "n1")->self_ps;
        total[round] = op_named(&h, "n1")->total_ps;
        done(&h, &m);
        for (int i = N - 1; i > 0; i--) {
            int k = rand() % (i + 1), swap = order[i];
            order[i] = order[k];
            order[k] = swap;
        }
    }
    assert_int_equal(self[0], self[1]);
    assert_int_equal(total[0], total[1]);
}

static void classes_follow_the_rules(void **state)
{
    static const struct {
        const char *name, *category, *opcode, *label;
        vp_op_class want;
    } rows[] = {
        {"hipblaslt_gemm", "kernel", "", "", VP_COMPUTE},
        {"rcclGenericKernel", "kernel", "", "", VP_COMMUNICATION},
        {"all-reduce-start.1", "", "", "", VP_COMMUNICATION},
        {"multimem_all_reduce_kernel", "kernel", "", "", VP_COMMUNICATION},
        {"void deep_ep::dispatch<1>", "kernel", "", "", VP_COMMUNICATION},
        {"void deepep::combine<1>", "kernel", "", "", VP_COMMUNICATION},
        {"void dpsk::ep::internode_ll::dispatch<10, 1024>", "kernel", "", "", VP_COMMUNICATION},
        {"dpsk::epilogue", "kernel", "", "", VP_COMPUTE},
        {"MEMORY_COPY_HOST_TO_DEVICE", "kernel", "", "", VP_COPY},
        {"__amd_rocclr_copyBuffer.kd", "kernel", "", "", VP_COPY},
        {"CopyHostToDevice", "", "", "", VP_COPY},
        {"dmabuf_kernel", "kernel", "", "", VP_COMPUTE},
        {"loop_add_fusion_dma_x", "", "", "", VP_COMPUTE},
        {"psum.896", "all-reduce", "", "", VP_COMMUNICATION},
        {"psum", "", "", "", VP_COMMUNICATION},
        {"psum_scatter_like", "", "", "", VP_COMPUTE},
        {"psum_invariant.7", "", "", "", VP_COMMUNICATION},
        {"psum_invariant_like", "", "", "", VP_COMPUTE},
        {"pmax.3", "", "", "", VP_COMMUNICATION},
        {"pmin", "", "", "", VP_COMMUNICATION},
        {"pmaxpool", "", "", "", VP_COMPUTE},
        {"anything", "gpu_memset", "", "", VP_COPY},
        {"copy.3", "data formatting", "copy", "", VP_COMPUTE},
        {"copy-done.2", "copy-done", "", "", VP_COPY},
        {"x", "", "all-gather", "", VP_COMMUNICATION},
        {"x", "host send", "", "", VP_COPY},
        {"x", "", "", "MemcpyH2D", VP_COPY},
        {"x", "", "", "MemcpyD2H,Compute", VP_COMPUTE},
        {"x", "", "", "MemoryAlloc", VP_COMPUTE},
        {"ncclDevKernel_SendRecv(ncclDevComm*)", "kernel", "", "", VP_COMMUNICATION},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (cl_class_of(vp_str_of(rows[i].name), vp_str_of(rows[i].category),
                        vp_str_of(rows[i].opcode), vp_str_of(rows[i].label)) != rows[i].want)
            fail_msg("%s / %s / %s / %s", rows[i].name, rows[i].category, rows[i].opcode,
                     rows[i].label);
}

static void names_are_grouped_as_people_read_them(void **state)
{
    static const char *const rows[][2] = {
        {"fusion.123", "fusion"},
        {"convolution.3.remat2", "convolution"},
        {"custom-call.7.clone.1", "custom-call"},
        {"%psum.896 = bf16[8]{0} all-reduce(bf16[8] %x)", "psum"},
        {"input_transpose_fusion_1.kd", "input_transpose_fusion"},
        {"gemm_fusion_dot_6", "gemm_fusion_dot"},
        {"quantized_matmul_kernel_512_6400_1024", "quantized_matmul_kernel_512_6400_1024"},
        {"RPA-bq_32-bkvp_64-p_64-.1", "RPA-bq_32-bkvp_64-p_64-"},
        {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"},
        {"void (anonymous namespace)::softmax<float, 4>(float*, int)", "softmax<$>"},
        {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
         "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, "
         "at::detail::Array<char*, 3>)",
         "at::native::vectorized_elementwise_kernel<CUDAFunctor_add>"},
        {"wrapped_broadcast_2", "wrapped_broadcast"},
        {"dot", "dot"},
        {"1.2.3", "1"},
        {".5", ".5"},
        {"f [clone .isra.0]", "f"},
        {"a<b", "a<$>"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vp_buf b;
        vp_buf_init(&b, 4096);
        assert_int_equal(cl_normalize(&b, vp_str_of(rows[i][0])), 0);
        assert_string_equal(vp_buf_cstr(&b), rows[i][1]);
        vp_buf_free(&b);
    }
}

/* Values of all sizes, negative ones, equal ones, and none. */
static void values_are_sorted(void **state)
{
    int64_t v[3000], least[] = {INT64_MAX, INT64_MIN, 0, -1, INT64_MIN};
    uint64_t random = 1, sum = 0, after = 0;
    (void)state;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        sum = after = 0;
        for (size_t i = 0; i < 3000; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            v[i] = (int64_t)random >> shift;
            sum += (uint64_t)v[i] * (uint64_t)v[i];
        }
        assert_int_equal(sort_values(v, 3000), 0);
        for (size_t i = 0; i < 3000; i++) {
            assert_true(!i || v[i - 1] <= v[i]);
            after += (uint64_t)v[i] * (uint64_t)v[i];
        }
        assert_true(sum == after);
    }
    assert_int_equal(sort_values(least, 5), 0);
    assert_true(least[0] == INT64_MIN && least[1] == INT64_MIN && least[2] == -1 && least[3] == 0 &&
                least[4] == INT64_MAX);
    assert_int_equal(sort_values(least, 0), 0);
}

static void percentiles_are_nearest_rank(void **state)
{
    int64_t v[101];
    (void)state;
    for (int k = 0; k < 101; k++) {
        for (int i = 0; i < 101; i++)
            v[i] = (i * 37) % 101;
        assert_int_equal(select_kth(v, 101, (size_t)k), k);
    }
    assert_int_equal(nearest_rank(1, 95), 0);
    assert_int_equal(nearest_rank(20, 95), 18);
    assert_int_equal(nearest_rank(100, 50), 49);
    assert_int_equal(nearest_rank(3, 50), 1);
}

/* Every allocation of an analysis fails once, and from there on: a clean error, no leak. */
static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    made m = make(SINK_PROCESS_GPU, SINK_ROLE_OPS);
    host_result h;
    for (int i = 0; i < 50; i++)
        put(&m, m.track, i % 3 ? "a.1" : "b<x::y>(int)", i * 10, i * 10 + 12);
    assert_int_equal(trace_seal(m.t), 0);
    for (int persist = 0; persist < 2; persist++)
        for (uint64_t k = 1;; k++) {
            vp_mem_fail_at(k, persist);
            host_result_init(&h);
            int rc = host_analyze(&h, m.t, VP_GROUP_NAME, VP_DEPTH_FULL);
            bool reached = vp_mem_fail_at(0, false) >= k;
            host_result_free(&h);
            if (!reached) {
                assert_int_equal(rc, 0);
                break;
            }
            assert_int_equal(rc, VP_ENOMEM);
        }
    trace_free(m.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_come_by_number),
        cmocka_unit_test(categories_are_those_that_are_shown),
        cmocka_unit_test(the_breakdown_adds_up),
        cmocka_unit_test(self_time_survives_crossings),
        cmocka_unit_test(statistics_are_of_calls),
        cmocka_unit_test(spans_that_cross_all_count),
        cmocka_unit_test(rounding_makes_no_spans),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(classes_follow_the_rules),
        cmocka_unit_test(names_are_grouped_as_people_read_them),
        cmocka_unit_test(values_are_sorted),
        cmocka_unit_test(percentiles_are_nearest_rank),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests_name("analyze", tests, NULL, NULL);
}
