#include "server/cli/gates/show_slowest.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

bool cli_show_slowest(const char *program, const cli_options *o, int64_t rows, bool quiet,
                      const char *path, int out)
{
    char number[24];
    static const char *const colors[] = {"auto", "always", "never"};
    const char *argv[12] = {program, "top", "--color", colors[o->color]};
    size_t n = 4;
    int status;
    pid_t pid;
    posix_spawn_file_actions_t files;
    if (rows >= 0) {
        snprintf(number, sizeof number, "%lld", (long long)rows);
        argv[n++] = "--top";
        argv[n++] = number;
    }
    if (quiet)
        argv[n++] = "--quiet";
    argv[n++] = "--";
    argv[n] = path;
    if (posix_spawn_file_actions_init(&files))
        return false;
    int rc =
        out == STDOUT_FILENO ? 0 : posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    /* posix_spawn does not modify the strings, but takes char *. */
    if (!rc)
        rc = posix_spawn(&pid, program, &files, NULL, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawn_file_actions_destroy(&files);
    if (rc)
        return false;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
