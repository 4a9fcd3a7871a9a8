/* Detects the kind of one file: from its name if sufficient, from the memo of the previous scan,
 * else from its first bytes. Archives are indexed here, once. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/vpcap/xspace_fields.h"
#include "trace/model/catalog/catalog_impl.h"
#include "trace/model/catalog/timeline.h"
#include "trace/read/gzip/gzip.h"

#define HEAD_MAX 4096u
/* A tar block, and the offset of its checksum. */
#define FIRST_LOOK 512u
#define CHECKSUM_AT 148
/* More than a plane's own tag and length, and those of its first field. */
#define PLANE_LOOK 64u
#define INNER_MAX RD_RANK_HEAD
/* Git LFS pointers have about 130 bytes, and interrupted captures none. */
#define DOUBTFUL_BYTES 200

bool cat_is_second_half(const cat_found *f, bool in_run)
{
    return in_run && rd_formats[f->kind.format].role == RD_SECOND_HALF && f->kind.gzip &&
           f->bytes >= DOUBTFUL_BYTES;
}

bool cat_first_half(vp_str name, char *out)
{
    static const char suffix[] = ".xplane.pb";
    vp_str host = rd_host_of(name);
    if (!host.n || host.n + sizeof suffix - 1 > NAME_MAX)
        return false;
    memcpy(out, host.p, host.n);
    memcpy(out + host.n, suffix, sizeof suffix);
    return true;
}

/* In a run directory all JSON is from the run's profiler; elsewhere PyTorch users use the same
 * names. Other JSON keeps its detected kind. */
static void keep_producer(rd_kind *found, rd_kind by_name, bool in_run)
{
    if (in_run && rd_formats[by_name.format].role == RD_SECOND_HALF &&
        timeline_same_reader(by_name.format, found->format))
        found->format = by_name.format;
}

static bool is_fatal_status(int rc)
{
    return rc == VP_ENOMEM || rc == VP_ECANCELLED;
}

/* A packed file of this size is inflated for its rank, and so much of its content. */
#define PACKED_MAX (64u << 10)
#define CONTENT_MAX (256u << 10)

/* Reads the rank of a small packed file from all of its content. */
static void read_packed_rank(int fd, cat_found *f)
{
    size_t want = (size_t)f->bytes, n = 0, got = 0;
    VP_CLEANUP(vp_free_ptr) char *room = vp_malloc(want + CONTENT_MAX);
    if (!room || vp_fs_pread(fd, room, want, 0, &n) < 0 ||
        gz_head(room, n, room + want, CONTENT_MAX, &got) < 0 || !got)
        return;
    vp_str text = {room + want, got};
    size_t head = got < RD_RANK_HEAD ? got : RD_RANK_HEAD, rest = got - head,
           tail = rest < RD_RANK_TAIL ? rest : RD_RANK_TAIL;
    rd_rank_of(&f->rank, vp_str_head(text, head),
               got < CONTENT_MAX ? vp_str_skip(text, got - tail) : VP_STR_NONE);
}

/* Reads the rank that a file of Trace Event JSON states; inner: the begin of a packed file. A file
 * that cannot be read has none. A packed file without others has nothing to be joined with, so the
 * times of its last events do not matter. */
static void read_file_rank(const catalog *c, int fd, vp_str inner, cat_found *f)
{
    char text[RD_RANK_HEAD + RD_RANK_TAIL];
    size_t head = 0, tail = 0;
    if (f->bytes <= 0)
        return;
    if (f->kind.gzip && f->bytes <= (int64_t)PACKED_MAX && !c->single) {
        read_packed_rank(fd, f);
        return;
    }
    if (f->kind.gzip) {
        rd_rank_of(&f->rank, inner, VP_STR_NONE);
        return;
    }
    if (vp_fs_pread(fd, text, RD_RANK_HEAD, 0, &head) < 0)
        return;
    int64_t rest = f->bytes - (int64_t)head,
            want = rest < (int64_t)RD_RANK_TAIL ? rest : (int64_t)RD_RANK_TAIL;
    if (want > 0 && vp_fs_pread(fd, text + head, (size_t)want, f->bytes - want, &tail) < 0)
        tail = 0;
    rd_rank_of(&f->rank, (vp_str){text, head}, (vp_str){text + head, tail});
}

static bool may_state_a_rank(const cat_found *f)
{
    return f->kind.format == RD_KINETO || f->kind.format == RD_CHROME;
}

/* *inner: the begin of a packed file, in room. */
static int detect_by_head(vp_str name, const char *head, size_t n, char room[INNER_MAX],
                          vp_str *inner, rd_kind *out)
{
    *inner = (vp_str){room, 0};
    if (gz_is(head, n))
        VP_TRY(gz_head(head, n, room, INNER_MAX, &inner->n));
    *out = rd_detect(name, (vp_str){head, n}, *inner);
    return 0;
}

static int mark_unreadable(cat_scan *s, cat_found *f, const char *why)
{
    f->kind = (rd_kind){.format = RD_UNREADABLE};
    f->why = vp_arena_strndup(&s->c->arena, why, strlen(why));
    return f->why ? 0 : cat_no_memory();
}

static int index_progress(void *ctx, int64_t done, int64_t total)
{
    const cat_scan *s = ctx;
    (void)done;
    (void)total;
    return s->opts->progress(s->opts->progress_ctx, (int64_t)s->entries, -1);
}

static int index_archive(cat_scan *s, int fd, cat_found *f, cat_archive **out)
{
    ar_index *index = NULL;
    VP_CLEANUP(vp_fs_close) int copy = -1;
    int rc = s->c->mirror ? mirror_whole(s->c->mirror, &f->id, &copy) : 0;
    if (rc >= 0)
        rc = ar_index_make(&index, copy >= 0 ? copy : fd, s->opts->progress ? index_progress : NULL,
                           s);
    if (is_fatal_status(rc))
        return rc;
    if (rc < 0)
        return mark_unreadable(s, f, vp_error_last()->message);
    cat_archive *a = vp_calloc(1, sizeof *a);
    if (!a) {
        ar_index_free(index);
        return vp_fail(VP_ENOMEM, "out of memory for the list of an archive");
    }
    atomic_init(&a->refs, 1);
    a->index = index;
    *out = a;
    return 0;
}

static int memo_remember(cat_scan *s, const cat_found *f, uint64_t name_hash, cat_archive *archive,
                         const cat_archive **out)
{
    cat_memo_entry e = {.id = f->id,
                        .name_hash = name_hash,
                        .kind = f->kind,
                        .rank = f->rank,
                        .why = f->why,
                        .archive = archive};
    if (s->opts->last && !archive)
        return 0;
    int rc = cat_memo_put(&s->c->memo, &e);
    if (rc < 0)
        cat_archive_unref(archive);
    else
        *out = archive;
    return rc;
}

static int memo_recall(cat_scan *s, const cat_memo_entry *e, cat_found *f,
                       const cat_archive **archive)
{
    f->kind = e->kind;
    f->rank = e->rank;
    if (e->why) {
        VP_TRY(mark_unreadable(s, f, e->why));
        f->kind = e->kind;
    }
    if (e->archive)
        atomic_fetch_add(&e->archive->refs, 1);
    return memo_remember(s, f, e->name_hash, e->archive, archive);
}

/* Each read of a remote file is a request over the network, so names decide, unless they are
 * ambiguous or the file itself was named by the user. */
static bool name_decides(const catalog *c, bool in_run, const cat_found *f)
{
    rd_format format = f->kind.format;
    if (!c->mirror || mirror_is_file(c->mirror) || f->bytes < DOUBTFUL_BYTES)
        return false;
    return format == RD_XSPACE || format == RD_KINETO || format == RD_PPROF || format == RD_VPCAP ||
           format == RD_UNREADABLE || (format == RD_XLA_JSON && in_run);
}

static bool too_large(const catalog *c, const cat_found *f)
{
    return c->mirror && !mirror_is_file(c->mirror) && f->kind.format == RD_ARCHIVE &&
           f->bytes > VP_REMOTE_ARCHIVE_MAX;
}

static int take_file_head(const catalog *c, int fd, const cat_found *f, char *head, size_t want,
                          size_t *n)
{
    *n = 0;
    if (!want)
        return 0;
    return c->mirror ? mirror_head(c->mirror, &f->id, head, want, n)
                     : vp_fs_pread(fd, head, want, 0, n);
}

/* True for a plane with content: a file that begins so and is named like an XSpace is judged by the
 * first bytes of the plane, or is a tar; later bytes are not needed. */
static bool begins_with_plane(const char *head, size_t n)
{
    vp_pb r = vp_pb_of((vp_str){head, n});
    uint64_t tag, length;
    return n == FIRST_LOOK && vp_pb_varint(&r, &tag) && tag == XSPACE_PLANES_TAG &&
           vp_pb_varint(&r, &length) && length > 0;
}

/* A cheap test before computing a tar's checksum. */
static bool may_be_tar(const char *block)
{
    char first = block[CHECKSUM_AT];
    return first == ' ' || (first >= '0' && first <= '7');
}

/* Most xplanes are recognized by a few bytes, and copying the rest of the head costs more than all
 * other work for a file. For remote files the request itself is the cost. */
static int read_enough(const catalog *c, int fd, const cat_found *f, char head[HEAD_MAX], size_t *n)
{
    /* At most the size of the file: detecting its end would take one more read. */
    size_t want = (uint64_t)f->bytes < HEAD_MAX ? (size_t)f->bytes : HEAD_MAX;
    if (!c->mirror && f->kind.format == RD_XSPACE && want > FIRST_LOOK) {
        VP_TRY(take_file_head(c, fd, f, head, FIRST_LOOK, n));
        if (begins_with_plane(head, *n)) {
            *n = may_be_tar(head) ? FIRST_LOOK : PLANE_LOOK;
            return 0;
        }
    }
    return take_file_head(c, fd, f, head, want, n);
}

/* f->kind is based on the name. */
static int detect_file_kind(const catalog *c, int fd, bool in_run, cat_found *f)
{
    char head[HEAD_MAX], room[INNER_MAX];
    vp_str inner;
    size_t n;
    rd_kind by_name = f->kind;
    f->why = f->kind.why;
    if (name_decides(c, in_run, f))
        return 0;
    if (too_large(c, f)) {
        f->kind = (rd_kind){.format = RD_UNREADABLE};
        f->why = "a large remote archive: give its own address to read it";
        return 0;
    }
    VP_TRY(read_enough(c, fd, f, head, &n));
    VP_TRY(detect_by_head(f->name, head, n, room, &inner, &f->kind));
    keep_producer(&f->kind, by_name, in_run);
    f->why = f->kind.why;
    if (f->kind.format == RD_UNKNOWN && by_name.format != RD_UNKNOWN) {
        f->kind = (rd_kind){.format = RD_UNREADABLE};
        f->why = n ? "the content does not match the file name" : "empty file";
    }
    if (!may_state_a_rank(f))
        return 0;
    if (c->mirror && !f->kind.gzip) /* no further request */
        rd_rank_of(&f->rank, (vp_str){head, n}, VP_STR_NONE);
    else if (!c->mirror)
        read_file_rank(c, fd, inner, f);
    return 0;
}

void cat_peek(const catalog *c, int fd, bool in_run, cat_found *f)
{
    cat_found seen = *f;
    seen.peeked = detect_file_kind(c, fd, in_run, &seen) >= 0 && seen.kind.format != RD_ARCHIVE;
    if (seen.peeked)
        *f = seen;
}

static uint64_t name_hash(const cat_found *f)
{
    return vp_hash(f->name.p, f->name.n, 0);
}

static const cat_memo_entry *known_memo_entry(const cat_scan *s, const cat_found *f)
{
    const catalog *previous = s->opts->previous;
    return previous ? cat_memo_get(&previous->memo, &f->id, name_hash(f)) : NULL;
}

bool cat_known(const cat_scan *s, const cat_found *f)
{
    return known_memo_entry(s, f) != NULL;
}

static int look_inside(cat_scan *s, int fd, bool in_run, cat_found *f, const cat_archive **archive)
{
    cat_archive *a = NULL;
    s->c->seen.opened++;
    int rc = f->peeked ? 0 : detect_file_kind(s->c, fd, in_run, f);
    if (rc < 0)
        return is_fatal_status(rc) || (s->c->mirror && rc == VP_EREMOTE)
                   ? rc
                   : mark_unreadable(s, f, vp_error_last()->message);
    if (f->kind.format == RD_ARCHIVE)
        VP_TRY(index_archive(s, fd, f, &a));
    return memo_remember(s, f, name_hash(f), a, archive);
}

int cat_look(cat_scan *s, int dir_fd, const char *open_name, bool in_run, cat_found *f,
             const cat_archive **archive)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    *archive = NULL;
    if (f->peeked)
        return look_inside(s, -1, in_run, f, archive);
    f->kind = rd_detect_name(f->name);
    f->why = f->kind.why;
    if (f->kind.format == RD_CACHE) /* any file may be named like a profile, but not like a cache */
        return 0;
    const cat_memo_entry *e = known_memo_entry(s, f);
    if (e)
        return memo_recall(s, e, f, archive);
    int rc = s->c->mirror ? 0 : cat_open_file(s->c, dir_fd, open_name, &fd, NULL);
    if (rc == VP_ENOTFOUND) { /* deleted after the directory was read */
        f->kind = (rd_kind){.format = RD_UNKNOWN};
        return 0;
    }
    if (rc < 0)
        return is_fatal_status(rc) ? rc : mark_unreadable(s, f, vp_error_last()->message);
    return look_inside(s, fd, in_run, f, archive);
}

int cat_look_member(const ar_member *m, cat_found *f)
{
    char room[INNER_MAX];
    vp_str inner;
    f->kind = rd_detect_name(f->name);
    /* The first bytes of a sparse member may be a hole, which is not stored. */
    rd_kind by_name = f->kind;
    if (f->kind.format != RD_CACHE && (m->head_n || !m->size))
        VP_TRY(detect_by_head(f->name, m->head, m->head_n, room, &inner, &f->kind));
    if (may_state_a_rank(f) && !f->kind.gzip)
        f->rank = m->rank;
    keep_producer(&f->kind, by_name, true);
    f->why = f->kind.why;
    if (f->kind.format == RD_ARCHIVE) {
        f->kind.format = RD_UNREADABLE;
        f->why = "nested archive: unpack the outer archive first";
    }
    return 0;
}
