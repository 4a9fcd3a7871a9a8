/* The HLO protos of real profiles: those in the /host:metadata planes of all intact xplane.pb files
 * of the collection. Tests only. */
#ifndef VP_TESTS_UNIT_HLO_PROTOS_H
#define VP_TESTS_UNIT_HLO_PROTOS_H

#include <ftw.h>
#include <string.h>

#include "tests/unit/traces.h"
#include "trace/base/buf.h"
#include "trace/base/mem.h"
#include "trace/base/pb.h"
#include "trace/vpcap/xspace_fields.h"

typedef void hlo_protos_fn(const char *path, vp_str module, vp_str proto);
static hlo_protos_fn *hlo_protos_each;

static void hlo_protos_of_stats(const char *path, vp_str meta)
{
    vp_pb r = vp_pb_of(meta), s;
    vp_pb_field f, g;
    vp_str name = VP_STR_NONE;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == XEVENTMETADATA_NAME)
            name = f.data;
        if (f.number != XEVENTMETADATA_STATS || f.wire != VP_PB_LEN)
            continue;
        s = vp_pb_of(f.data);
        while (vp_pb_next(&s, &g) > 0)
            if (g.number == 6 && g.wire == VP_PB_LEN)
                hlo_protos_each(path, name, g.data);
    }
}

static void hlo_protos_of_plane(const char *path, vp_str plane)
{
    vp_pb r = vp_pb_of(plane), entry;
    vp_pb_field f, g;
    bool metadata = false;
    while (vp_pb_next(&r, &f) > 0) {
        if (f.number == XPLANE_NAME)
            metadata = vp_str_eq(f.data, VP_STR("/host:metadata"));
        if (!metadata || f.number != XPLANE_EVENT_METADATA)
            continue;
        entry = vp_pb_of(f.data);
        while (vp_pb_next(&entry, &g) > 0)
            if (g.number == XMAP_VALUE)
                hlo_protos_of_stats(path, g.data);
    }
}

static int hlo_protos_of_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    size_t n = strlen(path), size = (size_t)st->st_size;
    (void)ftw;
    if (type != FTW_F || n < 10 || strcmp(path + n - 10, ".xplane.pb") != 0 || !size)
        return 0;
    FILE *in = fopen(path, "rb");
    char *all = vp_malloc(size);
    assert_non_null(in);
    assert_non_null(all);
    assert_int_equal(fread(all, 1, size, in), size);
    fclose(in);
    vp_pb r = vp_pb_of((vp_str){all, size});
    vp_pb_field f;
    while (vp_pb_next(&r, &f) > 0)
        if (f.number == XSPACE_PLANES && f.wire == VP_PB_LEN)
            hlo_protos_of_plane(path, f.data);
    vp_free(all);
    return 0;
}

static inline void hlo_protos_walk(hlo_protos_fn *each)
{
    hlo_protos_each = each;
    assert_int_equal(nftw(traces_root(), hlo_protos_of_file, 16, FTW_PHYS), 0);
}

#endif
