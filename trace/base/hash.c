#include "trace/base/hash.h"

#include <sys/auxv.h>
#include <sys/random.h>

uint64_t vp_hash_key[4];

/* If a system call filter forbids getrandom, the key is derived from AT_RANDOM, the 16 random bytes
 * that the kernel gives every process. */
__attribute__((constructor(101))) static void draw_key(void)
{
    const char *gift = (const char *)(uintptr_t)getauxval(AT_RANDOM);
    if (getrandom(vp_hash_key, sizeof vp_hash_key, GRND_NONBLOCK) != sizeof vp_hash_key && gift)
        for (size_t i = 0; i < 4; i++)
            vp_hash_key[i] = vp_fingerprint(gift, 16, i + 1);
    for (size_t i = 0; i < 4; i++)
        vp_hash_key[i] |= 1; /* a key of 0 would make every product 0 */
}

uint64_t vp_hash(const void *p, size_t n, uint64_t seed)
{
    return vp_hash_inline(p, n, seed ? vp_mix(seed) : 0);
}

/* Loads fewer than 8 bytes as a little-endian number, in three steps instead of seven. */
static uint64_t load_tail_bytes(const unsigned char *p, size_t n)
{
    uint64_t w = 0;
    unsigned at = 0;
    for (unsigned size = 4; size; size /= 2)
        if (n & size) {
            for (unsigned i = 0; i < size; i++)
                w |= (uint64_t)p[i] << (at + 8 * i);
            p += size;
            at += 8 * size;
        }
    return w;
}

uint64_t vp_fingerprint(const void *data, size_t n, uint64_t seed)
{
    const unsigned char *p = data;
    uint64_t h = seed ^ (n * UINT64_C(0x9e3779b97f4a7c15)), w, v, even = 0;
    for (; n >= 16; n -= 16, p += 16) { /* two independent chains run in parallel */
        memcpy(&w, p, 8);
        memcpy(&v, p + 8, 8);
        h = (h ^ w) * UINT64_C(0xff51afd7ed558ccd);
        even = (even ^ v) * UINT64_C(0x9fb21c651e98df25);
        h ^= h >> 32;
        even ^= even >> 32;
    }
    h ^= even;
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&w, p, 8);
        h = (h ^ w) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    h = (h ^ load_tail_bytes(p, n)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ (h >> 29);
}
