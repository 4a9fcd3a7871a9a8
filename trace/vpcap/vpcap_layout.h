/* Layout of the image of a recording. The content of its chunks is defined in the public
 * view_profile_capture_layout.h, because inlined macros write it. Private to the recorder, to
 * vpcap.c and to tests that build images. Little endian, like the machines that write it.
 *
 *     page 0     vpcap_header
 *     …          six tables, each an area of the header: names, devices, tracks, metas, open zones,
 *                strings
 *     chunks     pages up to the end; `pages_used` of them are in use, in chunks that follow
 *                each other without a gap, so that a walk from the first finds them all
 *
 * Tables only grow; an entry is valid when its `ready` is set, which its writer does last. Entries
 * of the table of open zones are reused instead.
 *
 * Offset and size in bytes, field, meaning and unit. tests/cli/test_layout.py checks the table.
 *
 *     vpcap_header, 1104
 *          0     8  magic                VPCAP_MAGIC
 *          8     4  version              VPCAP_VERSION
 *         12     4  header_bytes         of this structure
 *         16     8  image_bytes          of all pages, used or not
 *         24     4  flags                VPCAP_FINISHED …
 *         28     4  gone_left            like gone_threads: zones without an end
 *         32     8  pid
 *         40    16  names                vpcap_name_entry
 *         56    16  devices              vpcap_device_entry
 *         72    16  tracks               vpcap_track_entry
 *         88    16  metas                vpcap_meta_entry
 *        104    16  open                 vpcap_open_entry
 *        120    16  strings              bytes
 *        136     8  chunks_at            byte of the first chunk
 *        144     4  pages                from chunks_at to the end
 *        148     4  pages_used           allocated
 *        152     8  free_chunks          changes << 32 | page + 1 of the first
 *        160     8  free_open            changes << 32 | entry + 1 of the first
 *        168     8  threads_made         numbers assigned to threads
 *        176     8  start_ticks_per_s    estimate at the start
 *        184     8  cut_ticks            excludes events that ended before; 0: none
 *        192     8  gone_threads         threads without a block (a ring discards blocks of ended
 *                                        threads), and the zones that they lost:
 *        200     8  gone_dropped_full
 *        208     8  gone_dropped_signal
 *        216     8  gone_dropped_depth
 *        224     8  gone_unmatched_ends
 *        232     8  gone_overwritten
 *        240     8  lost_until           ticks: all discarded events of a ring ended before or at
 *                                        this time; 0: none was discarded
 *        248     8  later_ns             IS_FULL: time until its owner ended it; 0: not ended
 *        256    24  start                clocks at the start
 *        280    24  stop                 clocks at the end
 *        304     8  latest_version       odd while `latest` is written
 *        312    24  latest               the newest pair of an active recording
 *        336   256  host                 NUL-terminated, like the next two
 *        592   256  program
 *        848   256  session */
#ifndef VP_IMAGE_VPCAP_LAYOUT_H
#define VP_IMAGE_VPCAP_LAYOUT_H

#include <stdint.h>

#include "include/view_profile_capture_layout.h"

#define VPCAP_MAGIC "VPCAP\r\n\x1a"
#define VPCAP_VERSION 3u

/* Maximum length of a string, so that one string cannot fill the area. */
#define VPCAP_STRING_MAX 4095u

/* Zones that may be open at once, in addition to the scopes and pairs in the blocks of threads. */
#define VPCAP_OPEN_MAX 4096u

/* Names that every image contains. */
enum { VPCAP_NAME_FLOW, VPCAP_NAME_LOST, VPCAP_NAMES_FIXED };

/* IS_FULL: the pool is full and no ring; `stop` is the time since when. */
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
    uint32_t at, n; /* position and bytes in the string area */
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

/* A zone that is recorded as a whole when it ends, and is listed only here while open: a step of a
 * profiler, a context, an NVTX range. It may end on another thread. */
typedef struct vpcap_open_entry {
    uint64_t start;  /* ticks, written last; 0: not open */
    uint64_t thread; /* number of the thread where it began */
    uint64_t number; /* of a step */
    uint32_t name, kind;
    uint32_t block;     /* page of that thread's first chunk */
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
