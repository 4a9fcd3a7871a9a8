/* Writes the image of a recording unchanged: a .vpcap. */
#include "trace/base/err.h"
#include "trace/base/fs.h"
#include "trace/capture/write/writer.h"
#include "trace/vpcap/vpcap_layout.h"

int wr_raw(uint64_t *bytes, int fd, const vpcap *v)
{
    vpcap_header head;
    vp_str image = vpcap_taken(&head, v);
    *bytes = image.n;
    VP_TRY(vp_fs_write_all(fd, &head, sizeof head));
    return vp_fs_write_all(fd, image.p + sizeof head, image.n - sizeof head);
}
