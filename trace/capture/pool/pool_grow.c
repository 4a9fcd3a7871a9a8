#include "trace/capture/pool/pool_grow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "include/view_profile_capture.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/thread.h"
#include "trace/capture/disk/run_dir.h"
#include "trace/capture/disk/small_files.h"
#include "trace/capture/pool/pool.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* Steps in which the file grows: AREA_STEP for a table, STEP for chunks if no thread reserves
 * ahead. The thread keeps as many bytes in reserve as are in use, between AHEAD_MIN and
 * AHEAD_MAX. */
#define AREA_STEP (UINT64_C(64) << 10)
#define STEP (UINT64_C(256) << 10)
#define AHEAD_MIN (UINT64_C(1) << 20)
#define AHEAD_MAX (UINT64_C(16) << 20)
/* Bytes that the start of a recording touches itself, because touching a page of a file takes 5 us
 * or more. The thread touches the rest, in steps that its end has to wait for. */
#define FILL_FIRST (UINT64_C(16) << 10)
#define FILL_STEP (UINT64_C(64) << 10)

static uint64_t lesser_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Triggers the page faults of the first write to these bytes. Concurrent writes of others are
 * preserved. */
static void populate_pages(char *at, size_t bytes)
{
    if (madvise(at, bytes, MADV_POPULATE_WRITE) == 0)
        return;
    for (size_t i = 0; i < bytes; i += VP__PAGE)
        __atomic_fetch_or(at + i, 0, __ATOMIC_RELAXED);
}

/* Reserves space on the disk. 0 or an errno; EOPNOTSUPP: the file system cannot. */
static int reserve_file_range(int fd, uint64_t from, uint64_t to)
{
    sigset_t before;
    int rc;
    run_dir_hold_signal(&before);
    do
        rc = fallocate(fd, 0, (off_t)from, (off_t)(to - from)) == 0 ? 0 : errno;
    while (rc == EINTR);
    run_dir_free_signal(&before);
    return rc;
}

static int fail_pool_size(const vpcap_header *h, int err)
{
    return vp_fail(cap_file_code(err), "cannot create a pool of %llu bytes: %s",
                   (unsigned long long)h->image_bytes, strerror(err));
}

/* If holes of a file cannot be filled later, it gets its full size at the start. */
static int reserve_all(cap_grow *g, const vpcap_header *h, int fd)
{
    sigset_t before;
    int rc;
    run_dir_hold_signal(&before);
    do
        rc = posix_fallocate(fd, 0, (off_t)h->image_bytes);
    while (rc == EINTR);
    run_dir_free_signal(&before);
    g->names = g->strings = UINT64_MAX;
    g->chunks = h->image_bytes - h->chunks_at;
    return rc ? fail_pool_size(h, rc) : 0;
}

static int reserve_first(cap_grow *g, const vpcap_header *h, int fd)
{
    int rc = reserve_file_range(fd, 0, h->names.at + g->names);
    if (rc == EOPNOTSUPP || rc == ENOSYS)
        return reserve_all(g, h, fd);
    rc = rc ? rc : reserve_file_range(fd, h->strings.at, h->strings.at + g->strings);
    rc = rc ? rc : reserve_file_range(fd, h->chunks_at, h->chunks_at + g->chunks);
    return rc ? fail_pool_size(h, rc) : 0;
}

int grow_open(cap_grow *g, const vpcap_header *h, int fd, const char *path)
{
    struct stat st;
    *g = (cap_grow){.names = AREA_STEP, .strings = AREA_STEP};
    g->chunks = lesser_u64(AHEAD_MIN, (uint64_t)h->pages * VP__PAGE);
    if (fd < 0)
        return 0;
    VP_TRY(reserve_first(g, h, fd));
    g->path = vp_strdup(path);
    if (!g->path)
        return vp_fail(VP_ENOMEM, "out of memory: a pool");
    g->file = fcntl(fd, F_DUPFD_CLOEXEC, 0) + 1;
    if (!g->file || fstat(fd, &st) < 0)
        return fail_pool_size(h, errno);
    g->dev = st.st_dev;
    g->ino = st.st_ino;
    return 0;
}

void grow_close(cap_grow *g)
{
    if (g->file)
        close(g->file - 1);
    vp_free(g->path);
    *g = (cap_grow){.file = 0};
}

static bool is_it(const cap_grow *g, int fd)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == g->dev && st.st_ino == g->ino;
}

/* Reserves space in the file, by its path if necessary: a program that becomes a daemon closes
 * unknown descriptors, and its next file may get our number. */
static bool extend_file(const cap_grow *g, uint64_t from, uint64_t to)
{
    if (!g->file)
        return true;
    if (is_it(g, g->file - 1))
        return reserve_file_range(g->file - 1, from, to) == 0;
    int fd = open(g->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ok = is_it(g, fd) && reserve_file_range(fd, from, to) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Two threads may extend the same part; doing it twice is harmless. */
static void raise_to(uint64_t *ready, uint64_t to)
{
    uint64_t was = __atomic_load_n(ready, __ATOMIC_RELAXED);
    while (was < to &&
           !__atomic_compare_exchange_n(ready, &was, to, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

static bool grow_area_to(struct cap_pool *p, uint64_t at, uint64_t *ready, uint64_t to)
{
    int before = errno;
    uint64_t from = __atomic_load_n(ready, __ATOMIC_ACQUIRE);
    bool ok = from >= to || extend_file(&p->grow, at + from, at + to);
    if (ok)
        raise_to(ready, to);
    errno = before;
    return ok;
}

static void fill_to(struct cap_pool *p, uint64_t from, uint64_t to)
{
    populate_pages(p->image + p->head->chunks_at + from, to - from);
    p->grow.filled = to;
}

void grow_fill_first(struct cap_pool *p)
{
    fill_to(p, 0, lesser_u64(FILL_FIRST, p->grow.chunks));
}

/* Touches one more step of unused pages. false: none is left. */
static bool fill_ahead(struct cap_pool *p)
{
    uint64_t used = (uint64_t)VP__LOAD(p->head->pages_used) * VP__PAGE;
    uint64_t ready = __atomic_load_n(&p->grow.chunks, __ATOMIC_ACQUIRE);
    uint64_t from = p->grow.filled > used ? p->grow.filled : used;
    uint64_t to = lesser_u64(ready, used + AHEAD_MAX);
    if (from >= to)
        return false;
    fill_to(p, from, lesser_u64(from + FILL_STEP, to));
    return true;
}

static uint64_t pages_bytes(const struct cap_pool *p)
{
    return (uint64_t)p->head->pages * VP__PAGE;
}

static void wake_grow_thread(cap_grow *g)
{
    __atomic_fetch_add(&g->calls, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &g->calls, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static uint64_t ahead_of(uint64_t used)
{
    return used < AHEAD_MIN ? AHEAD_MIN : lesser_u64(used, AHEAD_MAX);
}

bool grow_pages(struct cap_pool *p, uint32_t pages)
{
    cap_grow *g = &p->grow;
    uint64_t used = (uint64_t)pages * VP__PAGE, all = pages_bytes(p);
    uint64_t ready = __atomic_load_n(&g->chunks, __ATOMIC_ACQUIRE);
    if (used > ready && !grow_area_to(p, p->head->chunks_at, &g->chunks,
                                      lesser_u64((used + STEP - 1) / STEP * STEP, all)))
        return false;
    if (ready < all && ready < used + ahead_of(used) / 2 &&
        __atomic_load_n(&g->runs, __ATOMIC_RELAXED)) {
        int before = errno;
        wake_grow_thread(g);
        errno = before;
    }
    return true;
}

bool grow_area(struct cap_pool *p, const vpcap_area *a, uint64_t *ready, uint64_t n)
{
    if (n <= __atomic_load_n(ready, __ATOMIC_ACQUIRE))
        return true;
    return grow_area_to(p, a->at, ready, (n + AREA_STEP - 1) / AREA_STEP * AREA_STEP);
}

/* Grows by one step only, so that grow_stop does not wait long. false: complete, or no space. */
static bool keep_ahead(struct cap_pool *p)
{
    uint64_t used = (uint64_t)VP__LOAD(p->head->pages_used) * VP__PAGE;
    uint64_t ready = __atomic_load_n(&p->grow.chunks, __ATOMIC_ACQUIRE);
    uint64_t wanted = lesser_u64(used + ahead_of(used), pages_bytes(p));
    return ready < wanted &&
           grow_area_to(p, p->head->chunks_at, &p->grow.chunks, lesser_u64(ready + STEP, wanted));
}

static void tell_if_full(struct cap_pool *p)
{
    cap_grow *g = &p->grow;
    if (g->owner && __atomic_load_n(&p->head->flags, __ATOMIC_ACQUIRE) & VPCAP_IS_FULL) {
        g->tell_full(g->owner, p);
        g->owner = 0;
    }
}

static void *grow_thread(void *ctx)
{
    struct cap_pool *p = ctx;
    cap_grow *g = &p->grow;
    for (;;) {
        uint32_t seen = __atomic_load_n(&g->calls, __ATOMIC_ACQUIRE);
        tell_if_full(p);
        if (__atomic_load_n(&g->ends, __ATOMIC_RELAXED))
            return NULL;
        if (!fill_ahead(p) && !keep_ahead(p))
            syscall(SYS_futex, &g->calls, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    }
}

void grow_start(struct cap_pool *p, uint64_t owner,
                void (*tell_full)(uint64_t owner, const struct cap_pool *p))
{
    cap_grow *g = &p->grow;
    bool whole = g->filled == pages_bytes(p);
    g->ends = false;
    g->owner = owner;
    g->tell_full = tell_full;
    if ((!whole || owner) && vp_thread_start(&g->thread, grow_thread, p) == 0)
        __atomic_store_n(&g->runs, true, __ATOMIC_RELAXED);
}

void grow_end(struct cap_pool *p)
{
    int before = errno;
    if (__atomic_load_n(&p->grow.runs, __ATOMIC_RELAXED))
        wake_grow_thread(&p->grow);
    errno = before;
}

void grow_stop(struct cap_pool *p)
{
    cap_grow *g = &p->grow;
    if (!g->runs)
        return;
    __atomic_store_n(&g->runs, false, __ATOMIC_RELAXED);
    __atomic_store_n(&g->ends, true, __ATOMIC_RELAXED);
    wake_grow_thread(g);
    pthread_join(g->thread, NULL);
}
