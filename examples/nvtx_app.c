/* A training loop annotated with NVTX, like PyTorch, NCCL and many CUDA programs, without any use
 * of view_profile:
 *
 *     view_profile record --steps 2:3 -- examples/nvtx_app
 *
 * Its batches alternate between two sizes, and each change recompiles (here: tunes) the matmul,
 * with the annotations of XLA. `view_profile findings` reports it. It is built if NVTX's headers
 * are found, which are part of CUDA and of the Python package nvidia-nvtx-cu12. To build it
 * manually:
 *
 *     cc nvtx_app.c -I…/nvidia/nvtx/include -ldl -o nvtx_app */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SIZE 96

static float a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
static nvtxDomainHandle_t model;
static nvtxStringHandle_t matmul;

static void product(int rows, int block)
{
    for (int from = 0; from < rows; from += block)
        for (int i = from; i < rows && i < from + block; i++)
            for (int j = 0; j < SIZE; j++) {
                float sum = 0;
                for (int k = 0; k < SIZE; k++)
                    sum += a[i][k] * b[k][j];
                c[i][j] = sum;
            }
}

static void multiply(int layer, int rows, int block)
{
    nvtxEventAttributes_t e = {0};
    e.version = NVTX_VERSION;
    e.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    e.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    e.message.registered = matmul;
    e.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    e.payload.llValue = layer;
    nvtxDomainRangePushEx(model, &e);
    product(rows, block);
    nvtxDomainRangePop(model);
}

/* The fastest block size for this number of rows, found by trying. */
static int compile(int rows)
{
    static const int blocks[] = {8, 32, SIZE};
    double best_s = 1e9;
    int best = SIZE;
    nvtxRangePushA("XlaCompile:jit_forward");
    for (int i = 0; i < 3; i++) {
        struct timespec t[2];
        clock_gettime(CLOCK_MONOTONIC, &t[0]);
        product(rows, blocks[i]);
        clock_gettime(CLOCK_MONOTONIC, &t[1]);
        double s =
            (double)(t[1].tv_sec - t[0].tv_sec) + 1e-9 * (double)(t[1].tv_nsec - t[0].tv_nsec);
        if (s < best_s) {
            best_s = s;
            best = blocks[i];
        }
    }
    nvtxRangePop();
    return best;
}

static void load_batch(void)
{
    nvtxRangePushA("load batch");
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            a[i][j] = (float)((i + j) % 7);
            b[i][j] = (float)((i * j) % 5);
        }
    nvtxRangePop();
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 10, compiled_for = 0, block = SIZE;
    model = nvtxDomainCreateA("model");
    matmul = nvtxDomainRegisterStringA(model, "matmul");
    for (int step = 0; step < steps; step++) {
        int rows = step % 2 ? SIZE / 2 : SIZE;
        char name[32];
        snprintf(name, sizeof name, "step %d", step);
        nvtxRangePushA(name);
        load_batch();
        if (rows != compiled_for)
            block = compile(compiled_for = rows);
        nvtxRangePushA("forward");
        for (int layer = 0; layer < 3; layer++)
            multiply(layer, rows, block);
        nvtxRangePop();
        nvtxMarkA("batch done");
        nvtxRangePop();
    }
    printf("c[1][1] = %.1f\n", (double)c[1][1]);
    return 0;
}
