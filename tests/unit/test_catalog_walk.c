/* What the scan must never do (follow links out, loop, block, open twice) and how files are read.
 */
#include "tests/unit/tree.h"
#include "tests/unit/skip.h"

#include <linux/openat2.h>
#include <sys/syscall.h>
#include <time.h>
#include <zlib.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/model/catalog/catalog_impl.h"

#define RUN "plugins/profile/2026_01_11_21_26_41/"

static const char chrome[] =
    "{\"traceEvents\":[{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1}]}";

static int setup(void **state)
{
    tree *t = calloc(1, sizeof *t);
    tree_make(t);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    tree_remove(*state);
    free(*state);
    return 0;
}

static catalog *list_with(tree *t, const char *rel, const cat_options *opts)
{
    catalog *c = NULL;
    int rc = catalog_open(&c, tree_at(t, rel), opts);
    if (rc)
        fail_msg("%s: %s", t->path, vp_error_last()->message);
    return c;
}

static catalog *list(tree *t, const char *rel)
{
    return list_with(t, rel, NULL);
}

static const cat_note *note_of(const catalog *c, const char *path)
{
    for (size_t i = 0; i < catalog_note_count(c); i++)
        if (!strcmp(catalog_note(c, i)->path, path))
            return catalog_note(c, i);
    return NULL;
}

static void link_to(tree *t, const char *target, const char *rel)
{
    tree_dirs_for(t, rel);
    assert_int_equal(symlink(target, tree_at(t, rel)), 0);
}

/* By Linux 5.6 and what emulates no less; without, no link is followed (`view_profile doctor`). */
static bool follows_links(void)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how);
    return fd >= 0 && !close(fd);
}

static void links_inside_are_followed_once_and_loops_end(void **state)
{
    tree *t = *state;
    if (!follows_links())
        skip_because("no openat2 here");
    tree_file(t, "logs/" RUN "vm.xplane.pb", 1);
    tree_file(t, "elsewhere/eval/vm.xplane.pb", 1);
    link_to(t, "..", "logs/up");
    link_to(t, ".", "logs/self");
    link_to(t, "plugins/profile/2026_01_11_21_26_41", "logs/latest");
    link_to(t, "vm.xplane.pb", "logs/" RUN "copy.xplane.pb");
    link_to(t, "../../../../elsewhere/eval/vm.xplane.pb",
            "logs/plugins/profile/linked/vm.xplane.pb");
    catalog *c = list(t, "");
    assert_int_equal(catalog_count(c), 3);
    assert_null(note_of(c, "logs/up"));
    assert_non_null(catalog_find(c, VP_STR("elsewhere/eval")));
    const cat_session *s = catalog_find(c, VP_STR("logs/2026_01_11_21_26_41"));
    assert_non_null(s); /* its own path, not that of the link */
    assert_int_equal(s->file_count, 1);
    assert_string_equal(s->files[0].name, "vm.xplane.pb");
    catalog_free(c);

    cat_options no_links = CAT_OPTIONS_INIT;
    no_links.follow_symlinks = false;
    c = list_with(t, "logs", &no_links);
    assert_int_equal(catalog_count(c), 1);
    assert_non_null(note_of(c, "."));
    catalog_free(c);
}

static void links_that_lead_out_are_noted_not_followed(void **state)
{
    tree *t = *state;
    tree_file(t, "outside/" RUN "vm.xplane.pb", 1);
    tree_file(t, "root/" RUN "vm.xplane.pb", 1);
    link_to(t, "../outside", "root/out");
    link_to(t, "/etc/passwd", "root/" RUN "passwd.xplane.pb");
    link_to(t, "nowhere", "root/dangling");
    catalog *c = list(t, "root");
    assert_int_equal(catalog_count(c), 1);
    assert_int_equal(catalog_get(c, 0)->file_count, 1);
    assert_non_null(note_of(c, "out"));
    assert_non_null(note_of(c, RUN "passwd.xplane.pb"));
    assert_non_null(note_of(c, "dangling"));
    catalog_free(c);
}

static void fifos_and_dotfiles_are_passed_by(void **state)
{
    tree *t = *state;
    tree_file(t, RUN "vm.xplane.pb", 1);
    tree_file(t, RUN ".hidden.xplane.pb", 1);
    tree_file(t, ".git/" RUN "vm.xplane.pb", 1);
    assert_int_equal(mkfifo(tree_at(t, RUN "fifo.xplane.pb"), 0644), 0);
    assert_int_equal(mkfifo(tree_at(t, "fifo.json"), 0644), 0);
    catalog *c = list(t, ""); /* opening a FIFO would hang here */
    assert_int_equal(catalog_count(c), 1);
    assert_int_equal(catalog_get(c, 0)->file_count, 1);
    catalog_free(c);
    c = NULL;
    assert_int_equal(catalog_open(&c, tree_at(t, "fifo.json"), NULL), VP_EREFUSED);
}

static void what_may_not_be_read_is_noted_and_its_neighbours_work(void **state)
{
    tree *t = *state;
    bool was_root = geteuid() == 0;
    tree_file(t, RUN "vm.xplane.pb", 1);
    tree_file(t, RUN "secret.xplane.pb", 1);
    tree_text(t, "closed/one.json", chrome, 1);
    tree_text(t, "loose/one.json", chrome, 1);
    tree_text(t, "loose/two.json", chrome, 1);
    chmod(tree_at(t, ""), 0755);
    chmod(tree_at(t, RUN "secret.xplane.pb"), 0);
    chmod(tree_at(t, "closed"), 0);
    chmod(tree_at(t, "loose/two.json"), 0);
    if (was_root)
        assert_int_equal(seteuid(65534), 0);
    catalog *c = NULL;
    int rc = catalog_open(&c, tree_at(t, ""), NULL);
    if (was_root)
        assert_int_equal(seteuid(0), 0);
    chmod(tree_at(t, "closed"), 0755);
    assert_int_equal(rc, 0);
    assert_int_equal(catalog_count(c), 2);
    const cat_session *s = catalog_get(c, 0);
    assert_int_equal(s->host_count, 1);
    assert_int_equal(s->file_count, 2);
    assert_string_equal(s->files[1].name, "secret.xplane.pb");
    assert_non_null(strstr(s->files[1].why, "ermission denied"));
    assert_string_equal(catalog_get(c, 1)->name, "loose/one.json");
    assert_non_null(strstr(note_of(c, "closed")->why, "ermission denied"));
    assert_non_null(strstr(note_of(c, "loose/two.json")->why, "ermission denied"));
    catalog_free(c);
}

static void directories_nest_only_so_deep(void **state)
{
    tree *t = *state;
    char path[VP_PATH_MAX] = "";
    for (unsigned depth = 1; depth <= VP_WALK_DEPTH_MAX + 1; depth++) {
        snprintf(path + strlen(path), sizeof path - strlen(path), "%sd", depth > 1 ? "/" : "");
        tree_dir(t, path);
        if (depth < VP_WALK_DEPTH_MAX)
            continue;
        char file[VP_PATH_MAX + 16];
        snprintf(file, sizeof file, "%s/vm.xplane.pb", path);
        tree_file(t, file, 1);
    }
    catalog *c = list(t, "");
    assert_int_equal(catalog_count(c), 1);
    assert_int_equal(strlen(catalog_get(c, 0)->path), 2 * VP_WALK_DEPTH_MAX - 1);
    assert_non_null(note_of(c, path));
    catalog_free(c);
}

static void the_order_of_creation_does_not_show(void **state)
{
    tree *t = *state;
    static const char *const files[] = {RUN "b.xplane.pb", RUN "a.xplane.pb", "z/one.json",
                                        "a/one.json", "z/b.json"};
    char seen[2][1024] = {"", ""};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 5; i++)
            tree_text(t, files[pass ? 4 - i : i], chrome, 1);
        catalog *c = list(t, "");
        for (size_t i = 0; i < catalog_count(c); i++)
            for (size_t k = 0; k < catalog_get(c, i)->file_count; k++)
                strcat(strcat(seen[pass], catalog_get(c, i)->files[k].path), " ");
        catalog_free(c);
        tree_remove(t);
        assert_int_equal(mkdir(t->root, 0755), 0);
    }
    assert_string_equal(seen[0], seen[1]);
    assert_string_equal(seen[0], RUN "a.xplane.pb " RUN "b.xplane.pb z/one.json z/b.json "
                                     "a/one.json ");
}

static void put_catalog(vp_buf *b, const catalog *c)
{
    for (size_t i = 0; i < catalog_count(c); i++) {
        const cat_session *s = catalog_get(c, i);
        vp_buf_printf(b, "%s %s %s %d %lld %s\n", s->id, s->name, s->path, (int)s->status,
                      (long long)s->bytes, s->why ? s->why : "");
        for (size_t k = 0; k < s->file_count; k++)
            vp_buf_printf(b, " %s %d %u %s\n", s->files[k].path, (int)s->files[k].kind.format,
                          s->files[k].host, s->files[k].why ? s->files[k].why : "");
    }
    for (size_t i = 0; i < catalog_note_count(c); i++)
        vp_buf_printf(b, "%s: %s\n", catalog_note(c, i)->path, catalog_note(c, i)->why);
    vp_buf_printf(b, "%llu %llu %llu %llu\n", (unsigned long long)c->seen.files,
                  (unsigned long long)c->seen.directories, (unsigned long long)c->seen.caches,
                  (unsigned long long)c->seen.unreadable);
}

/* Of everything that a walk may meet, 40 times. */
static void make_varied(tree *t)
{
    for (int i = 0; i < 40; i++) {
        char dir[64], path[160];
        snprintf(dir, sizeof dir, "exp%02d/plugins/profile/2026_01_11_21_26_%02d", i / 4, i);
#define AT(name) (snprintf(path, sizeof path, "%s/%s", dir, name), path)
        tree_file(t, AT("vm.xplane.pb"), 1);
        if (i % 3)
            tree_file(t, AT("vm.trace.json.gz"), 1);
        tree_file(t, AT("other.trace.json.gz"), 1);
        tree_text(t, AT("empty.xplane.pb"), "", 1);
        tree_text(t, AT("odd.xplane.pb"), "no plane", 1);
        tree_text(t, AT("cache.op_stats.pb"), "x", 1);
        if (i % 5 == 0)
            tree_text(t, AT("deep/er/one.json"), chrome, 1);
        snprintf(dir, sizeof dir, "loose%02d", i);
        tree_text(t, AT("w0.1700000000000.pt.trace.json"), chrome, 1);
        tree_text(t, AT("readme.txt"), "hello", 1);
        if (i % 7 == 0)
            link_to(t, "nowhere", AT("dangling"));
        if (i % 7 == 1)
            link_to(t, "../exp00", AT("again"));
        if (i % 7 == 2)
            link_to(t, "../.hidden", AT("seen"));
    }
    for (int i = 0; i < 40; i++) {
        char path[64];
        snprintf(path, sizeof path, ".hidden/%02d/one.json", i);
        tree_text(t, path, chrome, 1);
    }
#undef AT
}

static void any_number_of_threads_lists_the_same(void **state)
{
    tree *t = *state;
    vp_buf text[2];
    uint64_t looks = 0;
    make_varied(t);
    for (int jobs = 1; jobs <= 16; jobs++) {
        cat_options opts = CAT_OPTIONS_INIT;
        opts.jobs = jobs;
        catalog *first = list_with(t, "", &opts);
        opts.previous = first;
        catalog *second = list_with(t, "", &opts);
        looks = jobs == 1 ? first->seen.opened : looks;
        assert_int_equal(first->seen.opened, looks);
        assert_int_equal(second->seen.opened, 0);
        opts.previous = NULL;
        opts.last = true;
        catalog *last = list_with(t, "", &opts);
        assert_int_equal(last->seen.opened, looks);
        assert_int_equal(last->memo.count + last->memo.dir_count, 0);
        vp_buf_init(&text[1], 1 << 20);
        put_catalog(&text[1], last);
        catalog_free(last);
        if (jobs > 1)
            assert_string_equal(vp_buf_cstr(&text[0]), vp_buf_cstr(&text[1]));
        vp_buf_free(&text[1]);
        for (int i = jobs > 1; i < 2; i++) {
            vp_buf_init(&text[i], 1 << 20);
            put_catalog(&text[i], i ? second : first);
        }
        assert_string_equal(vp_buf_cstr(&text[0]), vp_buf_cstr(&text[1]));
        vp_buf_free(&text[1]);
        catalog_free(first);
        catalog_free(second);
    }
    vp_buf_free(&text[0]);
}

static void a_rescan_lists_only_directories_that_changed(void **state)
{
    tree *t = *state;
    cat_options opts = CAT_OPTIONS_INIT;
    catalog *c[5];
    char *text[5];
    make_varied(t);
    nanosleep(&(struct timespec){3, 100000000}, NULL); /* a ctime cannot be set */
    for (int i = 0; i < 5; i++) {
        if (i == 3) {
            tree_text(t, "loose03/new.json", chrome, 1);
            tree_text(t, "loose04/readme.txt", chrome, 1); /* the same file */
            unlink(tree_at(t, "exp02/plugins/profile/2026_01_11_21_26_09/vm.xplane.pb"));
        }
        opts.jobs = i == 1 ? 1 : 0;
        opts.previous = i && i < 4 ? c[i - 1] : NULL;
        vp_buf b;
        vp_buf_init(&b, 1 << 20);
        c[i] = list_with(t, "", &opts);
        put_catalog(&b, c[i]);
        text[i] = vp_buf_take(&b, NULL);
    }
    assert_int_equal(c[0]->seen.listed, c[0]->seen.directories);
    /* Those with files only are not; of them a link leads to those that are hidden. */
    assert_true(c[1]->seen.listed < c[0]->seen.listed - (follows_links() ? 90 : 50));
    assert_int_equal(c[2]->seen.listed, c[1]->seen.listed);
    assert_int_equal(c[3]->seen.listed, c[1]->seen.listed + 2);
    assert_string_equal(text[0], text[1]);
    assert_string_equal(text[0], text[2]);
    assert_string_not_equal(text[0], text[3]);
    assert_string_equal(text[3], text[4]);
    for (int i = 0; i < 5; i++) {
        vp_free(text[i]);
        catalog_free(c[i]);
    }
}

static int stop_soon(void *ctx, int64_t done, int64_t total)
{
    (void)total;
    return done >= *(int64_t *)ctx;
}

static void threads_end_where_the_scan_fails_or_is_stopped(void **state)
{
    tree *t = *state;
    cat_options opts = CAT_OPTIONS_INIT;
    int64_t entries = 0;
    catalog *c = NULL;
    make_varied(t);
    opts.jobs = 8;
    for (uint64_t k = 1; k < 3000; k += 83) {
        vp_mem_fail_at(k, k % 2);
        int rc = catalog_open(&c, tree_at(t, ""), &opts);
        vp_mem_fail_at(0, false);
        assert_true(rc == 0 || (rc == VP_ENOMEM && !c));
        catalog_free(c);
        c = NULL;
    }
    for (int i = 0; i < 1100; i++) {
        char name[64];
        snprintf(name, sizeof name, "many/%04d/empty", i);
        tree_dir(t, name);
    }
    opts.progress = stop_soon;
    opts.progress_ctx = &entries;
    assert_int_equal(catalog_open(&c, tree_at(t, ""), &opts), VP_ECANCELLED);
    assert_null(c);
}

static uint64_t opened(const catalog *c)
{
    return c->seen.opened;
}

static void a_rescan_opens_only_what_changed(void **state)
{
    tree *t = *state;
    cat_options again = CAT_OPTIONS_INIT;
    tree_file(t, RUN "vm.xplane.pb", 1);
    tree_file(t, RUN "vm.trace.json.gz", 1);
    tree_text(t, "loose/one.json", chrome, 1);
    tree_text(t, "loose/two.json", chrome, 1);
    tree_text(t, "loose/readme.txt", "hello", 1);
    catalog *first = list(t, "");
    assert_int_equal(opened(first), 4); /* all but the packed half of the run */
    again.previous = first;
    catalog *second = list_with(t, "", &again);
    assert_int_equal(opened(second), 0);
    assert_int_equal(catalog_count(second), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(catalog_get(first, i)->id, catalog_get(second, i)->id);
    catalog_free(first);

    tree_text(t, "loose/two.json", "not a trace any more", 2);
    tree_text(t, "loose/three.json", chrome, 3);
    again.previous = second;
    catalog *third = list_with(t, "", &again);
    assert_int_equal(opened(third), 2);
    assert_int_equal(catalog_count(third), 3);
    assert_non_null(catalog_find(third, VP_STR("loose/three.json")));
    catalog_free(second);
    catalog_free(third);
}

/* A ustar header of a member called "\n", and nothing else. */
static void make_tar(char *out)
{
    unsigned sum = 0;
    memset(out, 0, 512);
    memcpy(out, "\n", 1);
    memcpy(out + 124, "00000000000", 11);
    memset(out + 148, ' ', 8);
    memcpy(out + 257,
           "ustar\0"
           "00",
           8);
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)out[i];
    snprintf(out + 148, 8, "%06o", sum);
}

static const cat_file *file_of(const catalog *c, const char *name)
{
    for (size_t i = 0; i < catalog_count(c); i++)
        for (size_t k = 0; k < catalog_get(c, i)->file_count; k++)
            if (!strcmp(catalog_get(c, i)->files[k].name, name))
                return &catalog_get(c, i)->files[k];
    return NULL;
}

/* However few bytes of an xplane were read to judge it, the judgement is that of 4096. */
static void a_short_look_at_an_xplane_judges_like_a_long_one(void **state)
{
    enum { HEAD = 4096, BYTES = 5000 };
    static const struct {
        const char *again;
        size_t again_n, times;
        const char *then;
        size_t then_n;
    } rows[] = {
#define ROW(again, times, then) {again, sizeof(again) - 1, times, then, sizeof(then) - 1}
        ROW("", 0, "\x0a\xfd\x01\x12\xfa\x01/host:CPU"),
        ROW("", 0, "\x0a\x80\x01\x12\x04/abc"),
        ROW("", 0, "\x0a\x80\x80\x00\x12\x04/abc"),
        ROW("", 0, "\x0a\x0c\x08\x01\x12\x04/abc"),
        ROW("", 0, "\x0a\x0c\xff\xff\xff\xff"),
        ROW("", 0, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
        ROW("", 0,
            "\x12\x03"
            "bad"),
        ROW("", 0, "\n\n hello"),
        ROW("\x0a\x00", 1, "\x0a\x0c\x12\x04/abc"),
        ROW("\x0a\x00", 254, "\x0a\x0c\x12\x04/abc"),
        ROW("\x0a\x00", 255, "\x0a\x0c\x12\x04/abc"),
        ROW("\x0a\x00", 256, "\x0a\x0c\x12\x04/abc"),
        ROW("\x0a\x00", 256, "\x0a\x0c\x77\x04/abc"),
        ROW("\x0a\x00", 257, "hello, this is no plane"),
        ROW("\x0a\x00", 2046, "\x0a\x0c\x12\x04/abc"),
        ROW("\x0a\x00", 2048, "\x0a\x0c\x77\x04/abc"),
        ROW("\x0a\x80\x00", 170, "\x0a\x0c\x12\xff\xff\xff\xff\x0f"),
        ROW("\x0a\x80\x00", 171, "\x0a\x0c\x12\xff\xff\xff\xff\x0f"),
#undef ROW
    };
    const size_t n = sizeof rows / sizeof *rows;
    static char content[sizeof rows / sizeof *rows + 1][BYTES];
    tree *t = *state;
    char name[64], path[128];
    size_t planes = 0;
    for (size_t i = 0; i <= n; i++) {
        size_t at = 0;
        memset(content[i], 'x', BYTES);
        for (size_t k = 0; i < n && k < rows[i].times; k++, at += rows[i].again_n)
            memcpy(content[i] + at, rows[i].again, rows[i].again_n);
        if (i < n)
            memcpy(content[i] + at, rows[i].then, rows[i].then_n);
        else
            make_tar(content[i]);
        if (i % 2 && i < n)
            content[i][148] = '7'; /* as a tar's checksum might begin */
        snprintf(path, sizeof path, RUN "h%zu.xplane.pb", i);
        tree_bytes(t, path, content[i], BYTES, 1);
    }
    catalog *c = list(t, "");
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "h%zu.xplane.pb", i);
        rd_kind want = rd_detect(vp_str_of(name), (vp_str){content[i], HEAD}, VP_STR_NONE);
        const cat_file *f = file_of(c, name);
        assert_non_null(f);
        assert_int_equal(f->kind.format, want.format);
        if (want.why)
            assert_string_equal(f->why, want.why);
        planes += want.format == RD_XSPACE;
    }
    assert_true(planes > 4 && planes + 4 < n); /* both verdicts are asked for */
    snprintf(name, sizeof name, "h%zu.xplane.pb", n);
    assert_int_equal(rd_detect(vp_str_of(name), (vp_str){content[n], HEAD}, VP_STR_NONE).format,
                     RD_ARCHIVE);
    const cat_file *tar = file_of(c, name); /* it is looked into, or told to be damaged */
    assert_true(!tar || tar->kind.format == RD_UNREADABLE);
    catalog_free(c);
}

static void references_keep_a_catalog_alive(void **state)
{
    tree *t = *state;
    tree_file(t, RUN "vm.xplane.pb", 1);
    catalog *c = list(t, ""), *other = catalog_ref(c);
    catalog_free(c);
    assert_int_equal(catalog_count(other), 1);
    catalog_free(other);
    catalog_free(NULL);
}

static int stop(void *ctx, int64_t done, int64_t total)
{
    *(int64_t *)ctx = done;
    assert_int_equal(total, -1);
    return 1;
}

static void progress_can_stop_the_scan(void **state)
{
    tree *t = *state;
    int64_t entries = 0;
    cat_options opts = CAT_OPTIONS_INIT;
    char name[64];
    catalog *c = NULL;
    opts.progress = stop;
    opts.progress_ctx = &entries;
    tree_dir(t, "many");
    for (int i = 0; i < 1100; i++) {
        snprintf(name, sizeof name, "many/%04d", i);
        assert_int_equal(mkdir(tree_at(t, name), 0755), 0);
    }
    assert_int_equal(catalog_open(&c, tree_at(t, ""), &opts), VP_ECANCELLED);
    assert_null(c);
    assert_int_equal(entries, 1024);
}

static char *slurp(const catalog *c, const cat_file *f, bool raw, size_t *n)
{
    rd_stream *s = NULL;
    char *p = NULL;
    if (catalog_stream(&s, c, f, raw) < 0)
        fail_msg("%s", vp_error_last()->message);
    assert_int_equal(rd_stream_slurp(s, 1 << 20, &p, n), 0);
    rd_stream_close(&s);
    return p;
}

static size_t pack(const char *text, unsigned char *out, size_t cap)
{
    z_stream z = {.next_in = (unsigned char *)text, .avail_in = (uInt)strlen(text)};
    z.next_out = out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static void content_is_unpacked_and_raw_is_not(void **state)
{
    tree *t = *state;
    unsigned char gz[512];
    size_t gz_n = pack(chrome, gz, sizeof gz), n, got;
    tree_bytes(t, "one.json.gz", gz, gz_n, 1);
    catalog *c = list(t, "");
    assert_int_equal(catalog_count(c), 1);
    const cat_file *f = &catalog_get(c, 0)->files[0];
    assert_true(f->kind.gzip);
    assert_int_equal(f->kind.format, RD_CHROME);
    char *p = slurp(c, f, false, &n);
    assert_int_equal(n, strlen(chrome));
    assert_memory_equal(p, chrome, n);
    vp_free(p);
    p = slurp(c, f, true, &n);
    assert_int_equal(n, gz_n);
    assert_memory_equal(p, gz, n);
    vp_free(p);
    rd_source *source = NULL;
    char part[8];
    assert_int_equal(catalog_source(&source, c, f, NULL), 0);
    assert_int_equal(rd_source_size(source), strlen(chrome));
    assert_int_equal(rd_source_read(source, part, sizeof part, 2, &got), 0);
    assert_memory_equal(part, "traceEve", 8);
    rd_source_close(source);
    catalog_free(c);
}

static void a_file_that_changed_is_refused(void **state)
{
    tree *t = *state;
    int fd = -1;
    tree_text(t, "one.json", chrome, 1);
    catalog *c = list(t, "");
    const cat_file *f = &catalog_get(c, 0)->files[0];
    assert_int_equal(catalog_fd(&fd, c, f), 0);
    close(fd);
    tree_text(t, "one.json", "{\"traceEvents\":[]}", 2);
    fd = -1;
    assert_int_equal(catalog_fd(&fd, c, f), VP_EIO);
    assert_int_equal(fd, -1);
    assert_non_null(strstr(vp_error_last()->message, "changed"));
    assert_string_equal(vp_error_last()->path, "one.json");
    unlink(tree_at(t, "one.json"));
    assert_int_equal(catalog_fd(&fd, c, f), VP_ENOTFOUND);
    catalog_free(c);
}

static void every_failed_system_call_is_survived(void **state)
{
    tree *t = *state;
    int succeeded = 0;
    tree_file(t, RUN "vm.xplane.pb", 1);
    tree_text(t, "loose/one.json", chrome, 1);
    tree_text(t, "loose/two.json", chrome, 1);
    for (uint64_t k = 1; k < 100 && succeeded < 20; k++) {
        catalog *c = NULL;
        vp_fs_fail_at(k, EIO);
        int rc = catalog_open(&c, tree_at(t, ""), NULL);
        vp_fs_fail_at(0, 0);
        assert_true(rc == 0 || (rc == VP_EIO && !c));
        if (rc)
            continue;
        succeeded++;
        assert_string_equal(catalog_get(c, 0)->name, "2026_01_11_21_26_41");
        assert_int_equal(catalog_count(c) + catalog_note_count(c), 3);
        catalog_free(c);
    }
    assert_int_equal(succeeded, 20);
}

static void standard_input_is_a_session(void **state)
{
    tree *t = *state;
    int ends[2], saved = dup(STDIN_FILENO);
    catalog *c = NULL;
    size_t n;
    (void)t;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(vp_fs_write_all(ends[1], chrome, strlen(chrome)), 0);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    int rc = catalog_open(&c, "-", NULL);
    dup2(saved, STDIN_FILENO);
    close(saved);
    assert_int_equal(rc, 0);
    assert_int_equal(catalog_count(c), 1);
    assert_string_equal(catalog_get(c, 0)->name, "stdin");
    for (int twice = 0; twice < 2; twice++) {
        char *p = slurp(c, &catalog_get(c, 0)->files[0], false, &n);
        assert_int_equal(n, strlen(chrome));
        vp_free(p);
    }
    catalog_free(c);
}

int main(void)
{
#define ON_A_TREE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(links_inside_are_followed_once_and_loops_end),
        ON_A_TREE(links_that_lead_out_are_noted_not_followed),
        ON_A_TREE(fifos_and_dotfiles_are_passed_by),
        ON_A_TREE(what_may_not_be_read_is_noted_and_its_neighbours_work),
        ON_A_TREE(directories_nest_only_so_deep),
        ON_A_TREE(the_order_of_creation_does_not_show),
        ON_A_TREE(any_number_of_threads_lists_the_same),
        ON_A_TREE(a_rescan_lists_only_directories_that_changed),
        ON_A_TREE(threads_end_where_the_scan_fails_or_is_stopped),
        ON_A_TREE(a_rescan_opens_only_what_changed),
        ON_A_TREE(a_short_look_at_an_xplane_judges_like_a_long_one),
        ON_A_TREE(references_keep_a_catalog_alive),
        ON_A_TREE(progress_can_stop_the_scan),
        ON_A_TREE(content_is_unpacked_and_raw_is_not),
        ON_A_TREE(a_file_that_changed_is_refused),
        ON_A_TREE(every_failed_system_call_is_survived),
        ON_A_TREE(standard_input_is_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
