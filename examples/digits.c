#include "digits.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Files ---- */

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The content after the header of an IDX file of unsigned bytes; *count: number of items. */
static uint8_t *read_idx(const char *dir, const char *set, const char *kind, uint8_t dimensions,
                         size_t item, size_t *count)
{
    char path[4096];
    uint8_t head[16];
    uint8_t *data = NULL;
    size_t head_size = 4u + 4u * dimensions;
    snprintf(path, sizeof path, "%s/%s-%s-ubyte", dir, set, kind);
    FILE *f = fopen(path, "rb");
    bool good = f && fread(head, 1, head_size, f) == head_size && big_endian(head) >> 8 == 8 &&
                head[3] == dimensions && big_endian(head + 4) <= 10000000;
    if (good && dimensions == 3)
        good = big_endian(head + 8) == DIGIT_SIDE && big_endian(head + 12) == DIGIT_SIDE;
    if (good) {
        *count = big_endian(head + 4);
        data = malloc(*count * item + 1);
        good = *count && data && fread(data, item, *count, f) == *count;
    }
    if (f)
        fclose(f);
    if (good)
        return data;
    fprintf(stderr, "%s: not there, or no IDX file of digits\n", path);
    free(data);
    return NULL;
}

int digits_read(digits *out, const char *dir, const char *set)
{
    size_t labels = 0;
    *out = (digits){0};
    out->pixels = read_idx(dir, set, "images-idx3", 3, DIGIT_PIXELS, &out->count);
    out->labels = out->pixels ? read_idx(dir, set, "labels-idx1", 1, 1, &labels) : NULL;
    if (out->labels && labels == out->count)
        return 0;
    digits_free(out);
    return -1;
}

void digits_free(digits *d)
{
    free(d->pixels);
    free(d->labels);
    *d = (digits){0};
}

/* ---- Drawing ---- */

static uint32_t next_random(uint32_t *state) /* xorshift */
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void fill(uint8_t *image, unsigned x0, unsigned y0, unsigned x1, unsigned y1, uint8_t ink)
{
    for (unsigned y = y0; y < y1; y++)
        for (unsigned x = x0; x < x1; x++)
            image[y * DIGIT_SIDE + x] = ink;
}

/* Bits: top, upper left, upper right, middle, lower left, lower right, bottom segment. */
static const uint8_t segments[10] = {0x77, 0x24, 0x5d, 0x6d, 0x2e, 0x6b, 0x7b, 0x25, 0x7f, 0x6f};

static void draw(uint8_t *image, unsigned digit, uint32_t *random)
{
    unsigned x = 6 + next_random(random) % 5, y = 3 + next_random(random) % 4;
    unsigned t = 2 + next_random(random) % 2, w = 10, h = 9; /* line width; size of a half */
    uint8_t ink = (uint8_t)(160 + next_random(random) % 96), s = segments[digit];
    for (unsigned half = 0; half < 3; half++)
        if (s >> (half == 0 ? 0 : half == 1 ? 3 : 6) & 1)
            fill(image, x, y + half * h, x + w, y + half * h + t, ink);
    for (unsigned side = 0; side < 4; side++) {
        unsigned left = x + (side % 2) * (w - t), top = y + (side / 2) * h;
        if (s >> (side < 2 ? 1 + side : 2 + side) & 1)
            fill(image, left, top, left + t, top + h + t, ink);
    }
}

int digits_draw(digits *out, size_t count, uint32_t seed)
{
    uint32_t random = seed * 2654435761u | 1;
    *out = (digits){calloc(count, DIGIT_PIXELS), calloc(count, 1), count};
    if (!out->pixels || !out->labels) {
        digits_free(out);
        fprintf(stderr, "out of memory\n");
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        out->labels[i] = (uint8_t)(next_random(&random) % 10);
        draw(out->pixels + i * DIGIT_PIXELS, out->labels[i], &random);
    }
    return 0;
}

/* ---- Batches ---- */

static float pixel(const uint8_t *image, int x, int y)
{
    bool inside = x >= 0 && y >= 0 && x < (int)DIGIT_SIDE && y < (int)DIGIT_SIDE;
    return inside ? (float)image[y * (int)DIGIT_SIDE + x] : 0;
}

/* Interpolates between four pixels. */
static float sample(const uint8_t *image, float x, float y)
{
    int left = (int)floorf(x), top = (int)floorf(y);
    float fx = x - (float)left, fy = y - (float)top;
    float upper = pixel(image, left, top) * (1 - fx) + pixel(image, left + 1, top) * fx;
    float lower = pixel(image, left, top + 1) * (1 - fx) + pixel(image, left + 1, top + 1) * fx;
    return upper * (1 - fy) + lower * fy;
}

/* Approximately Gaussian: the sum of four uniform numbers. */
static float noise(uint32_t *random)
{
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (float)(next_random(random) & 0xffff) / 65536 - 0.5f;
    return sum;
}

/* Averages SUB x SUB samples per pixel, so that edges are smooth. */
#define SUB 3

static float turned(const uint8_t *image, float x, float y, float c, float s)
{
    float middle = (float)DIGIT_SIDE / 2, sum = 0;
    for (int i = 0; i < SUB * SUB; i++) {
        float u = x + (float)(i % SUB) / SUB - middle, v = y + (float)(i / SUB) / SUB - middle;
        sum += sample(image, c * u - s * v + middle, s * u + c * v + middle);
    }
    return sum / (SUB * SUB);
}

static void distort(const uint8_t *image, float *out, uint32_t *random)
{
    float turn = 0.15f * noise(random), dx = noise(random), dy = noise(random);
    float c = cosf(turn), s = sinf(turn);
    for (unsigned y = 0; y < DIGIT_SIDE; y++)
        for (unsigned x = 0; x < DIGIT_SIDE; x++) {
            float ink = turned(image, (float)x + dx, (float)y + dy, c, s);
            out[y * DIGIT_SIDE + x] = ink / 255 - 0.2f + 0.1f * noise(random);
        }
}

void digits_batch(const digits *d, size_t first, size_t batch, float *pixels, uint8_t *labels)
{
    uint32_t random = (uint32_t)first * 747796405u | 1;
    for (size_t i = 0; i < batch; i++) {
        size_t from = (first + i) % d->count;
        distort(d->pixels + from * DIGIT_PIXELS, pixels + i * DIGIT_PIXELS, &random);
        labels[i] = d->labels[from];
    }
}
