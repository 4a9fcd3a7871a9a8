#include "trace/source/shared.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/mem.h"

int shared_open(shared *s, size_t n)
{
    s->n = n ? n : 1;
    s->fd = memfd_create("view_profile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->fd >= 0 && (ftruncate(s->fd, (off_t)s->n) < 0 ||
                       fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0))
        vp_fs_close(&s->fd);
    void *p = mmap(NULL, s->n, PROT_READ | PROT_WRITE,
                   s->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, s->fd, 0);
    if (p == MAP_FAILED) {
        vp_fs_close(&s->fd);
        return vp_no_memory();
    }
    s->p = p;
    return 0;
}

void shared_close(shared *s)
{
    if (!s->p)
        return;
    (void)munmap(s->p, s->n);
    vp_fs_close(&s->fd);
    s->p = NULL;
}
