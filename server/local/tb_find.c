#include "server/local/tb_find.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/local/tb_info.h"
#include "server/local/tb_listener.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"

#define XPROF_PORT 8791
#define LOGDIR_TIMEOUT_MS 1000

/* ---- Which run ------------------------------------------------------------------------------- */

/* True if every xplane file of the run is in this directory, by device and inode. */
static bool holds_session(int dir, const cat_session *s)
{
    size_t same = 0;
    for (size_t i = 0; i < s->file_count; i++) {
        const cat_file *f = &s->files[i];
        struct stat st;
        if (f->kind.format != RD_XSPACE)
            continue;
        if (f->is_member || fstatat(dir, f->name, &st, 0) != 0 ||
            (uint64_t)st.st_dev != f->id.dev || (uint64_t)st.st_ino != f->id.ino)
            return false;
        same++;
    }
    return same > 0;
}

/* The directory of TensorBoard's run "a/b/RUN" is LOGDIR/a/b/plugins/profile/RUN. */
static bool run_is_session(const char *run, const char *logdir, const cat_session *s)
{
    char path[VP_PATH_MAX];
    const char *name = vp_path_name(run);
    int n = snprintf(path, sizeof path, "%s/%.*splugins/profile/%s", logdir, (int)(name - run), run,
                     name);
    if (n >= (int)sizeof path)
        return false;
    VP_CLEANUP(vp_fs_close) int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir >= 0 && holds_session(dir, s);
}

static bool is_directory(const char *path)
{
    struct stat st;
    return path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int tb_match_run(char *run, vp_str runs_json, const char *logdir, const cat_session *s)
{
    json_t *runs = json_loadb(runs_json.p ? runs_json.p : "", runs_json.n, 0, NULL), *entry;
    bool good = json_is_array(runs), look = is_directory(logdir);
    const char *found = NULL;
    size_t i;
    json_array_foreach(runs, i, entry)
    {
        const char *text = json_string_value(entry);
        if (found || !text || strlen(text) >= VP_MEMBER_NAME_MAX)
            continue;
        if (look ? strcmp(vp_path_name(text), vp_path_name(s->name)) == 0 &&
                       run_is_session(text, logdir, s)
                 : strcmp(text, s->name) == 0)
            found = text;
    }
    if (found)
        snprintf(run, VP_MEMBER_NAME_MAX, "%s", found);
    json_decref(runs);
    if (!good)
        return vp_fail(VP_ECORRUPT, "TensorBoard returned an invalid list of runs");
    return found ? 0 : vp_fail(VP_ENOTFOUND, "TensorBoard does not list the run");
}

/* ---- Who is there ---------------------------------------------------------------------------- */

/* True if the program belongs to this user or to root (the port of a container belongs to root). If
 * /proc does not show it, because the kernel hides sockets of other users, it is trusted. */
static bool is_trusted(tb_listener *who, int port)
{
    *who = (tb_listener){0};
    return tb_listener_find(who, port) < 0 || who->uid == geteuid() || who->uid == 0;
}

/* Queries the log directory; only TensorBoard has this page, XProf does not. */
static int ask_logdir(char *logdir, bool *xprof, const tb_place *at, const tb_listener *who)
{
    VP_CLEANUP(vp_buf_free) vp_buf answer;
    vp_buf_init(&answer, VP_LOCAL_ANSWER_MAX);
    int rc = tb_get(&answer, at, "/data/logdir", LOGDIR_TIMEOUT_MS);
    *xprof = rc == VP_ENOTFOUND;
    if (rc < 0 && !*xprof)
        return rc;
    pid_t pid = who->inode ? tb_listener_pid(who) : 0;
    json_t *said = json_loadb(answer.p ? answer.p : "", answer.n, 0, NULL);
    rc = tb_listener_logdir(logdir, pid, json_string_value(json_object_get(said, "logdir")));
    json_decref(said);
    return rc;
}

static int try_place(tb_found *out, const tb_place *at, const cat_session *s)
{
    VP_CLEANUP(vp_buf_free) vp_buf runs;
    char logdir[VP_PATH_MAX] = "";
    bool plugin;
    tb_listener who;
    vp_buf_init(&runs, VP_LOCAL_ANSWER_MAX);
    VP_TRY(tb_get_runs(&runs, &plugin, at));
    if (!is_trusted(&who, at->port))
        return vp_fail(VP_EREFUSED, "port %d belongs to another user", at->port);
    int rc = ask_logdir(logdir, &out->xprof, at, &who);
    VP_TRY(tb_match_run(out->run, vp_buf_view(&runs), rc < 0 ? NULL : logdir, s));
    out->place = *at;
    return 0;
}

/* ---- Where to look --------------------------------------------------------------------------- */

typedef struct places {
    tb_place at[TB_INFOS_MAX + 2];
    size_t n;
} places;

static void add_tensorboard_port(places *p, int port)
{
    size_t i = 0;
    while (i < p->n && p->at[i].port != port)
        i++;
    if (i == p->n)
        p->at[p->n++] = (tb_place){.port = port};
}

int tb_find(tb_found *out, int port, const cat_session *s)
{
    VP_CLEANUP(vp_free_ptr) places *p = vp_calloc(1, sizeof *p);
    VP_NEED(p);
    p->n = tb_info_list(p->at);
    add_tensorboard_port(p, port);
    add_tensorboard_port(p, XPROF_PORT);
    for (size_t i = 0; i < p->n; i++) /* the requested port comes first */
        if (p->at[i].port == port && try_place(out, &p->at[i], s) == 0)
            return 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->at[i].port != port && try_place(out, &p->at[i], s) == 0)
            return 0;
    return vp_fail(VP_ENOTFOUND, "no running TensorBoard shows this run");
}
