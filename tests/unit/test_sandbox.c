/* What Landlock leaves: tried in a child, because nobody gets rights back. */
#include "tests/unit/skip.h"
#include "tests/unit/tree.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "trace/base/system/sandbox.h"

typedef struct can {
    int read, list, write, make, remove_it;
} can;

/* What is possible in dir, which holds a file "f". */
static can try_all(tree *t, const char *dir)
{
    char path[200];
    can c;
    snprintf(path, sizeof path, "%s/f", dir);
    int fd = open(tree_at(t, path), O_RDONLY);
    c.read = fd >= 0;
    close(fd);
    fd = open(tree_at(t, path), O_WRONLY);
    c.write = fd >= 0;
    close(fd);
    fd = open(tree_at(t, dir), O_RDONLY | O_DIRECTORY);
    c.list = fd >= 0;
    close(fd);
    snprintf(path, sizeof path, "%s/new", dir);
    fd = open(tree_at(t, path), O_WRONLY | O_CREAT | O_EXCL, 0600);
    c.make = fd >= 0;
    close(fd);
    c.remove_it = c.make && unlink(tree_at(t, path)) == 0;
    return c;
}

static int bits(can c)
{
    return c.read | c.list << 1 | c.write << 2 | c.make << 3 | c.remove_it << 4;
}

enum { READ = 1, LIST = 2, WRITE = 4, MAKE = 8, REMOVE = 16, ALL = 31 };

static int make_socket(tree *t, const char *rel)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    const char *path = tree_at(t, rel);
    assert_true(strlen(path) < sizeof a.sun_path);
    memcpy(a.sun_path, path, strlen(path));
    int ok = !bind(fd, (struct sockaddr *)&a, sizeof a) && !unlink(a.sun_path);
    close(fd);
    return ok;
}

static tree t;

static int make_tree(void **state)
{
    (void)state;
    tree_make(&t);
    tree_text(&t, "data/f", "x", 1700000000);
    tree_text(&t, "temp/f", "x", 1700000000);
    tree_text(&t, "other/f", "x", 1700000000);
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    tree_remove(&t);
    return 0;
}

/* Runs the child; its exit code, 100 for a sandbox that could not be entered. */
static int in_sandbox(bool reads, int (*child)(void))
{
    static tree data, temp, log, run;
    data = temp = log = run = t;
    const sandbox_path paths[] = {{tree_at(&data, "data"), SANDBOX_READ},
                                  {tree_at(&temp, "temp"), SANDBOX_WRITE},
                                  {tree_at(&log, "other/f"), SANDBOX_FILE},
                                  {tree_at(&run, "other"), SANDBOX_SOCKET},
                                  {"/no/such", SANDBOX_READ}};
    int status;
    pid_t pid = fork();
    if (!pid)
        _exit(sandbox_enter(paths, 5, reads) < 0 ? 100 : child());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int in_data(void)
{
    return bits(try_all(&t, "data"));
}

static int in_temp(void)
{
    return bits(try_all(&t, "temp"));
}

/* f may be written as a log, sockets be made, nothing else. */
static int in_other(void)
{
    return bits(try_all(&t, "other"));
}

static int socket_in_other(void)
{
    return make_socket(&t, "other/s");
}

static int socket_in_data(void)
{
    return make_socket(&t, "data/s");
}

static int read_outside(void)
{
    return open("/etc/passwd", O_RDONLY) >= 0;
}

/* What it starts is bound as well. */
static int child_of_the_child(void)
{
    int status;
    char command[VP_PATH_MAX + 300];
    snprintf(command, sizeof command, "echo x > '%s'", tree_at(&t, "data/new"));
    pid_t pid = fork();
    if (!pid) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(101);
    }
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 101;
}

static void need_landlock(void)
{
    if (!sandbox_abi())
        skip_because("this kernel has no Landlock");
}

static void writing_is_restricted(void **state)
{
    (void)state;
    need_landlock();
    assert_int_equal(in_sandbox(false, in_data), READ | LIST);
    assert_int_equal(in_sandbox(false, in_temp), ALL);
    assert_int_equal(in_sandbox(false, in_other), READ | LIST | WRITE);
    assert_int_equal(in_sandbox(false, socket_in_other), 1);
    assert_int_equal(in_sandbox(false, socket_in_data), 0);
    assert_int_equal(in_sandbox(false, read_outside), 1);
    assert_int_equal(in_sandbox(false, child_of_the_child), 1);
}

static void reading_is_restricted_too(void **state)
{
    (void)state;
    need_landlock();
    assert_int_equal(in_sandbox(true, in_data), READ | LIST);
    assert_int_equal(in_sandbox(true, in_temp), ALL);
    assert_int_equal(in_sandbox(true, in_other), READ | LIST | WRITE);
    assert_int_equal(in_sandbox(true, read_outside), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writing_is_restricted),
        cmocka_unit_test(reading_is_restricted_too),
    };
    return cmocka_run_group_tests_name("sandbox", tests, make_tree, remove_tree);
}
