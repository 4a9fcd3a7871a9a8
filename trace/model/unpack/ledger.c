#include "trace/model/unpack/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"

#define HEAD "view_profile.unpacked 1\n"
#define LEDGER_BYTES_MAX (64u << 20)
#define LINE_MAX_BYTES (8u * VP_PATH_MAX)
#define DAMAGED "its " LEDGER_NAME " is damaged; remove the directory and start again"

static int ledger_os_fail(const char *what)
{
    return vp_fail(VP_EIO, "%s: %s", what, strerror(errno));
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool is_plain_ledger_char(unsigned char c)
{
    return c > ' ' && c < 0x7f && c != '%';
}

static void put_ledger_word(vp_buf *b, const char *z)
{
    for (; *z; z++)
        if (is_plain_ledger_char((unsigned char)*z))
            vp_buf_putc(b, *z);
        else
            vp_buf_printf(b, "%%%02X", (unsigned)(unsigned char)*z);
}

static int upper_hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes a word, which the caller frees; NULL: malformed. */
static char *take_ledger_word(vp_str *line)
{
    vp_str word;
    if (!vp_take_until(line, ' ', LINE_MAX_BYTES, &word) || !word.n)
        return NULL;
    char *out = vp_malloc(word.n + 1);
    size_t n = 0;
    for (size_t i = 0; out && i < word.n; i++) {
        char c = word.p[i];
        if (c == '%') {
            int high = i + 2 < word.n ? upper_hex_value(word.p[i + 1]) : -1;
            int low = i + 2 < word.n ? upper_hex_value(word.p[i + 2]) : -1;
            if (high < 0 || low < 0 || !(high | low)) {
                vp_free(out);
                return NULL;
            }
            c = (char)(high << 4 | low);
            i += 2;
        }
        out[n++] = c;
    }
    if (out)
        out[n] = '\0';
    return out;
}

static bool take_ledger_number(vp_str *line, int64_t *out)
{
    vp_str word;
    return vp_take_until(line, ' ', 20, &word) && vp_str_to_i64(word, out);
}

/* ---- In memory ------------------------------------------------------------------------------- */

static uint64_t ledger_text_key(const char *z)
{
    return vp_hash(z, strlen(z), 0);
}

/* Takes ownership of the texts, also on failure. */
static int ledger_keep_entry(ledger *l, char *source, char *target, const ledger_entry *e)
{
    int rc = source && target ? 0 : vp_no_memory();
    if (rc == 0)
        rc = vp_grow(&l->entries, &l->cap, l->count + 1, sizeof *l->entries, VP_MAP_NONE - 1);
    if (rc == 0)
        rc = vp_map_set(&l->by_source, ledger_text_key(source), (uint32_t)l->count);
    if (rc == 0)
        rc = vp_map_set(&l->by_target, ledger_text_key(target), (uint32_t)l->count);
    if (rc < 0) {
        vp_free(source);
        vp_free(target);
        return rc;
    }
    l->entries[l->count] = *e;
    l->entries[l->count].source = source;
    l->entries[l->count++].target = target;
    return 0;
}

const ledger_entry *ledger_of_source(const ledger *l, const char *source)
{
    uint32_t i = vp_map_get(&l->by_source, ledger_text_key(source));
    return i != VP_MAP_NONE && strcmp(l->entries[i].source, source) == 0 ? &l->entries[i] : NULL;
}

const ledger_entry *ledger_of_target(const ledger *l, const char *target)
{
    uint32_t i = vp_map_get(&l->by_target, ledger_text_key(target));
    return i != VP_MAP_NONE && strcmp(l->entries[i].target, target) == 0 ? &l->entries[i] : NULL;
}

/* ---- The file -------------------------------------------------------------------------------- */

static int ledger_take_line(ledger *l, vp_str line)
{
    ledger_entry e;
    if (!take_ledger_number(&line, &e.size) || !take_ledger_number(&line, &e.mtime_ns) ||
        !take_ledger_number(&line, &e.member) || !take_ledger_number(&line, &e.bytes))
        return vp_fail(VP_ECORRUPT, DAMAGED);
    char *target = take_ledger_word(&line), *source = take_ledger_word(&line);
    if (!target || !source) {
        vp_free(target);
        vp_free(source);
        return vp_fail(VP_ECORRUPT, DAMAGED);
    }
    return ledger_keep_entry(l, source, target, &e);
}

/* A line truncated by a kill is dropped: its file was not renamed. */
static int take_lines(ledger *l, vp_str text)
{
    vp_str line;
    size_t whole = vp_str_rfind_char(text, '\n');
    if (whole == text.n || !vp_str_starts(text, VP_STR(HEAD)))
        return vp_fail(VP_EREFUSED, "holds a " LEDGER_NAME " that view_profile did not write");
    if (whole + 1 < text.n && ftruncate(l->fd, (off_t)whole + 1) != 0)
        return ledger_os_fail("cannot be written");
    l->bytes = (int64_t)whole + 1;
    text = vp_str_skip(vp_str_head(text, whole + 1), sizeof HEAD - 1);
    while (text.n) {
        if (!vp_take_until(&text, '\n', LINE_MAX_BYTES, &line))
            return vp_fail(VP_ECORRUPT, DAMAGED);
        VP_TRY(ledger_take_line(l, line));
    }
    return 0;
}

static int ledger_load(ledger *l)
{
    VP_CLEANUP(vp_free_ptr) char *text = NULL;
    struct stat st;
    size_t n;
    if (fstat(l->fd, &st) != 0)
        return ledger_os_fail("cannot be read");
    if (!S_ISREG(st.st_mode) || st.st_size > (off_t)LEDGER_BYTES_MAX)
        return vp_fail(VP_EREFUSED, "holds a " LEDGER_NAME " that view_profile did not write");
    if (st.st_size == 0) {
        l->bytes = sizeof HEAD - 1;
        return vp_fs_write_all(l->fd, HEAD, sizeof HEAD - 1);
    }
    if (!(text = vp_malloc((size_t)st.st_size)))
        return vp_no_memory();
    VP_TRY(vp_fs_pread(l->fd, text, (size_t)st.st_size, 0, &n));
    return take_lines(l, (vp_str){text, n});
}

int ledger_open(ledger *l, int dir_fd)
{
    ledger made = {.fd = openat(dir_fd, LEDGER_NAME,
                                O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                                0600)};
    vp_map_init(&made.by_source);
    vp_map_init(&made.by_target);
    int rc = 0;
    if (made.fd < 0)
        rc = ledger_os_fail("cannot be written");
    else if (flock(made.fd, LOCK_EX | LOCK_NB) != 0)
        rc = vp_fail(VP_EREFUSED, "is being unpacked into by another view_profile");
    if (rc == 0)
        rc = ledger_load(&made);
    if (rc < 0) {
        ledger_close(&made);
        return rc;
    }
    *l = made;
    return 0;
}

void ledger_close(ledger *l)
{
    for (size_t i = 0; i < l->count; i++) {
        vp_free((void *)(uintptr_t)l->entries[i].source);
        vp_free((void *)(uintptr_t)l->entries[i].target);
    }
    vp_free(l->entries);
    vp_map_free(&l->by_source);
    vp_map_free(&l->by_target);
    vp_fs_close(&l->fd);
}

int ledger_add(ledger *l, const ledger_entry *e)
{
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, LINE_MAX_BYTES);
    vp_buf_printf(&b, "%lld %lld %lld %lld ", (long long)e->size, (long long)e->mtime_ns,
                  (long long)e->member, (long long)e->bytes);
    put_ledger_word(&b, e->target);
    vp_buf_putc(&b, ' ');
    put_ledger_word(&b, e->source);
    VP_TRY(vp_buf_putc(&b, '\n'));
    int rc = vp_fs_write_all(l->fd, b.p, b.n);
    if (rc == 0 && fdatasync(l->fd) != 0)
        rc = ledger_os_fail("cannot be written");
    if (rc < 0) { /* a partial line would corrupt the next one */
        (void)!ftruncate(l->fd, (off_t)l->bytes);
        return rc;
    }
    l->bytes += (int64_t)b.n;
    return ledger_keep_entry(l, vp_strdup(e->source), vp_strdup(e->target), e);
}
