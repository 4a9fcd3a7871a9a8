#include "server/cli/capture/profile_start.h"

#include <stdbool.h>
#include <unistd.h>

#include "trace/base/fs.h"
#include "trace/base/pb.h"

/* Planes without events are smaller than this. */
#define PLANE_MAX (64u << 10)
/* Real profiles have one plane per device and a few more. */
#define FIELDS_MAX 1000u
/* A tag and a length. */
#define HEAD_MAX 20u

/* The id of the stat with this name; 0: none. */
static uint64_t stat_number(vp_str plane, vp_str name)
{
    vp_pb p = vp_pb_of(plane), entry, meta;
    vp_pb_field f;
    while (vp_pb_next(&p, &f) == 1) {
        uint64_t key = 0;
        if (f.number != 5)
            continue;
        for (entry = vp_pb_of(f.data); vp_pb_next(&entry, &f) == 1;)
            if (f.number == 1) {
                key = f.u;
            } else if (f.number == 2) {
                for (meta = vp_pb_of(f.data); vp_pb_next(&meta, &f) == 1;)
                    if (f.number == 2 && vp_str_eq(f.data, name))
                        return key;
            }
    }
    return 0;
}

static int64_t profile_start_of_plane(vp_str plane)
{
    uint64_t number = stat_number(plane, VP_STR("profile_start_time"));
    vp_pb p = vp_pb_of(plane), stat;
    vp_pb_field f;
    while (number && vp_pb_next(&p, &f) == 1) {
        uint64_t id = 0, value = 0;
        if (f.number != 6)
            continue;
        for (stat = vp_pb_of(f.data); vp_pb_next(&stat, &f) == 1;)
            if (f.number == 1)
                id = f.u;
            else if (f.number == 3 || f.number == 4)
                value = f.u;
        if (id == number && value < INT64_MAX)
            return (int64_t)value;
    }
    return 0;
}

int64_t profile_start_ns(int fd)
{
    static char bytes[PLANE_MAX];
    int64_t at = 0, start = 0;
    for (size_t i = 0; i < FIELDS_MAX && !start; i++) {
        size_t got;
        uint64_t tag, n;
        if (vp_fs_pread(fd, bytes, HEAD_MAX, at, &got) < 0)
            return 0;
        vp_pb p = vp_pb_of((vp_str){bytes, got});
        if (!vp_pb_varint(&p, &tag) || (tag & 7) != VP_PB_LEN || !vp_pb_varint(&p, &n) ||
            n > INT64_MAX / 2)
            return 0;
        at += (const char *)p.p - bytes;
        if (tag >> 3 == 1 && n <= PLANE_MAX && vp_fs_pread(fd, bytes, n, at, &got) >= 0)
            start = profile_start_of_plane((vp_str){bytes, got});
        at += (int64_t)n;
    }
    return start;
}
