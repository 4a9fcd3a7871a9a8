/* Loaded before libc (LD_PRELOAD), it lets every question to the file system take SLOW_FILES_US
 * more, as on a network; at the end it says on standard error how many there were. What libc asks
 * for itself it does not catch. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

struct stat;

static _Atomic unsigned long asked;
static long us;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("SLOW_FILES_US");
    us = text ? atol(text) : 1000;
}

__attribute__((destructor)) static void end(void)
{
    fprintf(stderr, "slow_files: %lu questions\n", (unsigned long)asked);
}

static void *late(const char *name)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    asked++;
    nanosleep(&t, NULL);
    return dlsym(RTLD_NEXT, name);
}

#define LATE(name, result, parameters, arguments)                                                  \
    result name parameters;                                                                        \
    result name parameters                                                                         \
    {                                                                                              \
        result(*real) parameters;                                                                  \
        *(void **)&real = late(#name);                                                             \
        return real arguments;                                                                     \
    }

LATE(open, int, (const char *p, int flags, mode_t mode), (p, flags, mode))
LATE(open64, int, (const char *p, int flags, mode_t mode), (p, flags, mode))
LATE(openat, int, (int d, const char *p, int flags, mode_t mode), (d, p, flags, mode))
LATE(openat64, int, (int d, const char *p, int flags, mode_t mode), (d, p, flags, mode))
LATE(__open_2, int, (const char *p, int flags), (p, flags))
LATE(__open64_2, int, (const char *p, int flags), (p, flags))
LATE(__openat_2, int, (int d, const char *p, int flags), (d, p, flags))
LATE(__openat64_2, int, (int d, const char *p, int flags), (d, p, flags))
LATE(stat, int, (const char *p, struct stat *st), (p, st))
LATE(stat64, int, (const char *p, struct stat *st), (p, st))
LATE(lstat, int, (const char *p, struct stat *st), (p, st))
LATE(lstat64, int, (const char *p, struct stat *st), (p, st))
LATE(fstat, int, (int fd, struct stat *st), (fd, st))
LATE(fstat64, int, (int fd, struct stat *st), (fd, st))
LATE(fstatat, int, (int d, const char *p, struct stat *st, int flags), (d, p, st, flags))
LATE(fstatat64, int, (int d, const char *p, struct stat *st, int flags), (d, p, st, flags))
LATE(faccessat, int, (int d, const char *p, int mode, int flags), (d, p, mode, flags))
LATE(getdents64, ssize_t, (int fd, void *p, size_t n), (fd, p, n))
LATE(read, ssize_t, (int fd, void *p, size_t n), (fd, p, n))
LATE(__read_chk, ssize_t, (int fd, void *p, size_t n, size_t room), (fd, p, n, room))
LATE(pread, ssize_t, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
LATE(pread64, ssize_t, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
LATE(__pread_chk, ssize_t, (int fd, void *p, size_t n, off_t at, size_t room), (fd, p, n, at, room))
LATE(__pread64_chk, ssize_t, (int fd, void *p, size_t n, off_t at, size_t room),
     (fd, p, n, at, room))

/* openat2 has no wrapper of its own. */
long syscall(long number, ...);
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    va_list ap;
    long a[6];
    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    if (number == SYS_openat2)
        *(void **)&real = late("syscall");
    else
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
