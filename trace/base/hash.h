/* Hashes. Files and clients choose the names and numbers that our tables hold; who knew the hash
 * could choose them so that all fall into one slot, and make every look-up as long as the table.
 * So vp_hash and vp_mix are keyed with numbers that the kernel draws once a process: their values
 * mean nothing outside it, and nothing that is printed may depend on them. What has to be the same
 * tomorrow is vp_fingerprint. Everyone may include.
 *
 * The keyed one is wyhash (Wang Yi, final version 4, public domain; Go and Zig key their maps with
 * it): one multiplication for 16 bytes, in line. XXH3's keyed form is as fast on long texts only,
 * and a library's call for each name would be a tenth of reading an event. */
#ifndef VP_BASE_HASH_H
#define VP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern uint64_t vp_hash_key[4]; /* drawn before main() */

static inline uint64_t vp_mum(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide r = (wide)a * b;
    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

/* A number as a key that nobody can choose. */
static inline uint64_t vp_mix(uint64_t x)
{
    return vp_mum(x ^ vp_hash_key[0], vp_hash_key[1]);
}

static inline uint64_t vp_word_at(const char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

/* Up to 16 bytes as two words that overlap. */
static inline void vp_short_words(const char *p, size_t n, uint64_t *a, uint64_t *b)
{
    uint32_t low, high;
    if (n >= 8) {
        *a = vp_word_at(p);
        *b = vp_word_at(p + n - 8);
    } else if (n >= 4) {
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        *a = low;
        *b = high;
    } else if (n) {
        *a = (unsigned char)p[0];
        *b = (uint64_t)(unsigned char)p[n / 2] << 8 | (unsigned char)p[n - 1];
    }
}

/* seed: a constant, or a keyed hash; never a number of the file's (vp_hash takes those). */
static inline uint64_t vp_hash_inline(const char *p, size_t n, uint64_t seed)
{
    uint64_t h = seed ^ vp_hash_key[0], a = 0, b = 0;
    if (n > 16) {
        const char *last = p + n - 16;
        for (; p < last; p += 16)
            h = vp_mum(vp_word_at(p) ^ vp_hash_key[1], vp_word_at(p + 8) ^ h);
        a = vp_word_at(last);
        b = vp_word_at(last + 8);
    } else {
        vp_short_words(p, n, &a, &b);
    }
    return vp_mum(vp_hash_key[2] ^ n, vp_mum(a ^ vp_hash_key[1], b ^ h) ^ vp_hash_key[3]);
}

uint64_t vp_hash(const void *p, size_t n, uint64_t seed);

/* The same in every process, and so for names (of sessions, ops, assets) and never for tables: who
 * wants two texts with one fingerprint finds them. */
uint64_t vp_fingerprint(const void *p, size_t n, uint64_t seed);

#endif
