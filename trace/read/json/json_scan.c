#include "trace/read/json/json_scan.h"

#include <stdatomic.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

static const char *skip_portable(const char *p, const char *end)
{
    size_t depth = 0;
    for (; p < end; p++) {
        switch (*p) {
        case '"':
            p = js_string_end(p + 1, end);
            if (!p)
                return NULL;
            break;
        case '\\': /* outside of strings it escapes a quote but not a bracket, as in the other
                      backends */
            p += p + 1 < end && (p[1] == '"' || p[1] == '\\');
            break;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            if (--depth == 0)
                return p + 1;
            break;
        default:
            break;
        }
    }
    return NULL;
}

#ifdef __x86_64__
/* 64 bytes of text as bit sets, bit i for byte i. */
typedef struct masks {
    uint64_t quotes, slashes, open, close;
} masks;

typedef struct skip_state {
    uint64_t depth;
    uint64_t in_string; /* all ones if the block begins inside a string */
    uint64_t escaped;   /* 1 if the block's first byte is escaped */
} skip_state;

/* Bits of the bytes that follow an unescaped backslash. */
static inline uint64_t escaped_bytes(uint64_t slashes, uint64_t *carry)
{
    uint64_t escaped = *carry;
    slashes &= ~*carry;
    *carry = 0;
    while (slashes) {
        uint64_t slash = slashes & (0 - slashes);
        if (slash >> 63)
            *carry = 1;
        escaped |= slash << 1;
        slashes &= ~(slash | slash << 1);
    }
    return escaped;
}

/* Bit i is the parity of bits 0..i: text between an odd and an even quote is a string. */
static inline uint64_t prefix_parity(uint64_t x)
{
    x ^= x << 1;
    x ^= x << 2;
    x ^= x << 4;
    x ^= x << 8;
    x ^= x << 16;
    return x ^ x << 32;
}

/* Processes one block; returns the end of the value if it is in the block. */
__attribute__((always_inline)) static inline const char *skip_take_block(skip_state *s, masks m,
                                                                         const char *p)
{
    if (m.slashes | s->escaped)
        m.quotes &= ~escaped_bytes(m.slashes, &s->escaped);
    uint64_t strings = prefix_parity(m.quotes) ^ s->in_string;
    s->in_string = (uint64_t)((int64_t)strings >> 63);
    uint64_t open = m.open & ~strings, close = m.close & ~strings;
    uint64_t closes = (uint64_t)__builtin_popcountll(close);
    if (closes < s->depth) {
        s->depth += (uint64_t)__builtin_popcountll(open) - closes;
        return NULL;
    }
    for (uint64_t done = 1; close; close &= close - 1, done++) {
        uint64_t below = (close & (0 - close)) - 1;
        if (s->depth + (uint64_t)__builtin_popcountll(open & below) == done)
            return p + __builtin_ctzll(close) + 1;
    }
    s->depth += (uint64_t)__builtin_popcountll(open) - closes;
    return NULL;
}

/* '[' and '{', and ']' and '}', differ in this bit only, and no other characters map to them. */
#define BRACKET_BIT 0x20

static inline uint64_t match_16_bytes(__m128i v, char c, unsigned at)
{
    unsigned bits = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)));
    return (uint64_t)bits << at;
}

static const char *skip_sse2(const char *p, const char *end)
{
    skip_state s = {0};
    for (; p < end; p += 64) {
        masks m = {0};
        for (unsigned at = 0; at < 64; at += 16) {
            __m128i v = _mm_loadu_si128((const __m128i *)(p + at));
            __m128i folded = _mm_or_si128(v, _mm_set1_epi8(BRACKET_BIT));
            m.quotes |= match_16_bytes(v, '"', at);
            m.slashes |= match_16_bytes(v, '\\', at);
            m.open |= match_16_bytes(folded, '{', at);
            m.close |= match_16_bytes(folded, '}', at);
        }
        const char *hit = skip_take_block(&s, m, p);
        if (hit)
            return hit <= end ? hit : NULL;
    }
    return NULL;
}

__attribute__((target("avx2"))) static inline uint64_t match_64_bytes(__m256i a, __m256i b, char c)
{
    __m256i x = _mm256_set1_epi8(c);
    uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, x));
    uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, x));
    return (uint64_t)high << 32 | low;
}

__attribute__((target("avx2,popcnt,bmi"))) static const char *skip_avx2(const char *p,
                                                                        const char *end)
{
    const __m256i bit = _mm256_set1_epi8(BRACKET_BIT);
    skip_state s = {0};
    for (; p < end; p += 64) {
        __m256i a = _mm256_loadu_si256((const __m256i *)p);
        __m256i b = _mm256_loadu_si256((const __m256i *)(p + 32));
        __m256i fa = _mm256_or_si256(a, bit), fb = _mm256_or_si256(b, bit);
        masks m = {match_64_bytes(a, b, '"'), match_64_bytes(a, b, '\\'),
                   match_64_bytes(fa, fb, '{'), match_64_bytes(fa, fb, '}')};
        const char *hit = skip_take_block(&s, m, p);
        if (hit)
            return hit <= end ? hit : NULL;
    }
    return NULL;
}

/* True if the processor has AVX2, POPCNT and BMI1, and the kernel preserves the wide registers.
 * Tested here because __builtin_cpu_supports links a table of all processors: 5 KB. */
__attribute__((target("xsave"))) static bool has_avx2(void)
{
    unsigned a, b, c, d, a7, b7, c7, d7;
    const unsigned first = bit_OSXSAVE | bit_AVX | bit_POPCNT, seventh = bit_AVX2 | bit_BMI;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & first) == first && (_xgetbv(0) & 6) == 6 &&
           __get_cpuid_count(7, 0, &a7, &b7, &c7, &d7) && (b7 & seventh) == seventh;
}
#endif

js_skip_fn *js_skip_backend(js_backend b)
{
#ifdef __x86_64__
    if (b == JS_SSE2)
        return skip_sse2;
    if (b == JS_AVX2)
        return has_avx2() ? skip_avx2 : NULL;
#endif
    return b == JS_PORTABLE ? skip_portable : NULL;
}

static js_skip_fn *choose_skip_backend(void)
{
    js_skip_fn *f = js_skip_backend(JS_AVX2);
    if (!f)
        f = js_skip_backend(JS_SSE2);
    return f ? f : js_skip_backend(JS_PORTABLE);
}

/* Called for each member of each event, so the processor is queried once: in a virtual machine each
 * CPUID traps to the hypervisor, which takes as long as scanning thousands of bytes. */
js_skip_fn *js_skip_best(void)
{
    static js_skip_fn *_Atomic best;
    js_skip_fn *f = atomic_load_explicit(&best, memory_order_relaxed);
    if (!f) {
        f = choose_skip_backend();
        atomic_store_explicit(&best, f, memory_order_relaxed);
    }
    return f;
}
