#include "trace/model/catalog/timeline.h"

#include "trace/base/err.h"
#include "trace/read/json/chrome_json.h"
#include "trace/read/vpcap/vpcap_reader.h"
#include "trace/read/xspace/xspace.h"

/* The reader of a format, selected by the row's `text`; NULL: none. */
typedef union reader {
    int (*source)(sink *out, rd_source *in, const rd_options *opts);
    int (*stream)(sink *out, rd_stream *in, const rd_options *opts);
} reader;

#define READER(format, name, session, role, suffix, how, read, json, pftrace)                      \
    [RD_##format] = {.how = read},
static const reader readers[RD_FORMAT_COUNT] = {RD_FORMATS(READER)};

bool timeline_same_reader(rd_format a, rd_format b)
{
    return rd_formats[a].text == rd_formats[b].text && readers[a].source == readers[b].source;
}

int timeline_read(sink *out, const catalog *c, const cat_file *f, const rd_options *opts,
                  vp_error *damage)
{
    reader r = readers[f->kind.format];
    *damage = (vp_error){0};
    if (!r.source)
        return vp_fail(VP_EUNSUPPORTED, "no reader for files of format \"%s\"",
                       rd_format_name(f->kind.format));
    if (rd_formats[f->kind.format].text) {
        VP_CLEANUP(rd_stream_close) rd_stream *in = NULL;
        VP_TRY(catalog_stream(&in, c, f, false));
        int rc = r.stream(out, in, opts);
        *damage = in->damage;
        return rc;
    }
    rd_source *in = NULL;
    VP_TRY(catalog_source(&in, c, f, damage));
    int rc = r.source(out, in, opts);
    rd_source_close(in);
    return rc;
}
