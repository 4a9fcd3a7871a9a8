/* A multilayer perceptron in plain C, trained by stochastic gradient descent, which the MNIST
 * examples profile. Its functions are zones, its kernels are ops of a device. The caller frees
 * it. */
#ifndef EXAMPLES_MLP_H
#define EXAMPLES_MLP_H

#include <stddef.h>
#include <stdint.h>

#include <view_profile_capture.h>

#define MLP_LAYERS 3u

typedef struct mlp {
    size_t sizes[MLP_LAYERS + 1]; /* 784, hidden, hidden / 2, 10 */
    size_t batch;                 /* the maximum batch size */
    float *w[MLP_LAYERS], *b[MLP_LAYERS], *gw[MLP_LAYERS], *gb[MLP_LAYERS];
    float *act[MLP_LAYERS + 1], *grad[MLP_LAYERS + 1]; /* batch rows each */
    vp_track_id stream;
} mlp;

int mlp_init(mlp *m, size_t hidden, size_t batch, uint32_t seed);
void mlp_free(mlp *m);
double mlp_params(const mlp *m);
/* Buffer for a batch's pixels. */
float *mlp_input(mlp *m);

/* Computes the loss of a batch, and the number of correct predictions. */
double mlp_forward(mlp *m, size_t batch, const uint8_t *labels, size_t *right);
void mlp_backward(mlp *m, size_t batch); /* of the batch of mlp_forward */
void mlp_update(mlp *m, float rate);

#endif
