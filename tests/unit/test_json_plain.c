/* What is copied as it is: wherever ex_json_plain takes an event, ex_json_value says the same of
 * it, byte for byte and field by field, whatever one byte of it is turned into and wherever the
 * text ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/mem.h"
#include "trace/export/json/json_value.h"
#include "trace/read/bytes/byte_stream.h"

static const char *const plain[] = {
    "{\"ph\":\"X\",\"pid\":1,\"tid\":-2,\"ts\":1712345678901234.125,\"dur\":0,\"name\":\"a b\"}",
    "{\n  \"ph\": \"X\", \"args\": {\n    \"n\": 1.5e+3, \"t\": [true, null, {}, []]\n  }\n}",
    "{\"name\":\"\\\"\\\\n \\n\\t\",\"cat\":\"caf\xc3\xa9\",\"ts\":\"12\",\"tts\":3,\"id\":false}",
    "{ \"args\" : [ [ { \"a\" : \"\" } , 0 ] ] , \"bind_id\" : \"0x1\" , \"dur\" : -0.5 }",
};

/* Others are mended, dropped or refused. */
static const char *const others[] = {
    "{}",
    "{\"a\":1,}",
    "{\"a\":[1,]}",
    "{\"a\":01}",
    "{\"a\":NaN}",
    "{\"a\":nullx}",
    "{\"a\":\"\\u0041\"}",
    "{\"a\":\"\\/\"}",
    "{\"a\":\"\\\\\"}",
    "{\"a\":\"\xff\"}",
    "{\"a\":\"\x01\"}",
    "{\"dur\":null}",
    "{\"tts\":true}",
    "{\"pid\":{}}",
    "{\"a\":1\v}",
    "{\"a\":[1}",
    "{\"a\":{\"b\":1]}",
    "{\"a\" 1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1,,\"b\":2}",
};

static bool agree(const char *text, size_t n)
{
    char padded[1024] = {0};
    const char *p = padded, *q = padded;
    ex_fields plain_at, value_at;
    ex_clean_counts counts = {0}, none = {0};
    VP_CLEANUP(vp_buf_free) vp_buf out;
    assert_true(n + RD_PAD < sizeof padded);
    memcpy(padded, text, n);
    memset(padded + n, '}', RD_PAD); /* is not to be believed */
    vp_buf_init(&out, 1 << 20);
    if (!ex_json_plain(&p, padded + n, &plain_at))
        return false;
    assert_int_equal(ex_json_value(&out, &q, padded + n, &value_at, &counts), EX_KEPT);
    assert_ptr_equal(p, q);
    assert_int_equal(out.n, p - padded);
    assert_memory_equal(out.p, padded, out.n);
    assert_memory_equal(plain_at.v, value_at.v, sizeof plain_at.v);
    assert_int_equal(plain_at.bad_dur, value_at.bad_dur);
    assert_memory_equal(&counts, &none, sizeof none);
    return true;
}

static void plain_events_are_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_true(agree(plain[i], strlen(plain[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(agree(others[i], strlen(others[i])));
}

static void no_event_is_taken_before_it_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        for (size_t n = 1; n < strlen(plain[i]); n++)
            assert_false(agree(plain[i], n));
}

static void any_other_byte_is_judged_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        char text[512];
        size_t n = strlen(plain[i]);
        memcpy(text, plain[i], n);
        for (size_t at = 1; at < n; at++) {
            for (int b = 0; b < 256; b++) {
                text[at] = (char)b;
                agree(text, n);
            }
            text[at] = plain[i][at];
        }
    }
}

static void what_is_deep_is_left_to_others(void **state)
{
    char text[512] = "{\"a\":";
    (void)state;
    for (unsigned depth = 1; depth < 100; depth++) {
        memset(text + 5, '[', depth);
        memset(text + 5 + depth, ']', depth);
        text[5 + 2 * depth] = '}';
        assert_int_equal(agree(text, 6 + 2 * depth), depth < 63);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_events_are_taken),
        cmocka_unit_test(no_event_is_taken_before_it_ends),
        cmocka_unit_test(any_other_byte_is_judged_alike),
        cmocka_unit_test(what_is_deep_is_left_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
