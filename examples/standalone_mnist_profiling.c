/* A custom training loop without a vp_profiler: every 5th step is recorded into train_step_<N>,
 * every validation into validation_epoch_<E>.
 *
 *     standalone_mnist_profiling
 *     view_profile findings profiles/mnist_profile/validation_epoch_0
 *
 * The finding to look for: kernels are tuned ("compiled") when a batch size first occurs, and the
 * last batch of the validation set is smaller than the others. */
#include <stdio.h>
#include <stdlib.h>

#include <view_profile_capture.h>

#include "digits.h"
#include "mlp.h"
#include "options.h"

#define PLANS_MAX 16u

typedef struct program {
    const char *dir;
    digits train, test;
    mlp net;
    uint8_t *labels;
    size_t batch;
    size_t planned[PLANS_MAX], plans; /* batch sizes for which kernels were tuned */
} program;

/* ---- Compiling ---- */

/* Simulates a tuning compiler: it tries the step on this shape, and keeps the fastest variant. All
 * variants are the same here, so only its time matters. */
static void compile(program *g, size_t batch)
{
    VP_COMPILE_SCOPE("jit_forward");
    size_t right;
    for (int way = 0; way < 8; way++)
        mlp_forward(&g->net, batch, g->labels, &right);
}

static void compile_once(program *g, size_t batch)
{
    for (size_t i = 0; i < g->plans; i++)
        if (g->planned[i] == batch)
            return;
    if (g->plans < PLANS_MAX)
        g->planned[g->plans++] = batch;
    compile(g, batch);
}

/* ---- Training and validation ---- */

static void load_batch(program *g, const digits *from, size_t first, size_t batch)
{
    VP_FUNC();
    digits_batch(from, first, batch, mlp_input(&g->net), g->labels);
}

static double forward(program *g, size_t batch, size_t *right)
{
    compile_once(g, batch);
    return mlp_forward(&g->net, batch, g->labels, right);
}

static double train_step(program *g, uint64_t step)
{
    size_t right;
    VP_STEP("train_step", step);
    load_batch(g, &g->train, (size_t)step * g->batch, g->batch);
    double loss = forward(g, g->batch, &right);
    mlp_backward(&g->net, g->batch);
    mlp_update(&g->net, 0.1f);
    return loss;
}

static double profiled_step(program *g, uint64_t step)
{
    char dir[4096];
    snprintf(dir, sizeof dir, "%s/train_step_%llu", g->dir, (unsigned long long)step);
    VP_PROFILE_SCOPE(dir);
    return train_step(g, step);
}

/* The accuracy on the test set. */
static double validate(program *g, uint64_t epoch)
{
    char dir[4096];
    size_t all = 0, right;
    snprintf(dir, sizeof dir, "%s/validation_epoch_%llu", g->dir, (unsigned long long)epoch);
    g->plans = 0; /* evaluation is compiled separately */
    VP_PROFILE_SCOPE(dir);
    for (size_t first = 0; first < g->test.count; first += g->batch) {
        size_t left = g->test.count - first, batch = left < g->batch ? left : g->batch;
        VP_STEP("validation_step", first / g->batch);
        load_batch(g, &g->test, first, batch);
        forward(g, batch, &right);
        all += right;
    }
    return (double)all / (double)g->test.count;
}

static void run(program *g, uint64_t epochs, uint64_t steps)
{
    uint64_t step = 0;
    for (uint64_t epoch = 0; epoch < epochs; epoch++) {
        double loss = 0;
        for (uint64_t i = 0; i < steps; i++, step++)
            loss = step % 5 == 0 && step ? profiled_step(g, step) : train_step(g, step);
        double right = validate(g, epoch);
        printf("epoch %llu: loss %.3f, %.1f%% of the test set right\n", (unsigned long long)epoch,
               loss, 100 * right);
    }
}

static int load(program *g, const char *data, size_t test_count)
{
    if (data)
        return digits_read(&g->train, data, "train") || digits_read(&g->test, data, "t10k");
    return digits_draw(&g->train, 4096, 1) || digits_draw(&g->test, test_count, 2);
}

int main(int argc, char **argv)
{
    program g = {.dir = "profiles/mnist_profile"};
    const char *data = NULL;
    long epochs = 2, steps = 20, batch = 64, hidden = 128, test = 500;
    const option_spec options[] = {
        {"--data", &data, NULL, "directory of the IDX files; else digits are drawn"},
        {"--output-dir", &g.dir, NULL, "where profiles go"},
        {"--epochs", NULL, &epochs, "how often to validate"},
        {"--steps", NULL, &steps, "steps an epoch"},
        {"--batch", NULL, &batch, "images a step"},
        {"--hidden", NULL, &hidden, "width of the first hidden layer"},
        {"--test", NULL, &test, "images of the drawn test set"},
        {NULL, NULL, NULL, NULL}};
    int rc = options_parse(options, argc, argv);
    if (rc)
        return rc == 1 ? 0 : rc;
    if (epochs < 1 || steps < 1 || batch < 1 || hidden < 2 || test < 1) {
        fprintf(stderr, "nothing to train\n");
        return 2;
    }
    g.batch = (size_t)batch;
    g.labels = calloc(g.batch, 1);
    rc = !g.labels || load(&g, data, (size_t)test) || mlp_init(&g.net, (size_t)hidden, g.batch, 1);
    if (!rc)
        run(&g, (uint64_t)epochs, (uint64_t)steps);
    mlp_free(&g.net);
    digits_free(&g.train);
    digits_free(&g.test);
    free(g.labels);
    return rc;
}
