/* What the kernel starts where a program of aarch64 is to run (scripts/aarch64): qemu, with the
 * root that its libraries are in. binfmt_misc gives the program's path, then its arguments from the
 * name on. A process is called what the file is that was started, so qemu is, by a link of the
 * program's name in VP_NAMES. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char *all[argc + 5], link[PATH_MAX];
    int n = 0;
    if (argc < 3)
        return 127;
    const char *slash = strrchr(argv[1], '/');
    snprintf(link, sizeof link, VP_NAMES "/%s", slash ? slash + 1 : argv[1]);
    if (symlink(VP_QEMU, link)) {
        /* it is there, or qemu is started by its own name */
    }
    all[n++] = "qemu-aarch64-static";
    all[n++] = "-L";
    all[n++] = VP_ROOT;
    all[n++] = "-0";
    all[n++] = argv[2];
    all[n++] = argv[1];
    for (int i = 3; i <= argc; i++)
        all[n++] = argv[i];
    execv(link, all);
    execv(VP_QEMU, all);
    return 127;
}
