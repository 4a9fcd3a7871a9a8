/* Weak stand-ins so that everything links while the reader of archives is being built; each
 * definition of the real thing replaces its line here without further ado. */
#include "trace/base/err.h"
#include "trace/read/archive.h"

#define PENDING __attribute__((weak))

static int pending(void)
{
    return vp_fail(VP_EUNSUPPORTED, "this build cannot read it yet");
}

PENDING int ar_index_make(ar_index **out, int fd, vp_progress_fn *progress, void *ctx)
{
    (void)out;
    (void)fd;
    (void)progress;
    (void)ctx;
    return pending();
}

PENDING void ar_index_free(ar_index *ix)
{
    (void)ix;
}

PENDING int ar_member_open(rd_stream **out, int fd, uint32_t index)
{
    (void)out;
    (void)fd;
    (void)index;
    return pending();
}
