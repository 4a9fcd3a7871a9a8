#include "trace/read/vpcap/vpcap_reader.h"

#include <stdio.h>

#include "trace/base/fs.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/vpcap/vpcap_xspace.h"
#include "trace/read/xspace/xspace.h"

#define MAGIC VP_STR("VPCAP\r\n\x1a")

bool vr_is(vp_str head)
{
    return vp_str_starts(head, MAGIC);
}

/* Reads the whole image into memory, as it was in its process. */
static int read_vpcap_image(char **image, size_t *n, rd_source *in)
{
    int64_t size = rd_source_size(in);
    if (size > VP_RECORDING_MAX)
        return vp_fail(VP_ELIMIT, "the recording is larger than 16 GiB");
    char *p = vp_malloc((size_t)size + 1);
    if (!p)
        return vp_fail(VP_ENOMEM, "out of memory for a recording of %lld bytes", (long long)size);
    int rc = rd_source_read(in, p, (size_t)size, 0, n);
    if (rc < 0)
        vp_free(p);
    else
        *image = p;
    return rc;
}

static int image_to_xspace(rd_source **out, uint64_t *torn, const char *image, size_t n)
{
    VP_CLEANUP(vp_fs_close) int fd = -1;
    vpcap *v;
    VP_TRY(vpcap_open(&v, image, n));
    *torn = vpcap_info_of(v)->torn;
    int rc = vp_fs_temp(&fd);
    if (rc >= 0)
        rc = vx_write(NULL, fd, v, NULL, NULL, NULL, 0);
    vpcap_free(v);
    return rc < 0 ? rc : rd_source_fd(out, vp_fs_take(&fd));
}

static int open_xspace(rd_source **out, uint64_t *torn, rd_source *in)
{
    char *image = NULL;
    size_t n = 0;
    VP_TRY(read_vpcap_image(&image, &n, in));
    int rc = image_to_xspace(out, torn, image, n);
    vp_free(image);
    return rc;
}

int vr_xspace(rd_source **out, rd_source *in)
{
    uint64_t torn;
    return open_xspace(out, &torn, in);
}

/* Adds a note about incomplete records; the XSpace reports all other losses. */
static int note_torn(sink *out, uint64_t torn)
{
    char text[200];
    bool one = torn == 1;
    if (!torn)
        return 0;
    snprintf(text, sizeof text, "%llu record%s incomplete and %s skipped", (unsigned long long)torn,
             one ? " was" : "s were", one ? "is" : "are");
    return out->quality(out,
                        &(sink_quality){"unfinished", SINK_WARNING, vp_str_of(text), -1, -1, true});
}

int vr_read(sink *out, rd_source *in, const rd_options *opts)
{
    uint64_t torn = 0;
    rd_source *xspace;
    VP_TRY(open_xspace(&xspace, &torn, in));
    int rc = xs_read(out, xspace, opts);
    rd_source_close(xspace);
    VP_TRY(rc);
    return note_torn(out, torn);
}
