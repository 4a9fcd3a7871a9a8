#include "trace/export/exporters.h"

#include "trace/base/err.h"
#include "trace/export/export.h"
#include "trace/read/vpcap/vpcap_reader.h"

/* The exporter of a format, if there is one. A source is consumed; a stream is opened twice. */
typedef union exporter {
    int (*source)(rd_stream **out, rd_source *in, ex_pick *pick);
    int (*stream)(rd_stream **out, const ex_input *in, ex_pick *pick);
} exporter;

#define EXPORTER_JSON(format, name, session, role, suffix, how, read, json, pftrace)               \
    [RD_##format] = {.how = json},
#define EXPORTER_PFTRACE(format, name, session, role, suffix, how, read, json, pftrace)            \
    [RD_##format] = {.how = pftrace},
static const exporter exporters[EX_FORMS][RD_FORMAT_COUNT] = {
    [EX_JSON] = {RD_FORMATS(EXPORTER_JSON)},
    [EX_PFTRACE] = {RD_FORMATS(EXPORTER_PFTRACE)},
};

static const cat_file *exported_file_at(ex_form form, const cat_session *s, uint32_t index)
{
    const cat_file *f = index == UINT32_MAX ? NULL : &s->files[index];
    return f && !f->why && exporters[form][f->kind.format].source ? f : NULL;
}

const cat_file *ex_half(ex_form form, const cat_session *s, const cat_host *h)
{
    const cat_file *first = exported_file_at(form, s, h->primary);
    return first ? first : exported_file_at(form, s, h->secondary);
}

const cat_file *ex_other_half(ex_form form, const cat_session *s, const cat_host *h,
                              const cat_file *f)
{
    const cat_file *second = exported_file_at(form, s, h->secondary);
    return f != second ? second : NULL;
}

int ex_json_from_vpcap(rd_stream **out, rd_source *in, ex_pick *pick)
{
    rd_source *xspace;
    int rc = vr_xspace(&xspace, in);
    rd_source_close(in);
    return rc < 0 ? rc : ex_json_from_xspace(out, xspace, pick);
}

int ex_pftrace_from_vpcap(rd_stream **out, rd_source *in, ex_pick *pick)
{
    rd_source *xspace;
    int rc = vr_xspace(&xspace, in);
    rd_source_close(in);
    return rc < 0 ? rc : ex_pftrace_from_xspace(out, xspace, pick);
}

typedef struct text_file {
    const catalog *c;
    const cat_file *f;
} text_file;

static int open_text_file(void *ctx, rd_stream **out)
{
    const text_file *t = ctx;
    return catalog_stream(out, t->c, t->f, false);
}

int ex_open(rd_stream **out, ex_form form, const catalog *c, const cat_file *f, ex_pick *pick)
{
    exporter x = exporters[form][f->kind.format];
    rd_source *source;
    if (!x.source)
        return vp_fail(VP_EUNSUPPORTED, "cannot write %s from files of format \"%s\"",
                       form == EX_JSON ? "Trace Event JSON" : ".pftrace",
                       rd_format_name(f->kind.format));
    if (pick)
        pick->file = f;
    if (rd_formats[f->kind.format].text)
        return x.stream(out, &(ex_input){open_text_file, &(text_file){c, f}}, pick);
    VP_TRY(catalog_source(&source, c, f, NULL));
    return x.source(out, source, pick);
}

int ex_open_host(rd_stream **out, const cat_file **file, ex_form form, const catalog *c,
                 const cat_session *s, const cat_host *h, ex_pick *pick)
{
    const cat_file *f = ex_half(form, s, h), *other;
    if (!f && form == EX_PFTRACE)
        return vp_fail(
            VP_EUNSUPPORTED,
            "cannot write .pftrace from %s; use --to perfetto-json, which Perfetto opens as well",
            s->files[h->primary].name);
    if (!f)
        return vp_fail(VP_EUNSUPPORTED, "%s has no readable timeline", h->name);
    int rc = ex_open(out, form, c, *file = f, pick);
    if (rc >= 0 || !(other = ex_other_half(form, s, h, f)))
        return rc;
    if (pick)
        pick->added = NULL;
    return ex_open(out, form, c, *file = other, pick);
}
