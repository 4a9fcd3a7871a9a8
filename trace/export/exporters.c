#include "trace/export/exporters.h"

#include "trace/base/err.h"
#include "trace/export/export.h"
#include "trace/read/vpcap/vpcap_reader.h"

/* jaxlib stops its JSON half at a million events. A gzip file below this cannot hold that many:
 * real ones take 12 bytes an event and more. Above it, and for plain JSON at 20 times the size, the
 * other half is the one that is surely whole. */
#define MAYBE_CAPPED_GZ (6 << 20)
#define MAYBE_CAPPED_PLAIN (20 * MAYBE_CAPPED_GZ)

/* By whom a format is exported, or nobody. A source is taken; a stream is opened twice. */
typedef union exporter {
    int (*source)(rd_stream **out, rd_source *in);
    int (*stream)(rd_stream **out, const ex_input *in, ex_pick *pick);
} exporter;

#define EXPORTER(format, name, session, role, suffix, how, read, export)                           \
    [RD_##format] = {.how = export},
static const exporter exporters[RD_FORMAT_COUNT] = {RD_FORMATS(EXPORTER)};

static bool exportable(const cat_file *f)
{
    return !f->why && exporters[f->kind.format].source;
}

static bool may_be_capped(const cat_file *f)
{
    return f->bytes >= (f->kind.gzip ? MAYBE_CAPPED_GZ : MAYBE_CAPPED_PLAIN);
}

const cat_file *ex_half(const cat_session *s, const cat_host *h)
{
    const cat_file *first = &s->files[h->primary];
    const cat_file *second = h->secondary == UINT32_MAX ? NULL : &s->files[h->secondary];
    first = exportable(first) ? first : NULL;
    second = second && exportable(second) ? second : NULL;
    return second && !(first && may_be_capped(second)) ? second : first;
}

const cat_file *ex_other_half(const cat_session *s, const cat_host *h, const cat_file *f)
{
    const cat_file *first = &s->files[h->primary];
    return f != first && exportable(first) ? first : NULL;
}

int ex_json_from_vpcap(rd_stream **out, rd_source *in)
{
    rd_source *xspace;
    int rc = vr_xspace(&xspace, in);
    rd_source_close(in);
    return rc < 0 ? rc : ex_json_from_xspace(out, xspace);
}

typedef struct text_file {
    const catalog *c;
    const cat_file *f;
} text_file;

static int open_text(void *ctx, rd_stream **out)
{
    const text_file *t = ctx;
    return catalog_stream(out, t->c, t->f, false);
}

int ex_json(rd_stream **out, const catalog *c, const cat_file *f)
{
    exporter x = exporters[f->kind.format];
    rd_source *source;
    if (!x.source)
        return vp_fail(VP_EUNSUPPORTED, "no exporter takes files of the format \"%s\"",
                       rd_format_name(f->kind.format));
    if (rd_formats[f->kind.format].text)
        return x.stream(out, &(ex_input){open_text, &(text_file){c, f}}, NULL);
    VP_TRY(catalog_source(&source, c, f, NULL));
    return x.source(out, source);
}
