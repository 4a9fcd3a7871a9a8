#include "server/local/survey_tensorboard.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "server/local/tb_cause.h"
#include "server/local/tb_program.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/str.h"

#define ANSWER_MS 10000
#define LOOK_EVERY_MS 20

/* Prints one line "NAME VERSION" per installed package. */
static const char question[] = "import importlib.metadata as m\n"
                               "for n in ('tensorboard', 'xprof', 'tensorboard-plugin-profile'):\n"
                               "    try: print(n, m.version(n))\n"
                               "    except Exception: pass\n";

/* The interpreter of a script: "#!/path/python", "#!/usr/bin/env python", or, if the path is too
 * long for the kernel, "'''exec' /path/python" in the second line of a shell script. */
static bool interpreter_of(char *out, const char *script)
{
    VP_CLEANUP(vp_fs_close) int fd = open(script, O_RDONLY | O_CLOEXEC);
    char head[VP_PATH_MAX], name[256];
    size_t n = 0;
    vp_str in, line, word;
    if (fd < 0 || vp_fs_pread(fd, head, sizeof head, 0, &n) < 0)
        return false;
    in = (vp_str){head, n};
    if (!vp_str_starts(in, VP_STR("#!")))
        return false;
    in = vp_str_skip(in, 2);
    vp_take_until(&in, '\n', SIZE_MAX, &line);
    line = vp_str_trim(line);
    vp_take_until(&line, ' ', SIZE_MAX, &word);
    if (vp_str_ends(word, VP_STR("/sh")) && vp_str_starts(in, VP_STR("'''exec' "))) {
        in = vp_str_skip(in, sizeof "'''exec' " - 1);
        vp_take_until(&in, ' ', SIZE_MAX, &word);
    } else if (vp_str_ends(word, VP_STR("/env"))) {
        word = vp_str_trim(line);
    }
    if (word.n >= sizeof name || vp_str_find(word, VP_STR("python")) == word.n)
        return false;
    memcpy(name, word.p, word.n);
    name[word.n] = 0;
    return child_find(out, name) >= 0;
}

/* The output of the interpreter; "" if it does not exit in time. */
static void ask_python_versions(char *answer, const char *python)
{
    const char *const argv[] = {python, "-I", "-c", question, NULL};
    child_status st = {.running = true};
    child *c;
    answer[0] = 0;
    if (child_start(&c, argv) < 0)
        return;
    for (int waited = 0; st.running && waited < ANSWER_MS; waited += LOOK_EVERY_MS) {
        child_look(c, &st);
        if (st.running)
            poll(NULL, 0, LOOK_EVERY_MS);
    }
    if (!st.running && !st.exit_code)
        memcpy(answer, st.log, sizeof st.log);
    child_stop(c);
}

/* The version that follows `name` in the answer. */
static bool version_of(char *out, size_t cap, const char *answer, const char *name)
{
    vp_str in = vp_str_of(answer), line, word;
    while (in.n) {
        vp_take_until(&in, '\n', SIZE_MAX, &line);
        vp_take_until(&line, ' ', SIZE_MAX, &word);
        if (!vp_str_eq(word, vp_str_of(name)))
            continue;
        snprintf(out, cap, "%.*s", VP_STR_CUT(line, 40u));
        return true;
    }
    return false;
}

static void judge_tensorboard(survey_line *out, const tb_program *p, const char *answer)
{
    char board[48], plugin[48];
    bool has_plugin = version_of(plugin, sizeof plugin, answer, "xprof") ||
                      version_of(plugin, sizeof plugin, answer, "tensorboard-plugin-profile");
    bool has_board = version_of(board, sizeof board, answer, "tensorboard");
    if (!has_board && !has_plugin)
        survey_say(out, SURVEY_OPTIONAL, TB_INSTALL, "no TensorBoard in %.300s", p->path);
    else if (!has_plugin)
        survey_say(out, SURVEY_OPTIONAL, "pip install xprof",
                   "%.300s: TensorBoard %s without profile plugin", p->path, board);
    else if (!has_board)
        survey_say(out, SURVEY_OK, "", "%.300s: XProf %s", p->path, plugin);
    else
        survey_say(out, SURVEY_OK, "", "%.300s: TensorBoard %s, profile plugin %s", p->path, board,
                   plugin);
}

void survey_tensorboard(survey_line *out)
{
    char python[VP_PATH_MAX], answer[CHILD_LOG_MAX];
    tb_program p;
    if (tb_program_find(&p) < 0) {
        survey_say(out, SURVEY_OPTIONAL, TB_INSTALL, "not installed");
        return;
    }
    if (p.kind != TB_MODULE && !interpreter_of(python, p.path)) {
        survey_say(out, SURVEY_OK, "", "%.300s, unknown version", p.path);
        return;
    }
    ask_python_versions(answer, p.kind == TB_MODULE ? p.path : python);
    judge_tensorboard(out, &p, answer);
}
