/* Hashes. Profiles and clients choose the names and numbers in our tables. With a known hash they
 * could choose keys that all collide, and every lookup would scan the table. So vp_hash and vp_mix
 * are keyed with random numbers that the kernel draws once per process. Their values have no
 * meaning outside the process, and printed output must not depend on them. vp_fingerprint is the
 * hash that is stable across processes.
 *
 * The keyed hash is wyhash (Wang Yi, final version 4, public domain; used by the maps of Go and
 * Zig): one inlined multiplication per 16 bytes. Keyed XXH3 is as fast only for long texts, and a
 * library call for each name would take a tenth of the time of reading an event. */
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

/* Hashes a number with the secret key. */
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

/* Loads up to 16 bytes as two overlapping words. */
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

/* seed: a constant or a keyed hash, never a number from the file (use vp_hash for those). */
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

/* A hash that is the same in every process. For names (of sessions, ops, assets), never for tables:
 * collisions can be constructed. */
uint64_t vp_fingerprint(const void *p, size_t n, uint64_t seed);

#endif
