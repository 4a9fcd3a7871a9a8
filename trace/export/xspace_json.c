#include "trace/base/err.h"
#include "trace/export/export.h"
int ex_json_from_xspace(rd_stream **out, rd_source *in)
{
    (void)out;
    rd_source_close(in);
    return vp_fail(VP_EUNSUPPORTED, "not yet");
}
