/* The bundle: the JSON of each host, then the manifest, which lists only existing members. */
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/export/hosts.h"
#include "trace/export/shared/stream_out.h"
#include "trace/read/archive/tar_writer.h"

/* Maximum bytes of a member's name that come from the host. */
#define STEM_MAX 72u

#define MANIFEST "perfetto_manifest"

typedef struct member {
    char name[STEM_MAX + 24];
    bool there;
} member;

typedef struct bundle {
    rd_stream s; /* first member */
    ex_hosts *hosts;
    member *members; /* by host */
    vp_buf out, manifest;
    ar_tar *tar;
    size_t host; /* the next host; count: the manifest; then the end */
    rd_source *spooled;
    int64_t at; /* in it */
} bundle;

/* ---- Names of members ----------------------------------------------------------------------- */

static bool is_plain_member_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

/* Perfetto skips hidden files. A slash would be a path, and a leading dash an option of the
 * unpacking program. */
static void name_member(member *m, const char *host, uint32_t number)
{
    size_t n = 0;
    if (!is_plain_member_char(*host) || *host == '.' || *host == '-')
        m->name[n++] = '_';
    for (; *host && n < STEM_MAX; host++)
        m->name[n++] = is_plain_member_char(*host) ? *host : '_';
    m->name[n] = '\0';
    vp_buf tail;
    vp_buf_init(&tail, 32);
    if (number > 1)
        vp_buf_printf(&tail, "-%u", number);
    vp_buf_puts(&tail, ".json");
    memcpy(m->name + n, vp_buf_cstr(&tail), tail.n + 1);
    vp_buf_free(&tail);
}

static int name_members(bundle *u)
{
    VP_CLEANUP(vp_map_free) vp_map taken;
    vp_map_init(&taken);
    VP_TRY(vp_map_set(&taken, vp_hash(MANIFEST ".json", strlen(MANIFEST ".json"), 0), 0));
    for (size_t i = 0; i < u->hosts->count; i++) {
        member *m = &u->members[i];
        uint64_t key;
        uint32_t number = 1;
        do {
            name_member(m, u->hosts->hosts[i].host->name, number++);
            key = vp_hash(m->name, strlen(m->name), 0);
        } while (vp_map_get(&taken, key) != VP_MAP_NONE);
        VP_TRY(vp_map_set(&taken, key, 0));
    }
    return 0;
}

/* ---- The manifest --------------------------------------------------------------------------- */

/* The reference host: the one with the smallest offset. All others move to later times, since
 * events before the start of a trace are dropped. count: no offset is known. */
static size_t least_moved_host(const bundle *u)
{
    size_t first = u->hosts->count;
    const ex_host *h = u->hosts->hosts;
    for (size_t i = 0; i < u->hosts->count; i++)
        if (u->members[i].there && h[i].clock.how != HOST_CLOCK_UNPLACED &&
            (first == u->hosts->count || h[i].shift_ns < h[first].shift_ns))
            first = i;
    return first;
}

static void manifest_put_file(vp_json *j, const bundle *u, size_t host, size_t first)
{
    const ex_host *h = &u->hosts->hosts[host];
    int64_t offset;
    vp_json_begin_object(j);
    vp_json_kcstr(j, "path", u->members[host].name);
    vp_json_key(j, "machine");
    vp_json_begin_object(j);
    vp_json_kcstr(j, "name", h->name);
    vp_json_end_object(j);
    if (host != first && h->clock.how != HOST_CLOCK_UNPLACED &&
        !__builtin_sub_overflow(h->shift_ns, u->hosts->hosts[first].shift_ns, &offset)) {
        vp_json_key(j, "clocks");
        vp_json_begin_object(j);
        vp_json_key(j, "sync_to");
        vp_json_begin_object(j);
        vp_json_kcstr(j, "file", u->members[first].name);
        vp_json_end_object(j);
        vp_json_ki64(j, "offset_ns", offset);
        vp_json_end_object(j);
    }
    vp_json_end_object(j);
}

/* How each clock was aligned, and which hosts are missing; importers of v58 skip unknown
 * attributes. */
static void put_attributes(vp_json *j, const bundle *u)
{
    vp_json_key(j, "attributes");
    vp_json_begin_object(j);
    for (size_t i = 0; u->hosts->count > 1 && i < u->hosts->count; i++) {
        const ex_host *h = &u->hosts->hosts[i];
        VP_CLEANUP(vp_buf_free) vp_buf key, text;
        vp_buf_init(&key, 64u << 10);
        vp_buf_init(&text, 64u << 10);
        vp_buf_printf(&key, "view_profile.%s.%s", u->members[i].there ? "clock" : "left_out",
                      h->name);
        if (u->members[i].there)
            ex_put_clock(&text, &h->clock);
        else
            vp_buf_puts(&text, h->left_out.message);
        vp_json_key(j, vp_buf_cstr(&key));
        vp_json_str(j, vp_buf_view(&text));
    }
    vp_json_end_object(j);
}

static int make_manifest(bundle *u)
{
    vp_json j;
    size_t first = least_moved_host(u);
    vp_json_init(&j, &u->manifest);
    vp_json_begin_object(&j);
    vp_json_key(&j, MANIFEST);
    vp_json_begin_object(&j);
    vp_json_ki64(&j, "version", 1);
    vp_json_key(&j, "files");
    vp_json_begin_array(&j);
    for (size_t i = 0; i < u->hosts->count; i++)
        if (u->members[i].there)
            manifest_put_file(&j, u, i, first);
    vp_json_end_array(&j);
    put_attributes(&j, u);
    vp_json_end_object(&j);
    vp_json_end_object(&j);
    vp_buf_putc(&u->manifest, '\n');
    return u->manifest.status;
}

/* ---- The stream ----------------------------------------------------------------------------- */

static int begin_host(bundle *u)
{
    ex_host *h = &u->hosts->hosts[u->host];
    member *m = &u->members[u->host];
    rd_stream *s;
    int rc = ex_hosts_open(&s, h, u->hosts, EX_JSON, NULL);
    if (rc <= 0) {
        u->host += rc == 0;
        return rc;
    }
    rc = rd_source_spool(&u->spooled, s, NULL);
    int closed = ex_hosts_close(&s, h, u->hosts);
    VP_TRY(rc);
    VP_TRY(closed);
    m->there = true;
    u->at = 0;
    return ar_tar_member(u->tar, m->name, rd_source_size(u->spooled));
}

static int copy_host(bundle *u)
{
    char piece[32u << 10];
    size_t n;
    while (!ex_out_full(&u->out)) {
        VP_TRY(rd_source_read(u->spooled, piece, sizeof piece, u->at, &n));
        if (!n) {
            rd_source_close(u->spooled);
            u->spooled = NULL;
            u->s.raw_done += u->hosts->hosts[u->host++].file->bytes;
            return 0;
        }
        VP_TRY(ar_tar_data(u->tar, piece, n));
        u->at += (int64_t)n;
    }
    return 0;
}

static int put_manifest(bundle *u)
{
    VP_TRY(make_manifest(u));
    VP_TRY(ar_tar_member(u->tar, MANIFEST ".json", (int64_t)u->manifest.n));
    VP_TRY(ar_tar_data(u->tar, u->manifest.p, u->manifest.n));
    u->host++;
    u->s.raw_done = u->s.raw_total;
    return ar_tar_end(u->tar);
}

static int bundle_next(rd_stream *s, char **p, size_t *n)
{
    bundle *u = (bundle *)(void *)s;
    ex_out_reset(&u->out);
    while (u->host <= u->hosts->count && !ex_out_full(&u->out)) {
        if (u->host == u->hosts->count)
            VP_TRY(put_manifest(u));
        else if (u->spooled)
            VP_TRY(copy_host(u));
        else
            VP_TRY(begin_host(u));
    }
    return u->out.status < 0 ? u->out.status : ex_out_chunk(&u->out, p, n);
}

static void bundle_close(rd_stream *s)
{
    bundle *u = (bundle *)(void *)s;
    ar_tar_free(u->tar);
    rd_source_close(u->spooled);
    vp_buf_free(&u->out);
    vp_buf_free(&u->manifest);
    vp_free(u->members);
    vp_free(u);
}

int ex_bundle(rd_stream **out, ex_hosts *h)
{
    bundle *u = vp_calloc(1, sizeof *u);
    VP_NEED(u);
    u->s = (rd_stream){
        .next = bundle_next, .close = bundle_close, .total = -1, .raw_total = ex_hosts_bytes(h)};
    u->hosts = h;
    vp_buf_init(&u->manifest, VP_JSON_EVENT_MAX);
    u->members = vp_calloc(h->count + 1, sizeof *u->members);
    int rc = u->members ? name_members(u) : vp_no_memory();
    if (rc >= 0)
        rc = ex_out_init(&u->out);
    if (rc >= 0)
        rc = ar_tar_make(&u->tar, &u->out);
    if (rc < 0)
        bundle_close(&u->s);
    else
        *out = &u->s;
    return rc;
}
