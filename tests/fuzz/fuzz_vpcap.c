/* Any bytes as a recording that was cut off: opened, walked, turned into an XSpace, read, sealed
 * and analysed. An image is megabytes of zeros, so the input says what else is in it: its size (4
 * bytes), then pieces of {place: 4 bytes, length: 2 bytes, content}; all little endian. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/analyze/host_analysis.h"
#include "trace/analyze/result/host_result.h"
#include "trace/read/vpcap/vpcap_reader.h"

#define IMAGE_MAX (4u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint8_t *unpack(const uint8_t *data, size_t n, uint32_t *size)
{
    memcpy(size, data, 4);
    *size %= IMAGE_MAX;
    uint8_t *image = calloc(1, (size_t)*size + 1);
    for (size_t i = 4; image && n - i >= 6;) {
        uint32_t at;
        uint16_t len;
        memcpy(&at, data + i, 4);
        memcpy(&len, data + i + 4, 2);
        i += 6;
        if (len > n - i || at > *size || len > *size - at)
            break;
        memcpy(image + at, data + i, len);
        i += len;
    }
    return image;
}

static void read_image(const uint8_t *image, size_t n)
{
    rd_source *in;
    trace *t;
    host_result h;
    rd_options opts = {0};
    if (rd_source_memory(&in, image, n) < 0 || trace_new(&t) < 0)
        abort();
    if (vr_read(&t->sink, in, &opts) == 0 && trace_seal(t) == 0) {
        host_result_init(&h);
        host_analyze(&h, t, VP_GROUP_NAME, VP_DEPTH_FULL);
        host_result_free(&h);
    }
    trace_free(t);
    rd_source_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint32_t size;
    if (n < 4)
        return 0;
    uint8_t *image = unpack(data, n, &size);
    if (image)
        read_image(image, size);
    free(image);
    return 0;
}
