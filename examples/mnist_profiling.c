/* Trains a network on handwritten digits and profiles itself on a schedule, like profile_context:
 * every 10th step into a separate directory, and five consecutive steps from step 50 on.
 *
 *     mnist_profiling && view_profile findings profiles/mnist_profiling
 *
 * The finding to look for: the training thread also loads and augments batches, so the device waits
 * for its input. */
#include <stdio.h>
#include <stdlib.h>

#include <view_profile_capture.h>

#include "digits.h"
#include "mlp.h"
#include "options.h"

typedef struct training {
    digits data;
    mlp net;
    uint8_t *labels;
    size_t batch;
    double loss;
    size_t right;
} training;

static void load_batch(training *t, uint64_t step)
{
    VP_FUNC();
    digits_batch(&t->data, (size_t)step * t->batch, t->batch, mlp_input(&t->net), t->labels);
}

static void train_step(training *t, vp_profiler *p, uint64_t step)
{
    VP_CONTEXT(p, step, "train_step");
    load_batch(t, step);
    t->loss = mlp_forward(&t->net, t->batch, t->labels, &t->right);
    mlp_backward(&t->net, t->batch);
    mlp_update(&t->net, 0.1f);
    VP_COUNTER_F("loss", t->loss);
}

static void report(const training *t, const vp_profiler *p)
{
    vp_step_stats s = VP_STEP_STATS_INIT;
    vp_profiler_stats(&s, p);
    printf("%llu steps, %llu capture%s, %.3f ms a step; loss %.3f, %.0f%% right\n",
           (unsigned long long)s.steps, (unsigned long long)s.captures, s.captures == 1 ? "" : "s",
           1e3 * s.avg_step_time, t->loss, 100.0 * (double)t->right / (double)t->batch);
}

static int train(training *t, const vp_schedule *schedule, uint64_t steps)
{
    vp_profiler *p;
    if (vp_profiler_new(&p, schedule) < 0) {
        fprintf(stderr, "%s\n", vp_error_last()->message);
        return 1;
    }
    for (uint64_t step = 0; step < steps; step++) {
        vp_begin_step(p, step);
        train_step(t, p, step);
        vp_end_step(p, t->batch);
    }
    report(t, p);
    vp_profiler_free(p);
    return 0;
}

int main(int argc, char **argv)
{
    const char *data = NULL, *dir = "profiles/mnist_profiling";
    long steps = 60, batch = 64, hidden = 128, every = 10, start = 50;
    const option_spec options[] = {
        {"--data", &data, NULL, "directory of the IDX files; else digits are drawn"},
        {"--output-dir", &dir, NULL, "where profiles go"},
        {"--steps", NULL, &steps, "how long to train"},
        {"--batch", NULL, &batch, "images a step"},
        {"--hidden", NULL, &hidden, "width of the first hidden layer"},
        {"--every", NULL, &every, "steps from one profile to the next"},
        {"--start-step", NULL, &start, "first of five steps in a row; -1: none"},
        {NULL, NULL, NULL, NULL}};
    int rc = options_parse(options, argc, argv);
    if (rc)
        return rc == 1 ? 0 : rc;
    if (steps < 1 || batch < 1 || hidden < 2 || every < 1) {
        fprintf(stderr, "nothing to train\n");
        return 2;
    }
    training t = {.batch = (size_t)batch, .labels = calloc((size_t)batch, 1)};
    vp_schedule s = VP_SCHEDULE_INIT;
    s.enable_profiling = true;
    s.profiling_dir = dir;
    s.profile_every_n_steps = (uint64_t)every;
    s.profile_duration_ms = 5000;
    s.start_step = start;
    s.recording.pool_bytes = 4u << 20;
    s.recording.log = options_log;
    rc = 1;
    if (t.labels &&
        (data ? digits_read(&t.data, data, "train") : digits_draw(&t.data, 4096, 1)) == 0 &&
        mlp_init(&t.net, (size_t)hidden, t.batch, 1) == 0) {
        s.model_params = mlp_params(&t.net);
        rc = train(&t, &s, (uint64_t)steps);
    }
    mlp_free(&t.net);
    digits_free(&t.data);
    free(t.labels);
    return rc;
}
