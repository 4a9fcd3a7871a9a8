/* Waits for changes below directories (inotify) or for a wake-up; the thread of the index blocks
 * here. If inotify is not available or exhausted, no change is reported, and the list is refreshed
 * only by requests. */
#ifndef VP_ROUTES_WATCH_H
#define VP_ROUTES_WATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Maximum number of watched directories. The kernel's limit per user is usually 8,192 or more,
 * shared with other programs. */
#define DIR_WATCH_MAX 4096u

typedef struct dir_watch dir_watch;

/* VP_EIO: no eventfd. */
int dir_watch_new(dir_watch **out);
void dir_watch_free(dir_watch *w);
/* Watches a directory or a file; can be repeated. Only called by the waiting thread. */
void dir_watch_add(dir_watch *w, const char *path);
/* Waits for a change followed by a quiet period (a run is written as many files), or for
 * dir_watch_wake(). true: changed. Used by one thread. */
bool dir_watch_wait(dir_watch *w);
void dir_watch_wake(dir_watch *w);
/* Number of watched directories; *all is false if some could not be watched. */
size_t dir_watch_count(const dir_watch *w, bool *all);

#endif
