#include "trace/model/unpack/extract.h"

#include <string.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/read/detect/archive_kinds.h"

typedef struct extraction {
    const catalog *c;
    const extract_options *o;
    unpack *to;
    extract_counts *counts;
    bool root_is_dir;
    int64_t before, present; /* packed bytes of the previous files, and of this one */
} extraction;

bool extract_is_timeline(const cat_file *f)
{
    return rd_is_timeline(f->kind.format) && !f->why;
}

bool extract_is_packed(const cat_file *f)
{
    return f->is_member || f->kind.gzip;
}

unpack_source extract_source(const cat_file *f)
{
    return (unpack_source){.path = f->path,
                           .size = f->id.size,
                           .mtime_ns = f->id.mtime_ns,
                           .member = f->is_member ? (int64_t)f->member_index : -1};
}

static vp_str without_suffix(vp_str s)
{
    size_t n;
    (void)ar_kind_by_name(s, &n);
    return n < s.n ? vp_str_head(s, s.n - n) : s;
}

/* Target of a file: its path in the profile directory; for members below the archive's name, unless
 * the archive is the only file; without ".gz" if that is removed. */
static int put_extract_target(vp_buf *b, const extraction *x, const cat_file *f)
{
    vp_str path = vp_str_of(f->path), archive = VP_STR_NONE, gz = VP_STR(".gz");
    if (f->is_member) {
        archive = vp_str_head(path, strlen(f->location));
        path = vp_str_skip(path, archive.n + 1);
    }
    if (archive.n && x->root_is_dir) {
        vp_buf_str(b, without_suffix(archive));
        vp_buf_putc(b, '/');
    }
    if (f->kind.gzip && vp_str_ends(path, gz) && path.n > gz.n)
        path.n -= gz.n;
    if (!f->is_member && !strcmp(catalog_path(x->c), "-")) {
        vp_buf_puts(b, "stdin");
        path = vp_str_of(rd_formats[f->kind.format].suffix);
    }
    return vp_buf_str(b, path);
}

static int report_extract_progress(extraction *x)
{
    return x->o->progress ? x->o->progress(x->o->ctx, x->counts) : 0;
}

/* The unpacked size is unknown before the end, so progress is the read fraction of the packed
 * file. */
static int on_extract_piece(void *ctx, int64_t done, int64_t total)
{
    extraction *x = ctx;
    double part = total > 0 ? (double)done / (double)total : 0;
    x->counts->done = x->before + (int64_t)((double)x->present * part);
    return report_extract_progress(x);
}

static int extract_to_target(extraction *x, const unpack_source *src, const cat_file *f)
{
    VP_CLEANUP(rd_stream_close) rd_stream *in = NULL;
    VP_CLEANUP(vp_buf_free) vp_buf target;
    vp_buf_init(&target, VP_PATH_MAX * 2);
    int rc = put_extract_target(&target, x, f);
    if (rc >= 0)
        rc = catalog_stream(&in, x->c, f, false);
    if (rc >= 0)
        rc = unpack_file(x->to, src, vp_buf_cstr(&target), in, f->mtime_ns, on_extract_piece, x);
    return rc < 0 ? vp_fail_at(rc, f->path, -1, -1) : 0;
}

static int extract_file(extraction *x, const cat_file *f)
{
    unpack_source src = extract_source(f);
    x->present = f->bytes > 0 ? f->bytes : 0;
    if (unpack_has(x->to, &src)) {
        x->counts->kept++;
    } else {
        int rc = extract_to_target(x, &src, f);
        if (rc < 0 && (rc == VP_ECANCELLED || unpack_is_full(x->to)))
            return rc;
        if (rc < 0 && x->o->left_out)
            x->o->left_out(x->o->ctx, f);
        x->counts->made += rc >= 0;
        x->counts->left_out += rc < 0;
    }
    x->counts->done = x->before += x->present;
    return report_extract_progress(x) ? vp_fail(VP_ECANCELLED, "interrupted") : 0;
}

typedef int visit(extraction *x, const cat_file *f);

static int each_file(extraction *x, visit *each)
{
    for (size_t i = 0; i < catalog_count(x->c); i++) {
        const cat_session *s = catalog_get(x->c, i);
        if (x->o->only && x->o->only != s)
            continue;
        for (size_t k = 0; k < s->file_count; k++) {
            const cat_file *f = &s->files[k];
            if (extract_is_timeline(f) && (!x->o->packed_only || extract_is_packed(f)))
                VP_TRY(each(x, f));
        }
    }
    return 0;
}

static int count_file(extraction *x, const cat_file *f)
{
    x->counts->found++;
    x->counts->total += f->bytes > 0 ? f->bytes : 0;
    return 0;
}

void extract_count(extract_counts *out, const catalog *c, const extract_options *o)
{
    *out = (extract_counts){.found = 0};
    (void)each_file(&(extraction){.c = c, .o = o, .counts = out}, count_file);
}

int extract_run(extract_counts *out, unpack *to, const catalog *c, const extract_options *o)
{
    extraction x = {.c = c, .o = o, .to = to, .counts = out};
    x.root_is_dir = !catalog_is_file(c);
    extract_count(out, c, o);
    return each_file(&x, extract_file);
}
