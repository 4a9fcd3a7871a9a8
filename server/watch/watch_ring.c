/* The newest runs that a watch made, and no others: a run is removed only where its name still has
 * the inode that the watch noted when it made it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/watch/watch_store.h"
#include "trace/base/err.h"
#include "trace/base/temp_tree.h"
#include "trace/capture/disk/small_files.h"

#define TRASH "removing"

static bool is_plain(const char *run)
{
    return run[0] && run[0] != '.' && !strchr(run, '/') && strlen(run) < 200;
}

int watch_ring_add(const watch_store *s, watch_job *j, const char *run)
{
    struct stat st;
    char path[VP_PATH_MAX];
    watch_run_path(path, run);
    if (!is_plain(run) || fstatat(s->dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISDIR(st.st_mode))
        return vp_fail(VP_ENOTFOUND, "no run of that name was written");
    for (size_t i = 0; i < j->run_count; i++)
        if (!strcmp(j->runs[i].run, run)) {
            watch_job_drop_run(j, i);
            break;
        }
    watch_kept k = {.run = (char *)(uintptr_t)run,
                    .dev = (uint64_t)st.st_dev,
                    .ino = (uint64_t)st.st_ino,
                    .median_ps = -1};
    return watch_job_add_run(j, &k);
}

static void empty_trash(const watch_store *s)
{
    char path[VP_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/" WATCH_INNER "/" TRASH, s->out);
    if (n > 0 && n < (int)sizeof path)
        vp_remove_tree(path);
}

void watch_ring_sweep(const watch_store *s)
{
    empty_trash(s);
}

/* 1: it is gone; 0: what has its name is another's. From the moment of the rename no viewer sees a
 * part of it. */
static int remove_run(const watch_store *s, const watch_kept *k)
{
    struct stat st;
    char path[VP_PATH_MAX];
    watch_run_path(path, k->run);
    if (fstatat(s->dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : cap_file_fail("look at", k->run, errno);
    if (!S_ISDIR(st.st_mode) || (uint64_t)st.st_ino != k->ino || (uint64_t)st.st_dev != k->dev)
        return 0;
    empty_trash(s);
    if (renameat(s->dir, path, s->inner, TRASH) < 0)
        return cap_file_fail("remove", k->run, errno);
    empty_trash(s);
    return 1;
}

int watch_ring_trim(const watch_store *s, watch_job *j, int64_t keep, size_t *removed)
{
    size_t beyond = j->run_count > (size_t)keep ? j->run_count - (size_t)keep : 0;
    *removed = 0;
    for (size_t i = 0; beyond; beyond--) {
        const watch_kept *k = &j->runs[i];
        if (j->baseline && !strcmp(j->baseline, k->run)) {
            i++; /* it stands beside the newest */
            continue;
        }
        int rc = remove_run(s, k);
        VP_TRY(rc);
        *removed += (size_t)rc;
        watch_inner_remove(s, k->run, "json");
        watch_job_drop_run(j, i);
    }
    return 0;
}
