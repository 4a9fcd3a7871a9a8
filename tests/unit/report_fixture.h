/* Reports built by hand for the tests of trace/report/. The figures of fx_tpu are those of a real
 * TPU run in docs/reference/metrics.md#sample-profiles, in ps; its 21 small groups are invented,
 * with the same sum. */
#ifndef VP_TESTS_REPORT_FIXTURE_H
#define VP_TESTS_REPORT_FIXTURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/report/report.h"

#define FX_HOSTILE                                                                                 \
    "\"><img src=x onerror=alert(1)>&'\x1b[31m\xe2\x80\xae"                                        \
    "evil\xff"
#define FX_MS INT64_C(1000000000)
#define FX_US INT64_C(1000000)

typedef struct fx {
    vp_report r;
    vp_device devices[64];
    vp_op *ops;
    vp_scope *scopes;
    vp_module modules[4];
    vp_quality quality[4];
    vp_report_file files[4];
    const char *hosts[2];
} fx;

static inline vp_op fx_op(uint32_t device, const char *category, const char *name, int64_t calls,
                          int64_t self_ps)
{
    return (vp_op){.device = device,
                   .category = category,
                   .name = name,
                   .calls = calls,
                   .total_ps = self_ps,
                   .self_ps = self_ps,
                   .min_ps = self_ps / calls,
                   .p50_ps = self_ps / calls,
                   .p95_ps = self_ps / calls,
                   .max_ps = self_ps / calls,
                   .bytes = VP_UNKNOWN,
                   .flops = VP_UNKNOWN,
                   .raw_names = 1,
                   .slowest_dur_ps = self_ps / calls};
}

/* Σ of the four parts = window; busy = window - idle. */
static inline vp_device fx_device(const char *name, vp_device_kind kind, int64_t self_ps,
                                  int64_t comm_ps, int64_t copy_ps, int64_t idle_ps)
{
    return (vp_device){.name = name,
                       .host = "t1v-n-9eb622fc-w-0",
                       .kind = kind,
                       .events = 1000,
                       .start_ps = 5 * FX_MS,
                       .end_ps = 5 * FX_MS + self_ps + idle_ps,
                       .self_ps = self_ps,
                       .breakdown = {.window_ps = self_ps + idle_ps,
                                     .compute_ps = self_ps - comm_ps - copy_ps,
                                     .exposed_comm_ps = comm_ps,
                                     .exposed_copy_ps = copy_ps,
                                     .idle_ps = idle_ps,
                                     .busy_ps = self_ps,
                                     .comm_ps = comm_ps,
                                     .copy_ps = copy_ps,
                                     .overlap_comm_ps = 0}};
}

static inline void fx_init(fx *f)
{
    memset(f, 0, sizeof *f);
    f->hosts[0] = "t1v-n-9eb622fc-w-0";
    f->r = (vp_report){.step = VP_UNKNOWN,
                       .session_id = "2026_01_11_21_26_41",
                       .session_name = "2026_01_11_21_26_41",
                       .session_path = "plugins/profile/2026_01_11_21_26_41",
                       .session_kind = "xla",
                       .captured_unix_ns = INT64_C(1768166801000000000),
                       .base_unix_ns = INT64_C(1768166801123456789),
                       .hosts = f->hosts,
                       .host_count = 1,
                       .files = f->files,
                       .has_devices = true,
                       .capture_ps = VP_UNKNOWN,
                       .devices = f->devices,
                       .modules = f->modules,
                       .quality = f->quality};
}

static inline void fx_free(fx *f)
{
    free(f->ops);
    free(f->scopes);
}

#define FX_TPU_OPS 30

static inline void fx_tpu_ops(vp_op *ops)
{
    static const char *const small[21] = {"s00", "s01", "s02", "s03", "s04", "s05", "s06",
                                          "s07", "s08", "s09", "s10", "s11", "s12", "s13",
                                          "s14", "s15", "s16", "s17", "s18", "s19", "s20"};
    vp_op *o = ops;
    *o++ = fx_op(0, "convolution fusion", "convolution_bitcast_fusion", 64, 22222 * FX_US);
    *o++ = fx_op(0, "custom-call", "RPA-bq_32-bkvp_64-p_64-", 64, 17013 * FX_US);
    *o++ = fx_op(0, "convolution fusion", "fusion", 129, 16531 * FX_US);
    *o++ = fx_op(0, "convolution fusion", "add_bitcast_fusion", 64, 3556 * FX_US);
    *o++ = fx_op(0, "all-reduce", "all-reduce", 129, 3434 * FX_US);
    *o++ = fx_op(0, "loop fusion", "multiply_reduce_fusion", 128, 1390 * FX_US);
    *o++ = fx_op(0, "data formatting", "copy", 258, 1014 * FX_US);
    *o++ = fx_op(0, "loop fusion", "copy_bitcast_fusion", 64, 661 * FX_US);
    *o++ = fx_op(0, "loop fusion", "tanh_fusion", 64, 447 * FX_US);
    for (int i = 0; i < 20; i++)
        *o++ = fx_op(0, "loop fusion", small[i], 1, 45 * FX_US);
    *o++ = fx_op(0, "loop fusion", small[20], 1, 41 * FX_US);
    ops[2].max_ps = 290270000; /* several ops under one name */
    ops[2].p95_ps = 220270000;
    ops[2].stddev_ps = 93500000;
    ops[2].raw_names = 129;
    ops[4].op_class = VP_COMMUNICATION;
    ops[6].op_class = VP_COPY;
    ops[0].bytes = 4 * INT64_C(22222000); /* in 22.222 ms: 4 GB/s */
    ops[0].flops = 8 * INT64_C(22222000000);
    ops[0].scope = "jit(step)/transformer/layer_3/attn/dot_general";
    ops[0].source = "model.py:42";
    ops[0].module = "jit_step";
    ops[0].slowest_start_ps = 12345678;
}

static inline void fx_tpu(fx *f)
{
    static const vp_scope scopes[] = {
        {0, UINT32_MAX, "jit(step)", "jit(step)", 0, 60000 * FX_US, 900},
        {1, 0, "jit(step)/transformer", "transformer", 1000 * FX_US, 60000 * FX_US, 900},
        {2, 1, "jit(step)/transformer/attn", "attn", 20000 * FX_US, 20000 * FX_US, 300},
        {2, 1, "jit(step)/transformer/mlp", "mlp", 9000 * FX_US, 39000 * FX_US, 500},
        {3, 3, "jit(step)/transformer/mlp/dot_general", "dot_general", 30000 * FX_US, 30000 * FX_US,
         400},
        {0, UINT32_MAX, "jit(sample)", "jit(sample)", 7209 * FX_US, 7209 * FX_US, 64},
    };
    fx_init(f);
    f->ops = calloc(FX_TPU_OPS, sizeof *f->ops);
    fx_tpu_ops(f->ops);
    f->r.ops = f->ops;
    f->r.op_count = FX_TPU_OPS;
    f->devices[0] = fx_device("/device:TPU:0", VP_DEVICE_TPU, 67209 * FX_US, 3434 * FX_US,
                              1014 * FX_US, 26 * FX_US);
    f->devices[0].own_clock = f->r.own_clock = true;
    f->r.device_count = 1;
    f->r.start_ps = f->devices[0].start_ps;
    f->r.end_ps = f->devices[0].end_ps;
    f->r.capture_ps = 2316600 * FX_US;
    f->r.events = 123456;
    f->scopes = malloc(sizeof scopes);
    memcpy(f->scopes, scopes, sizeof scopes);
    f->r.scopes = f->scopes;
    f->r.scope_count = sizeof scopes / sizeof *scopes;
    f->modules[0] = (vp_module){"jit_step", 17, 64, 60000 * FX_US, 937 * FX_US};
    f->modules[1] = (vp_module){"jit_sample", VP_UNKNOWN, 64, 7209 * FX_US, VP_UNKNOWN};
    f->r.module_count = 2;
    f->files[0] = (vp_report_file){"plugins/profile/2026_01_11_21_26_41/vm.xplane.pb", "xplane",
                                   4190208, 123456, false};
    f->r.file_count = 1;
    f->quality[0] = (vp_quality){"capped",
                                 VP_SEV_WARNING,
                                 "exactly 1,000,000 events: the writer's limit, later ones are "
                                 "missing",
                                 "vm.trace.json.gz",
                                 999999,
                                 51200331,
                                 true};
    f->quality[1] =
        (vp_quality){"crossing", VP_SEV_INFO, "3 events cross on one track", NULL, -1, -1, false};
    f->r.quality_count = 2;
    f->r.partial = true;
}

/* `n` devices of a kind with one op each, device k slower than k-1. */
static inline void fx_many(fx *f, uint32_t n, vp_device_kind kind)
{
    static char names[64][32];
    fx_init(f);
    f->ops = calloc(n, sizeof *f->ops);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "/device:TPU:%u", i);
        f->devices[i] = fx_device(names[i], kind, (10 + i) * FX_MS, FX_MS, 0, FX_MS);
        f->ops[n - 1 - i] = fx_op(i, "fusion", "fusion", 10, (10 + i) * FX_MS);
    }
    f->r.device_count = f->r.op_count = n;
    f->r.ops = f->ops;
    f->r.start_ps = 5 * FX_MS;
    f->r.end_ps = 100 * FX_MS;
}

#endif
