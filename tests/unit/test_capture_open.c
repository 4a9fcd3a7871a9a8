/* What is open when a recording is cut off is in it: as what it is, with its number, marked, and
 * ending with the recording; and so it is shown. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "include/view_profile.h"
#include "tests/unit/capture_tools.h"
#include "trace/vpcap/vpcap_layout.h"
#include "trace/capture/adapters/nvtx_range.h"

/* ---- Of each kind ---- */

static _Atomic int *verdict; /* of a child */

static bool is_open(const char *name, vpcap_kind kind, int64_t number)
{
    for (uint32_t i = 0; i < seen.event_count; i++) {
        const vpcap_event *e = &seen.events[i].e;
        if (strcmp(seen.events[i].name, name) == 0)
            return e->open && e->kind == kind && e->number == number &&
                   e->start_ps + e->dur_ps == seen.info.end_ps;
    }
    return false;
}

static int tell_kinds(uint64_t *bytes, int run_fd, const vpcap *v, const struct gpu_activity *gpu,
                      unsigned outputs)
{
    int rc = seen_write(bytes, run_fd, v, gpu, outputs);
    *verdict = 1 * seen.info.truncated + 2 * is_open("outer", VPCAP_STEP, 7) +
               4 * is_open("train", VPCAP_STEP, 41) + 8 * is_open("context", VPCAP_ZONE, 0) +
               16 * is_open("pushed", VPCAP_ZONE, 0) + 32 * is_open("started", VPCAP_ZONE, 0) +
               64 * is_open("pair", VPCAP_ZONE, 0) + 128 * is_open("scope", VPCAP_ZONE, 0) +
               256 * (seen_count("ended") == 6 && !seen_find("ended")->e.open) +
               512 * (seen.event_count == 7 + 6) + 1024 * (vpcap_open_zones(v, NULL, NULL) == 7);
    return rc;
}

/* One of each kind that ends, and one that does not. */
static void open_one_of_each(vp_profiler *p)
{
    nvtx_event ended = {.text = "ended"}, pushed = {.text = "pushed"},
               started = {.text = "started"};
    for (int i = 0; i < 2; i++) {
        vp_context c = vp_context_begin(p, 41, "ended");
        vp_context_end(&c);
        nvtx_push(&ended);
        nvtx_pop(NULL);
        nvtx_end(nvtx_start(&ended));
    }
    VP_STEP("outer", 7);
    vp_begin_step(p, 41);
    vp_context_begin(p, 41, "context");
    nvtx_push(&pushed);
    nvtx_start(&started);
    VP_BEGIN("pair");
    VP_SCOPE("scope");
    usleep(2000);
    exit(0);
}

static void each_kind_at_exit(void **state)
{
    (void)state;
    *verdict = 0;
    pid_t child = fork();
    if (child == 0) {
        vp_recording *r;
        vp_profiler *p;
        vp_schedule s = VP_SCHEDULE_INIT;
        vp_config cfg = here_config();
        s.start_step = -1;
        cap_writer = tell_kinds;
        if (vp_start(&r, &cfg) < 0 || vp_profiler_new(&p, &s) < 0)
            _exit(1);
        open_one_of_each(p);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(*verdict, 2047);
}

/* A step number that does not fit beside the kind is no wrong number. */
static void a_step_with_a_huge_number(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    cfg.duration_ms = 1000; /* both steps lie within it on a busy machine */
    assert_int_equal(vp_start(&r, &cfg), 0);
    VP_STEP("small", VP__FRAME_NUMBER_MAX);
    VP_STEP("huge", UINT64_C(1) << 40);
    assert_int_equal(vp_wait(r, NULL), 0);
    assert_true(is_open("small", VPCAP_STEP, VP__FRAME_NUMBER_MAX));
    assert_true(is_open("huge", VPCAP_ZONE, 0));
}

/* ---- Where they end ---- */

typedef struct turns {
    pthread_barrier_t opened, over;
    bool die;
} turns;

static void *stay_in_a_zone(void *ctx)
{
    turns *t = ctx;
    {
        VP_SCOPE("before");
    }
    VP_SCOPE("stays");
    pthread_barrier_wait(&t->opened);
    pthread_barrier_wait(&t->over);
    return NULL;
}

/* A thread that has been quiet for long is no less in its zone than the others. */
static void open_zones_end_when_the_time_is_over(void **state)
{
    (void)state;
    turns t;
    pthread_t thread;
    vp_recording *r;
    vp_config cfg = here_config();
    vp_result result = VP_RESULT_INIT;
    pthread_barrier_init(&t.opened, NULL, 2);
    pthread_barrier_init(&t.over, NULL, 2);
    cfg.duration_ms = 600;
    assert_int_equal(vp_start(&r, &cfg), 0);
    pthread_create(&thread, NULL, stay_in_a_zone, &t);
    pthread_barrier_wait(&t.opened);
    assert_int_equal(vp_wait(r, &result), 0);
    pthread_barrier_wait(&t.over);
    pthread_join(thread, NULL);
    assert_true(result.truncated);
    const vpcap_event *e = &seen_find("stays")->e;
    assert_true(e->open);
    assert_int_equal(e->start_ps + e->dur_ps, seen.info.end_ps);
    assert_in_range(seen.info.end_ps / 1000, result.duration_ns - 1, result.duration_ns);
}

static void *work_and_die(void *ctx)
{
    turns *t = ctx;
    pthread_barrier_wait(&t->opened);
    usleep(5000);
    for (int i = 0; i < 10; i++) {
        VP_SCOPE("later");
    }
    kill(getpid(), SIGKILL);
    return NULL;
}

static void see_what_is_left(void)
{
    char path[sizeof here.path + 300], *name;
    struct stat st;
    FILE *f = NULL;
    snprintf(path, sizeof path, "find %s -name host.vpcap", here.root);
    f = popen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(path, sizeof path, f));
    pclose(f);
    name = strchr(path, '\n');
    *name = 0;
    int fd = open(path, O_RDONLY);
    assert_int_equal(fstat(fd, &st), 0);
    void *image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    vpcap *v;
    assert_int_equal(vpcap_open(&v, image, (size_t)st.st_size), 0);
    seen_image(v);
    vpcap_free(v);
    munmap(image, (size_t)st.st_size);
    close(fd);
}

static void of_a_killed_process_at_its_last_time(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        turns t;
        pthread_t threads[2];
        vp_recording *r;
        vp_config cfg = here_config();
        pthread_barrier_init(&t.opened, NULL, 2);
        pthread_barrier_init(&t.over, NULL, 2);
        if (vp_start(&r, &cfg) < 0)
            _exit(1);
        pthread_create(&threads[0], NULL, stay_in_a_zone, &t);
        pthread_create(&threads[1], NULL, work_and_die, &t);
        pthread_join(threads[0], NULL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    see_what_is_left();
    assert_false(seen.info.finished);
    int64_t last = 0;
    for (uint32_t i = 0; i < seen.event_count; i++)
        if (strcmp(seen.events[i].name, "later") == 0)
            last = seen.events[i].e.start_ps + seen.events[i].e.dur_ps;
    const vpcap_event *stays = &seen_find("stays")->e, *before = &seen_find("before")->e;
    assert_true(stays->open);
    assert_int_equal(stays->start_ps + stays->dur_ps, last);
    assert_true(last - (before->start_ps + before->dur_ps) > INT64_C(5000000000));
}

/* ---- The list ---- */

static void *leave_ranges(void *ctx)
{
    nvtx_event e = {.text = "range"};
    (void)ctx;
    nvtx_push(&e);
    nvtx_push(&e);
    return NULL;
}

/* Whose thread is gone is not open, but counted; the same every time, so nothing is used up. */
static void ranges_of_a_thread_that_ended(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    cfg.duration_ms = 10000;
    cfg.pool_bytes = 64 << 20;
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int i = 0; i < 1000; i++) {
        pthread_t t;
        pthread_create(&t, NULL, leave_ranges, NULL);
        pthread_join(t, NULL);
    }
    VP_SCOPE("open"); /* cut off */
    nvtx_event e = {.text = "still open"};
    uint64_t range = nvtx_start(&e);
    assert_int_equal(cap_active_end(&result), 0);
    nvtx_end(range);
    assert_true(result.truncated);
    assert_int_equal(result.left, 2000);
    assert_int_equal(seen_count("range"), 0);
    assert_true(is_open("still open", VPCAP_ZONE, 0));
}

/* More than the list holds: they are recorded when they end, like the others. */
static void more_than_the_list_holds(void **state)
{
    (void)state;
    enum { N = VPCAP_OPEN_MAX + 100 };
    static uint64_t ranges[N];
    nvtx_event e = {.text = "range"};
    vp_result result = VP_RESULT_INIT;
    vp_recording *r = here_start();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            assert_true((ranges[i] = nvtx_start(&e)) > 0);
        for (int i = 0; i < N; i++)
            nvtx_end(ranges[(i * 7) % N]); /* 7 and N have no divisor in common */
    }
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 3 * N);
}

/* ---- What the viewer says ---- */

static void sleep_ms(long ms)
{
    usleep((useconds_t)ms * 1000);
}

static vp_report *report_of(const char *dir)
{
    vp_catalog *c;
    const vp_session *s;
    vp_report *r;
    assert_int_equal(vp_catalog_open(&c, dir), 0);
    assert_int_equal(vp_catalog_count(c), 1);
    assert_int_equal(vp_catalog_session(&s, c, 0), 0);
    assert_int_equal(vp_report_make(&r, c, s, NULL), 0);
    vp_catalog_free(c);
    return r;
}

/* Steps of a millisecond, then one that is longer than the capture may take. */
static void a_step_that_the_time_limit_cuts(void **state)
{
    (void)state;
    vp_profiler *p;
    vp_schedule s = VP_SCHEDULE_INIT;
    s.profiling_dir = here.root;
    s.start_step = 1;
    s.num_steps = 1000;
    s.profile_duration_ms = 500;
    s.recording.pool_bytes = 1 << 20;
    cap_writer = cap_write;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    for (uint64_t i = 1; i <= 6; i++) {
        assert_int_equal(vp_begin_step(p, i), 0);
        sleep_ms(i == 6 ? 1000 : 1);
        assert_int_equal(vp_end_step(p, 0), 0);
    }
    vp_result last = VP_RESULT_INIT;
    assert_int_equal(vp_profiler_last(&last, p), 0);
    vp_profiler_free(p);
    assert_true(last.truncated);
    vp_report *r = report_of(here.root);
    assert_int_equal(r->steps.count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(r->steps.list[i].number, i + 1);
        assert_int_equal(r->steps.list[i].partial, i == 5);
    }
    assert_true(r->steps.list[5].dur_ps > INT64_C(50000000000));
    bool said = false;
    for (size_t i = 0; i < r->quality_count; i++)
        said = said || (strcmp(r->quality[i].code, "cut-off") == 0 &&
                        strstr(r->quality[i].message, "1 zone had not ended"));
    assert_true(said);
    vp_report_free(r);
}

/* A capture ends with the step in which its pool is full, not with the last that was asked for. */
static void a_full_pool_ends_a_capture(void **state)
{
    (void)state;
    vp_profiler *p;
    vp_schedule s = VP_SCHEDULE_INIT;
    vp_result last = VP_RESULT_INIT;
    s.profiling_dir = here.root;
    s.start_step = 1;
    s.num_steps = 1000;
    s.recording.pool_bytes = 1; /* the least there is */
    cap_writer = cap_write;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    uint64_t i = 1;
    for (; i < 100 && (i == 1 || vp_is_profiling(p)); i++) {
        assert_int_equal(vp_begin_step(p, i), 0);
        for (int k = 0; k < 3000; k++) {
            VP_SCOPE("zone");
        }
        assert_int_equal(vp_end_step(p, 0), 0);
    }
    assert_int_equal(i, 4); /* 8,000 zones or so fit, of three steps */
    assert_int_equal(vp_profiler_last(&last, p), 0);
    vp_profiler_free(p);
    assert_true(last.truncated);
    assert_int_equal(last.dropped_full, 1);
    vp_report *r = report_of(here.root);
    assert_int_equal(r->steps.count, 3);
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(r->steps.list[k].partial, k == 2);
    bool lost = false, dropped = false;
    for (size_t k = 0; k < r->quality_count; k++) {
        const vp_quality *q = &r->quality[k];
        lost = lost || (strcmp(q->code, "lost-zones") == 0 && strstr(q->message, "1 zone of"));
        dropped = dropped || (strcmp(q->code, "dropped-events") == 0 && q->partial);
    }
    assert_true(lost && dropped);
    for (size_t k = 0; k < r->op_count; k++) /* what is missing is no op */
        assert_true(strcmp(r->ops[k].name, "zone") == 0 || strcmp(r->ops[k].name, "train") == 0);
    for (size_t k = 0; k < r->host_op_count; k++)
        assert_string_not_equal(r->host_ops[k].name, "lost");
    vp_report_free(r);
}

/* The data may run out between begin and end. */
static void a_step_that_the_profiler_is_freed_in(void **state)
{
    (void)state;
    vp_profiler *p;
    vp_schedule s = VP_SCHEDULE_INIT;
    s.profiling_dir = here.root;
    s.start_step = 1;
    s.recording.pool_bytes = 1 << 20;
    cap_writer = cap_write;
    assert_int_equal(vp_profiler_new(&p, &s), 0);
    for (uint64_t i = 1; i <= 2; i++) {
        assert_int_equal(vp_begin_step(p, i), 0);
        sleep_ms(1);
        if (i == 1)
            assert_int_equal(vp_end_step(p, 0), 0);
    }
    vp_profiler_free(p);
    vp_report *r = report_of(here.root);
    assert_int_equal(r->steps.count, 2);
    assert_false(r->steps.list[0].partial);
    assert_true(r->steps.list[1].partial);
    vp_report_free(r);
}

static int share(void **state)
{
    (void)state;
    verdict =
        mmap(NULL, sizeof *verdict, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return verdict == MAP_FAILED;
}

int main(void)
{
    const struct CMUnitTest tests[] = {here_test(each_kind_at_exit),
                                       here_test(a_step_with_a_huge_number),
                                       here_test(open_zones_end_when_the_time_is_over),
                                       here_test(of_a_killed_process_at_its_last_time),
                                       here_test(ranges_of_a_thread_that_ended),
                                       here_test(more_than_the_list_holds),
                                       here_test(a_step_that_the_time_limit_cuts),
                                       here_test(a_full_pool_ends_a_capture),
                                       here_test(a_step_that_the_profiler_is_freed_in)};
    return cmocka_run_group_tests(tests, share, NULL);
}
