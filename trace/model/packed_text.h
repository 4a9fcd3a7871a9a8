/* Texts of help, of man pages and of findings, which few runs of the program print: tens of KB that
 * scripts/embed.cmake packs. In the sources that CMakeLists.txt names, every long literal becomes a
 * number that poses as a pointer; whoever reads a text of these tables passes it through
 * vp_unpacked. Everyone above trace/model may include this; texts are constant and the program's.
 */
#ifndef VP_MODEL_PACKED_TEXT_H
#define VP_MODEL_PACKED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Only generated sources write this: a block's number, times 1024, and the text's from 1. */
#define VP_PACKED(number) ((const char *)(uintptr_t)(number))

typedef struct vp_packed_block {
    const unsigned char *gz;
    size_t gz_n;
    char *raw; /* raw_n bytes and a NUL, once unpacked */
    size_t raw_n;
    uint16_t *at; /* where each text begins in raw */
    size_t count;
} vp_packed_block;

extern const vp_packed_block vp_packed_blocks[];

/* The text itself: also of what is no number, and NULL of NULL. "" where there is no memory to
 * unpack it. Any thread. */
const char *vp_unpacked(const char *text);

/* Inflates all of gz, which must be raw_n bytes, into raw, which has room for one more. False: no
 * memory. */
bool vp_unpack(const unsigned char *gz, size_t gz_n, void *raw, size_t raw_n);

#endif
