/* Files that users and archives name: opened beneath a root, never through a link out of it,
 * regular files only, never blocking on a FIFO. The profile directory is only ever read.
 * Callers own the descriptors. Everyone may include this header. */
#ifndef VP_BASE_FS_H
#define VP_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a file was when we looked: caches and ETags are keyed by it. */
typedef struct vp_file_id {
    uint64_t dev, ino;
    int64_t size;     /* bytes */
    int64_t mtime_ns; /* Unix */
} vp_file_id;

/* Opens a path that the user typed (links followed) for reading: a regular file or a directory.
 * *is_dir tells which; *id is filled. VP_ENOTFOUND, VP_EIO, VP_EREFUSED (device, socket, FIFO). */
int vp_fs_open_user(const char *path, int *fd, bool *is_dir, vp_file_id *id);

/* Opens `path` (relative, no "..") beneath root_fd for reading. Links inside the root are followed
 * when they stay inside (openat2 RESOLVE_BENEATH; component-wise O_NOFOLLOW before Linux 5.6, where
 * links are refused). Regular files or directories only. */
int vp_fs_open_beneath(int root_fd, const char *path, int *fd, bool *is_dir, vp_file_id *id);

/* Up to n bytes at offset, retrying EINTR; short only at the end of the file. */
int vp_fs_pread(int fd, void *buf, size_t n, int64_t offset, size_t *got);
int vp_fs_write_all(int fd, const void *buf, size_t n);
/* At an offset, the file's own position untouched. */
int vp_fs_pwrite_all(int fd, const void *buf, size_t n, int64_t offset);
int vp_fs_identity(int fd, vp_file_id *id);
struct stat;
/* What stat() said; a time that int64 ns cannot hold is the nearest that they can. */
vp_file_id vp_fs_id(const struct stat *st);
/* An unlinked temporary file in $TMPDIR or /tmp, read-write. */
int vp_fs_temp(int *fd);
/* A new private directory NAME_XXXXXX in $TMPDIR or /tmp; path written to out (VP_PATH_MAX). */
int vp_fs_temp_dir(const char *name, char *out);
/* For VP_CLEANUP: closes *fd when >= 0. */
void vp_fs_close(int *fd);
/* Gives the descriptor away: returns it and sets *fd to -1. */
int vp_fs_take(int *fd);
/* Tests: the k-th read, write or open from now fails with this errno (0 k switches it off). */
void vp_fs_fail_at(uint64_t k, int err);

#endif
