/* Notices changes below directories (inotify), and can be woken: the thread that keeps the index
 * waits here. Where the kernel has no inotify, or not enough of it, nothing is noticed, and the
 * list is as new as requests make it. */
#ifndef VP_ROUTES_WATCH_H
#define VP_ROUTES_WATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Directories watched at most. The kernel's limit for a user is usually 8,192 or more, and other
 * programs want some, too. */
#define DIR_WATCH_MAX 4096u

typedef struct dir_watch dir_watch;

/* VP_EIO: it could not even be woken. */
int dir_watch_new(dir_watch **out);
void dir_watch_free(dir_watch *w);
/* Watches a directory, or a file, from now on; again is fine. Only the waiting thread adds. */
void dir_watch_add(dir_watch *w, const char *path);
/* Waits until something changed and then nothing for a moment (a run is written as many files),
 * or dir_watch_wake(). true: something changed. One thread waits. */
bool dir_watch_wait(dir_watch *w);
void dir_watch_wake(dir_watch *w);
/* How many are watched now; *all is false when some could not be. */
size_t dir_watch_count(const dir_watch *w, bool *all);

#endif
