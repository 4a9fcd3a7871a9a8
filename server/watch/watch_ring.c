/* The ring of the newest runs of a watch. A run is removed only if its name still refers to the
 * directory that the watch created. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "server/watch/watch_store.h"
#include "trace/base/err.h"
#include "trace/base/system/temp_tree.h"
#include "trace/capture/disk/small_files.h"

#define TRASH "removing"

static bool is_plain_run_name(const char *run)
{
    return run[0] && run[0] != '.' && !strchr(run, '/') && strlen(run) < 200;
}

/* Identifies the directory with this name. VP_ENOTFOUND: none. */
static int look_up_run_dir(const watch_store *s, watch_kept *k, const char *run)
{
    struct statx st;
    char path[VP_PATH_MAX];
    watch_run_path(path, run);
    if (!is_plain_run_name(run) ||
        statx(s->dir, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_INO | STATX_BTIME, &st) < 0 ||
        !S_ISDIR(st.stx_mode))
        return vp_fail(VP_ENOTFOUND, "no run with this name was written");
    bool born = st.stx_mask & STATX_BTIME && st.stx_btime.tv_sec > 0;
    *k =
        (watch_kept){.run = (char *)(uintptr_t)run,
                     .dev = (uint64_t)makedev(st.stx_dev_major, st.stx_dev_minor),
                     .ino = st.stx_ino,
                     .born_ns = born ? st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec : -1,
                     .median_ps = -1};
    return 0;
}

bool watch_ring_is_here(const watch_store *s, const char *run)
{
    watch_kept k;
    return look_up_run_dir(s, &k, run) >= 0;
}

int watch_ring_add(const watch_store *s, watch_job *j, const char *run)
{
    watch_kept k;
    VP_TRY(look_up_run_dir(s, &k, run));
    for (size_t i = 0; i < j->run_count; i++)
        if (!strcmp(j->runs[i].run, run)) {
            watch_job_drop_run(j, i);
            break;
        }
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

/* Renamed first, so that no viewer sees a partly removed run. */
int watch_ring_leave(const watch_store *s, const watch_kept *k)
{
    watch_kept now;
    char path[VP_PATH_MAX];
    if (look_up_run_dir(s, &now, k->run) < 0 || now.ino != k->ino || now.dev != k->dev ||
        now.born_ns != k->born_ns)
        return 0; /* another directory has its name */
    watch_run_path(path, k->run);
    empty_trash(s);
    if (renameat(s->dir, path, s->inner, TRASH) < 0)
        return cap_file_fail("remove", k->run, errno);
    empty_trash(s);
    return 0;
}

static size_t runs_beyond_limit(const watch_job *j, int64_t keep)
{
    size_t live = 0;
    for (size_t i = 0; i < j->run_count; i++)
        live += !j->runs[i].doomed;
    return live > (size_t)keep ? live - (size_t)keep : 0;
}

int watch_ring_trim(const watch_store *s, watch_job *j, int64_t keep)
{
    size_t left = runs_beyond_limit(j, keep);
    for (size_t i = 0; left && i < j->run_count;) {
        watch_kept *k = &j->runs[i];
        if (k->doomed) {
            i++;
            continue;
        }
        left--;
        if (j->baseline && !strcmp(j->baseline, k->run)) {
            i++; /* the baseline is kept in addition to the newest runs */
            continue;
        }
        k->doomed = k->file_count > 0;
        if (!k->doomed)
            VP_TRY(watch_ring_leave(s, k));
        watch_inner_remove(s, k->run, "json");
        if (!k->doomed)
            watch_job_drop_run(j, i);
        else
            i++;
    }
    return 0;
}
