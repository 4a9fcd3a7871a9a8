#include "trace/source/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/text/sha256.h"

void kept_name(char out[KEPT_NAME], const vp_str *parts, size_t n)
{
    unsigned char hash[VP_SHA256_BYTES] = {0};
    vp_buf all;
    vp_buf_init(&all, 1 << 20);
    for (size_t i = 0; i < n; i++) {
        vp_buf_u64(&all, parts[i].n); /* lengths make the text of a list of parts unique */
        vp_buf_putc(&all, ':');
        vp_buf_str(&all, parts[i]);
    }
    if (all.status >= 0)
        vp_sha256(all.p, all.n, hash);
    vp_buf_free(&all);
    for (size_t i = 0; i < sizeof hash; i++)
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

int kept_open(kept *k, const char *name, int *fd)
{
    *fd = openat(k->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (*fd < 0)
        return VP_ENOTFOUND;
    (void)futimens(*fd, NULL); /* marks it as used now */
    return 0;
}

static int cannot_keep(void)
{
    int code = errno == ENOSPC || errno == EDQUOT ? VP_ENOSPC : VP_EIO;
    return vp_fail(code, "cannot write to the cache directory: %s", strerror(errno));
}

int kept_new(kept *k, char temp[KEPT_NAME], int *fd)
{
    static _Atomic unsigned count;
    snprintf(temp, KEPT_NAME, "new.%ld.%u", (long)getpid(), atomic_fetch_add(&count, 1));
    *fd = openat(k->dir, temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0 && errno == EEXIST) { /* of a process with our id */
        (void)unlinkat(k->dir, temp, 0);
        *fd = openat(k->dir, temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    return *fd < 0 ? cannot_keep() : 0;
}

void kept_drop(kept *k, const char *temp)
{
    (void)unlinkat(k->dir, temp, 0);
}

/* If it cannot be renamed, it is used only this once. */
void kept_keep(kept *k, const char *temp, const char *name, int64_t bytes)
{
    if (renameat(k->dir, temp, k->dir, name) < 0)
        kept_drop(k, temp);
    pthread_mutex_lock(&k->lock);
    k->added += bytes;
    bool much = k->added > k->most_bytes / 4;
    pthread_mutex_unlock(&k->lock);
    if (much)
        kept_trim(k);
}

typedef struct file {
    char name[KEPT_NAME];
    int64_t used_ns, bytes;
} file;

static int by_use(const void *pa, const void *pb)
{
    const file *a = pa, *b = pb;
    return (a->used_ns > b->used_ns) - (a->used_ns < b->used_ns);
}

typedef struct files {
    file *list;
    size_t n, cap;
    int64_t bytes;
} files;

static void note_kept_file(files *all, int dir, const char *name)
{
    struct stat st;
    size_t n = strlen(name);
    if (name[0] == '.' || n >= KEPT_NAME || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        vp_grow(&all->list, &all->cap, all->n + 1, sizeof *all->list,
                2 * VP_REMOTE_KEPT_FILES_MAX) < 0)
        return;
    file *f = &all->list[all->n++];
    memcpy(f->name, name, n + 1);
    f->used_ns = vp_fs_id(&st).mtime_ns;
    f->bytes = st.st_blocks * 512;
    all->bytes += f->bytes;
}

void kept_trim(kept *k)
{
    files all = {0};
    const struct dirent *e;
    int fd = openat(k->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return;
    pthread_mutex_lock(&k->lock);
    k->added = 0;
    pthread_mutex_unlock(&k->lock);
    while ((e = readdir(d)))
        note_kept_file(&all, k->dir, e->d_name);
    closedir(d);
    bool over = all.bytes > k->most_bytes || all.n > k->most_files;
    if (over && all.n)
        qsort(all.list, all.n, sizeof *all.list, by_use);
    size_t left = all.n;
    for (size_t i = 0;
         over && i < all.n && (all.bytes > k->most_bytes / 4 * 3 || left > k->most_files / 2);
         i++, left--)
        if (unlinkat(k->dir, all.list[i].name, 0) == 0)
            all.bytes -= all.list[i].bytes;
    vp_free(all.list);
}
