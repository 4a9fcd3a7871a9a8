/* What the recorder's functions do beside starting and stopping: steps in two parts, calls with a
 * name, the raw recording beside its files, and a pool without room. */
#include "tests/unit/capture_tools.h"

static int doubled(int x)
{
    return 2 * x;
}

static int touched;

static void touch(void)
{
    touched++;
}

static void calls_have_the_name_that_they_are_given(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    touched = 0;
    assert_int_equal(VP_CALL_N("twice", doubled(4)) + 1, 9);
    VP_CALL_VOID_N("touched", touch());
    VP_CALL_VOID_N("in a loop", for (int i = 0; i < 3; i++) touch());
    assert_int_equal(VP_CALL(doubled(5)), 10);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(touched, 4);
    assert_int_equal(seen.event_count, 4);
    assert_int_equal(seen_count("twice"), 1);
    assert_int_equal(seen_count("touched"), 1);
    assert_int_equal(seen_count("in a loop"), 1);
    assert_int_equal(seen_count("doubled(5)"), 1);
    assert_int_equal(seen_find("twice")->e.kind, VPCAP_ZONE);
}

static struct {
    int begun, ended;
    uint64_t number;
} told;

static void hear(bool begin, uint64_t number)
{
    told.begun += begin;
    told.ended += !begin;
    told.number = number;
}

static void a_step_in_two_parts(void **state)
{
    (void)state;
    char name[32] = "tr";
    vp_recording *r = here_start();
    told.begun = told.ended = 0;
    cap_on_step(CAP_STEPS_CONTROL, hear);
    strcat(name, "ain");
    assert_int_equal(vp_step_end(), VP_EARG);
    assert_int_equal(vp_step_begin(NULL, 1), VP_EARG);
    assert_int_equal(vp_step_begin("", 1), VP_EARG);
    assert_int_equal(vp_step_begin(name, UINT64_C(1) << 40), 0);
    assert_int_equal(vp_step_begin("again", 8), VP_EBUSY);
    {
        VP_SCOPE("inside");
    }
    assert_int_equal(vp_step_end(), 0);
    assert_int_equal(vp_step_end(), VP_EARG);
    cap_on_step(CAP_STEPS_CONTROL, NULL);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 2);
    const seen_event *step = seen_find("train"), *inside = seen_find("inside");
    assert_int_equal(step->e.kind, VPCAP_STEP);
    assert_int_equal(step->e.number, INT64_C(1) << 40);
    assert_true(step->e.start_ps <= inside->e.start_ps);
    assert_true(step->e.start_ps + step->e.dur_ps >= inside->e.start_ps + inside->e.dur_ps);
    assert_int_equal(told.begun, 1);
    assert_int_equal(told.ended, 1);
    assert_int_equal(told.number, UINT64_C(1) << 40);
}

/* It is open when its recording ends, and is in there with its number. */
static void a_step_that_has_not_ended(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    cfg.duration_ms = 500;
    assert_int_equal(vp_start(&r, &cfg), 0);
    assert_int_equal(vp_step_begin("open", 77), 0);
    assert_int_equal(vp_wait(r, NULL), 0);
    assert_int_equal(vp_step_end(), 0);
    assert_true(seen.info.truncated);
    assert_int_equal(seen_count("open"), 1);
    assert_true(seen_find("open")->e.open);
    assert_int_equal(seen_find("open")->e.kind, VPCAP_STEP);
    assert_int_equal(seen_find("open")->e.number, 77);
}

/* A step counts for the recording in which it began, like every zone. */
static void a_step_of_another_recording(void **state)
{
    (void)state;
    assert_int_equal(vp_step_begin("before", 1), 0);
    vp_recording *r = here_start();
    assert_int_equal(vp_step_end(), 0);
    assert_int_equal(vp_step_begin("during", 2), 0);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 0);
    r = here_start();
    assert_int_equal(vp_step_end(), 0);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen.event_count, 0);
}

static void a_directory_and_the_defaults(void **state)
{
    (void)state;
    vp_recording *r = NULL, *second = NULL;
    assert_int_equal(vp_trace(&r, NULL), VP_EARG);
    assert_int_equal(vp_trace(&r, ""), VP_EARG);
    assert_int_equal(vp_trace(NULL, here.root), VP_EARG);
    assert_int_equal(vp_trace(&r, here.root), 0);
    assert_int_equal(vp_trace(&second, here.root), VP_EBUSY);
    assert_null(second);
    assert_memory_equal(vp_recording_dir(r), here.root, strlen(here.root));
    {
        VP_SCOPE("zone");
    }
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(vp_wait(r, NULL), 0);
    assert_int_equal(seen_count("zone"), 1);
}

typedef int report_fn(vp_track_id t, uint64_t now);

static int report_span(vp_track_id t, uint64_t now)
{
    return vp_record_span(t, vp_name("op"), now, now + 1, 0, NULL, 0);
}

static int report_transfer(vp_track_id t, uint64_t now)
{
    return vp_record_transfer(t, VP_COPY_H2D, 1, now, now, 0, 0, 0);
}

static int report_collective(vp_track_id t, uint64_t now)
{
    return vp_record_collective(t, VP_SEND, 1, 0, 0, 2, now, now, 1);
}

/* The span that finds no room is told so, and counted, and the recording is over with it. */
static void no_room_for_spans(void **state)
{
    static report_fn *const kinds[] = {report_span, report_transfer, report_collective};
    (void)state;
    vp_track_id t = vp_track_add(vp_device_add(VP_CAPTURE_GPU, 0, "H200"), "full");
    for (int kind = 0; kind < 3; kind++) {
        vp_recording *r = here_start();
        vp_result result = VP_RESULT_INIT;
        uint64_t kept = 0, refused = 0, now = vp_now();
        assert_int_equal(vp_record_span(t + 1, 1, now, now, 0, NULL, 0), VP_EARG); /* no track */
        while (kept < 100000 && !refused) {
            int rc = kinds[kind](t, now);
            assert_true(rc == 0 || rc == VP_EFULL);
            kept += rc == 0;
            refused += rc != 0;
        }
        for (int i = 0; i < 100; i++)
            assert_int_equal(kinds[kind](t, now), 0); /* nothing is on */
        assert_int_equal(vp_stop(r, &result), 0);
        assert_true(kept > 1000);
        assert_int_equal(refused, 1);
        assert_int_equal(result.zones, kept);
        assert_int_equal(result.dropped_full, refused);
    }
}

/* ---- The raw recording ---- */

static uint32_t events_in(const char *path)
{
    uint32_t n = 0;
    vpcap *v;
    vpcap_event e;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    char *image = malloc((size_t)st.st_size);
    assert_int_equal(read(fd, image, (size_t)st.st_size), st.st_size);
    close(fd);
    assert_int_equal(vpcap_open(&v, image, (size_t)st.st_size), 0);
    assert_true(vpcap_info_of(v)->finished);
    for (uint32_t i = 0; i < vpcap_threads(v); i++) {
        vpcap_cursor *c;
        assert_int_equal(vpcap_cursor_new(&c, v, i), 0);
        while (vpcap_next(c, &e))
            n++;
        vpcap_cursor_free(c);
    }
    vpcap_free(v);
    free(image);
    return n;
}

static int64_t size_of(const char *dir, const char *name)
{
    char path[8192];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return stat(path, &st) < 0 ? -1 : (int64_t)st.st_size;
}

static void check_raw(const vp_result *result, uint32_t events)
{
    char path[8192];
    int64_t raw = size_of(result->run_dir, "host.vpcap");
    int64_t others =
        size_of(result->run_dir, "host.xplane.pb") + size_of(result->run_dir, "host.trace.json.gz");
    assert_true(raw > 0 && others > 0);
    assert_int_equal(result->bytes_written, raw + others);
    snprintf(path, sizeof path, "%s/host.vpcap", result->run_dir);
    assert_int_equal(events_in(path), events);
}

static void the_raw_recording_stays(void **state)
{
    bool in_memory = *state != NULL;
    here_make(NULL);
    cap_writer = cap_write;
    vp_recording *r;
    vp_config cfg = here_config();
    vp_result past = VP_RESULT_INIT, result = VP_RESULT_INIT;
    cfg.outputs = VP_OUT_RAW; /* beside the usual ones */
    cfg.in_memory = in_memory;
    cfg.pool_bytes = 8 << 20;
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int i = 0; i < 5; i++) {
        VP_SCOPE("zone");
    }
    assert_int_equal(vp_capture_past(r, 0, &past), 0);
    for (int i = 0; i < 2; i++) {
        VP_SCOPE("zone");
    }
    assert_int_equal(vp_stop(r, &result), 0);
    check_raw(&past, 5);
    check_raw(&result, 7);
    assert_true(size_of(result.run_dir, "host.vpcap") < 8 << 20); /* without what was not used */
    here_remove(NULL);
}

static void only_where_it_is_asked_for(void **state)
{
    (void)state;
    cap_writer = cap_write;
    vp_result result = VP_RESULT_INIT;
    vp_recording *r = here_start();
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(size_of(result.run_dir, "host.vpcap"), -1);
    assert_true(size_of(result.run_dir, "host.xplane.pb") > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        here_test(calls_have_the_name_that_they_are_given),
        here_test(a_step_in_two_parts),
        here_test(a_step_that_has_not_ended),
        here_test(a_step_of_another_recording),
        here_test(a_directory_and_the_defaults),
        here_test(no_room_for_spans),
        cmocka_unit_test_prestate(the_raw_recording_stays, NULL),
        cmocka_unit_test_prestate(the_raw_recording_stays, "in memory"),
        here_test(only_where_it_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
