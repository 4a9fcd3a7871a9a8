#include "trace/capture/control/control_wake.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

static _Atomic bool is_signalled;
static _Atomic int wake_fd = -1;

void control_wake(bool signalled)
{
    uint64_t one = 1;
    int saved = errno, fd = atomic_load(&wake_fd);
    if (signalled)
        atomic_store(&is_signalled, true);
    if (fd >= 0 && write(fd, &one, sizeof one) < 0)
        errno = 0; /* the counter is full, so the thread is already awake */
    errno = saved;
}

int control_wake_fd(void)
{
    return atomic_load(&wake_fd);
}

int control_set_wake_fd(int fd)
{
    return atomic_exchange(&wake_fd, fd);
}

bool control_was_signalled(void)
{
    return atomic_exchange(&is_signalled, false);
}
