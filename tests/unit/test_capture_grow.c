/* The file of a recording grows with what is recorded: what a killed process leaves behind is as
 * large as what it holds, nothing is lost while it grows, and where it cannot the recording ends as
 * a full one does. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/unit/capture_tools.h"
#include "tests/unit/skip.h"
#include "trace/base/system/temp_tree.h"
#include "trace/base/time.h"
#include "trace/vpcap/vpcap_layout.h"

#define MIB (INT64_C(1) << 20)

static char left_path[sizeof here.path + 512];

static struct stat find_left(const vp_recording *r)
{
    struct stat st;
    char dir[sizeof here.path + 256] = "";
    if (r)
        snprintf(dir, sizeof dir, "%s", vp_recording_dir(r));
    DIR *d = r ? NULL : opendir(tree_at(&here, "plugins/profile"));
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            snprintf(dir, sizeof dir, "%s/plugins/profile/%s", here.root, e->d_name);
    if (d)
        closedir(d);
    snprintf(left_path, sizeof left_path, "%s/host.vpcap", dir);
    assert_int_equal(stat(left_path, &st), 0);
    return st;
}

static char *read_left(size_t *n)
{
    struct stat st = find_left(NULL);
    char *image = malloc((size_t)st.st_size + 1);
    int fd = open(left_path, O_RDONLY);
    assert_true(fd >= 0);
    *n = 0;
    for (ssize_t got; (got = read(fd, image + *n, (size_t)st.st_size - *n)) > 0;)
        *n += (size_t)got;
    close(fd);
    assert_int_equal(*n, st.st_size);
    return image;
}

static void zones(int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        VP_SCOPE("zone");
    }
}

/* What a child leaves that records so many zones and is killed. */
static void kill_after(int64_t n, size_t pool_bytes)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        vp_config cfg = here_config();
        vp_recording *r;
        cfg.pool_bytes = pool_bytes;
        if (vp_start(&r, &cfg) < 0)
            _exit(1);
        zones(n);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static uint64_t written_in(const char *image, size_t n)
{
    vpcap *v;
    uint64_t written = 0;
    assert_int_equal(vpcap_open(&v, image, n), 0);
    for (uint32_t i = 0; i < vpcap_threads(v); i++)
        written += vpcap_thread_at(v, i).written;
    vpcap_free(v);
    return written;
}

static void five_zones_take_little(void **state)
{
    (void)state;
    size_t n;
    kill_after(5, 0);
    struct stat st = find_left(NULL);
    assert_true((int64_t)st.st_blocks * 512 <= 2 * MIB);
    assert_true(st.st_size <= 16 * MIB); /* its tables are a hole */
    char *image = read_left(&n);
    assert_int_equal(written_in(image, n), 5);
    free(image);
}

static void a_large_pool_is_no_large_file(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    cfg.pool_bytes = (size_t)1 << 30;
    assert_int_equal(vp_start(&r, &cfg), 0);
    assert_true((int64_t)find_left(r).st_blocks * 512 <= 2 * MIB);
    assert_int_equal(vp_stop(r, NULL), 0);
}

static int64_t shortest_start_ns(const vp_config *cfg)
{
    int64_t shortest = INT64_MAX;
    for (int i = 0; i < 20; i++) {
        vp_recording *r;
        int64_t begin = vp_now_ns();
        assert_int_equal(vp_start(&r, cfg), 0);
        int64_t took = vp_now_ns() - begin;
        shortest = took < shortest ? took : shortest;
        assert_int_equal(vp_stop(r, NULL), 0);
    }
    return shortest;
}

static int64_t touch_ns(size_t bytes)
{
    int64_t begin = vp_now_ns();
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                   -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    int64_t took = vp_now_ns() - begin;
    munmap(p, bytes);
    return took;
}

/* Whoever starts one in the middle of his work goes on at once, however large the pool is: what
 * must not be is that all of its pages are made then, which is timed beside it. */
static void a_start_takes_no_time(void **state)
{
    (void)state;
    if (is_emulated())
        skip_because("an emulator's times are its own");
    vp_config cfg = here_config();
    cfg.pool_bytes = (size_t)256 << 20;
    cfg.export_now = true;
    for (int i = 0; i < 4; i++) {
        cfg.mode = i / 2 ? VP_RING : VP_KEEP_FIRST;
        cfg.in_memory = i % 2;
        int64_t took = shortest_start_ns(&cfg), all = touch_ns(cfg.pool_bytes);
        print_message("%s in %s: %.3f ms; all of its pages: %.3f ms\n",
                      i / 2 ? "a ring" : "the first", i % 2 ? "memory" : "a file",
                      (double)took / 1e6, (double)all / 1e6);
        assert_true(took < all / 4);
    }
}

/* 16 bytes each: 16 MB. At any time the file is at most twice as large as what is used, and a bit.
 */
static void it_grows_as_needed(void **state)
{
    (void)state;
    size_t n;
    kill_after(1000000, 0);
    struct stat st = find_left(NULL);
    assert_true((int64_t)st.st_blocks * 512 >= 15 * MIB);
    assert_true((int64_t)st.st_blocks * 512 <= 35 * MIB);
    char *image = read_left(&n);
    assert_int_equal(written_in(image, n), 1000000);
    free(image);
}

/* The copy of a part says so. */
static void a_part_of_a_file_is_cut_off(void **state)
{
    (void)state;
    size_t n;
    vpcap *v = NULL;
    kill_after(1000000, 0);
    char *image = read_left(&n);
    const vpcap_header *h = (const void *)image;
    const uint64_t left[] = {h->chunks_at + (uint64_t)(8 * MIB), h->chunks_at, h->strings.at};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        assert_true(left[i] < n);
        assert_int_equal(vpcap_open(&v, image, left[i]), VP_ECORRUPT);
        assert_non_null(strstr(vp_error_last()->message, "cut off"));
    }
    free(image);
}

static struct heard {
    _Atomic unsigned full, others;
    char text[400];
    vp_recording *r;
    _Atomic int stopped; /* what vp_stop says that the log function calls */
} heard;

static void hear(void *ctx, int level, const char *message)
{
    (void)ctx;
    if (level != VP_SAY_WARNING || !strstr(message, "Buffer full (")) {
        heard.others++;
        return;
    }
    snprintf(heard.text, sizeof heard.text, "%s", message);
    heard.stopped = heard.r ? vp_stop(heard.r, NULL) : 0;
    heard.full++;
}

static vp_recording *start_heard(vp_capture_mode mode, bool in_memory)
{
    vp_config cfg = here_config();
    vp_recording *r;
    cfg.pool_bytes = 256 << 10;
    cfg.mode = mode;
    cfg.in_memory = in_memory;
    cfg.log = hear;
    heard = (struct heard){.full = 0};
    assert_int_equal(vp_start(&r, &cfg), 0);
    return r;
}

/* While the program goes on, and once. */
static void a_full_pool_is_told_at_once(void **state)
{
    (void)state;
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        vp_recording *r = start_heard(VP_KEEP_FIRST, in_memory);
        zones(30000);
        for (int i = 0; i < 60000 && !heard.full; i++)
            usleep(1000);
        assert_int_equal(heard.full, 1);
        assert_non_null(strstr(heard.text, "Buffer full (256.0 KiB after 0."));
        assert_non_null(strstr(heard.text, "--ring"));
        zones(30000);
        assert_int_equal(vp_stop(r, NULL), 0);
        assert_int_equal(heard.full, 1);
        assert_int_equal(heard.others, 2); /* what is missing, and where the trace is */
    }
}

static void a_ring_is_never_full(void **state)
{
    (void)state;
    vp_recording *r = start_heard(VP_RING, false);
    zones(60000);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(heard.full, 0);
}

/* Its files are not written before it is told, and whoever is told cannot wait for them. */
static void who_is_told_may_stop_it(void **state)
{
    (void)state;
    vp_recording *r = heard.r = NULL;
    r = start_heard(VP_KEEP_FIRST, false);
    heard.r = r;
    heard.stopped = 1;
    zones(30000);
    for (int i = 0; i < 60000 && !heard.full; i++)
        usleep(1000);
    assert_int_equal(heard.full, 1);
    assert_int_equal(heard.stopped, VP_EBUSY);
    assert_int_equal(vp_stop(r, NULL), 0);
}

static void *many_zones(void *ctx)
{
    (void)ctx;
    zones(200000);
    return NULL;
}

static void threads_grow_it_together(void **state)
{
    (void)state;
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    vp_result result = VP_RESULT_INIT;
    vp_config cfg = here_config();
    vp_recording *r;
    cap_writer = count_write;
    cfg.pool_bytes = (size_t)64 << 20;
    assert_int_equal(vp_start(&r, &cfg), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, many_zones, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, THREADS * 200000);
    assert_int_equal(result.dropped_full, 0);
    assert_int_equal(seen.event_count, THREADS * 200000);
}

/* The disk is full, as a limit on the size of files has it, whose signal must not reach the
 * program. */
static void no_room_to_grow(void **state)
{
    (void)state;
    vp_result result = VP_RESULT_INIT;
    vp_config cfg = here_config();
    vp_recording *r;
    struct rlimit before, small;
    cap_writer = count_write;
    cfg.pool_bytes = (size_t)64 << 20;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(vp_start(&r, &cfg), 0);
    small = (struct rlimit){(rlim_t)find_left(r).st_size, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    zones(1000000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(vp_recording_active(r)); /* it ended when there was no room */
    assert_int_equal(vp_wait(r, &result), 0);
    assert_true(result.truncated);
    assert_int_equal(result.dropped_full, 1);
    assert_true(result.zones > 50000 && result.zones < 200000); /* 1 MiB and what was ahead */
    assert_int_equal(seen.event_count, result.zones);
}

/* What daemons do; the next file that they open has the number of ours. */
static void its_descriptor_is_taken_away(void **state)
{
    (void)state;
    vp_result result = VP_RESULT_INIT;
    vp_config cfg = here_config();
    vp_recording *r;
    struct stat mine, other;
    int last = open("/dev/null", O_RDONLY);
    cap_writer = count_write;
    cfg.pool_bytes = (size_t)64 << 20;
    assert_int_equal(vp_start(&r, &cfg), 0);
    mine = find_left(r);
    int fd = open(tree_at(&here, "other"), O_RDWR | O_CREAT, 0600);
    for (int i = last; i < 64; i++) {
        struct stat st;
        if (fstat(i, &st) == 0 && st.st_dev == mine.st_dev && st.st_ino == mine.st_ino)
            assert_int_equal(dup2(fd, i), i);
    }
    zones(1000000);
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(fstat(fd, &other), 0);
    assert_int_equal(other.st_size, 0);
    assert_int_equal(result.zones, 1000000);
    assert_int_equal(result.dropped_full, 0);
    close(fd);
    close(last);
}

/* A child that goes on recording beside its parent has a file of its own that grows. */
static void a_forked_child_grows_its_own(void **state)
{
    (void)state;
    int status;
    vp_config cfg = here_config();
    vp_recording *r;
    cap_writer = count_write;
    cfg.pool_bytes = (size_t)64 << 20;
    cfg.follow_fork = true;
    assert_int_equal(vp_start(&r, &cfg), 0);
    zones(300000);
    pid_t child = fork();
    if (child == 0) {
        zones(500000);
        kill(getpid(), SIGKILL);
    }
    zones(300000);
    assert_int_equal(waitpid(child, &status, 0), child);
    char path[sizeof left_path + 32];
    find_left(r);
    snprintf(path, sizeof path, "%.*s_%d.vpcap", (int)(strlen(left_path) - 6), left_path, child);
    assert_int_equal(rename(path, left_path), 0);
    vp_result result = VP_RESULT_INIT;
    size_t n;
    assert_int_equal(find_left(r).st_blocks * 512 < 24 * MIB, 1);
    char *image = read_left(&n);
    assert_int_equal(written_in(image, n), 500000);
    free(image);
    assert_int_equal(vp_stop(r, &result), 0);
    assert_int_equal(result.zones, 600000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        here_test(five_zones_take_little),       here_test(a_large_pool_is_no_large_file),
        here_test(it_grows_as_needed),           here_test(a_part_of_a_file_is_cut_off),
        here_test(threads_grow_it_together),     here_test(no_room_to_grow),
        here_test(its_descriptor_is_taken_away), here_test(a_forked_child_grows_its_own),
        here_test(a_start_takes_no_time),        here_test(a_full_pool_is_told_at_once),
        here_test(a_ring_is_never_full),         here_test(who_is_told_may_stop_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
