/* Finding a TensorBoard that shows this very directory: an unknown run would silently open another
 * one (docs/reference/xprof.md#tensorboard), and runs of two directories often have one name. And
 * why one does not work. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/local/tb_cause.h"
#include "server/local/tb_find.h"
#include "server/local/tb_info.h"
#include "server/local/tb_listener.h"
#include "server/local/tb_probe.h"
#include "server/local/tb_scratch.h"
#include "tests/unit/tree.h"
#include "trace/base/err.h"

/* ---- Which run ------------------------------------------------------------------------------- */

/* A session of one xplane file, as it would be listed: `name` in the catalog, the file at path. */
typedef struct one {
    cat_session session;
    cat_host host;
    cat_file file;
} one;

static void one_make(one *o, const char *name, const char *path)
{
    struct stat st = {0};
    if (path)
        assert_int_equal(stat(path, &st), 0);
    *o = (one){.file = {.name = "vm.xplane.pb",
                        .kind = {.format = RD_XSPACE},
                        .id = {.dev = st.st_dev, .ino = st.st_ino}},
               .host = {.name = "vm"}};
    o->session = (cat_session){.id = "x",
                               .name = name,
                               .files = &o->file,
                               .file_count = 1,
                               .hosts = &o->host,
                               .host_count = 1};
}

static void expect_run(const char *runs, const char *logdir, const one *o, int code,
                       const char *want)
{
    char run[VP_MEMBER_NAME_MAX] = "";
    assert_int_equal(tb_match_run(run, vp_str_of(runs), logdir, &o->session), code);
    assert_string_equal(run, want);
}

/* Where the log directory cannot be looked into, only the same name is the same run. */
static void test_runs_by_name(void **state)
{
    (void)state;
    one o;
    one_make(&o, "train/a", NULL);
    expect_run("[\"train/a\",\"b\"]", NULL, &o, 0, "train/a");
    expect_run("[\"train/a\"]", "/no/such/directory", &o, 0, "train/a");
    expect_run("[\"a\",\"x/train/a\"]", NULL, &o, VP_ENOTFOUND, "");
    expect_run("[]", NULL, &o, VP_ENOTFOUND, "");
    expect_run("[1,null,{}]", NULL, &o, VP_ENOTFOUND, "");
    expect_run("", NULL, &o, VP_ECORRUPT, "");
    expect_run("{\"a\":1}", NULL, &o, VP_ECORRUPT, "");
    expect_run("[\"train/a\"", NULL, &o, VP_ECORRUPT, "");
}

/* Where it can, only the very file counts, at whatever level the log directory is. */
static void test_runs_by_file(void **state)
{
    (void)state;
    tree t;
    one o;
    tree_make(&t);
    tree_file(&t, "logs/train/plugins/profile/a/vm.xplane.pb", 1);
    tree_file(&t, "other/train/plugins/profile/a/vm.xplane.pb", 1);
    char logs[VP_PATH_MAX + 16], other[VP_PATH_MAX + 16], train[VP_PATH_MAX + 16];
    snprintf(logs, sizeof logs, "%s/logs", t.root);
    snprintf(other, sizeof other, "%s/other", t.root);
    snprintf(train, sizeof train, "%s/logs/train", t.root);
    one_make(&o, "train/a", tree_at(&t, "logs/train/plugins/profile/a/vm.xplane.pb"));
    expect_run("[\"train/a\"]", logs, &o, 0, "train/a");
    expect_run("[\"a\"]", train, &o, 0, "a");
    expect_run("[\"train/b\",\"x/a\",\"train/a\"]", logs, &o, 0, "train/a");
    expect_run("[\"train/a\"]", other, &o, VP_ENOTFOUND, "");
    expect_run("[\"../other/train/a\"]", logs, &o, VP_ENOTFOUND, "");
    o.file.is_member = true; /* its inode is the archive's */
    expect_run("[\"train/a\"]", logs, &o, VP_ENOTFOUND, "");
    tree_remove(&t);
}

static void test_listed(void **state)
{
    (void)state;
    assert_int_equal(tb_lists(VP_STR("[\"x/a\",\"a\"]"), "a"), 0);
    assert_int_equal(tb_lists(VP_STR("[\"x/a\",\"ab\"]"), "a"), VP_ENOTFOUND);
    assert_int_equal(tb_lists(VP_STR("\"a\""), "a"), VP_ECORRUPT);
    assert_int_equal(tb_lists(VP_STR_NONE, "a"), VP_ECORRUPT);
}

/* ---- Who listens ----------------------------------------------------------------------------- */

#define HEAD                                                                                       \
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "  \
    "inode\n"
#define REST " 00000000:00000000 00:00000000 00000000"

/* 6006 is 0x1776. */
static void test_listeners(void **state)
{
    (void)state;
    static const char table[] =
        HEAD "   0: 0100007F:1776 00000000:0000 01" REST "  1001        0 11 1 0\n"  /* connected */
             "   1: 0200000A:1776 00000000:0000 0A" REST "  1002        0 12 1 0\n"  /* 10.0.0.2 */
             "   2: 00000000:1777 00000000:0000 0A" REST "  1003        0 13 1 0\n"  /* 6007 */
             "   3: 0100007F:1776 00000000:0000 0A" REST "  1004        0 14 1 0\n"; /* this */
    static const char six[] = HEAD
        "   0: 00000000000000000000000000000000:1776 00000000000000000000000000000000:0000 0A" REST
        "     0        0 15 1 0\n"
        "   1: 00000000000000000000000001000000:1777 00000000000000000000000000000000:0000 0A" REST
        "     7        0 16 1 0\n";
    tb_listener l = {0};
    assert_int_equal(tb_listener_parse(&l, vp_str_of(table), 6006), 0);
    assert_int_equal(l.uid, 1004);
    assert_int_equal(l.inode, 14);
    assert_int_equal(tb_listener_parse(&l, vp_str_of(table), 6007), 0);
    assert_int_equal(l.uid, 1003);
    assert_int_equal(tb_listener_parse(&l, vp_str_of(six), 6006), 0);
    assert_int_equal(l.uid, 0);
    /* ::1 does not get what is sent to 127.0.0.1. */
    assert_int_equal(tb_listener_parse(&l, vp_str_of(six), 6007), VP_ENOTFOUND);
    assert_int_equal(tb_listener_parse(&l, VP_STR(HEAD " 3: 0100007F"), 6006), VP_ENOTFOUND);
    assert_int_equal(tb_listener_parse(&l, VP_STR_NONE, 6006), VP_ENOTFOUND);
}

#define ARGS(text) ((vp_str){text, sizeof text - 1})

static void expect_logdir(vp_str args, const char *want)
{
    vp_str dir = VP_STR_NONE;
    assert_int_equal(tb_logdir_of(&dir, args), want != NULL);
    if (want)
        assert_true(vp_str_eq(dir, vp_str_of(want)));
}

static void test_log_directories(void **state)
{
    (void)state;
    expect_logdir(ARGS("python3\0tensorboard\0--logdir\0/a b\0--port\0006\0"), "/a b");
    expect_logdir(ARGS("python3\0tensorboard\0--logdir=logs\0"), "logs");
    expect_logdir(ARGS("/v/bin/python\0/v/bin/xprof\0-l\0logs\0"), "logs");
    expect_logdir(ARGS("/v/bin/python\0/v/bin/xprof\0logs\0--port\0001\0"), "logs");
    expect_logdir(ARGS("/v/bin/python\0/v/bin/xprof\0server\0logs"), "logs");
    expect_logdir(ARGS("/v/bin/python\0/v/bin/xprof\0--port\08791\0--logdir\0logs\0"), "logs");
    expect_logdir(ARGS("/v/bin/python\0/v/bin/xprof\0--port\08791\0"), NULL);
    expect_logdir(ARGS("python3\0tensorboard\0--logdir\0"), NULL);
    expect_logdir(ARGS("python3\0tensorboard\0--logdir="), NULL);
    expect_logdir(VP_STR_NONE, NULL);
}

static void test_relative_log_directory(void **state)
{
    (void)state;
    char out[VP_PATH_MAX], cwd[VP_PATH_MAX], want[VP_PATH_MAX + 8];
    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(want, sizeof want, "%s/logs", cwd);
    assert_int_equal(tb_listener_logdir(out, getpid(), "logs"), 0);
    assert_string_equal(out, want);
    assert_int_equal(tb_listener_logdir(out, 0, "/logs"), 0);
    assert_string_equal(out, "/logs");
    assert_int_equal(tb_listener_logdir(out, 0, "logs"), VP_ENOTFOUND);
    assert_int_equal(tb_listener_logdir(out, 0, NULL), VP_ENOTFOUND);
}

/* As TensorBoard 2.21 writes it. */
static void test_infos(void **state)
{
    (void)state;
    tb_place i;
    assert_true(tb_info_parse(&i, VP_STR("{\"cache_key\": \"eyJ\", \"db\": \"\", \"logdir\": "
                                         "\"logs\", \"path_prefix\": \"/a/b\", \"pid\": 2924, "
                                         "\"port\": 26006}")));
    assert_int_equal(i.port, 26006);
    assert_string_equal(i.prefix, "/a/b");
    assert_true(tb_info_parse(&i, VP_STR("{\"port\":1}")));
    assert_string_equal(i.prefix, "");
    static const char *const bad[] = {"",
                                      "{",
                                      "[]",
                                      "{}",
                                      "{\"port\":0}",
                                      "{\"port\":65536}",
                                      "{\"port\":\"6006\"}",
                                      "{\"port\":1,\"path_prefix\":\"a\"}",
                                      "{\"port\":1,\"path_prefix\":\"/a/\"}",
                                      "{\"port\":1,\"path_prefix\":\"/a b\"}",
                                      "{\"port\":1,\"path_prefix\":\"/\\r\\nX: y\"}"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_false(tb_info_parse(&i, vp_str_of(bad[k])));
}

/* ---- Names of hosts -------------------------------------------------------------------------- */

static void test_host_names(void **state)
{
    (void)state;
    cat_host hosts[] = {{.name = "a b"}, {.name = "a/b"}, {.name = ".x"}, {.name = "é"}};
    cat_file files[] = {{.name = "a b.xplane.pb", .kind = {.format = RD_XSPACE}, .host = 0},
                        {.name = "n.trace.json", .kind = {.format = RD_XLA_JSON}, .host = 0},
                        {.name = "a?b.xplane.pb", .kind = {.format = RD_XSPACE}, .host = 1},
                        {.name = ".x.xplane.pb", .kind = {.format = RD_XSPACE}, .host = 2},
                        {.name = "é.xplane.pb", .kind = {.format = RD_XSPACE}, .host = 3},
                        {.name = "odd.pb", .kind = {.format = RD_XSPACE}, .host = UINT32_MAX}};
    cat_session s = {.files = files, .file_count = 6, .hosts = hosts, .host_count = 4};
    static const char *const linked[] = {"a_b", "", "a_b~2", "_x", "__", "_"};
    static const char *const plain[] = {"a b", "", "a?b", ".x", "é", "odd.pb"};
    char name[VP_MEMBER_NAME_MAX];
    for (size_t i = tb_next_xplane(&s, 0); i < s.file_count; i = tb_next_xplane(&s, i + 1)) {
        tb_host_name(name, &s, i, true);
        assert_string_equal(name, linked[i]);
        tb_host_name(name, &s, i, false);
        assert_string_equal(name, plain[i]);
    }
}

/* ---- Causes ---------------------------------------------------------------------------------- */

static void expect_cause(const char *log, const char *word, const char *command)
{
    const tb_cause *why = tb_cause_of(log);
    assert_non_null(why);
    assert_non_null(strstr(why->sentence, word));
    if (command)
        assert_string_equal(why->command, command);
    else
        assert_null(why->command);
    /* One sentence. */
    const char *stop = strstr(why->sentence, ". ");
    assert_null(stop);
    assert_int_equal(why->sentence[strlen(why->sentence) - 1], '.');
}

static void test_causes(void **state)
{
    (void)state;
    assert_null(tb_cause_of(""));
    assert_null(
        tb_cause_of("TensorBoard 2.21.0 at http://127.0.0.1:6006/ (Press CTRL+C to quit)\n"));
    expect_cause("ERROR: TensorBoard could not bind to port 6006, it was already in use\n", "port",
                 NULL);
    assert_true(tb_cause_of("TensorBoard could not bind to port 6006, it was")->port_taken);
    expect_cause("/usr/bin/python3: No module named tensorboard\n", "not installed", TB_INSTALL);
    expect_cause(
        "/usr/bin/python3: Error while finding module specification for 'tensorboard.main' "
        "(ModuleNotFoundError: No module named 'tensorboard')\n",
        "not installed", TB_INSTALL);
    expect_cause("ModuleNotFoundError: No module named 'pkg_resources'\n", "pkg_resources",
                 "pip install \"setuptools<81\"");
    expect_cause("ModuleNotFoundError: No module named 'imghdr'\n", "imghdr",
                 "pip install --upgrade \"tensorboard>=2.21\"");
    expect_cause("TypeError: Descriptors cannot not be created directly.\n", "protobuf",
                 "pip install --upgrade tensorboard xprof");
    expect_cause("TypeError: Descriptors cannot be created directly.\n", "protobuf",
                 "pip install --upgrade tensorboard xprof");
    expect_cause(
        "google.protobuf.runtime_version.VersionError: Detected incompatible Protobuf "
        "Gencode/Runtime versions when loading xprof.proto: gencode 6.31.1 runtime 5.29.1.",
        "protobuf", "pip install --upgrade protobuf");
    expect_cause("ValueError: Duplicate plugins for name projector\n", "Two",
                 "pip uninstall --yes tb-nightly tbp-nightly tensorboard-plugin-profile && "
                 "pip install --force-reinstall tensorboard xprof");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_by_name),    cmocka_unit_test(test_runs_by_file),
        cmocka_unit_test(test_listed),          cmocka_unit_test(test_listeners),
        cmocka_unit_test(test_log_directories), cmocka_unit_test(test_relative_log_directory),
        cmocka_unit_test(test_infos),           cmocka_unit_test(test_host_names),
        cmocka_unit_test(test_causes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
