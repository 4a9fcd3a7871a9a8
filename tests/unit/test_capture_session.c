/* Starting, stopping, waiting: handles, directories, ends by themselves, and what cannot be had. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unit/capture_tools.h"
#include "tests/unit/skip.h"
#include "trace/capture/session/session.h"

static unsigned open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static long resident_kb(void)
{
    long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &size, &resident), 2);
    fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static unsigned entries(const char *rel)
{
    DIR *d = opendir(tree_at(&here, rel));
    unsigned n = 0;
    if (!d)
        return 0;
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void second_start_is_refused(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r = here_start(), *other = (vp_recording *)&cfg;
    assert_true(vp_recording_active(r));
    assert_int_equal(vp_start(&other, &cfg), VP_EBUSY);
    assert_ptr_equal(other, &cfg); /* untouched */
    assert_string_equal(vp_error_last()->message, "Profiler already active");
    assert_string_equal(vp_error_last()->path, vp_recording_dir(r));
    {
        VP_SCOPE("still recorded");
    }
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(seen_count("still recorded"), 1);
}

static void stale_handles_touch_nothing(void **state)
{
    (void)state;
    vp_recording *old = here_start(), *now;
    assert_int_equal(vp_stop(old, NULL), 0);
    assert_int_equal(vp_stop(old, NULL), VP_EINACTIVE);
    now = here_start();
    assert_ptr_not_equal(old, now);
    assert_int_equal(vp_stop(old, NULL), VP_EINACTIVE);
    assert_int_equal(vp_wait(old, NULL), VP_EINACTIVE);
    assert_int_equal(vp_stop(NULL, NULL), VP_EINACTIVE);
    assert_int_equal(vp_stop((vp_recording *)&old, NULL), VP_EINACTIVE);
    assert_int_equal(vp_capture_past(old, 1, NULL), VP_EINACTIVE);
    assert_false(vp_recording_active(old));
    assert_null(vp_recording_dir(old));
    assert_true(vp_recording_active(now));
    assert_int_equal(vp_stop(now, NULL), 0);
    assert_false(vp_recording_active(now));
}

static void bad_configurations(void **state)
{
    (void)state;
    vp_recording *r = NULL;
    vp_config cfg = here_config();
    assert_int_equal(vp_start(NULL, &cfg), VP_EARG);
    cfg.version = 0;
    assert_int_equal(vp_start(&r, &cfg), VP_EVERSION);
    assert_non_null(strstr(vp_error_last()->message, "VP_CONFIG_INIT"));
    cfg.version = 2;
    assert_int_equal(vp_start(&r, &cfg), VP_EVERSION);
    cfg = here_config();
    cfg.mode = (vp_capture_mode)7;
    assert_int_equal(vp_start(&r, &cfg), VP_EARG);
    cfg = here_config();
    cfg.outputs = 16;
    assert_int_equal(vp_start(&r, &cfg), VP_EARG);
    cfg = here_config();
    cfg.pool_bytes = SIZE_MAX;
    assert_int_equal(vp_start(&r, &cfg), VP_EARG);
    static char too_long[5001];
    memset(too_long, 'd', 5000);
    cfg = here_config();
    cfg.dir = too_long;
    assert_int_equal(vp_start(&r, &cfg), VP_EARG);
    assert_null(r);
    assert_int_equal(entries("plugins/profile"), 0); /* no directory is left of any */
}

/* A result that nobody initialised, or of a later header: said at once, and nothing has happened.
 */
static void results_of_an_unknown_version(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    for (int version = 0; version < 3; version += 2) {
        vp_result result = {.version = version, .zones = 77};
        assert_int_equal(vp_capture_past(r, 0, &result), VP_EVERSION);
        assert_int_equal(vp_stop(r, &result), VP_EVERSION);
        assert_int_equal(vp_wait(r, &result), VP_EVERSION);
        assert_non_null(strstr(vp_error_last()->message, "VP_RESULT_INIT"));
        assert_int_equal(vp_error_last()->code, VP_EVERSION);
        assert_int_equal(result.zones, 77);
        assert_true(vp_recording_active(r));
    }
    assert_int_equal(vp_stop(r, NULL), 0);
}

/* The names of runs in one second differ, and each holds its own. */
static void runs_in_one_second(void **state)
{
    (void)state;
    char dirs[5][4096];
    for (int i = 0; i < 5; i++) {
        vp_recording *r = here_start();
        vp_result result = VP_RESULT_INIT;
        assert_int_equal(vp_stop(r, &result), 0);
        memcpy(dirs[i], result.run_dir, sizeof dirs[i]);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(dirs[i], dirs[j]);
        assert_string_equal(strrchr(result.run_dir, '/') + 1, seen.session);
        assert_memory_equal(dirs[i], here.root, strlen(here.root));
    }
    assert_int_equal(entries("plugins/profile"), 5);
}

static void host_names_become_file_names(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    char path[4200];
    cfg.host = "tpu:8471/../x\n";
    assert_int_equal(vp_start(&r, &cfg), 0);
    snprintf(path, sizeof path, "%s/tpu_8471_.._x_.vpcap", vp_recording_dir(r));
    assert_int_equal(access(path, R_OK), 0);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_not_equal(access(path, F_OK), 0); /* written: the image is not needed any more */
    assert_string_equal(seen.host, "tpu_8471_.._x_");
}

/* When the files cannot be written, nothing is lost: the image stays, and says it is finished. */
static void a_failed_export_keeps_the_image(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    vp_result result = VP_RESULT_INIT;
    char path[4200];
    snprintf(path, sizeof path, "%s/host.vpcap", vp_recording_dir(r));
    {
        VP_SCOPE("x");
    }
    seen.fail_with = VP_ENOSPC;
    assert_int_equal(vp_stop(r, &result), VP_ENOSPC);
    assert_int_equal(vp_error_last()->code, VP_ENOSPC);
    assert_string_equal(vp_error_last()->message, "the test says so");
    assert_int_equal(result.zones, 1);
    assert_int_equal(access(path, R_OK), 0);
}

static void writing_aside(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result at_stop = VP_RESULT_INIT, at_end = VP_RESULT_INIT;
    cfg.export_now = false;
    assert_int_equal(vp_start(&r, &cfg), 0);
    {
        VP_SCOPE("x");
    }
    assert_int_equal(vp_wait(r, NULL), VP_EBUSY); /* it would never end */
    assert_int_equal(vp_stop(r, &at_stop), 0);
    assert_int_equal(at_stop.zones, 1); /* exact at once */
    assert_int_equal(vp_stop(r, NULL), VP_EINACTIVE);
    assert_int_equal(vp_wait(r, &at_end), 0);
    assert_true(at_end.export_ns > 0);
    assert_int_equal(at_end.bytes_written, 1);
    assert_int_equal(vp_wait(r, NULL), VP_EINACTIVE);
    assert_int_equal(seen_count("x"), 1);
}

/* Several write at a time. */
static int write_nothing(uint64_t *bytes, int run_fd, const vpcap *v,
                         const struct gpu_activity *gpu, unsigned outputs)
{
    (void)run_fd;
    (void)v;
    (void)gpu;
    (void)outputs;
    *bytes = 0;
    return 0;
}

static void results_that_nobody_fetches_do_not_pile_up(void **state)
{
    (void)state;
    cap_writer = write_nothing;
    vp_config cfg = here_config();
    vp_recording *first = NULL, *r = NULL;
    cfg.export_now = false;
    cfg.in_memory = true;
    cfg.pool_bytes = 1;
    for (int i = 0; i < 200; i++) {
        assert_int_equal(vp_start(&r, &cfg), 0);
        first = first ? first : r;
        assert_int_equal(vp_stop(r, NULL), 0);
    }
    assert_int_equal(vp_wait(r, NULL), 0);
    assert_int_equal(vp_start(&r, &cfg), 0);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(vp_wait(first, NULL), VP_EINACTIVE);
    session_lock();
    while (session_writing(true))
        session_wait();
    session_unlock();
}

static unsigned synced, infos, errors;

static void sync_device(void *ctx)
{
    (void)ctx;
    VP_SCOPE("what the device still had");
    synced++;
}

static void take_log(void *ctx, int level, const char *message)
{
    (void)ctx;
    infos += level == VP_SAY_INFO && strncmp(message, "Trace saved to: ", 16) == 0;
    errors += level == VP_SAY_ERROR;
}

static void the_device_is_waited_for(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    cfg.device_sync = sync_device;
    cfg.log = take_log;
    synced = infos = errors = 0;
    assert_int_equal(vp_start(&r, &cfg), 0);
    assert_int_equal(synced, 0);
    assert_int_equal(vp_stop(r, NULL), 0);
    assert_int_equal(synced, 1);
    assert_int_equal(seen_count("what the device still had"), 1);
    assert_int_equal(infos, 1);
    assert_int_equal(errors, 0);
}

static void time_is_over(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    cfg.duration_ms = 500;
    assert_int_equal(vp_start(&r, &cfg), 0);
    {
        VP_SCOPE("short");
    }
    {
        VP_SCOPE("too long");
        while (vp_recording_active(r))
            usleep(1000);
    }
    assert_int_equal(vp_stop(r, &result), 0); /* it ended by itself: written */
    assert_int_equal(result.zones, 1);
    assert_true(result.truncated);
    assert_in_range(result.duration_ns, 500000000, 100000000000);
    assert_int_equal(seen_count("short"), 1);
    assert_true(seen_find("too long")->e.open);
    assert_int_equal(vp_stop(r, NULL), VP_EINACTIVE);
}

static void time_is_over_between_zones(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    vp_result result = VP_RESULT_INIT;
    cfg.duration_ms = 20;
    assert_int_equal(vp_start(&r, &cfg), 0);
    assert_int_equal(vp_wait(r, &result), 0); /* waits for the limit */
    assert_false(result.truncated);
    /* stopped before: the limit then finds nothing of its own */
    cfg.duration_ms = 50;
    assert_int_equal(vp_start(&r, &cfg), 0);
    assert_int_equal(vp_stop(r, &result), 0);
    r = here_start();
    usleep(80000);
    assert_true(vp_recording_active(r));
    assert_int_equal(vp_stop(r, NULL), 0);
}

static void ten_thousand_times(void **state)
{
    (void)state;
    vp_config cfg = here_config();
    vp_recording *r;
    unsigned files = 0;
    long memory = 0;
    cfg.in_memory = true;
    cfg.pool_bytes = 1; /* the least there is */
    cap_writer = count_write;
    for (int i = 0; i < 10000; i++) {
        vp_result result = VP_RESULT_INIT;
        assert_int_equal(vp_start(&r, &cfg), 0);
        {
            VP_SCOPE("x");
        }
        assert_int_equal(vp_stop(r, &result), 0);
        assert_int_equal(result.zones, 1);
        assert_int_equal(seen.event_count, 1);
        assert_int_equal(rmdir(result.run_dir), 0);
        if (i == 999) {
            files = open_files();
            memory = resident_kb();
        }
    }
    assert_int_equal(open_files(), files);
    if (!SANITIZED && !is_emulated()) /* they keep what was freed, or code that was translated */
        assert_true(resident_kb() < memory + 8192);
}

/* What cannot be had is refused with its reason, and leaves nothing behind. */
static void read_only_directory(void **state)
{
    (void)state;
    vp_recording *r = NULL;
    vp_config cfg = here_config();
    int status;
    pid_t child = fork();
    if (child == 0) { /* root may write anywhere: as nobody */
        if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(1);
        cfg.dir = "/";
        int rc = vp_start(&r, &cfg);
        bool ok = rc == VP_EPERM && !r && strcmp(vp_error_last()->path, "/plugins") == 0;
        cfg.dir = "/proc/self/nothing";
        rc = vp_start(&r, &cfg);
        _exit(ok && (rc == VP_EIO || rc == VP_EPERM) && !r ? 0 : 2);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    cfg.dir = "/dev/null"; /* no directory */
    assert_int_equal(vp_start(&r, &cfg), VP_EIO);
    assert_null(r);
}

/* The file system gives out before the pool is there: by a limit on the size of files, which holds
 * everywhere, and whose signal must not reach the program. */
static void full_disk(void **state)
{
    (void)state;
    vp_recording *r = NULL;
    vp_config cfg = here_config();
    struct rlimit before, small;
    cfg.pool_bytes = (size_t)64 << 20;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){1 << 20, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int rc = vp_start(&r, &cfg);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, VP_ENOSPC);
    assert_null(r);
    assert_int_equal(entries("plugins/profile"), 0);
    r = here_start(); /* nothing of it is in the way */
    assert_int_equal(vp_stop(r, NULL), 0);
}

static void tmpfs_of_1_mb(void **state)
{
    (void)state;
    vp_recording *r = NULL;
    vp_config cfg = here_config();
    tree_dirs_for(&here, "disk/x");
    char disk[sizeof here.path];
    snprintf(disk, sizeof disk, "%s/disk", here.root);
    if (mount("none", disk, "tmpfs", 0, "size=1m") != 0)
        skip_because("a mount needs root");
    cfg.dir = disk;
    cfg.pool_bytes = (size_t)64 << 20;
    int rc = vp_start(&r, &cfg);
    struct statvfs left;
    int statted = statvfs(disk, &left);
    umount(disk);
    assert_int_equal(rc, VP_ENOSPC);
    assert_null(r);
    assert_int_equal(statted, 0);
    assert_true(left.f_bfree * left.f_bsize > 900000); /* nothing was left there */
}

static void *stop_it(void *ctx)
{
    return (void *)(intptr_t)vp_stop(ctx, NULL);
}

/* Of many who stop the same, one does. */
static void stopped_by_many(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        pthread_t threads[4];
        vp_recording *r = here_start();
        int stopped = 0;
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, stop_it, r), 0);
        for (int i = 0; i < 4; i++) {
            void *rc;
            pthread_join(threads[i], &rc);
            stopped += (intptr_t)rc == 0;
            assert_true((intptr_t)rc == 0 || (intptr_t)rc == VP_EINACTIVE);
        }
        assert_int_equal(stopped, 1);
    }
}

static void whoever_is_on(void **state)
{
    (void)state;
    vp_result result = VP_RESULT_INIT;
    assert_int_equal(cap_active_status(&result), VP_EINACTIVE);
    assert_int_equal(cap_active_end(&result), VP_EINACTIVE);
    assert_int_equal(cap_active_past(1, &result), VP_EINACTIVE);
    vp_recording *r = here_start();
    {
        VP_SCOPE("x");
    }
    assert_int_equal(cap_active_status(&result), 0);
    assert_int_equal(result.zones, 1);
    assert_string_equal(result.run_dir, vp_recording_dir(r));
    assert_int_equal(cap_active_past(0, &result), 0);
    assert_int_equal(result.zones, 1);
    assert_string_not_equal(result.run_dir, vp_recording_dir(r));
    assert_int_equal(cap_active_end(&result), 0);
    assert_int_equal(result.zones, 1);
    assert_false(vp_recording_active(r));
    assert_int_equal(vp_stop(r, &result), 0); /* its owner finds it written */
    assert_int_equal(vp_stop(r, &result), VP_EINACTIVE);
    assert_int_equal(seen.times >= 2, true);
}

static void what_is_discarded_leaves_nothing(void **state)
{
    (void)state;
    vp_recording *r = here_start();
    unsigned before = seen.times;
    {
        VP_SCOPE("x");
    }
    assert_int_equal(cap_discard(r), 0);
    assert_int_equal(cap_discard(r), VP_EINACTIVE);
    assert_int_equal(vp_stop(r, NULL), VP_EINACTIVE);
    assert_int_equal(seen.times, before);
    assert_int_equal(entries("plugins/profile"), 0);
}

static void the_scope_of_a_recording(void **state)
{
    (void)state;
    unsigned before = seen.times;
    {
        VP_PROFILE_SCOPE(here.root);
        VP_SCOPE("inside");
        { /* a second one is none, and ends nothing */
            VP_PROFILE_SCOPE(here.root);
        }
        VP_SCOPE("after");
    }
    session_lock();
    while (session_writing(true)) /* it is written aside */
        session_wait();
    session_unlock();
    assert_int_equal(seen.times, before + 1);
    assert_int_equal(seen.event_count, 2);
    assert_int_equal(cap_generation(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {here_test(second_start_is_refused),
                                       here_test(stale_handles_touch_nothing),
                                       here_test(bad_configurations),
                                       here_test(results_of_an_unknown_version),
                                       here_test(runs_in_one_second),
                                       here_test(host_names_become_file_names),
                                       here_test(a_failed_export_keeps_the_image),
                                       here_test(writing_aside),
                                       here_test(results_that_nobody_fetches_do_not_pile_up),
                                       here_test(the_device_is_waited_for),
                                       here_test(time_is_over),
                                       here_test(time_is_over_between_zones),
                                       here_test(ten_thousand_times),
                                       here_test(read_only_directory),
                                       here_test(full_disk),
                                       here_test(tmpfs_of_1_mb),
                                       here_test(stopped_by_many),
                                       here_test(whoever_is_on),
                                       here_test(what_is_discarded_leaves_nothing),
                                       here_test(the_scope_of_a_recording)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
