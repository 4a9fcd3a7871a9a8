/* SHA-256 by the examples of FIPS 180-4's validation suite and at all lengths around a block; the
 * long ones were computed by coreutils' sha256sum. Base64 by RFC 4648 10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/text/sha256.h"

static void hashes(const char *text, size_t n, const char *want)
{
    unsigned char h[VP_SHA256_BYTES];
    char hex[2 * VP_SHA256_BYTES + 1];
    vp_sha256(text, n, h);
    for (size_t i = 0; i < sizeof h; i++)
        snprintf(hex + 2 * i, 3, "%02x", h[i]);
    assert_string_equal(hex, want);
}

static void examples(void **state)
{
    (void)state;
    hashes("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hashes("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hashes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

/* 55, 56, 63, 64, 65, 119 and 1,000 times "a": where the length still fits, and where not. */
static void lengths(void **state)
{
    static const struct {
        size_t n;
        const char *want;
    } cases[] = {
        {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
        {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
        {1000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"},
    };
    static char text[1000];
    (void)state;
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        hashes(text, cases[i].n, cases[i].want);
}

static void base64(void **state)
{
    static const char *const want[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                       "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    static const unsigned char high[] = {0xfb, 0xff, 0xbf};
    (void)state;
    for (size_t n = 0; n < sizeof want / sizeof *want; n++) {
        vp_buf b;
        vp_buf_init(&b, 64);
        vp_put_base64(&b, (const unsigned char *)"foobar", n);
        assert_string_equal(vp_buf_cstr(&b), want[n]);
        vp_buf_free(&b);
    }
    vp_buf b;
    vp_buf_init(&b, 64);
    vp_put_base64(&b, high, 3);
    assert_string_equal(vp_buf_cstr(&b), "+/+/");
    vp_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(lengths),
        cmocka_unit_test(base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
