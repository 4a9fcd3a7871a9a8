/* Every limit in the rows of trace/analyze/findings/findings_rules.c, approached from both sides by
 * the least there is: one picosecond, one call, one byte. The numbers here are those of the rules'
 * sentences, which are held against the rows as well. */
#include "findings_fixture.h"

#include <ctype.h>

#define NAMED(limit) [limit] = #limit
static const char *const names[FND_LIMITS] = {
    NAMED(FND_SPREAD), NAMED(FND_SHARE),  NAMED(FND_TIME),      NAMED(FND_FACTOR),
    NAMED(FND_WINDOW), NAMED(FND_SEVERE), NAMED(FND_PART),      NAMED(FND_SPARED),
    NAMED(FND_NUMBER), NAMED(FND_SIZE),   NAMED(FND_DEVIATIONS)};

/* Sets a report to the limit and `more` beyond it. */
typedef void setter(ff *, int64_t more);

/* ---- Without a device: processes, threads and zones ---- */

static void host_only(ff *f)
{
    f->r.has_devices = false;
    for (int d = 0; d < 2; d++)
        f->devices[d].kind = VP_DEVICE_CPU;
}

static void thread(ff *f, size_t i, const char *zone, int64_t work_ps, int64_t zone_ps)
{
    f->threads[i] =
        (vp_thread){.name = "worker", .zone = zone, .work_ps = work_ps, .zone_ps = zone_ps};
    f->r.thread_count = i + 1;
}

/* Zones that take these times, of 100 equal calls each. */
static void zones(ff *f, size_t n, const int64_t *self_ps)
{
    host_only(f);
    for (size_t i = 0; i < n; i++) {
        f->ops[i].threads = 1;
        f->ops[i].self_ps = f->ops[i].total_ps = self_ps[i];
        f->ops[i].p50_ps = self_ps[i] / 100;
    }
    f->r.op_count = n;
}

/* A device whose whole window is this long, and full of compute. */
static vp_breakdown *short_window(ff *f, uint32_t d, int64_t ps)
{
    f->devices[d].breakdown = (vp_breakdown){.window_ps = ps, .compute_ps = ps, .busy_ps = ps};
    return &f->devices[d].breakdown;
}

/* ---- Compiling ---- */

static void recompile(ff *f, int64_t more) /* 0.5 % of 2 s */
{
    f->functions[0] = (vp_function){
        .host = "node0", .name = "train_step", .compiles = 2, .repeat_ps = 10 * MS + more};
    f->r.compile = (vp_compile){
        .count = 2, .total_ps = 20 * MS, .functions = f->functions, .function_count = 1};
}

static void compile_share(ff *f, int64_t more) /* 10 % of 2 s */
{
    f->r.compile.count = 1;
    f->r.compile.total_ps = 300 * MS;
    f->r.compile.before_steps_ps = 200 * MS + more;
}

/* ---- Idle time; the window is 1 s, and 40 ms of it are latency ---- */

static void input_wait(ff *f, int64_t more)
{
    ff_idle(f, 1, VP_CAUSE_INPUT, 50 * MS + more);
}

static void activity(ff *f, vp_activity_kind kind, int64_t ps)
{
    ff_idle(f, 1, VP_CAUSE_HOST, ps);
    f->activities[0] = (vp_activity){.host = "node0",
                                     .device = VP_NO_DEVICE,
                                     .kind = kind,
                                     .name = "f",
                                     .calls = 1,
                                     .total_ps = ps,
                                     .idle_ps = ps};
    f->r.activity_count = 1;
}

static void garbage(ff *f, int64_t more)
{
    activity(f, VP_ACTIVITY_GC, 20 * MS + more);
}

static void writes(ff *f, int64_t more)
{
    activity(f, VP_ACTIVITY_WRITE, 20 * MS + more);
}

/* ---- Programs of PyTorch; the capture is 2 s ---- */

static void recorded_events(ff *f, int64_t more)
{
    f->r.events = 571428 + 2000; /* 2,000 of them on devices */
    f->r.capture_ps = 571428 * INT64_C(350000) * 10 - more;
}

static void many_recorded_events(ff *f, int64_t more)
{
    f->r.events = 571428 + 2000; /* 2,000 of them on devices */
    f->r.capture_ps = 571428 * INT64_C(350000) * 2 - more;
}

static void breaks(ff *f, int64_t more)
{
    f->functions[0] = (vp_function){.name = "frame 0", .calls = 1};
    f->functions[1] = (vp_function){.name = "m.py(3): torch_dynamo_resume_in_f_at_5"};
    f->functions[1].calls = 2 + more;
    f->r.compile.function_count = 2;
}

static void unused(ff *f, int64_t more)
{
    f->r.torch = (vp_torch){.recorded_ops = 500, .unused_ops = 200, .unused_ps = 50 * MS + more};
}

static void much_unused(ff *f, int64_t more)
{
    unused(f, 250 * MS + more);
}

static void few_unused(ff *f, int64_t more)
{
    unused(f, 50 * MS);
    f->r.torch.unused_ops = 10 + more;
}

static void optimizer_time(ff *f, int64_t more)
{
    f->r.torch = (vp_torch){.optimizer_steps = 10,
                            .optimizer_ps = 50 * MS + more,
                            .optimizer_ops = 3000,
                            .optimizer_dur_ps = MS};
}

static void long_optimizer(ff *f, int64_t more)
{
    optimizer_time(f, 100 * MS + more);
}

static void optimizer_operators(ff *f, int64_t more)
{
    optimizer_time(f, 50 * MS);
    f->r.torch.optimizer_ops = 200 + more;
}

static void callbacks(ff *f, int64_t more)
{
    ff_idle(f, 1, VP_CAUSE_CALLBACK, 50 * MS + more);
}

static void blocking(ff *f, int64_t more)
{
    ff_idle(f, 0, VP_CAUSE_SYNC, 80 * MS);
    f->host_ops[1] = (vp_host_op){.host = "node0",
                                  .thread = "main",
                                  .name = "wait",
                                  .blocking = true,
                                  .calls = 10,
                                  .blocked_ps = 50 * MS + more};
    f->r.host_op_count = 2;
}

static vp_launch *tiny_kernels(ff *f, int64_t late_ps)
{
    ff_idle(f, 0, VP_CAUSE_HOST, late_ps);
    f->devices[0].launch.kernel_p50_ps = 4 * US;
    f->devices[0].launch.short_kernels = 900;
    return &f->devices[0].launch;
}

static void kernel_length(ff *f, int64_t more)
{
    tiny_kernels(f, 200 * MS)->kernel_p50_ps = 10 * US + more;
}

static void late_launches(ff *f, int64_t more)
{
    tiny_kernels(f, 100 * MS + more);
}

static void short_kernels(ff *f, int64_t more) /* of 1000 */
{
    tiny_kernels(f, 200 * MS)->short_kernels = 500 + more;
}

static void few_kernels(ff *f, int64_t more)
{
    vp_launch *l = tiny_kernels(f, 200 * MS);
    l->kernels = l->short_kernels = 30 + more;
}

static void host_share(ff *f, int64_t more) /* half of 400 ms */
{
    ff_idle(f, 1, VP_CAUSE_HOST, 200 * MS + more);
    ff_idle(f, 1, VP_CAUSE_UNKNOWN, 160 * MS);
}

static void host_idle(ff *f, int64_t more)
{
    ff_idle(f, 1, VP_CAUSE_HOST, 110 * MS + more);
}

static void idle(ff *f, int64_t more)
{
    ff_idle(f, 1, VP_CAUSE_UNKNOWN, 110 * MS + more);
}

static void short_idle(ff *f, int64_t more)
{
    vp_breakdown *b = short_window(f, 1, 10 * MS);
    b->idle_ps = 3 * MS + more;
    b->compute_ps -= b->idle_ps;
}

static void idle_loss(ff *f, int64_t more) /* 200 ms, of which 50 are normal */
{
    ff_idle(f, 1, VP_CAUSE_UNKNOWN, 160 * MS + more);
}

/* Of 1000 gaps these are known, longest first. */
static void gaps(ff *f, size_t long_ones, int64_t ps)
{
    ff_idle(f, 0, VP_CAUSE_UNKNOWN, 100 * MS);
    for (size_t i = 0; i < 20; i++)
        f->gaps[i] =
            (vp_gap){.start_ps = (int64_t)i * 20 * MS, .dur_ps = i < long_ones ? ps : 9 * US};
    f->r.gap_count = 20;
}

static void gap_length(ff *f, int64_t more)
{
    gaps(f, 10, MS + more);
    f->r.steps.median_ps = 10 * MS;
}

static void gap_of_step(ff *f, int64_t more) /* 5 % of 100 ms */
{
    gaps(f, 2, 5 * MS + more);
}

static void gap_of_usual(ff *f, int64_t more) /* one of 20 ms beside five of 10 */
{
    gaps(f, 6, 10 * MS);
    f->gaps[0].dur_ps = 20 * MS + more;
    f->r.gap_count = f->devices[0].gap_count = 6;
}

/* ---- Copies and communication ---- */

static void pageable(ff *f, int64_t window_ps, int64_t ps)
{
    vp_breakdown *b = short_window(f, 1, window_ps);
    b->copy_ps = b->exposed_copy_ps = 5 * MS;
    b->compute_ps -= 5 * MS;
    f->transfers[1].pageable_count = 8;
    f->transfers[1].pageable_ps = ps;
}

static void pageable_share(ff *f, int64_t more)
{
    pageable(f, 50 * MS, MS / 2 + more);
}

static void pageable_time(ff *f, int64_t more)
{
    pageable(f, 150 * MS, MS + more);
}

static void copies(ff *f, int64_t more)
{
    vp_breakdown *b = &f->devices[0].breakdown;
    f->transfers[0].exposed_ps = b->copy_ps = b->exposed_copy_ps = 50 * MS + more;
    b->compute_ps -= 45 * MS + more;
}

static void host_copies(ff *f, int64_t more)
{
    ff_idle(f, 0, VP_CAUSE_TRANSFER, 50 * MS + more);
}

static void many_copies(ff *f, int64_t more) /* in 10 steps */
{
    f->transfers[0].exposed_count = 100 + more;
}

static void async_done(ff *f, int64_t more) /* 10 % of 960 ms */
{
    f->devices[0].breakdown.compute_ps -= 100 * MS;
    f->devices[0].breakdown.exposed_copy_ps += 100 * MS;
    f->devices[0].hygiene.async_done_ps = 96 * MS + more;
}

static void exposed_comm(ff *f, int64_t more)
{
    f->devices[0].breakdown.compute_ps -= 35 * MS + more;
    f->devices[0].breakdown.exposed_comm_ps += 35 * MS + more;
}

static void peer_waits(ff *f, int64_t more)
{
    exposed_comm(f, 100 * MS);
    f->r.balance.matched = 100;
    f->devices[0].exposed_wait_ps = 50 * MS + more;
}

static void communication(vp_breakdown *b, int64_t comm_ps, int64_t hidden_ps)
{
    b->compute_ps += b->exposed_comm_ps - (comm_ps - hidden_ps);
    b->exposed_comm_ps = comm_ps - hidden_ps;
    b->comm_ps = comm_ps;
    b->overlap_comm_ps = hidden_ps;
}

static void hidden_comm(ff *f, int64_t more) /* 70 % of 80 ms */
{
    communication(&f->devices[1].breakdown, 80 * MS, 56 * MS + more);
}

static void comm_time(ff *f, int64_t more)
{
    communication(short_window(f, 1, 4 * MS), 100 * US + more, 0);
}

static void comm_share(ff *f, int64_t more)
{
    communication(&f->devices[1].breakdown, 20 * MS + more, 0);
}

static void comm_loss(ff *f, int64_t more) /* 85 % of 80 ms, without 40 */
{
    communication(&f->devices[1].breakdown, 80 * MS, 40 * MS - more);
}

/* Among equal devices, GPU 0 is last in `last` of 100 calls. The others wait 12 ms on average. */
static vp_balance *straggler(ff *f, size_t devices, int64_t last)
{
    vp_balance *b = &f->r.balance;
    b->devices = devices;
    b->matched = 100;
    b->straggler_last = last;
    b->wait_ps = 12 * MS;
    f->collectives[0] =
        (vp_collective){.name = "all-reduce", .device = 1, .wait_ps = 12 * MS * (int64_t)devices};
    f->r.collective_count = 1;
    return b;
}

static void last_calls(ff *f, int64_t more) /* 250 are chance */
{
    straggler(f, 4, 500 + more)->matched = 1000;
}

static void last_by_chance(ff *f, int64_t more) /* 50 are chance, with a deviation of 5 */
{
    straggler(f, 2, 60 + more);
}

static void straggler_wait(ff *f, int64_t more)
{
    straggler(f, 2, 90)->wait_ps = 10 * MS + more;
}

static void few_calls(ff *f, int64_t more)
{
    vp_balance *b = straggler(f, 2, 4 + more);
    b->matched = 4 + more;
}

static void imbalance(ff *f, int64_t more)
{
    f->r.balance.mean_ps = 1000 * MS;
    f->r.balance.max_ps = 1100 * MS + more;
}

/* ---- Memory, ops and modules; a device's op time is 960 ms ---- */

static void peak(ff *f, int64_t more) /* of 1000 bytes */
{
    f->memory[0].peak_bytes = 900 + more;
}

static void high_peak(ff *f, int64_t more)
{
    f->memory[0].peak_bytes = 980 + more;
}

static void leaked(ff *f, int64_t more) /* 0.1% of 10,000 bytes are 10, in each of 8 steps */
{
    f->memory[0].peak_bytes = 10000;
    f->memory[0].total_bytes = 100000;
    f->leaks[0].bytes = 8 * (10 + more);
}

static void leaked_much(ff *f, int64_t more)
{
    leaked(f, 90 + more);
}

static void leaked_often(ff *f, int64_t more) /* 75% of 8 steps */
{
    leaked(f, 10);
    f->leaks[0].steps = 6 + more;
}

static void leaked_seldom(ff *f, int64_t more) /* in 3 steps of as many */
{
    leaked(f, 10);
    f->memory[0].leak_steps = 3;
    f->leaks[0].steps = 3 + more;
}

/* Of plans: 1 % of 200 MiB, and 1 MiB of 2. */
static void donation_share(ff *f, int64_t more)
{
    f->plans[0].reserved_bytes = 200 * FF_MIB;
    f->donations[0].bytes = 2 * FF_MIB + more;
}

static void donation_time(ff *f, int64_t more)
{
    donation_share(f, 0);
    f->ops[1].avoidable.argument_copy_ps = 30 * MS + more;
}

static void one_hot_share(ff *f, int64_t more)
{
    f->ops[1].avoidable.lookup_ps = 30 * MS + more;
}

static void recomputed_share(ff *f, int64_t more)
{
    f->ops[1].avoidable.recomputed_ps = 30 * MS + more;
}

static void unrolled_share(ff *f, int64_t more)
{
    f->ops[1].avoidable.unrolled_ps = 30 * MS + more;
}

/* jit_loss in 10 of 10 steps; the windows of both devices are 2 s */
static void repeated_forward(ff *f, int64_t steps, int64_t ps)
{
    f->modules[0].in_steps = 10;
    f->modules[1] = (vp_module){.name = "jit_loss",
                                .repeats = f->modules[0].name,
                                .runs = 10,
                                .in_steps = steps,
                                .in_steps_ps = ps};
    f->r.module_count = 2;
}

static void repeated_forward_share(ff *f, int64_t more)
{
    repeated_forward(f, 10, 60 * MS + more);
}

static void repeated_forward_steps(ff *f, int64_t more)
{
    repeated_forward(f, 9 + more, 300 * MS);
}

static void float64_share(ff *f, int64_t more)
{
    f->ops[1].avoidable.float64_ps = 96 * MS + more;
}

/* n programs of one op for each of 10 steps and 2 devices. */
static void small_programs(ff *f, int64_t n, int64_t saved_ps)
{
    f->modules[1] = (vp_module){.name = "jit_add", .in_steps = 10, .ops = 1, .op_calls = 20 * n};
    f->r.module_count = 2;
    f->ops[2].module = "jit_add";
    f->ops[2].self_ps = 2 * saved_ps;
    f->ops[2].avoidable.elementwise_ps = saved_ps + (saved_ps + n - 2) / (n - 1);
}

static void small_programs_share(ff *f, int64_t more)
{
    small_programs(f, 5, 30 * MS + more);
}

static void small_programs_number(ff *f, int64_t more)
{
    small_programs(f, 4 + more, 90 * MS);
}

static void occasional(ff *f, int64_t steps, int64_t ps)
{
    f->modules[1] = (vp_module){
        .name = "jit_evaluate", .in_steps = steps, .in_steps_ps = ps, .ops = 9, .op_calls = 12};
    f->r.module_count = 2;
}

static void occasional_share(ff *f, int64_t more)
{
    occasional(f, 2, 100 * MS + more);
}

static void occasional_steps(ff *f, int64_t more)
{
    occasional(f, 5 + more, 300 * MS);
}

static void donation_size(ff *f, int64_t more)
{
    f->plans[0].reserved_bytes = 2 * FF_MIB;
    f->donations[0].bytes = FF_MIB + more;
}

static void padding_of(ff *f, int64_t bytes, int64_t waste, int64_t peak)
{
    f->buffers[0].bytes = bytes;
    f->buffers[0].unpadded_bytes = bytes - waste;
    f->plans[0].peak_bytes = peak;
}

static void padding_share(ff *f, int64_t more)
{
    padding_of(f, 20 * FF_MIB, 10 * FF_MIB + more, 100 * FF_MIB);
}

static void padding_part(ff *f, int64_t more)
{
    padding_of(f, 100 * FF_MIB, 20 * FF_MIB + more, 100 * FF_MIB);
}

static void padding_size(ff *f, int64_t more)
{
    padding_of(f, FF_MIB + more, FF_MIB / 2, FF_MIB);
}

static void temporary_of(ff *f, int64_t bytes, int64_t peak)
{
    f->buffers[1].bytes = bytes;
    f->plans[0].peak_bytes = peak;
}

static void temporary_share(ff *f, int64_t more)
{
    temporary_of(f, 30 * FF_MIB + more, 100 * FF_MIB);
}

static void temporary_size(ff *f, int64_t more)
{
    temporary_of(f, FF_MIB + more, FF_MIB);
}

static void gap_share(ff *f, int64_t more)
{
    f->plans[0].temp_bytes = 100 * FF_MIB;
    f->plans[0].fragmentation_bytes = 10 * FF_MIB + more;
}

static void gap_size(ff *f, int64_t more)
{
    f->plans[0].temp_bytes = 2 * FF_MIB;
    f->plans[0].fragmentation_bytes = FF_MIB + more;
}

/* An argument that is not read for half of the program, in a device that is 80 % full. */
static void waiting_share(ff *f, int64_t more)
{
    f->buffers[0].bytes = 20 * FF_MIB + more;
    f->buffers[0].unused = 50;
}

static void waiting_part(ff *f, int64_t more)
{
    f->plans[0].instructions = 1000;
    f->buffers[0].unused = 500 + more;
}

static void waiting_room(ff *f, int64_t more)
{
    f->buffers[0].unused = 50;
    f->devices[0].memory_bytes = f->devices[1].memory_bytes = 100 * FF_MIB;
    f->plans[0].reserved_bytes = 70 * FF_MIB + more;
}

static void waiting_size(ff *f, int64_t more)
{
    f->plans[0].peak_bytes = 2 * FF_MIB;
    f->buffers[0].bytes = FF_MIB + more;
    f->buffers[0].unused = 50;
}

static void fragments(ff *f, int64_t more)
{
    f->memory[0].fragmented_bytes = 100 + more;
}

static void more_fragments(ff *f, int64_t more)
{
    f->memory[0].fragmented_bytes = 300 + more;
}

static void half_in_use(ff *f, int64_t more)
{
    fragments(f, 10);
    f->memory[0].peak_bytes = 500 + more;
}

static void unknown_cost(ff *f, int64_t more) /* 20 % of 1 s */
{
    f->devices[0].mfu.cell_ps[VP_CELL_UNKNOWN] = 200 * MS + more;
}

static void above_peak(ff *f, int64_t more) /* 0.5 % of 940 ms */
{
    f->devices[0].mfu.above_ops = 1;
    f->devices[0].mfu.above_ps = 4700 * US + more;
}

static void inefficient(ff *f, int64_t more) /* 10 % of 1 s */
{
    f->devices[0].mfu.cell_ps[VP_CELL_INEFFICIENCY] = 100 * MS + more;
}

static void more_inefficient(ff *f, int64_t more) /* 25 % of 1 s */
{
    f->devices[0].mfu.cell_ps[VP_CELL_INEFFICIENCY] = 250 * MS + more;
}

static void double_inputs(ff *f, int64_t more) /* of 500 bytes */
{
    f->holders[0].bytes = f->holders[1].bytes = 10 + more;
}

static void hot_op(ff *f, int64_t more)
{
    f->ops[3].self_ps = f->ops[3].total_ps = 288 * MS + more;
}

static void hotter_op(ff *f, int64_t more)
{
    f->ops[3].self_ps = f->ops[3].total_ps = 576 * MS + more;
}

static void short_op(ff *f, int64_t more)
{
    for (size_t i = 0; i < f->r.op_count; i++)
        f->ops[i].self_ps = 0;
    f->devices[0].self_ps = 200 * US;
    f->ops[3].self_ps = 100 * US + more;
}

static vp_module *repeated(ff *f, int64_t steps)
{
    vp_module *m = &f->modules[0];
    m->repeat_steps = steps;
    m->repeat_runs = 3 * steps;
    m->repeat_ps = 600 * MS;
    return m;
}

static void repeated_time(ff *f, int64_t more) /* 10 % of two windows */
{
    repeated(f, 10)->repeat_ps = 200 * MS + more;
}

static void repeated_steps(ff *f, int64_t more)
{
    repeated(f, 800 + more);
    f->r.steps.counted = 1000;
}

static void formatting(ff *f, int64_t more)
{
    f->devices[0].hygiene.formatting_ps = 96 * MS + more;
}

static vp_op *uneven(vp_op *op, int64_t calls, int64_t total_ps, int64_t deviation_ps)
{
    op->calls = calls;
    op->self_ps = op->total_ps = total_ps;
    op->p50_ps = 200 * US;
    op->stddev_ps = (double)deviation_ps;
    return op;
}

static void deviation(ff *f, int64_t more) /* of a mean of 960 us */
{
    uneven(&f->ops[2], 100, 96 * MS, 960 * US + more);
}

static void uneven_share(ff *f, int64_t more)
{
    uneven(&f->ops[2], 100, 48 * MS + more, 2 * MS);
}

static void uneven_calls(ff *f, int64_t more)
{
    uneven(&f->ops[2], 10 + more, 96 * MS, 20 * MS);
}

/* ---- Steps, of 100 ms ---- */

static void step(ff *f, int i, int64_t ps)
{
    f->steps[i].dur_ps = f->step_devices[i].dur_ps = ps;
}

static void step_of_median(ff *f, int64_t more)
{
    step(f, 6, 200 * MS + more);
    f->r.steps.mad_ps = 20 * MS;
}

static void step_deviation(ff *f, int64_t more) /* 10 * 1.4826 * 5 ms */
{
    step(f, 6, 174130 * US + more);
    f->r.steps.mad_ps = 5 * MS;
}

static void least_deviation(ff *f, int64_t more) /* as if the MAD were 0.1 ms */
{
    for (int i = 2; i < 10; i += 2)
        step(f, i, 101482600 * INT64_C(1000) + more);
}

static void few_steps(ff *f, int64_t more)
{
    step(f, 6, 350 * MS);
    f->r.steps.counted = (size_t)(5 + more);
}

static void alternate(ff *f, int64_t by_ps)
{
    for (int i = 0; i < FF_STEPS; i++) {
        f->steps[i].start_ps = i * 100 * MS - (i % 2 ? by_ps : 0);
        step(f, i, 100 * MS + (i % 2 ? by_ps : -by_ps));
    }
    f->r.steps.mad_ps = by_ps;
}

static void jitter(ff *f, int64_t more)
{
    alternate(f, 10 * MS + more);
}

static void few_ordinary(ff *f, int64_t more)
{
    alternate(f, 20 * MS);
    for (int i = 5 + (int)more; i < FF_STEPS; i++)
        f->steps[i].partial = true;
}

static void short_beside_slow(ff *f, int64_t more)
{
    least_deviation(f, more);
    for (int i = 1; i < 6; i += 2)
        step(f, i, 60 * MS);
}

static void host_step_of_median(ff *f, int64_t more)
{
    host_only(f);
    step_of_median(f, more);
}

static void host_step_deviation(ff *f, int64_t more)
{
    host_only(f);
    step_deviation(f, more);
}

static void host_least_deviation(ff *f, int64_t more)
{
    host_only(f);
    least_deviation(f, more);
}

static void host_few_steps(ff *f, int64_t more)
{
    host_only(f);
    few_steps(f, more);
}

/* ---- Threads and zones ---- */

static void thread_wait(ff *f, int64_t more)
{
    host_only(f);
    thread(f, 0, NULL, 500 * MS, 0);
    f->threads[0].wait = "lock";
    f->threads[0].lost_ps = 50 * MS + more;
}

/* A change to a program of PyTorch that saves 50 ms of a process. */
static void torch_cost(ff *f, vp_torch_kind kind, int64_t saved_ps)
{
    host_only(f);
    f->torch_costs[0] = (vp_torch_cost){.kind = kind,
                                        .name = "f",
                                        .calls = 100,
                                        .groups = 1,
                                        .total_ps = saved_ps,
                                        .saved_ps = saved_ps};
    f->r.torch_cost_count = 1;
}

static void scalar_reads(ff *f, int64_t more)
{
    torch_cost(f, VP_TORCH_READS, 50 * MS + more);
}

static void operator_loop(ff *f, int64_t more)
{
    torch_cost(f, VP_TORCH_LOOP, 50 * MS + more);
}

static void two_threads(ff *f, int64_t a_ps, int64_t b_ps)
{
    host_only(f);
    thread(f, 0, "render", a_ps, a_ps);
    thread(f, 1, "render", b_ps, b_ps);
}

static void thread_share(ff *f, int64_t more) /* mean 500 */
{
    two_threads(f, 550 * MS + more, 450 * MS - more);
}

static void half_in_zone(ff *f, int64_t more)
{
    two_threads(f, 600 * MS, 400 * MS);
    f->threads[0].zone_ps = 300 * MS + more;
}

static void half_of_window(ff *f, int64_t more)
{
    two_threads(f, 500 * MS + more, 300 * MS);
}

static void half_of_process(ff *f, int64_t more)
{
    two_threads(f, 600 * MS, 400 * MS);
    thread(f, 2, NULL, 1000 * MS - more, 0);
}

static void hot_zone(ff *f, int64_t more)
{
    zones(f, 4, (int64_t[]){300 * MS + more, 240 * MS, 240 * MS, 220 * MS - more});
}

static void hotter_zone(ff *f, int64_t more)
{
    zones(f, 3, (int64_t[]){600 * MS + more, 200 * MS, 200 * MS - more});
}

static void short_zone(ff *f, int64_t more)
{
    zones(f, 3, (int64_t[]){100 * US + more, 90 * US, 80 * US});
}

static void few_zones(ff *f, int64_t more)
{
    zones(f, (size_t)(3 + more), (int64_t[]){500 * MS, 200 * MS, 200 * MS});
}

static vp_op *uneven_zone(ff *f, int64_t calls, int64_t total_ps, int64_t deviation_ps)
{
    zones(f, 3, (int64_t[]){0, 500 * MS, 1000 * MS - 500 * MS - total_ps});
    return uneven(&f->ops[0], calls, total_ps, deviation_ps);
}

static void zone_deviation(ff *f, int64_t more) /* of a mean of 4 ms */
{
    uneven_zone(f, 100, 400 * MS, 4 * MS + more);
}

static void uneven_zone_share(ff *f, int64_t more)
{
    uneven_zone(f, 100, 50 * MS + more, 2 * MS);
}

static void uneven_zone_calls(ff *f, int64_t more)
{
    uneven_zone(f, 10 + more, 400 * MS, 100 * MS);
}

static void uneven_zone_self(ff *f, int64_t more)
{
    uneven_zone(f, 100, 400 * MS, 20 * MS)->self_ps = 200 * MS + more;
}

static void uneven_short_zone(ff *f, int64_t more)
{
    zones(f, 3, (int64_t[]){0, 90 * US, 80 * US});
    uneven(&f->ops[0], 100, 100 * US + more, 5 * US)->p50_ps = 0;
    short_window(f, 0, 10 * MS);
}

/* ---- Every limit ---- */

static bool tells(const vp_finding *f)
{
    return f->status == VP_FIRED || f->status == VP_EXPLAINED;
}

static bool is_medium(const vp_finding *f)
{
    return tells(f) && f->severity >= VP_LEVEL_MEDIUM;
}

static bool is_high(const vp_finding *f)
{
    return tells(f) && f->severity >= VP_LEVEL_HIGH;
}

static bool loses_150_ms(const vp_finding *f)
{
    return tells(f) && f->gross_ps >= 150 * MS;
}

static bool wins_28_ms(const vp_finding *f)
{
    return tells(f) && f->gross_ps >= 28 * MS;
}

static const struct approach {
    const char *id;
    finding_limit limit;
    setter *set;
    int on, off;                       /* `more` where it holds, and the nearest where not */
    bool (*holds)(const vp_finding *); /* NULL: the finding is told */
} approaches[] = {
#define AT_LEAST 0, -1
#define ABOVE 1, 0
#define BELOW -1, 0
#define AT_MOST 0, 1
    {"F10", FND_SHARE, recompile, AT_LEAST, NULL},
    {"F11", FND_SHARE, compile_share, ABOVE, NULL},
    {"F14", FND_SHARE, input_wait, ABOVE, NULL},
    {"F43", FND_SHARE, recorded_events, ABOVE, NULL},
    {"F43", FND_SEVERE, many_recorded_events, ABOVE, is_medium},
    {"F44", FND_NUMBER, breaks, AT_LEAST, NULL},
    {"F45", FND_SHARE, unused, ABOVE, NULL},
    {"F45", FND_SEVERE, much_unused, ABOVE, is_medium},
    {"F45", FND_NUMBER, few_unused, AT_LEAST, NULL},
    {"F46", FND_WINDOW, optimizer_time, ABOVE, NULL},
    {"F46", FND_SEVERE, long_optimizer, ABOVE, is_medium},
    {"F46", FND_NUMBER, optimizer_operators, AT_LEAST, NULL},
    {"F41", FND_SHARE, garbage, AT_LEAST, NULL},
    {"F42", FND_SHARE, writes, AT_LEAST, NULL},
    {"F21", FND_SHARE, callbacks, AT_LEAST, NULL},
    {"F8", FND_SHARE, blocking, AT_LEAST, NULL},
    {"F9", FND_TIME, kernel_length, BELOW, NULL},
    {"F9", FND_WINDOW, late_launches, ABOVE, NULL},
    {"F9", FND_PART, short_kernels, ABOVE, NULL},
    {"F9", FND_NUMBER, few_kernels, AT_LEAST, NULL},
    {"F3", FND_SHARE, host_share, ABOVE, NULL},
    {"F3", FND_WINDOW, host_idle, ABOVE, NULL},
    {"F7", FND_SHARE, pageable_share, ABOVE, NULL},
    {"F7", FND_TIME, pageable_time, AT_LEAST, NULL},
    {"F6", FND_SHARE, copies, ABOVE, NULL},
    {"F6", FND_SHARE, host_copies, ABOVE, NULL},
    {"F6", FND_NUMBER, many_copies, ABOVE, NULL},
    {"F20", FND_SHARE, async_done, AT_LEAST, NULL},
    {"F16", FND_SHARE, last_calls, AT_LEAST, NULL},
    {"F16", FND_WINDOW, straggler_wait, AT_LEAST, NULL},
    {"F16", FND_NUMBER, few_calls, AT_LEAST, NULL},
    {"F16", FND_DEVIATIONS, last_by_chance, AT_LEAST, NULL},
    {"F15", FND_SHARE, imbalance, ABOVE, NULL},
    {"F22", FND_SHARE, peak, ABOVE, NULL},
    {"F22", FND_SEVERE, high_peak, AT_LEAST, is_high},
    {"F30", FND_SHARE, leaked, AT_LEAST, NULL},
    {"F30", FND_SEVERE, leaked_much, AT_LEAST, is_high},
    {"F30", FND_PART, leaked_often, AT_LEAST, NULL},
    {"F30", FND_NUMBER, leaked_seldom, AT_LEAST, NULL},
    {"F36", FND_SHARE, donation_share, AT_LEAST, NULL},
    {"F36", FND_SIZE, donation_size, AT_LEAST, NULL},
    {"F36", FND_WINDOW, donation_time, AT_LEAST, is_medium},
    {"F50", FND_SHARE, one_hot_share, AT_LEAST, NULL},
    {"F51", FND_SHARE, recomputed_share, AT_LEAST, NULL},
    {"F52", FND_SHARE, repeated_forward_share, AT_LEAST, NULL},
    {"F52", FND_PART, repeated_forward_steps, AT_LEAST, NULL},
    {"F53", FND_SHARE, unrolled_share, AT_LEAST, NULL},
    {"F47", FND_SHARE, float64_share, AT_LEAST, NULL},
    {"F48", FND_SHARE, small_programs_share, AT_LEAST, NULL},
    {"F48", FND_NUMBER, small_programs_number, AT_LEAST, NULL},
    {"F49", FND_SHARE, occasional_share, AT_LEAST, NULL},
    {"F49", FND_PART, occasional_steps, AT_MOST, NULL},
    {"F37", FND_SHARE, padding_share, AT_LEAST, NULL},
    {"F37", FND_PART, padding_part, AT_LEAST, NULL},
    {"F37", FND_SIZE, padding_size, AT_LEAST, NULL},
    {"F38", FND_SHARE, temporary_share, AT_LEAST, NULL},
    {"F38", FND_SIZE, temporary_size, AT_LEAST, NULL},
    {"F39", FND_SHARE, gap_share, AT_LEAST, NULL},
    {"F39", FND_SIZE, gap_size, AT_LEAST, NULL},
    {"F40", FND_SHARE, waiting_share, AT_LEAST, NULL},
    {"F40", FND_PART, waiting_part, AT_LEAST, NULL},
    {"F40", FND_WINDOW, waiting_room, AT_LEAST, NULL},
    {"F40", FND_SIZE, waiting_size, AT_LEAST, NULL},
    {"F31", FND_SHARE, fragments, ABOVE, NULL},
    {"F31", FND_SEVERE, more_fragments, AT_LEAST, is_high},
    {"F31", FND_PART, half_in_use, AT_LEAST, NULL},
    {"F32", FND_SHARE, double_inputs, AT_LEAST, NULL},
    {"F17", FND_SHARE, hot_op, AT_LEAST, NULL},
    {"F17", FND_TIME, short_op, AT_LEAST, NULL},
    {"F17", FND_SEVERE, hotter_op, AT_LEAST, is_medium},
    {"F24", FND_SHARE, repeated_time, AT_LEAST, NULL},
    {"F24", FND_PART, repeated_steps, AT_LEAST, NULL},
    {"F19", FND_SHARE, formatting, AT_LEAST, NULL},
    {"F33", FND_SHARE, unknown_cost, AT_LEAST, NULL},
    {"F34", FND_SHARE, above_peak, ABOVE, NULL},
    {"F35", FND_SHARE, inefficient, AT_LEAST, NULL},
    {"F35", FND_SEVERE, more_inefficient, AT_LEAST, is_medium},
    {"F18", FND_SPREAD, deviation, ABOVE, NULL},
    {"F18", FND_SHARE, uneven_share, AT_LEAST, NULL},
    {"F18", FND_NUMBER, uneven_calls, ABOVE, NULL},
    {"F56", FND_SHARE, peer_waits, ABOVE, NULL},
    {"F4", FND_SHARE, exposed_comm, ABOVE, NULL},
    {"F5", FND_SHARE, hidden_comm, BELOW, NULL},
    {"F5", FND_TIME, comm_time, AT_LEAST, NULL},
    {"F5", FND_WINDOW, comm_share, AT_LEAST, NULL},
    {"F5", FND_SPARED, comm_loss, AT_LEAST, wins_28_ms},
    {"F2", FND_TIME, gap_length, AT_LEAST, NULL},
    {"F2", FND_FACTOR, gap_of_usual, ABOVE, NULL},
    {"F2", FND_PART, gap_of_step, AT_LEAST, NULL},
    {"F12", FND_FACTOR, step_of_median, ABOVE, NULL},
    {"F12", FND_PART, least_deviation, ABOVE, NULL},
    {"F12", FND_NUMBER, few_steps, AT_LEAST, NULL},
    {"F12", FND_DEVIATIONS, step_deviation, ABOVE, NULL},
    {"F13", FND_SPREAD, jitter, ABOVE, NULL},
    {"F13", FND_NUMBER, few_ordinary, AT_LEAST, NULL},
    /* what is an outlier no longer counts */
    {"F13", FND_FACTOR, step_of_median, AT_MOST, NULL},
    {"F13", FND_PART, short_beside_slow, AT_MOST, NULL},
    {"F13", FND_DEVIATIONS, step_deviation, AT_MOST, NULL},
    {"F28", FND_FACTOR, host_step_of_median, ABOVE, NULL},
    {"F28", FND_PART, host_least_deviation, ABOVE, NULL},
    {"F28", FND_NUMBER, host_few_steps, AT_LEAST, NULL},
    {"F28", FND_DEVIATIONS, host_step_deviation, ABOVE, NULL},
    {"F25", FND_SHARE, thread_wait, AT_LEAST, NULL},
    {"F54", FND_SHARE, scalar_reads, AT_LEAST, NULL},
    {"F55", FND_SHARE, operator_loop, AT_LEAST, NULL},
    {"F26", FND_SHARE, thread_share, ABOVE, NULL},
    {"F26", FND_PART, half_in_zone, AT_LEAST, NULL},
    {"F26", FND_PART, half_of_window, AT_LEAST, NULL},
    {"F26", FND_PART, half_of_process, AT_LEAST, NULL},
    {"F27", FND_SHARE, hot_zone, AT_LEAST, NULL},
    {"F27", FND_TIME, short_zone, AT_LEAST, NULL},
    {"F27", FND_SEVERE, hotter_zone, AT_LEAST, is_medium},
    {"F27", FND_NUMBER, few_zones, AT_LEAST, NULL},
    {"F29", FND_SPREAD, zone_deviation, ABOVE, NULL},
    {"F29", FND_SHARE, uneven_zone_share, AT_LEAST, NULL},
    {"F29", FND_TIME, uneven_short_zone, AT_LEAST, NULL},
    {"F29", FND_PART, uneven_zone_self, AT_LEAST, NULL},
    {"F29", FND_NUMBER, uneven_zone_calls, ABOVE, NULL},
    {"F1", FND_SHARE, idle, ABOVE, NULL},
    {"F1", FND_TIME, short_idle, AT_LEAST, NULL},
    {"F1", FND_SPARED, idle_loss, AT_LEAST, loses_150_ms},
};
#define APPROACHES (sizeof approaches / sizeof *approaches)

static void check_side(const struct approach *a, int more, bool want)
{
    ff f;
    ff_init(&f);
    a->set(&f, more);
    ff_make(&f);
    const vp_finding *got = ff_find(&f, a->id);
    if ((a->holds ? a->holds : tells)(got) != want)
        fail_msg("%s, %s, %+d: status %d, severity %d, gross %lld: %s", a->id, names[a->limit],
                 more, got->status, got->severity, (long long)got->gross_ps,
                 got->message ? got->message : "");
    ff_free(&f);
}

static void test_both_sides(void **state)
{
    (void)state;
    for (size_t i = 0; i < APPROACHES; i++) {
        check_side(&approaches[i], approaches[i].on, true);
        check_side(&approaches[i], approaches[i].off, false);
    }
}

/* ---- Every row ---- */

static bool is_approached(const char *id, finding_limit limit)
{
    /* How often a module has to run in a step is asked where the runs are counted. */
    if (!strcmp(id, "F24") && limit == FND_NUMBER)
        return true;
    for (size_t i = 0; i < APPROACHES; i++)
        if (!strcmp(approaches[i].id, id) && approaches[i].limit == limit)
            return true;
    return false;
}

static void test_every_limit_is_approached(void **state)
{
    (void)state;
    for (const finding_rule *rule = findings_rules; rule->id; rule++)
        for (finding_limit k = 0; k < FND_LIMITS; k++)
            if (!!rule->limits[k] != is_approached(rule->id, k))
                fail_msg("%s: %s is %d, and %s", rule->id, names[k], rule->limits[k],
                         rule->limits[k] ? "nothing goes near it" : "yet approached");
}

/* As a number of its own: "5%" is not in "15%" nor in "0.5%". */
static bool has_number(const char *text, const char *number)
{
    for (const char *at = text; (at = strstr(at, number)); at++) {
        const char *end = at + strlen(number);
        bool begins = at == text || (!isdigit((unsigned char)at[-1]) && at[-1] != '.');
        if (begins && !isdigit((unsigned char)*end) &&
            !(*end == '.' && isdigit((unsigned char)end[1])))
            return true;
    }
    return false;
}

static bool has_count(const char *text, unsigned n)
{
    static const char *const words[] = {"two ", "three ", "four ", "five "};
    char digits[16];
    snprintf(digits, sizeof digits, "%u", n);
    return has_number(text, digits) || (n >= 2 && n <= 5 && strstr(text, words[n - 2]));
}

static bool has_share(const char *text, unsigned permille)
{
    char percent[32], ratio[32];
    snprintf(percent, sizeof percent, "%g%%", permille / 10.);
    snprintf(ratio, sizeof ratio, "%g of it", permille / 1000.);
    return has_number(text, percent) || has_number(text, ratio) ||
           (permille == 500 && strstr(text, "half"));
}

static bool has_limit(const char *text, finding_limit kind, unsigned limit)
{
    char form[32];
    switch (kind) {
    case FND_TIME:
        snprintf(form, sizeof form, limit % 1000 ? "%u µs" : "%u ms",
                 limit % 1000 ? limit : limit / 1000);
        return has_number(text, form);
    case FND_SPREAD:
        snprintf(form, sizeof form, "exceeds %.*f", limit % 1000 ? limit % 10 ? 3 : 2 : 0,
                 limit / 1000.);
        return has_number(text, form);
    case FND_FACTOR:
        return limit == 2000 && strstr(text, "twice");
    case FND_SIZE:
        snprintf(form, sizeof form, "%u MiB", limit / 1024);
        return limit % 1024 == 0 && has_number(text, form);
    case FND_NUMBER:
    case FND_DEVIATIONS:
        return has_count(text, limit);
    default:
        return has_share(text, limit);
    }
}

/* F13 and F28 speak of the outliers of F12. */
static void test_sentences_say_the_limits(void **state)
{
    (void)state;
    for (const finding_rule *rule = findings_rules; rule->id; rule++)
        for (finding_limit k = 0; k < FND_LIMITS; k++) {
            const char *says = rule->rule;
            const char *more = strstr(says, "F12") ? ff_rule("F12")->rule : "";
            if (rule->limits[k] && !has_limit(says, k, rule->limits[k]) &&
                !has_limit(more, k, rule->limits[k]))
                fail_msg("%s does not say its %s, %d: %s", rule->id, names[k], rule->limits[k],
                         says);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_sides),
                                       cmocka_unit_test(test_every_limit_is_approached),
                                       cmocka_unit_test(test_sentences_say_the_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
