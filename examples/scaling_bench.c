/* Scaling of a data-parallel step over 1, 2, 4 and 8 workers: threads that share memory, each with
 * a simulated accelerator that only waits, so that few cores are enough. vp_bench times and records
 * two ways of exchanging gradients.
 *
 *     scaling_bench
 *     view_profile trend tensorboard_logs
 *     view_profile compare tensorboard_logs
 *     view_profile findings tensorboard_logs/4gpu_DATE_TIME/fused_trace
 *
 * The findings to look for: one worker (--straggler) is late in every step, so the others wait for
 * it; and the exchange of gradients does not overlap with compute. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <view_profile_capture.h>

#include "ops.h"
#include "options.h"

#define WORKERS_MAX 8
#define LAYERS 4

typedef struct shared {
    long steps, elements, layer_us, straggler, late_us;
    int workers;
    pthread_barrier_t all;
    float *gradients[WORKERS_MAX], *sums;
    vp_track_id compute[WORKERS_MAX], network[WORKERS_MAX];
    bool wrong[WORKERS_MAX]; /* a sum is wrong */
} shared;

typedef struct method {
    shared *g;
    bool fused; /* one exchange per step, else one per layer */
} method;

typedef struct worker {
    const method *m;
    int rank;
} worker;

/* ---- A step ---- */

static void sleep_us(long us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

/* This worker's part of a layer: waits as long as an accelerator would compute. Its gradients are
 * all its rank plus 1. */
static void backward(shared *g, int rank, int layer)
{
    static uint32_t names[LAYERS];
    static const char *const texts[LAYERS] = {"layer_0_grad", "layer_1_grad", "layer_2_grad",
                                              "layer_3_grad"};
    OP_SCOPE = op_begin(g->compute[rank], &names[layer], texts[layer], 0);
    long size = g->elements / LAYERS;
    float *mine = g->gradients[rank] + layer * size;
    sleep_us(g->layer_us / g->workers + (rank == g->straggler ? g->late_us / LAYERS : 0));
    for (long i = 0; i < size; i++)
        mine[i] = (float)(rank + 1);
}

/* Every worker sums a part, then all have the whole. */
static void all_reduce(shared *g, int rank, long from, long count, uint64_t id)
{
    uint64_t start = vp_now();
    long part = count / g->workers, first = from + rank * part;
    long end = rank + 1 == g->workers ? from + count : first + part;
    float should = (float)(g->workers * (g->workers + 1) / 2);
    pthread_barrier_wait(&g->all);
    for (long i = first; i < end; i++) {
        g->sums[i] = 0;
        for (int w = 0; w < g->workers; w++)
            g->sums[i] += g->gradients[w][i];
    }
    pthread_barrier_wait(&g->all);
    for (long i = from; i < from + count; i++)
        if (g->sums[i] != should)
            g->wrong[rank] = true;
    vp_record_collective(g->network[rank], VP_ALL_REDUCE, (uint64_t)count * sizeof(float), 0, rank,
                         g->workers, start, vp_now(), id);
}

static void train_step(const method *m, int rank, uint64_t step)
{
    shared *g = m->g;
    long size = g->elements / LAYERS;
    for (int layer = LAYERS; layer-- > 0;) {
        VP_SCOPE("backward_layer");
        backward(g, rank, layer);
        if (!m->fused && g->workers > 1)
            all_reduce(g, rank, layer * size, size, step * LAYERS + (uint64_t)layer);
    }
    if (m->fused && g->workers > 1)
        all_reduce(g, rank, 0, LAYERS * size, step);
}

/* ---- The workers ---- */

static void *work(void *arg)
{
    const worker *w = arg;
    char name[32];
    snprintf(name, sizeof name, "worker %d", w->rank);
    vp_thread_name(name);
    for (long i = 0; i < w->m->g->steps; i++) {
        VP_STEP("train", (uint64_t)i);
        train_step(w->m, w->rank, (uint64_t)i);
    }
    return NULL;
}

/* A method of the bench. */
static int run(void *arg)
{
    method *m = arg;
    shared *g = m->g;
    pthread_t threads[WORKERS_MAX];
    worker workers[WORKERS_MAX];
    int started = 0, wrong = 0;
    for (; started < g->workers; started++) {
        workers[started] = (worker){m, started};
        if (pthread_create(&threads[started], NULL, work, &workers[started]) != 0)
            abort(); /* the running workers would wait for it forever */
    }
    while (started-- > 0) {
        pthread_join(threads[started], NULL);
        wrong += g->wrong[started];
    }
    return wrong;
}

static bool make(shared *g, int workers)
{
    g->workers = workers;
    pthread_barrier_init(&g->all, NULL, (unsigned)workers);
    g->sums = calloc((size_t)g->elements, sizeof(float));
    bool good = g->sums != NULL;
    for (int i = 0; i < workers; i++) {
        vp_device_id device = vp_device_add(VP_CAPTURE_CUSTOM, i, "worker thread");
        g->compute[i] = vp_track_add(device, "Stream #1(compute)");
        g->network[i] = vp_track_add(device, "Stream #2(collectives)");
        g->gradients[i] = calloc((size_t)g->elements, sizeof(float));
        good = good && g->gradients[i];
    }
    return good;
}

static void drop(shared *g)
{
    for (int i = 0; i < WORKERS_MAX; i++) {
        free(g->gradients[i]);
        g->gradients[i] = NULL;
    }
    free(g->sums);
    g->sums = NULL;
    pthread_barrier_destroy(&g->all);
}

static int measure(vp_bench *b, shared *g, unsigned repeats)
{
    method per_layer = {g, false}, fused = {g, true};
    bool wrong = false;
    if (vp_bench_add(b, "per_layer", run, &per_layer) < 0 ||
        vp_bench_add(b, "fused", run, &fused) < 0 || vp_bench_run(b, 1, repeats) < 0)
        return -1;
    for (int i = 0; i < g->workers; i++)
        wrong = wrong || g->wrong[i];
    vp_bench_set_int(b, "total_params", g->elements);
    if (g->workers > 1) /* every sum was checked: it includes all workers */
        vp_bench_set_bool(b, "gpu_participation_verified", !wrong);
    return vp_bench_write(b, NULL);
}

static int bench(shared *g, const char *root, int workers, unsigned repeats)
{
    vp_bench *b = NULL;
    bool good =
        make(g, workers) && vp_bench_open(&b, root, workers) >= 0 && measure(b, g, repeats) >= 0;
    if (good)
        printf("%s\n", vp_bench_dir(b));
    else
        fprintf(stderr, "%d workers: %s\n", workers, vp_error_last()->message);
    vp_bench_free(b);
    drop(g);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *root = "tensorboard_logs";
    long most = WORKERS_MAX, repeats = 3;
    shared g = {
        .steps = 20, .elements = 1 << 19, .layer_us = 8000, .straggler = 1, .late_us = 8000};
    const option_spec options[] = {
        {"--output-dir", &root, NULL, "where results and profiles go"},
        {"--max-workers", NULL, &most, "1, 2, 4 … up to this many, at most 8"},
        {"--steps", NULL, &g.steps, "steps a run"},
        {"--repeats", NULL, &repeats, "runs of each method"},
        {"--elements", NULL, &g.elements, "gradients that are exchanged a step"},
        {"--layer-us", NULL, &g.layer_us, "of a layer's computing, divided among the workers"},
        {"--straggler", NULL, &g.straggler, "the worker that is late; -1: none"},
        {"--late-us", NULL, &g.late_us, "how late, in microseconds a step"},
        {NULL, NULL, NULL, NULL}};
    int rc = options_parse(options, argc, argv);
    if (rc)
        return rc == 1 ? 0 : rc;
    if (most < 1 || most > WORKERS_MAX || repeats < 1 || g.steps < 1 || g.elements < LAYERS * 8 ||
        g.layer_us < 0 || g.late_us < 0) {
        fprintf(stderr, "nothing to measure, or more than %d workers\n", WORKERS_MAX);
        return 2;
    }
    for (int workers = 1; workers <= most && !rc; workers *= 2)
        rc = bench(&g, root, workers, (unsigned)repeats);
    return rc;
}
