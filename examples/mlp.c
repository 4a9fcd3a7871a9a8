#include "mlp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

/* ---- Allocation ---- */

static float uniform(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / (float)(1u << 24) - 0.5f;
}

static float *zeros(size_t n)
{
    return calloc(n, sizeof(float));
}

static int make_layer(mlp *m, size_t i, uint32_t *random)
{
    size_t in = m->sizes[i], out = m->sizes[i + 1];
    m->w[i] = zeros(in * out);
    m->gw[i] = zeros(in * out);
    m->b[i] = zeros(out);
    m->gb[i] = zeros(out);
    if (!m->w[i] || !m->gw[i] || !m->b[i] || !m->gb[i])
        return -1;
    float scale = 2 * sqrtf(6 / (float)(in + out));
    for (size_t k = 0; k < in * out; k++)
        m->w[i][k] = scale * uniform(random);
    return 0;
}

int mlp_init(mlp *m, size_t hidden, size_t batch, uint32_t seed)
{
    *m = (mlp){.sizes = {784, hidden, hidden / 2, 10}, .batch = batch};
    int rc = 0;
    for (size_t i = 0; i < MLP_LAYERS; i++)
        rc |= make_layer(m, i, &seed);
    for (size_t i = 0; i <= MLP_LAYERS; i++) {
        m->act[i] = zeros(batch * m->sizes[i]);
        m->grad[i] = zeros(batch * m->sizes[i]);
        rc |= m->act[i] && m->grad[i] ? 0 : -1;
    }
    vp_device_id device = vp_device_add(VP_CAPTURE_CUSTOM, 0, "one core");
    m->stream = vp_track_add(device, "Stream #0(compute)");
    if (rc < 0) {
        fprintf(stderr, "out of memory\n");
        mlp_free(m);
    }
    return rc;
}

void mlp_free(mlp *m)
{
    for (size_t i = 0; i < MLP_LAYERS; i++) {
        free(m->w[i]);
        free(m->b[i]);
        free(m->gw[i]);
        free(m->gb[i]);
    }
    for (size_t i = 0; i <= MLP_LAYERS; i++) {
        free(m->act[i]);
        free(m->grad[i]);
    }
    *m = (mlp){0};
}

double mlp_params(const mlp *m)
{
    double n = 0;
    for (size_t i = 0; i < MLP_LAYERS; i++)
        n += (double)((m->sizes[i] + 1) * m->sizes[i + 1]);
    return n;
}

float *mlp_input(mlp *m)
{
    return m->act[0];
}

/* ---- Kernels ---- */

/* y = x w + b */
static void dense(const float *x, const float *w, const float *b, float *y, size_t batch, size_t in,
                  size_t out)
{
    for (size_t r = 0; r < batch; r++) {
        memcpy(y + r * out, b, out * sizeof *y);
        for (size_t i = 0; i < in; i++)
            for (size_t o = 0; o < out; o++)
                y[r * out + o] += x[r * in + i] * w[i * out + o];
    }
}

static void relu(float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = y[i] > 0 ? y[i] : 0;
}

/* gw = xᵀ dy, gb = Σ dy */
static void dense_weights(const float *x, const float *dy, float *gw, float *gb, size_t batch,
                          size_t in, size_t out)
{
    memset(gw, 0, in * out * sizeof *gw);
    memset(gb, 0, out * sizeof *gb);
    for (size_t r = 0; r < batch; r++) {
        for (size_t i = 0; i < in; i++)
            for (size_t o = 0; o < out; o++)
                gw[i * out + o] += x[r * in + i] * dy[r * out + o];
        for (size_t o = 0; o < out; o++)
            gb[o] += dy[r * out + o];
    }
}

/* dx = dy wᵀ where x > 0 */
static void dense_input(const float *x, const float *w, const float *dy, float *dx, size_t batch,
                        size_t in, size_t out)
{
    for (size_t r = 0; r < batch; r++)
        for (size_t i = 0; i < in; i++) {
            float sum = 0;
            for (size_t o = 0; o < out; o++)
                sum += dy[r * out + o] * w[i * out + o];
            dx[r * in + i] = x[r * in + i] > 0 ? sum : 0;
        }
}

/* Returns the loss; p becomes its gradient. */
static double softmax_loss(float *p, float *gradient, const uint8_t *labels, size_t batch,
                           size_t classes, size_t *right)
{
    double loss = 0;
    *right = 0;
    for (size_t r = 0; r < batch; r++) {
        float *row = p + r * classes, most = row[0], sum = 0;
        size_t best = 0;
        for (size_t c = 1; c < classes; c++)
            if (row[c] > most) {
                most = row[c];
                best = c;
            }
        for (size_t c = 0; c < classes; c++)
            sum += expf(row[c] - most);
        for (size_t c = 0; c < classes; c++) {
            float share = expf(row[c] - most) / sum, hit = labels[r] == c ? 1 : 0;
            gradient[r * classes + c] = (share - hit) / (float)batch;
        }
        loss += (double)(logf(sum) + most - row[labels[r]]);
        *right += best == labels[r];
    }
    return loss / (double)batch;
}

/* ---- The network ---- */

static double flops_of(const mlp *m, size_t batch, size_t layer)
{
    return 2.0 * (double)(batch * m->sizes[layer] * m->sizes[layer + 1]);
}

static void forward_layer(mlp *m, size_t batch, size_t i)
{
    static uint32_t names[MLP_LAYERS];
    static const char *const texts[MLP_LAYERS] = {"dense_0", "dense_1", "dense_2"};
    OP_SCOPE = op_begin(m->stream, &names[i], texts[i], flops_of(m, batch, i));
    dense(m->act[i], m->w[i], m->b[i], m->act[i + 1], batch, m->sizes[i], m->sizes[i + 1]);
    if (i + 1 < MLP_LAYERS)
        relu(m->act[i + 1], batch * m->sizes[i + 1]);
}

double mlp_forward(mlp *m, size_t batch, const uint8_t *labels, size_t *right)
{
    VP_SCOPE("forward");
    for (size_t i = 0; i < MLP_LAYERS; i++)
        forward_layer(m, batch, i);
    OP(m->stream, "softmax_cross_entropy", 0);
    return softmax_loss(m->act[MLP_LAYERS], m->grad[MLP_LAYERS], labels, batch,
                        m->sizes[MLP_LAYERS], right);
}

static void backward_layer(mlp *m, size_t batch, size_t i)
{
    static uint32_t names[MLP_LAYERS];
    static const char *const texts[MLP_LAYERS] = {"dense_0_grad", "dense_1_grad", "dense_2_grad"};
    OP_SCOPE = op_begin(m->stream, &names[i], texts[i], (i ? 2 : 1) * flops_of(m, batch, i));
    dense_weights(m->act[i], m->grad[i + 1], m->gw[i], m->gb[i], batch, m->sizes[i],
                  m->sizes[i + 1]);
    if (i) /* the gradient of the pixels is not needed */
        dense_input(m->act[i], m->w[i], m->grad[i + 1], m->grad[i], batch, m->sizes[i],
                    m->sizes[i + 1]);
}

void mlp_backward(mlp *m, size_t batch)
{
    VP_SCOPE("backward");
    for (size_t i = MLP_LAYERS; i-- > 0;)
        backward_layer(m, batch, i);
}

void mlp_update(mlp *m, float rate)
{
    VP_SCOPE("sgd_update");
    OP(m->stream, "sgd", 2 * mlp_params(m));
    for (size_t i = 0; i < MLP_LAYERS; i++) {
        size_t in = m->sizes[i], out = m->sizes[i + 1];
        for (size_t k = 0; k < in * out; k++)
            m->w[i][k] -= rate * m->gw[i][k];
        for (size_t k = 0; k < out; k++)
            m->b[i][k] -= rate * m->gb[i][k];
    }
}
