#include "server/cli/input/profile_dir.h"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/base/mem.h"
#include "trace/base/str.h"

/* True for the directory plugins/ of a TensorBoard log directory below ./profiles; the log
 * directory is used instead. */
static bool inside_log_dir(const char *path)
{
    vp_str s = vp_str_of(path);
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    return vp_str_ends(s, VP_STR("/plugins"));
}

static bool is_newer_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Sets *best (owned) to the newest directory of *best and the matches of one pattern. */
static void consider_profile_dirs(const char *pattern, char **best, struct timespec *newest)
{
    glob_t g = {0};
    size_t n = glob(pattern, 0, NULL, &g) == 0 ? g.gl_pathc : 0;
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        if (inside_log_dir(g.gl_pathv[i]) || stat(g.gl_pathv[i], &st) < 0 ||
            (*best && !is_newer_time(&st.st_mtim, newest)))
            continue;
        vp_free(*best);
        *best = vp_strdup(g.gl_pathv[i]);
        *newest = st.st_mtim;
    }
    globfree(&g);
}

char *cli_default_dir(void)
{
    struct timespec newest = {0};
    char *best = NULL;
    consider_profile_dirs("./profiles/*/", &best, &newest);
    consider_profile_dirs("./profiles/*/*/", &best, &newest);
    consider_profile_dirs("./*/profiles/*/", &best, &newest);
    return best ? best : vp_strdup(".");
}
