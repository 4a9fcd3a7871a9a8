/* trace/read/replica_groups and hlo_groups: which devices take part in a collective, by hand, and
 * of texts and protos that nobody should write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/pb.h"
#include "trace/read/semantics/hlo_groups.h"
#include "trace/read/semantics/replica_groups.h"

#define FLAT ", channel_id=1, use_global_device_ids=true"

static int64_t ids[VP_GROUP_DEVICES_MAX], devices[VP_GROUP_DEVICES_MAX];

/* The members of a device's group as text; "" where they are not told. */
static const char *members(const char *opcode, const char *text, const char *program,
                           int64_t device)
{
    static char out[VP_MEMBERS_TEXT_MAX + 1];
    rg_groups g;
    rg_program p;
    vp_buf b;
    out[0] = 0;
    if (!rg_parse(&g, vp_str_of(opcode), vp_str_of(text)) ||
        !rg_program_parse(&p, devices, vp_str_of(program)))
        return out;
    vp_buf_init(&b, VP_MEMBERS_TEXT_MAX);
    if (rg_put_members(&b, ids, rg_members(ids, &g, &p, device)) >= 0)
        snprintf(out, sizeof out, "%.*s", (int)b.n, b.n ? b.p : "");
    vp_buf_free(&b);
    return out;
}

static const char *reduce(const char *groups, const char *program, int64_t device)
{
    char text[300];
    snprintf(text, sizeof text, "%%a = f32[8] all-reduce(f32[8] %%x), replica_groups=%s" FLAT,
             groups);
    return members("all-reduce", text, program, device);
}

#define EIGHT "1x8:0,1,2,3,4,5,6,7"

static void lists_name_their_members(void **state)
{
    (void)state;
    assert_string_equal(reduce("{{0,1},{2,3}}", "1x4:0,1,2,3", 0), "0,1");
    assert_string_equal(reduce("{{0,1},{2,3}}", "1x4:0,1,2,3", 3), "2,3");
    assert_string_equal(reduce("{{0,2},{3,1}}", "1x4:0,1,2,3", 1), "1,3");
    assert_string_equal(reduce("{{0,1,2,3,4,5,6,7}}", EIGHT, 5), "0-7");
    assert_string_equal(reduce("{{7},{0,4}}", EIGHT, 7), "7");
    assert_string_equal(reduce("{{7},{0,4}}", EIGHT, 1), ""); /* in no group */
}

/* The numbers 0 to 7 in a box, its sides read in another order, cut into groups. */
static void boxes_are_turned(void **state)
{
    (void)state;
    assert_string_equal(reduce("[2,4]<=[8]", EIGHT, 5), "4-7");
    assert_string_equal(reduce("[1,8]<=[8]", EIGHT, 5), "0-7");
    assert_string_equal(reduce("[4,2]<=[2,4]T(1,0)", EIGHT, 0), "0,4");
    assert_string_equal(reduce("[4,2]<=[2,4]T(1,0)", EIGHT, 6), "2,6");
    assert_string_equal(reduce("[2,4]<=[4,2]T(1,0)", EIGHT, 3), "1-7:2");
    assert_string_equal(reduce("[4,2]<=[2,2,2]T(0,2,1)", EIGHT, 1), "1,3");
    assert_string_equal(reduce("[4,2]<=[2,2,2]T(0,2,1)", EIGHT, 4), "4,6");
    assert_string_equal(reduce("[2,4]<=[2,2,2]T(1,2,0)", EIGHT, 0), "0,1,4,5");
    assert_string_equal(reduce("[2,4]<=[2,2,2]T(1,2,0)", EIGHT, 7), "2,3,6,7");
}

/* Partitions 0 and 1 run on devices 0 and 3: a mesh orders devices as it likes. */
static void programs_say_who_an_id_is(void **state)
{
    (void)state;
    assert_string_equal(reduce("{{0,1},{2,3}}", "1x4:0,3,1,2", 3), "0,3");
    assert_string_equal(reduce("{{0,1},{2,3}}", "1x4:0,3,1,2", 1), "1,2");
    assert_string_equal(reduce("[4,2]<=[2,4]T(1,0)", "1x8:0,3,1,2,7,5,6,4", 4), "2,4");
    assert_string_equal(reduce("{{0,1}}", "1x2:4096,8192", 8192), "4096,8192");
    assert_string_equal(reduce("{{0,1}}", "1x2:4096,8192", 0), ""); /* not of the program */
}

/* Two replicas of two partitions: devices 10 and 11, 20 and 21. */
static void a_channel_says_whose_ids(void **state)
{
    const char *p = "2x2:10,11,20,21", *pairs = "x(), replica_groups={{0,1}}";
    (void)state;
    assert_string_equal(members("all-reduce", pairs, p, 10), "10,20");
    assert_string_equal(members("all-reduce", pairs, p, 21), "11,21");
    assert_string_equal(members("all-to-all", "x(), channel_id=3, replica_groups={{0,1}}", p, 21),
                        "20,21");
    assert_string_equal(members("all-reduce", "replica_groups={{0,3},{1,2}}" FLAT, p, 11), "11,20");
    assert_string_equal(members("all-reduce", "x(), channel_id=3, replica_groups={{0,1}}", p, 10),
                        "");
}

static void what_is_no_group_is_unknown(void **state)
{
    static const char *const bad[] = {"",
                                      "{}",
                                      "{{",
                                      "{{}}",
                                      "{{0",
                                      "{{0,1}",
                                      "{{0,1},}",
                                      "{{0,1},{}}",
                                      "{{0 ,1}}",
                                      "{{0,-1}}",
                                      "{{0,,1}}",
                                      "{{a}}",
                                      "{{0,0}}",
                                      "{{0,9}}",
                                      "{{0,99999999999999999999}}",
                                      "[",
                                      "[4",
                                      "[4,2",
                                      "[4,2]",
                                      "[4,2]<=",
                                      "[4,2]<=[",
                                      "[4,2]<=[8",
                                      "[4,2]<=[9]",
                                      "[4,2]<=[2,2]",
                                      "[0,8]<=[8]",
                                      "[8,0]<=[0]",
                                      "[4,2]<=[2,0]",
                                      "[4,2]<=[2,4]T(",
                                      "[4,2]<=[2,4]T(1)",
                                      "[4,2]<=[2,4]T(1,1)",
                                      "[4,2]<=[2,4]T(0,2)",
                                      "[4,2]<=[2,4]T(1,0",
                                      "[8]<=[8]",
                                      "[2,2,2]<=[8]",
                                      "[4294967296,4294967296]<=[8]",
                                      "[16384,16384]<=[16384,16384]",
                                      "[1,1]<=[1,1,1,1,1,1,1,1,1]",
                                      "@mesh"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (*reduce(bad[i], EIGHT, 0))
            fail_msg("%s: %s", bad[i], reduce(bad[i], EIGHT, 0));
    assert_string_equal(members("add", "add(x, y)", EIGHT, 0), "");
}

static void what_is_no_program_is_unknown(void **state)
{
    static const char *const bad[] = {
        "",      "x",       "1x",       "1x2",           "1x2:",
        "1x2:0", "1x2:0,",  "1x2:0,1,", "1x2:0,1,2",     "0x2:",
        "2x0:",  "1x2:0,b", "1x2:-1,0", "16384x16384:0", "4294967296x4294967296:0"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_string_equal(reduce("{{0,1}}", bad[i], 0), "");
}

/* As many ids as are read at all, and one more. */
static void ceilings_hold(void **state)
{
    rg_groups g;
    vp_buf b;
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        vp_buf_init(&b, 1 << 20);
        vp_buf_puts(&b, "replica_groups={{0");
        for (unsigned i = 1; i < VP_GROUP_DEVICES_MAX + more; i++)
            vp_buf_printf(&b, i % 2 ? ",%u" : "},{%u", i);
        vp_buf_puts(&b, "}}");
        assert_int_equal(rg_parse(&g, VP_STR("all-reduce"), vp_buf_view(&b)), !more);
        vp_buf_free(&b);
    }
    assert_true(rg_parse(&g, VP_STR(""), VP_STR("replica_groups=[16384,1]<=[16384]")));
    assert_int_equal(g.count, 16384);
    assert_false(rg_parse(&g, VP_STR(""), VP_STR("replica_groups=[16385,1]<=[16385]")));
}

static void members_are_short_where_they_are_regular(void **state)
{
    static const struct {
        int64_t ids[8];
        uint32_t n;
        const char *text;
    } cases[] = {
        {{4}, 1, "4"},
        {{0, 4}, 2, "0,4"},
        {{0, 4, 8}, 3, "0-8:4"},
        {{0, 1, 2, 8, 9, 10}, 6, "0-2,8-10"},
        {{0, 1, 8, 9}, 4, "0,1,8,9"},
        {{0, 2, 3, 4}, 4, "0,2-4"},
        {{INT64_MAX - 2, INT64_MAX - 1, INT64_MAX}, 3, "9223372036854775805-9223372036854775807"},
        {{0}, 0, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vp_buf b;
        vp_buf_init(&b, 200);
        assert_int_equal(rg_put_members(&b, cases[i].ids, cases[i].n), 0);
        assert_int_equal(b.n, strlen(cases[i].text));
        assert_true(!b.n || !memcmp(b.p, cases[i].text, b.n));
        vp_buf_free(&b);
    }
}

/* ---- Protos ---- */

static vp_buf fresh(void)
{
    vp_buf b;
    vp_buf_init(&b, 1 << 20);
    return b;
}

static void nest(vp_buf *to, uint32_t field, vp_buf *body)
{
    vp_pb_put_len(to, field, vp_buf_view(body));
    vp_buf_free(body);
}

/* Numbers, packed or each by itself. */
static void put(vp_buf *to, uint32_t field, const uint64_t *v, size_t n, bool packed)
{
    vp_buf body = fresh();
    for (size_t i = 0; i < n; i++) {
        if (packed)
            vp_pb_put_varint(&body, v[i]);
        else
            vp_pb_put_u64(to, field, v[i]);
    }
    if (packed)
        vp_pb_put_len(to, field, vp_buf_view(&body));
    vp_buf_free(&body);
}

static void says(int (*fn)(vp_buf *, vp_str), const vp_buf *proto, const char *want)
{
    vp_buf out;
    vp_buf_init(&out, VP_GROUP_TEXT_MAX);
    assert_int_equal(fn(&out, vp_buf_view(proto)), 0);
    assert_int_equal(out.n, strlen(want));
    assert_true(!out.n || !memcmp(out.p, want, out.n));
    vp_buf_free(&out);
}

static void protos_say_the_same(void **state)
{
    const uint64_t a[] = {0, 1}, b[] = {2, 300}, sides[] = {2, 4}, order[] = {1, 0};
    (void)state;
    for (int packed = 0; packed < 2; packed++) {
        vp_buf in = fresh(), box = fresh(), list = fresh(), group = fresh();
        put(&group, 1, a, 2, packed);
        nest(&in, 49, &group);
        group = fresh();
        put(&group, 1, b, 2, packed);
        nest(&in, 49, &group);
        says(hlo_put_groups, &in, "replica_groups={{0,1},{2,300}}");
        vp_pb_put_u64(&in, 26, 7);
        vp_pb_put_u64(&in, 71, 1);
        says(hlo_put_groups, &in, "replica_groups={{0,1},{2,300}}" FLAT);
        vp_pb_put_u64(&box, 1, 4);
        vp_pb_put_u64(&box, 2, 2);
        put(&box, 3, sides, 2, packed);
        put(&box, 4, order, 2, packed);
        nest(&list, 2, &box);
        nest(&in, 87, &list);
        says(hlo_put_groups, &in, "replica_groups=[4,2]<=[2,4]T(1,0)" FLAT);
        vp_buf_free(&in);
    }
}

static vp_buf program(uint64_t replicas, uint64_t partitions, size_t lists, size_t each)
{
    vp_buf p = fresh();
    vp_pb_put_u64(&p, 1, replicas);
    vp_pb_put_u64(&p, 2, partitions);
    for (size_t i = 0; i < lists; i++) {
        vp_buf one = fresh();
        for (size_t k = 0; k < each; k++)
            vp_pb_put_u64(&one, 1, 10 * i + k);
        nest(&p, 3, &one);
    }
    return p;
}

static void programs_of_protos(void **state)
{
    static const struct {
        uint64_t replicas, partitions;
        size_t lists, each;
        const char *text;
    } cases[] = {{1, 3, 3, 1, "1x3:0,10,20"},
                 {2, 2, 2, 2, "2x2:0,10,1,11"},
                 {2, 2, 1, 2, ""},
                 {2, 2, 3, 2, ""},
                 {2, 2, 2, 1, ""},
                 {2, 2, 2, 3, ""},
                 {0, 2, 2, 0, ""},
                 {1, 0, 0, 0, ""},
                 {16385, 1, 1, 1, ""},
                 {UINT64_MAX, UINT64_MAX, 1, 1, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vp_buf p = program(cases[i].replicas, cases[i].partitions, cases[i].lists, cases[i].each);
        says(hlo_put_program, &p, cases[i].text);
        vp_buf_free(&p);
    }
}

/* Too many ids, or none, or bytes that are no message: no groups. */
static void damaged_protos_say_nothing(void **state)
{
    vp_buf in = fresh(), group = fresh(), junk = fresh();
    (void)state;
    for (unsigned i = 0; i < VP_GROUP_DEVICES_MAX + 1; i++)
        vp_pb_put_u64(&group, 1, i);
    nest(&in, 49, &group);
    vp_pb_put_u64(&in, 26, 1);
    says(hlo_put_groups, &in, "");
    in.n = 0;
    vp_pb_put_u64(&in, 26, 1);
    says(hlo_put_groups, &in, "");
    for (unsigned i = 0; i < 64; i++)
        vp_buf_putc(&junk, (char)0xff);
    says(hlo_put_groups, &junk, "");
    says(hlo_put_program, &junk, "");
    nest(&in, 87, &junk);
    says(hlo_put_groups, &in, "");
    vp_buf_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_name_their_members),
        cmocka_unit_test(boxes_are_turned),
        cmocka_unit_test(programs_say_who_an_id_is),
        cmocka_unit_test(a_channel_says_whose_ids),
        cmocka_unit_test(what_is_no_group_is_unknown),
        cmocka_unit_test(what_is_no_program_is_unknown),
        cmocka_unit_test(ceilings_hold),
        cmocka_unit_test(members_are_short_where_they_are_regular),
        cmocka_unit_test(protos_say_the_same),
        cmocka_unit_test(programs_of_protos),
        cmocka_unit_test(damaged_protos_say_nothing),
    };
    return cmocka_run_group_tests_name("replica_groups", tests, NULL, NULL);
}
