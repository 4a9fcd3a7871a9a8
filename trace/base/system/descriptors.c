#include "trace/base/system/descriptors.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AT_EXEC 4u /* CLOSE_RANGE_CLOEXEC */
#define DESCRIPTORS_MAX 65536

void vp_close_range(unsigned first, unsigned last, bool at_exec)
{
#ifdef SYS_close_range /* the C library has the call only from 2.34 on */
    if (syscall(SYS_close_range, first, last, at_exec ? AT_EXEC : 0) == 0)
        return;
#endif
    long most = sysconf(_SC_OPEN_MAX);
    most = most > 0 && most < DESCRIPTORS_MAX ? most : DESCRIPTORS_MAX;
    for (unsigned fd = first; fd <= last && fd < (unsigned)most; fd++)
        (void)(at_exec ? fcntl((int)fd, F_SETFD, FD_CLOEXEC) : close((int)fd));
}
