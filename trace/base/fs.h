/* Opens and reads files whose names come from users and archives. Files are opened beneath a root
 * and never through a link out of it; only regular files are accepted, and a FIFO never blocks. The
 * profile directory is only read. Callers own the descriptors and close them. */
#ifndef VP_BASE_FS_H
#define VP_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Identity of a file when it was examined: key of caches and ETags. */
typedef struct vp_file_id {
    uint64_t dev, ino;
    int64_t size;     /* bytes */
    int64_t mtime_ns; /* Unix */
} vp_file_id;

/* Opens a path that the user typed for reading, following links: a regular file or a directory.
 * Sets *is_dir and *id. VP_ENOTFOUND, VP_EIO, VP_EREFUSED (device, socket, FIFO). */
int vp_fs_open_user(const char *path, int *fd, bool *is_dir, vp_file_id *id);

/* Opens `path` (relative, no "..") beneath root_fd for reading. Links inside the root are followed
 * when they stay inside (openat2 RESOLVE_BENEATH; component-wise O_NOFOLLOW before Linux 5.6, where
 * links are refused). Regular files or directories only. */
int vp_fs_open_beneath(int root_fd, const char *path, int *fd, bool *is_dir, vp_file_id *id);

/* Reads up to n bytes at offset, retrying on EINTR; less than n only at the end of the file. */
int vp_fs_pread(int fd, void *buf, size_t n, int64_t offset, size_t *got);
int vp_fs_write_all(int fd, const void *buf, size_t n);
/* Writes at an offset; the file position does not change. */
int vp_fs_pwrite_all(int fd, const void *buf, size_t n, int64_t offset);
int vp_fs_identity(int fd, vp_file_id *id);
struct stat;
/* Converts the result of stat(); a time outside of int64 ns is clamped. */
vp_file_id vp_fs_id(const struct stat *st);
/* An unlinked temporary file in $TMPDIR or /tmp, read-write. */
int vp_fs_temp(int *fd);
/* Makes a private directory NAME_XXXXXX in $TMPDIR or /tmp; writes its path to out (VP_PATH_MAX
 * bytes). */
int vp_fs_temp_dir(const char *name, char *out);
/* For VP_CLEANUP: closes *fd when >= 0. */
void vp_fs_close(int *fd);
/* Transfers ownership of the descriptor: returns it and sets *fd to -1. */
int vp_fs_take(int *fd);
/* For tests: the k-th read, write or open from now fails with this errno; k = 0 disables this. */
void vp_fs_fail_at(uint64_t k, int err);

#endif
