/* ITT's table of functions, as a program's own part of ittnotify hands it over, and what comes to
 * be recorded by the functions in it. tests/cli/test_record_itt.py has the real one. */
#include <pthread.h>

#include "tests/unit/capture_tools.h"
#include "trace/capture/adapters/itt.h"

typedef void fn(void);
typedef struct entry {
    const char *name;
    fn **function;
    fn *at_first, *without;
    int group;
} entry;
typedef struct ids {
    uint64_t words[3];
} ids;
typedef struct domain {
    int enabled;
    const char *name;
    void *wide, *extra[3];
} domain;
typedef struct string {
    const char *text;
} string;

static void first(void) {}
static void without(void) {}

static fn *task_begin, *task_end, *zone_begin, *zone_end, *frame_begin, *frame_end, *mark, *other,
    *make_domain, *make_string;
static const entry functions[] = {{"__itt_task_begin", &task_begin, first, NULL, 1},
                                  {"__itt_task_end", &task_end, first, NULL, 1},
                                  {"__itt_task_begin_overlapped", &zone_begin, first, NULL, 1},
                                  {"__itt_task_end_overlapped", &zone_end, first, NULL, 1},
                                  {"__itt_frame_begin_v3", &frame_begin, first, NULL, 1},
                                  {"__itt_frame_end_v3", &frame_end, first, NULL, 1},
                                  {"__itt_marker", &mark, first, NULL, 1},
                                  {"__itt_domain_create", &make_domain, first, without, 1},
                                  {"__itt_string_handle_create", &make_string, first, NULL, 1},
                                  {"__itt_counter_create", &other, first, without, 1},
                                  {NULL, NULL, NULL, NULL, 0}};

typedef struct global {
    unsigned char magic[8];
    unsigned long version[3];
    long initialized, mutex_initialized, counter;
    pthread_mutex_t mutex;
    void *library, *on_error, *path;
    const entry *functions;
} global;

static global of_version(unsigned long major)
{
    return (global){{0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30},
                    {major, 22, 3},
                    .mutex = PTHREAD_MUTEX_INITIALIZER,
                    .functions = functions};
}

static void unknown_tables_are_left_alone(void **state)
{
    (void)state;
    global newer = of_version(4), broken = of_version(3);
    broken.magic[7] = 0;
    task_begin = first;
    itt_attach(&newer);
    itt_attach(&broken);
    itt_attach(NULL);
    assert_ptr_equal(task_begin, first);
}

#define BEGIN(f, d, id, name)                                                                      \
    ((void (*)(domain *, ids, ids, const string *))(f))((d), (id), (ids){{0}}, (name))
#define END(f, d, id) ((void (*)(domain *, ids))(f))((d), (id))

static void what_a_program_says_is_recorded(void **state)
{
    (void)state;
    global g = of_version(3);
    domain physics = {1, "physics", NULL, {NULL}}, off = {0, "off", NULL, {NULL}};
    string outer = {"outer"}, inner = {"inner"}, across = {"across"}, moment = {"moment"};
    ids none = {{0}}, one = {{1, 0, 0}}, two = {{2, 0, 0}};
    itt_attach(&g);
    assert_ptr_equal(other, without);
    vp_recording *r = here_start();
    BEGIN(task_begin, &physics, none, &outer);
    BEGIN(task_begin, &off, none, &inner);
    BEGIN(task_begin, &physics, none, &inner);
    BEGIN(zone_begin, &physics, one, &across);
    BEGIN(zone_begin, &physics, two, &across);
    ((void (*)(domain *, ids *))frame_begin)(&physics, NULL);
    ((void (*)(domain *))task_end)(&physics);
    END(zone_end, &physics, one); /* the other one goes on */
    ((void (*)(domain *))task_end)(&physics);
    ((void (*)(domain *))task_end)(&physics); /* one too many */
    ((void (*)(domain *, ids, const string *, int))mark)(&physics, none, &moment, 1);
    END(zone_end, &physics, two);
    END(zone_end, &physics, two); /* it is over */
    ((void (*)(domain *, ids *))frame_end)(&physics, NULL);
    assert_int_equal(vp_stop(r, NULL), 0);
    static const char *const order[] = {"inner",  "across", "outer",
                                        "moment", "across", "physics frame"};
    assert_int_equal(seen.event_count, sizeof order / sizeof *order);
    for (uint32_t i = 0; i < seen.event_count; i++) {
        assert_string_equal(seen.events[i].name, order[i]);
        assert_string_equal(seen.events[i].category, "physics");
    }
    assert_int_equal(seen_find("moment")->e.kind, VPCAP_INSTANT);
    const vpcap_event *in = &seen_find("inner")->e, *out = &seen_find("outer")->e;
    assert_true(out->start_ps <= in->start_ps);
    assert_true(in->start_ps + in->dur_ps <= out->start_ps + out->dur_ps);
}

static void the_same_name_is_the_same(void **state)
{
    (void)state;
    global g = of_version(3);
    itt_attach(&g);
    domain *(*make)(const char *) = (domain * (*)(const char *)) make_domain;
    string *(*name)(const char *) = (string * (*)(const char *)) make_string;
    domain *a = make("a"), *b = make("b");
    assert_true(a && b && a != b && a->enabled);
    assert_string_equal(a->name, "a");
    assert_ptr_equal(make("a"), a);
    assert_null(make(NULL));
    string *first_one = name("name 0");
    for (int i = 0; i < 5000; i++) {
        char text[32];
        snprintf(text, sizeof text, "name %d", i);
        assert_string_equal(name(text)->text, text);
    }
    assert_ptr_equal(name("name 0"), first_one);
    assert_string_equal(first_one->text, "name 0");
    assert_null(name(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {here_test(unknown_tables_are_left_alone),
                                       here_test(what_a_program_says_is_recorded),
                                       here_test(the_same_name_is_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
