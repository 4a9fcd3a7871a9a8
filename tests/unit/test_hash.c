/* Who chooses names and numbers may not choose where they stand in our tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/skip.h"
#include "trace/base/arena.h"
#include "trace/base/map.h"
#include "trace/base/str.h"

#define N 20000

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The odd number that takes a multiplication by an odd one back (Newton). */
static uint64_t inverse(uint64_t a)
{
    uint64_t x = a;
    for (int i = 0; i < 6; i++)
        x *= 2 - a * x;
    return x;
}

static uint64_t back(uint64_t x, unsigned shift) /* takes x ^= x >> shift back */
{
    uint64_t y = x;
    for (unsigned done = shift; done < 64; done += shift)
        y = x ^ y >> shift;
    return y;
}

/* The 8 bytes whose hash was h while vp_hash was a fixed function: it is vp_fingerprint now. */
static uint64_t name_with_fixed_hash(uint64_t h)
{
    h = back(h, 29) * inverse(UINT64_C(0xc4ceb9fe1a85ec53));
    h = back(h, 32) * inverse(UINT64_C(0xff51afd7ed558ccd));
    return h ^ 8 * UINT64_C(0x9e3779b97f4a7c15);
}

/* And the number that the map's fixed mixing sent to x. */
static uint64_t number_with_fixed_mix(uint64_t x)
{
    uint64_t m = inverse(UINT64_C(0xd6e8feb86659fd93));
    return back(back(back(x, 32) * m, 32) * m, 32);
}

static double intern_all(const uint64_t *names)
{
    vp_arena a;
    vp_intern in;
    vp_sid id;
    vp_arena_init(&a);
    assert_int_equal(vp_intern_init(&in, &a), 0);
    double begin = cpu_s();
    for (size_t i = 0; i < N; i++)
        assert_int_equal(vp_intern_put(&in, (vp_str){(const char *)&names[i], 8}, &id), 0);
    begin = cpu_s() - begin;
    assert_int_equal(in.count, N + 1);
    vp_intern_free(&in);
    vp_arena_free(&a);
    return begin;
}

static double map_all(const uint64_t *keys)
{
    vp_map m;
    vp_map_init(&m);
    double begin = cpu_s();
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(vp_map_get(&m, keys[i]), VP_MAP_NONE);
        assert_int_equal(vp_map_set(&m, keys[i], i), 0);
    }
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(vp_map_get(&m, keys[i]), i);
    begin = cpu_s() - begin;
    assert_int_equal(m.count, N);
    vp_map_free(&m);
    return begin;
}

static void chosen_keys_cost_what_others_cost(void **state)
{
    static uint64_t names[N], plain[N], numbers[N];
    (void)state;
    for (uint64_t i = 0; i < N; i++) { /* those bits say the slot in a table of 32-bit hashes */
        names[i] = name_with_fixed_hash(i << 48 | UINT64_C(0x123456780000));
        numbers[i] = number_with_fixed_mix(i << 32 | 7);
        plain[i] = i * UINT64_C(0x9e3779b97f4a7c15);
    }
    assert_true(intern_all(names) < 20 * intern_all(plain) + 0.01);
    assert_true(map_all(numbers) < 20 * map_all(plain) + 0.01);
}

static void attack_is_what_it_says(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t h = i << 48 | UINT64_C(0x123456780000), name = name_with_fixed_hash(h);
        assert_true(vp_fingerprint(&name, 8, 0) == h);
    }
}

static void read_values(uint64_t out[3])
{
    FILE *f = popen("VP_TEST_HASH=1 /proc/$PPID/exe", "r");
    assert_non_null(f);
    assert_int_equal(fread(out, sizeof *out, 3, f), 3);
    pclose(f);
}

/* Fingerprints are names and stay; hashes are drawn anew by each process. */
static void hashes_are_drawn_once_a_process(void **state)
{
    uint64_t a[3], b[3];
    (void)state;
    if (is_emulated())
        skip_because("/proc/PID/exe is the emulator");
    read_values(a);
    read_values(b);
    assert_true(a[0] != b[0] && a[1] != b[1]);
    assert_true(a[2] == b[2]);
}

static void every_byte_and_the_length_count(void **state)
{
    char text[80] = {0};
    (void)state;
    for (size_t n = 0; n < sizeof text; n++) {
        assert_true(vp_hash(text, n, 0) != vp_hash(text, n + 1, 0));
        assert_true(vp_hash(text, n, 1) != vp_hash(text, n, 2));
        for (size_t i = 0; i < n; i++) {
            uint64_t before = vp_hash(text, n, 0);
            text[i] = 1;
            assert_true(vp_hash(text, n, 0) != before);
            text[i] = 0;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attack_is_what_it_says),
        cmocka_unit_test(chosen_keys_cost_what_others_cost),
        cmocka_unit_test(hashes_are_drawn_once_a_process),
        cmocka_unit_test(every_byte_and_the_length_count),
    };
    if (getenv("VP_TEST_HASH")) {
        uint64_t values[] = {vp_hash("name", 4, 0), vp_mix(1), vp_fingerprint("name", 4, 0)};
        return fwrite(values, sizeof values, 1, stdout) == 1 ? 0 : 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
