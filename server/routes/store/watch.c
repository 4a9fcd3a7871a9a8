#include "server/routes/store/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/base/time.h"

/* Events that can change the list of runs. Not IN_MODIFY: a growing file is read when its writer
 * closes it. */
#define CHANGES                                                                                    \
    (IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ATTRIB |            \
     IN_DELETE_SELF | IN_MOVE_SELF)
/* In ms: a burst of changes has ended if nothing changed for this time. A longer burst is
 * interrupted by scans. */
#define QUIET_MS 150
#define BURST_MAX_MS 1000

struct dir_watch {
    int wake, inotify; /* inotify: -1 if not available */
    vp_map watched;    /* by watch descriptor */
    _Atomic size_t count;
    _Atomic bool missed;
};

int dir_watch_new(dir_watch **out)
{
    dir_watch *w = vp_calloc(1, sizeof *w);
    VP_NEED(w);
    vp_map_init(&w->watched);
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    atomic_init(&w->missed, w->inotify < 0);
    if (w->wake < 0) {
        dir_watch_free(w);
        return vp_fail(VP_EIO, "no file descriptor left for an eventfd");
    }
    *out = w;
    return 0;
}

void dir_watch_free(dir_watch *w)
{
    if (!w)
        return;
    vp_fs_close(&w->wake);
    vp_fs_close(&w->inotify);
    vp_map_free(&w->watched);
    vp_free(w);
}

/* The map has no removal, so ended watches are marked. */
enum { GONE, LIVE };

static void set_live(dir_watch *w, int wd, uint32_t live)
{
    uint32_t was = vp_map_get(&w->watched, (uint64_t)wd);
    if (was == live || (live == GONE && was == VP_MAP_NONE))
        return;
    if (vp_map_set(&w->watched, (uint64_t)wd, live) < 0)
        atomic_store(&w->missed, true);
    else if (live == LIVE)
        atomic_fetch_add(&w->count, 1);
    else
        atomic_fetch_sub(&w->count, 1);
}

void dir_watch_add(dir_watch *w, const char *path)
{
    if (w->inotify < 0)
        return;
    if (atomic_load(&w->count) >= DIR_WATCH_MAX) {
        atomic_store(&w->missed, true);
        return;
    }
    int wd = inotify_add_watch(w->inotify, path, CHANGES);
    if (wd >= 0)
        set_live(w, wd, LIVE);
    else if (errno != ENOENT)
        atomic_store(&w->missed, true);
}

/* Reads the queue; true if it had relevant events. */
static bool drain_watch_events(dir_watch *w)
{
    alignas(struct inotify_event) char buf[16384];
    bool changed = false;
    ssize_t n;
    while ((n = read(w->inotify, buf, sizeof buf)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *e = (const void *)(buf + at);
            if (e->mask & IN_IGNORED)
                set_live(w, e->wd, GONE);
            else /* also IN_Q_OVERFLOW: events were lost */
                changed |= !e->len || e->name[0] != '.';
            at += (ssize_t)sizeof *e + (ssize_t)e->len;
        }
    return changed;
}

bool dir_watch_wait(dir_watch *w)
{
    struct pollfd p[] = {{.fd = w->wake, .events = POLLIN}, {.fd = w->inotify, .events = POLLIN}};
    int64_t until = 0;
    bool changed = false;
    for (;;) {
        int ready = poll(p, 2, changed ? QUIET_MS : -1);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready < 0)
            return changed;
        if (ready == 0 || (changed && vp_now_ms() >= until))
            return true;
        if (p[0].revents & POLLIN) {
            uint64_t n;
            while (read(w->wake, &n, sizeof n) > 0) {
            }
            return changed;
        }
        if ((p[1].revents & POLLIN) && drain_watch_events(w) && !changed) {
            changed = true;
            until = vp_now_ms() + BURST_MAX_MS;
        }
    }
}

void dir_watch_wake(dir_watch *w)
{
    const uint64_t one = 1;
    /* Fails only if the counter is full, and then the thread is awake. */
    if (write(w->wake, &one, sizeof one) < 0) {
    }
}

size_t dir_watch_count(const dir_watch *w, bool *all)
{
    *all = !atomic_load(&w->missed);
    return atomic_load(&w->count);
}
