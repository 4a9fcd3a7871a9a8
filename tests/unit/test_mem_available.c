/* What control groups leave of the machine, in trees that look like /proc and /sys. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/base/mem_available.h"
#include "trace/base/system/temp_tree.h"
#include "trace/base/thread.h"

/* A file below root, with the directories above it. */
static void put(const char *root, const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *p = strchr(full + strlen(root) + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = 0;
        mkdir(full, 0700);
        *p = '/';
    }
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static int new_root(void **state)
{
    char *dir = strdup("/tmp/vp_mem_available.XXXXXX");
    *state = mkdtemp(dir);
    return *state ? 0 : -1;
}

static int remove_root(void **state)
{
    vp_remove_tree(*state);
    free(*state);
    return 0;
}

static void quotas_of_version_2(void **state)
{
    put(*state, "proc/self/cgroup", "0::/a/b\n");
    assert_int_equal(vp_cpu_limit(*state), -1);
    put(*state, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_int_equal(vp_cpu_limit(*state), -1);
    put(*state, "sys/fs/cgroup/a/b/cpu.max", "250000 100000\n");
    assert_int_equal(vp_cpu_limit(*state), 3);
    put(*state, "sys/fs/cgroup/a/cpu.max", "200000 100000\n"); /* holds for those below */
    assert_int_equal(vp_cpu_limit(*state), 2);
    put(*state, "sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    assert_int_equal(vp_cpu_limit(*state), 1);
}

static void quotas_of_version_1(void **state)
{
    put(*state, "proc/self/cgroup", "5:memory:/m\n3:cpu,cpuacct:/x\n");
    put(*state, "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
    put(*state, "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
    assert_int_equal(vp_cpu_limit(*state), -1);
    put(*state, "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "400000\n");
    assert_int_equal(vp_cpu_limit(*state), 4);
}

static void odd_files_are_no_bound(void **state)
{
    static const char *const texts[] = {
        "", "\n", "100000", "100000 0\n", "x 1000", "100000 max\n", "99999999999999999999 1\n"};
    put(*state, "proc/self/cgroup", "0::/\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put(*state, "sys/fs/cgroup/cpu.max", texts[i]);
        assert_int_equal(vp_cpu_limit(*state), -1);
    }
}

static void memory_of_the_tightest_group(void **state)
{
    put(*state, "proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n");
    assert_int_equal(vp_mem_available(*state), 8000 * 1024);
    put(*state, "proc/self/cgroup", "0::/a/b\n");
    put(*state, "sys/fs/cgroup/a/memory.max", "5000000\n");
    put(*state, "sys/fs/cgroup/a/memory.current", "3000000\n");
    put(*state, "sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 1000000\n");
    put(*state, "sys/fs/cgroup/a/b/memory.max", "max\n");
    assert_int_equal(vp_mem_available(*state), 3000000);
}

static void there_is_a_processor(void **state)
{
    (void)state;
    assert_true(vp_cpus() >= 1);
}

#define IN_ROOT(f) cmocka_unit_test_setup_teardown(f, new_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_ROOT(quotas_of_version_2),           IN_ROOT(quotas_of_version_1),
        IN_ROOT(odd_files_are_no_bound),        IN_ROOT(memory_of_the_tightest_group),
        cmocka_unit_test(there_is_a_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
