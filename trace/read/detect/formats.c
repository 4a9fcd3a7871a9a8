#include "trace/read/detect/detect.h"

enum { TEXT_source, TEXT_stream };
#define FORMAT_ROW(format, name, session, role, suffix, how, ...)                                  \
    [RD_##format] = {name, session, suffix, RD_##role, TEXT_##how},
const rd_format_row rd_formats[RD_FORMAT_COUNT] = {RD_FORMATS(FORMAT_ROW)};

const char *rd_format_name(rd_format f)
{
    return rd_formats[f].name;
}

bool rd_is_timeline(rd_format f)
{
    return rd_formats[f].role <= RD_ALONE;
}
