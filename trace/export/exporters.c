#include "trace/export/exporters.h"

#include "trace/base/err.h"
#include "trace/export/export.h"
#include "trace/read/vpcap/vpcap_reader.h"

/* By whom a format is exported, or nobody. A source is taken; a stream is opened twice. */
typedef union exporter {
    int (*source)(rd_stream **out, rd_source *in, ex_pick *pick);
    int (*stream)(rd_stream **out, const ex_input *in, ex_pick *pick);
} exporter;

#define EXPORTER(format, name, session, role, suffix, how, read, export)                           \
    [RD_##format] = {.how = export},
static const exporter exporters[RD_FORMAT_COUNT] = {RD_FORMATS(EXPORTER)};

static const cat_file *exported(const cat_session *s, uint32_t index)
{
    const cat_file *f = index == UINT32_MAX ? NULL : &s->files[index];
    return f && !f->why && exporters[f->kind.format].source ? f : NULL;
}

const cat_file *ex_half(const cat_session *s, const cat_host *h)
{
    const cat_file *first = exported(s, h->primary);
    return first ? first : exported(s, h->secondary);
}

const cat_file *ex_other_half(const cat_session *s, const cat_host *h, const cat_file *f)
{
    const cat_file *second = exported(s, h->secondary);
    return f != second ? second : NULL;
}

int ex_json_from_vpcap(rd_stream **out, rd_source *in, ex_pick *pick)
{
    rd_source *xspace;
    int rc = vr_xspace(&xspace, in);
    rd_source_close(in);
    return rc < 0 ? rc : ex_json_from_xspace(out, xspace, pick);
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
    return x.source(out, source, NULL);
}
