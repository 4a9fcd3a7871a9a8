#include "trace/read/archive/archive.h"

#include <stdlib.h>

#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/read/archive/archive_name.h"
#include "trace/read/archive/archive_reader.h"

static const char why_duplicate[] = "duplicate name; the last entry is used";
static const char why_unreadable[] = "damaged, or unsupported compression";

typedef struct builder {
    ar_index *ix;
    size_t member_cap, refusal_cap;
    int64_t declared; /* sum of the sizes that members state */
    int64_t archive_size;
} builder;

void ar_index_free(ar_index *ix)
{
    if (!ix)
        return;
    for (size_t i = 0; i < ix->member_count; i++)
        vp_free(ix->members[i].name);
    for (size_t i = 0; i < ix->refusal_count; i++)
        vp_free(ix->refusals[i].name);
    vp_free(ix->members);
    vp_free(ix->refusals);
    vp_free(ix);
}

static int refuse_as(builder *b, vp_str name, const char *why, bool lost)
{
    ar_index *ix = b->ix;
    VP_CLEANUP(vp_buf_free) vp_buf shown;
    vp_buf_init(&shown, 8 * (size_t)VP_MEMBER_NAME_MAX);
    VP_TRY(vp_grow(&ix->refusals, &b->refusal_cap, ix->refusal_count + 1, sizeof *ix->refusals,
                   SIZE_MAX));
    vp_put_escaped(&shown, vp_str_head(name, VP_MEMBER_NAME_MAX));
    char *text = vp_buf_take(&shown, NULL);
    if (!text)
        return vp_fail(VP_ENOMEM, "out of memory for an archive index");
    ix->refusals[ix->refusal_count++] = (ar_refusal){text, why, lost};
    return 0;
}

static int index_refuse_entry(builder *b, vp_str name, const char *why)
{
    return refuse_as(b, name, why, false);
}

/* In ns; 0 if the archive has no time, or one out of range, also before 1970. */
static int64_t mtime_of(struct archive_entry *e)
{
    int64_t s = archive_entry_mtime_is_set(e) ? archive_entry_mtime(e) : 0;
    return s > 0 && s < INT64_MAX / 1000000000 - 1 ? s * 1000000000 + archive_entry_mtime_nsec(e)
                                                   : 0;
}

static bool is_damage(int rc)
{
    return rc == VP_ECORRUPT || rc == VP_ELIMIT;
}

/* JSON states its rank in its first bytes; of others only enough to detect the format is read. */
static bool is_json(const char *text, size_t n)
{
    size_t i = 0;
    while (i < n && strchr(" \t\r\n", text[i]) && text[i])
        i++;
    return i < n && text[i] == '{';
}

static size_t bytes_wanted(const char *text, size_t n)
{
    return is_json(text, n) ? RD_RANK_HEAD : sizeof((ar_member *)NULL)->head;
}

/* Reads the first bytes. Damage after them is not checked here; it is reported when the member is
 * read. */
static int member_read_head(ar_reader *r, ar_member *m)
{
    char text[RD_RANK_HEAD] = {0};
    const void *p;
    size_t n, got = 0, wanted = bytes_wanted(text, 0);
    int64_t offset;
    int rc = 1;
    while (rc > 0 && got < wanted) {
        rc = ar_reader_data(r, &p, &n, &offset);
        if (offset < 0 || offset >= (int64_t)sizeof text)
            break; /* sparse: zeros, like the rest of the text */
        size_t left = sizeof text - (size_t)offset;
        n = n < left ? n : left;
        if (n)
            memcpy(text + offset, p, n);
        got = n ? (size_t)offset + n : got;
        wanted = bytes_wanted(text, got);
    }
    m->head_n = got < sizeof m->head ? got : sizeof m->head;
    memcpy(m->head, text, m->head_n);
    if (is_json(text, got))
        rd_rank_of(&m->rank, (vp_str){text, got}, VP_STR_NONE);
    return is_damage(rc) && m->head_n ? 0 : rc < 0 ? rc : 0;
}

static bool too_much(builder *b, int64_t size)
{
    int64_t sum = b->declared + (size > 0 ? size : 0);
    if (sum > VP_ARCHIVE_TOTAL_MAX)
        return true;
    b->declared = sum;
    return false;
}

static int index_keep_member(builder *b, ar_member *m, vp_buf *name)
{
    ar_index *ix = b->ix;
    VP_TRY(
        vp_grow(&ix->members, &b->member_cap, ix->member_count + 1, sizeof *ix->members, SIZE_MAX));
    m->name = vp_buf_take(name, NULL);
    if (!m->name)
        return vp_fail(VP_ENOMEM, "out of memory for an archive index");
    ix->members[ix->member_count++] = *m;
    return 0;
}

/* Damage while reading the first bytes of a member ends a stream, but not a zip, whose members are
 * independent. */
static int index_add_file(builder *b, ar_reader *r, ar_member *m, vp_str raw, vp_buf *name)
{
    if (too_much(b, m->size))
        return index_refuse_entry(b, raw, "exceeds the limit for all members together (16 GiB)");
    if (m->size > VP_ARCHIVE_RATIO_FREE && m->size / VP_ARCHIVE_RATIO_MAX > b->archive_size)
        return index_refuse_entry(b, raw, "grows more than 200 times when unpacked");
    int rc = member_read_head(r, m);
    if (rc == VP_ECORRUPT && ar_reader_recover(r) == 0) /* `raw` is invalid now */
        return refuse_as(b, vp_buf_view(name), why_unreadable, true);
    VP_TRY(rc);
    return index_keep_member(b, m, name);
}

static vp_str raw_name(struct archive_entry *e, uint32_t index, char *made, size_t cap)
{
    const char *z = archive_entry_pathname(e);
    if (!z)
        z = archive_entry_pathname_utf8(e);
    if (z)
        return vp_str_of(z);
    snprintf(made, cap, "entry-%u", index);
    return vp_str_of(made);
}

static int index_add_entry(builder *b, ar_reader *r, struct archive_entry *e)
{
    char made[32];
    uint32_t index = r->entries - 1;
    vp_str raw = raw_name(e, index, made, sizeof made);
    VP_CLEANUP(vp_buf_free) vp_buf name;
    vp_buf_init(&name, VP_MEMBER_NAME_MAX + 2);
    if (archive_entry_filetype(e) == AE_IFDIR)
        return 0;
    const char *why = ar_refuse_entry(e);
    if (!why)
        why = ar_clean_name(&name, raw);
    VP_TRY(name.status);
    if (why)
        return index_refuse_entry(b, raw, why);
    ar_member m = {.size = archive_entry_size_is_set(e) ? archive_entry_size(e) : -1,
                   .mtime_ns = mtime_of(e),
                   .index = index};
    return index_add_file(b, r, &m, raw, &name);
}

static int by_name_then_index(const void *a, const void *b)
{
    const ar_member *const *x = a, *const *y = b;
    int c = strcmp((*x)->name, (*y)->name);
    return c ? c : (*x)->index < (*y)->index ? -1 : 1;
}

/* Of equal names the last is kept, as when a tar is unpacked; the others become refusals. */
static int drop_duplicates(builder *b)
{
    ar_index *ix = b->ix;
    size_t n = ix->member_count, kept = 0;
    ar_member **sorted = vp_calloc(n ? n : 1, sizeof(ar_member *));
    if (!sorted)
        return vp_fail(VP_ENOMEM, "out of memory for an archive index");
    for (size_t i = 0; i < n; i++)
        sorted[i] = &ix->members[i];
    qsort(sorted, n, sizeof *sorted, by_name_then_index);
    int rc = 0;
    for (size_t i = 0; i + 1 < n && rc == 0; i++)
        if (!strcmp(sorted[i]->name, sorted[i + 1]->name)) {
            rc = index_refuse_entry(b, vp_str_of(sorted[i]->name), why_duplicate);
            sorted[i]->head_n = SIZE_MAX; /* marks it for the sweep below */
        }
    for (size_t i = 0; i < n; i++) {
        if (ix->members[i].head_n == SIZE_MAX)
            vp_free(ix->members[i].name);
        else
            ix->members[kept++] = ix->members[i];
    }
    ix->member_count = kept;
    vp_free(sorted);
    return rc;
}

static int list_entries(builder *b, ar_reader *r)
{
    struct archive_entry *e;
    int rc;
    while ((rc = ar_reader_next(r, &e)) > 0)
        VP_TRY(index_add_entry(b, r, e));
    return rc;
}

static int fill_index(ar_index *ix, int fd, vp_progress_fn *progress, void *ctx)
{
    AR_IN_UTF8;
    VP_CLEANUP(ar_reader_close) ar_reader r = {.fd = -1, .progress = progress, .progress_ctx = ctx};
    VP_TRY(ar_reader_open(&r, fd, true));
    builder b = {.ix = ix, .archive_size = r.size};
    ix->format = ar_kinds[r.kind].suffix + 1;
    int rc = list_entries(&b, &r);
    if (is_damage(rc) && ix->member_count + ix->refusal_count > 0) {
        ix->damage = *vp_error_last();
        rc = 0;
    }
    VP_TRY(rc);
    return drop_duplicates(&b);
}

int ar_index_make(ar_index **out, int fd, vp_progress_fn *progress, void *ctx)
{
    ar_index *ix = vp_calloc(1, sizeof *ix);
    if (!ix)
        return vp_fail(VP_ENOMEM, "out of memory for an archive index");
    int rc = fill_index(ix, fd, progress, ctx);
    if (rc < 0) {
        ar_index_free(ix);
        return rc;
    }
    *out = ix;
    return 0;
}
