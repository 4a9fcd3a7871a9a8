/* Handwritten digits for the examples: the IDX files of MNIST, or generated digits. The caller
 * frees the result. */
#ifndef EXAMPLES_DIGITS_H
#define EXAMPLES_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#define DIGIT_SIDE 28u
#define DIGIT_PIXELS (DIGIT_SIDE * DIGIT_SIDE)

typedef struct digits {
    uint8_t *pixels; /* DIGIT_PIXELS each, 0 to 255 */
    uint8_t *labels; /* 0 to 9 */
    size_t count;
} digits;

/* Loads dir/train-images-idx3-ubyte and dir/train-labels-idx1-ubyte ("t10k" instead of "train" for
 * the test set), uncompressed. 0, or -1 after a message on stderr. */
int digits_read(digits *out, const char *dir, const char *set);
/* Generates seven-segment digits, shifted and with varying line width; equal seeds give equal
 * digits. */
int digits_draw(digits *out, size_t count, uint32_t seed);
void digits_free(digits *d);

/* Makes a batch from number `first` on (wrapping), rotated, shifted and with noise, like augmented
 * training sets: `batch` rows of DIGIT_PIXELS floats around 0. Costs about as much as the network's
 * step. */
void digits_batch(const digits *d, size_t first, size_t batch, float *pixels, uint8_t *labels);

#endif
