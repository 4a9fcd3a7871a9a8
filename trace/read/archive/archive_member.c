/* One member of an archive as a stream. */
#include "trace/base/limits.h"
#include "trace/read/archive/archive.h"
#include "trace/read/archive/archive_name.h"
#include "trace/read/archive/archive_reader.h"
#include "trace/read/bytes/chunk.h"

/* A member as a stream. libarchive returns blocks with offsets (tar may be sparse); they are copied
 * into one reused chunk, holes as zeros. */
typedef struct member_stream {
    rd_stream base;
    ar_reader reader;
    char *chunk;
    const char *block; /* owned by libarchive, valid until its next call */
    size_t block_n;
    int64_t block_at, pos; /* offsets in the member */
    bool ended, checked;
} member_stream;

static void member_close(rd_stream *s)
{
    member_stream *m = (member_stream *)s;
    ar_reader_close(&m->reader);
    rd_chunk_free(m->chunk);
    vp_free(m);
}

static void end_with(member_stream *m, int rc)
{
    m->ended = true;
    if (rc < 0)
        m->base.damage = *vp_error_last();
}

/* Reads the next block. Damage ends the member after the bytes that came with it. The end of a
 * sparse file may be an offset without bytes. */
static void next_block(member_stream *m)
{
    const void *p;
    int64_t limit = m->base.total < 0 ? VP_ARCHIVE_MEMBER_MAX : m->base.total;
    int rc = ar_reader_data(&m->reader, &p, &m->block_n, &m->block_at);
    m->block = p;
    if (rc == 0 && m->block_at < m->pos)
        m->block_at = m->pos;
    if (m->block_at < m->pos || m->block_at > limit || (int64_t)m->block_n > limit - m->block_at) {
        rc = rc < 0 ? rc
                    : vp_fail(VP_ECORRUPT,
                              "the pieces of the archive do not match the size of the file");
        m->block_n = 0;
        m->block_at = m->pos;
    }
    if (rc <= 0)
        end_with(m, rc);
}

/* Checks that the stated size was read and that the checksum is correct. */
static void check_end(member_stream *m)
{
    int rc;
    if (m->base.damage.code || m->checked)
        return;
    m->checked = true;
    if (m->base.total >= 0 && m->pos != m->base.total)
        rc = vp_fail(VP_ECORRUPT, "the archive declares %lld bytes for this file but contains %lld",
                     (long long)m->base.total, (long long)m->pos);
    else
        rc = ar_reader_verify_entry(&m->reader);
    if (rc < 0)
        m->base.damage = *vp_error_last();
}

/* Copies a hole or a part of the block to `to`; returns the number of bytes. */
static size_t copy_some(member_stream *m, char *to, size_t cap)
{
    size_t n;
    if (m->block_at > m->pos) {
        int64_t hole = m->block_at - m->pos;
        n = hole < (int64_t)cap ? (size_t)hole : cap;
        memset(to, 0, n);
    } else {
        n = m->block_n < cap ? m->block_n : cap;
        if (n)
            memcpy(to, m->block, n);
        m->block += n;
        m->block_n -= n;
        m->block_at += (int64_t)n;
    }
    m->pos += (int64_t)n;
    return n;
}

static int member_next(rd_stream *s, char **p, size_t *n)
{
    AR_IN_UTF8;
    member_stream *m = (member_stream *)s;
    size_t filled = 0;
    while (filled < VP_READ_WINDOW) {
        if (m->block_n || m->block_at > m->pos) {
            filled += copy_some(m, m->chunk + filled, VP_READ_WINDOW - filled);
            continue;
        }
        if (m->ended)
            break;
        next_block(m);
    }
    if (filled == 0)
        check_end(m);
    s->raw_done = m->reader.kind == AR_ZIP ? m->pos : ar_reader_raw_done(&m->reader);
    *p = m->chunk;
    *n = filled;
    return filled > 0;
}

static int find_entry(ar_reader *r, uint32_t index, struct archive_entry **e)
{
    do {
        int rc = ar_reader_next(r, e);
        if (rc == 0)
            return vp_fail(VP_ENOTFOUND, "the archive has no entry %u", index);
        VP_TRY(rc);
    } while (r->entries <= index);
    const char *why = ar_refuse_entry(*e);
    return why ? vp_fail(VP_EREFUSED, "%s", why) : 0;
}

static int member_start(member_stream *m, int fd, uint32_t index)
{
    AR_IN_UTF8;
    struct archive_entry *e;
    VP_TRY(ar_reader_open(&m->reader, fd, true));
    VP_TRY(find_entry(&m->reader, index, &e));
    m->chunk = rd_chunk_new(VP_READ_WINDOW);
    if (!m->chunk)
        return vp_fail(VP_ENOMEM, "out of memory for an archive member");
    m->base.total = archive_entry_size_is_set(e) ? archive_entry_size(e) : -1;
    m->base.raw_total = m->reader.kind == AR_ZIP ? m->base.total : m->reader.size;
    return 0;
}

int ar_member_open(rd_stream **out, int fd, uint32_t index)
{
    member_stream *m = vp_calloc(1, sizeof *m);
    if (!m)
        return vp_fail(VP_ENOMEM, "out of memory for an archive member");
    m->base.next = member_next;
    m->base.close = member_close;
    m->reader.fd = -1;
    int rc = member_start(m, fd, index);
    if (rc < 0) {
        member_close(&m->base);
        return rc;
    }
    *out = &m->base;
    return 0;
}
