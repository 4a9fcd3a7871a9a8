/* The image of a recording, as a whole; what is inside its chunks is in the public
 * view_profile_capture_layout.h, because the macros write it in line. Private to the recorder, to
 * vpcap.c and to the tests that build images. Little endian, as the machines are that write it.
 *
 *     page 0     vpcap_header
 *     …          six tables, each an area of the header: names, devices, tracks, metas, open zones,
 *                strings
 *     chunks     pages up to the end; `pages_used` of them were given out, in chunks that follow
 *                each other without a gap, so that a walk from the first finds them all
 *
 * Tables only grow; an entry is valid when its `ready` is set, which its writer does last. The
 * table of open zones is different: its entries are taken and given back.
 *
 * Offset and size in bytes, field, meaning and unit; held as the tables of the public header are.
 *
 *     vpcap_header, 1104
 *          0     8  magic                VPCAP_MAGIC
 *          8     4  version              VPCAP_VERSION
 *         12     4  header_bytes         of this structure
 *         16     8  image_bytes          of all pages, given out or not
 *         24     4  flags                VPCAP_FINISHED …
 *         28     4  gone_left            as gone_threads: zones without an end
 *         32     8  pid
 *         40    16  names                where vpcap_name_entry lie
 *         56    16  devices              vpcap_device_entry
 *         72    16  tracks               vpcap_track_entry
 *         88    16  metas                vpcap_meta_entry
 *        104    16  open                 vpcap_open_entry
 *        120    16  strings              bytes
 *        136     8  chunks_at            byte of the first chunk
 *        144     4  pages                from there to the end
 *        148     4  pages_used           given out
 *        152     8  free_chunks          changes << 32 | page + 1 of the first
 *        160     8  free_open            changes << 32 | entry + 1 of the first
 *        168     8  threads_made         numbers given to threads
 *        176     8  start_ticks_per_s    as far as known at the start
 *        184     8  cut_ticks            what ended before, or after the stop, is left out; 0: none
 *        192     8  gone_threads         threads that have no block, or have none any more (a ring
 *                                        gives them up), and what they lost, in zones:
 *        200     8  gone_dropped_full
 *        208     8  gone_dropped_signal
 *        216     8  gone_dropped_depth
 *        224     8  gone_unmatched_ends
 *        232     8  gone_overwritten
 *        240     8  lost_until           ticks: of what a ring gave up nothing ended later; 0: all
 *                                        is there
 *        248     8  later_ns             IS_FULL: how long after that it was ended; 0: it was not
 *        256    24  start                of the recording
 *        280    24  stop                 its end
 *        304     8  latest_version       odd: latest is being written
 *        312    24  latest               the newest pair while the recording goes on
 *        336   256  host                 NUL-terminated, as the next two
 *        592   256  program
 *        848   256  session */
#ifndef VP_IMAGE_VPCAP_LAYOUT_H
#define VP_IMAGE_VPCAP_LAYOUT_H

#include <stdint.h>

#include "include/view_profile_capture_layout.h"

#define VPCAP_MAGIC "VPCAP\r\n\x1a"
#define VPCAP_VERSION 3u

/* Where strings are cut, so that one cannot fill the area. */
#define VPCAP_STRING_MAX 4095u

/* Zones that may be open at once beside the scopes and pairs of the threads' blocks. */
#define VPCAP_OPEN_MAX 4096u

/* Names that every image has. */
enum { VPCAP_NAME_FLOW, VPCAP_NAME_LOST, VPCAP_NAMES_FIXED };

/* IS_FULL: no ring, and no room any more: `stop` tells since when. */
enum { VPCAP_FINISHED = 1, VPCAP_TRUNCATED = 2, VPCAP_IS_RING = 4, VPCAP_IS_FULL = 8 };

/* One instant on three clocks. */
typedef struct vpcap_pair {
    uint64_t ticks;
    int64_t mono_ns, unix_ns;
} vpcap_pair;

typedef struct vpcap_area {
    uint64_t at;  /* byte in the image */
    uint32_t cap; /* entries; bytes of the string area */
    uint32_t used;
} vpcap_area;

typedef struct vpcap_ref {
    uint32_t at, n; /* in the string area */
} vpcap_ref;

typedef struct vpcap_name_entry {
    vpcap_ref name, category, function, file;
    uint32_t line, color, ready, reserved;
} vpcap_name_entry;

typedef struct vpcap_device_entry {
    uint32_t ready, kind;
    int32_t ordinal;
    uint32_t reserved;
    vpcap_ref model;
} vpcap_device_entry;

typedef struct vpcap_track_entry {
    uint32_t ready, device;
    vpcap_ref name;
} vpcap_track_entry;

typedef struct vpcap_meta_entry {
    uint32_t ready, reserved;
    vpcap_ref key, value;
} vpcap_meta_entry;

/* A zone that is recorded whole when it ends, and nowhere else open: a step of a profiler, a
 * context, a range of NVTX. It may end on another thread than the one it began on. */
typedef struct vpcap_open_entry {
    uint64_t start;  /* ticks, written last; 0: not open */
    uint64_t thread; /* where it began: the number, and … */
    uint64_t number; /* of a step */
    uint32_t name, kind;
    uint32_t block;     /* … the page of the thread's first chunk */
    uint32_t next_free; /* entry + 1 */
} vpcap_open_entry;

typedef struct vpcap_header {
    char magic[8];
    uint32_t version, header_bytes;
    uint64_t image_bytes;
    uint32_t flags, gone_left;
    int64_t pid;
    vpcap_area names, devices, tracks, metas, open, strings;
    uint64_t chunks_at;
    uint32_t pages, pages_used;
    uint64_t free_chunks, free_open;
    uint64_t threads_made, start_ticks_per_s, cut_ticks;
    uint64_t gone_threads, gone_dropped_full, gone_dropped_signal, gone_dropped_depth,
        gone_unmatched_ends, gone_overwritten;
    uint64_t lost_until;
    int64_t later_ns;
    vpcap_pair start, stop;
    uint64_t latest_version;
    vpcap_pair latest;
    char host[256], program[256], session[256];
} vpcap_header;

#endif
