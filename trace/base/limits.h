/* All limits of the program, each with its reason. Everything that grows with input has one. */
#ifndef VP_BASE_LIMITS_H
#define VP_BASE_LIMITS_H

#include <stdint.h>

/* Size of a recording's image, which is read at once. Programs record 64 MiB unless they request
 * more. */
#define VP_RECORDING_MAX (INT64_C(16) << 30)
/* Length of a path from a user or an archive; PATH_MAX on Linux. */
#define VP_PATH_MAX 4096u
/* Length of an archive member's name: deeper trees are not profiles
 * (docs/reference/formats.md#archive-limits). */
#define VP_MEMBER_NAME_MAX 1024u
/* Directory depth below the profile directory; real log directories stay below 12. */
#define VP_WALK_DEPTH_MAX 32u
/* Files and directories examined in one scan: 10,000 runs of 20 hosts are 400,000. */
#define VP_WALK_ENTRIES_MAX 2000000u
/* The part of these entries that is read ahead of the walk, 160 bytes each. A single directory may
 * use a quarter of it. */
#define VP_WALK_AHEAD_MAX 65536u
/* Entries, bytes and compression ratio of one archive (docs/reference/formats.md#archive-limits).
 * Real traces reach 12.4:1. Below RATIO_FREE bytes the ratio is not checked. */
#define VP_ARCHIVE_ENTRIES_MAX 100000u
#define VP_ARCHIVE_MEMBER_MAX (INT64_C(8) << 30)
#define VP_ARCHIVE_TOTAL_MAX (INT64_C(16) << 30)
#define VP_ARCHIVE_RATIO_MAX 200
#define VP_ARCHIVE_RATIO_FREE (INT64_C(64) << 20)
/* The same ratio for gzip. It must be higher, because JSON of one repeated event reaches 1,030:1
 * (the limit of deflate). */
#define VP_GZIP_RATIO_MAX 1100
/* One JSON event with its args, in bytes. The largest seen is 142 kB; anything above the limit is
 * not an event. */
#define VP_JSON_EVENT_MAX (16u << 20)
/* Distinct strings and kinds in a trace. Ids are uint32, and 0 is the empty string. */
#define VP_INTERN_MAX 0x7fffffffu
#define VP_INTERN_BYTES_MAX (UINT64_C(4) << 30)
/* Events of one trace in columns; indices are uint32. */
#define VP_EVENTS_MAX UINT32_C(0xfffffff0)
/* Magnitude of event times on any clock. 2^61 ps are 26 days, so sums and differences of two times,
 * and the window over all events, fit in int64 without checks. */
#define VP_TIME_MAX_PS (INT64_C(1) << 61)
/* Tracks and processes; a trace with more comes from a broken generator. */
#define VP_TRACKS_MAX 1000000u
#define VP_PROCESSES_MAX 100000u
/* Metadata section of one XPlane, held in memory at once, with its HLO protos (86 modules took 1.5
 * MB). */
#define VP_XPLANE_META_MAX (UINT64_C(2) << 30)
/* One HLO proto and its instructions. */
#define VP_HLO_PROTO_MAX (UINT64_C(1) << 30)
#define VP_HLO_INSTRUCTIONS_MAX 50000000u
/* Buffers, allocations and heap events of a program's buffer assignment, up to 72 bytes each. A
 * program of 200,000 instructions has about as many buffers. */
#define VP_HLO_BUFFERS_MAX 4000000u
/* Dimensions of one array, also after tiling. */
#define VP_HLO_RANK_MAX 64u
/* Steps for aligning the kernels of CUDA graphs with their programs: kernels times fusions of each
 * distinct replay. At 20 ns a step this takes 1.3 s, and 8 MiB for a bit per step. */
#define VP_GRAPH_STEPS_MAX (UINT64_C(1) << 26)
/* Devices of one program, and ids in the replica groups of one collective. The largest TPU slices
 * have 9,216 chips. */
#define VP_GROUP_DEVICES_MAX 16384u
/* Replica groups or devices as text: 16,384 ids of up to 11 digits, with separators. */
#define VP_GROUP_TEXT_MAX (256u << 10)
/* Participants of a collective as text ("0-252:4"). Real groups are one or a few ranges. */
#define VP_MEMBERS_TEXT_MAX 256u
/* Arguments of zones and counters in one trace, distinct texts of one argument, length of such a
 * text, and metadata entries of a program. Real programs have tens. */
#define VP_ARGS_MAX 4096u
#define VP_ARG_VALUES_MAX 64u
#define VP_ARG_TEXT_MAX 200u
#define VP_METAS_MAX 1024u
/* Slices that an analysis adds to a timeline, 48 bytes each; length of their names in bytes. */
#define VP_DERIVED_MAX 8000000u
#define VP_DERIVED_NAME_MAX 256u
/* Bytes in a .pftrace: name of a track; one interned name of an event or argument; all data of one
 * event. Longer texts are truncated. */
#define VP_TRACK_NAME_MAX (256u << 10)
#define VP_TOLD_NAME_MAX (4u << 20)
#define VP_TOLD_BYTES_MAX (48u << 20)
/* Distinct durations tracked to select the longest slices of a timeline, 16 bytes each. If there
 * are more, fewer slices are selected. */
#define VP_PICK_LENGTHS_MAX (4u << 20)
/* Bytes of derived slices that the server caches for the next export while they are not in use. */
#define VP_DERIVED_KEPT_MAX (UINT64_C(256) << 20)
/* Data-quality entries kept per host; further ones are only counted. */
#define VP_QUALITY_MAX 200u
/* Memory for analyzing a profile: bytes per byte of its file, and the minimum allowance in bytes.
 * The most demanding of 93 real profiles above 50 kB takes 18 times its size (resident, without the
 * program's baseline). Repetitive data deflates to a thousandth, but such a file is not a
 * profile. */
#define VP_MEMORY_RATIO_MAX 250
#define VP_MEMORY_LEAST (INT64_C(250) * 1000000)
/* Bytes of a report printed as JSON or HTML. */
#define VP_REPORT_BYTES_MAX (UINT64_C(1) << 30)
/* Bytes of a report read for merging or comparing. jansson takes about 10 times that in memory; a
 * report of 1,000 devices has 50 MB. */
#define VP_REPORT_READ_MAX (UINT64_C(256) << 20)
/* Bytes of a decompressed member held in memory; larger ones go to an unlinked temporary file. */
#define VP_SPOOL_MEMORY_MAX (UINT64_C(64) << 20)
/* Bytes of remote objects: the largest that is read; the part held in memory (reads of one line of
 * a timeline lie that close together); the part held if requests are slow; the largest kept on disk
 * after its first read; the largest kept on disk as a whole, for archives and TensorBoard. */
#define VP_REMOTE_OBJECT_MAX (INT64_C(1) << 40)
#define VP_REMOTE_CACHE_MAX (INT64_C(64) << 20)
#define VP_REMOTE_CACHE_FAR (INT64_C(192) << 20)
#define VP_REMOTE_SMALL_MAX (INT64_C(4) << 20)
#define VP_REMOTE_WHOLE_MAX (INT64_C(512) << 20)
/* Size of a remote archive that is opened without being named explicitly: a bucket may be full of
 * data sets. */
#define VP_REMOTE_ARCHIVE_MAX (INT64_C(64) << 20)
/* Bytes and files of the cache of remote objects on disk. */
#define VP_REMOTE_KEPT_MAX (INT64_C(1) << 30)
#define VP_REMOTE_KEPT_FILES_MAX 100000u
/* Window for reading files: small enough for the L2 cache, large enough for few calls. Touching new
 * memory costs more than parsing (docs/reference/formats.md#reading-cost). */
#define VP_READ_WINDOW (1u << 20)
/* Bytes inflated at once, and scanned at once if several threads read. One value for all readers,
 * so that damaged data gives the same result everywhere. */
#define VP_INFLATE_WINDOW (256u << 10)
/* One HTTP request in bytes: target, header pool, body (docs/reference/http.md#request-checks). */
#define VP_HTTP_TARGET_MAX 4096u
#define VP_HTTP_POOL (36u << 10) /* above 32 KiB libmicrohttpd unmaps the pool after use */
#define VP_HTTP_BODY_MAX (64u << 10)
/* Connections per listening address (40 KiB each): a thousand stalled ones must leave space for a
 * live one. PER_IP limits one peer address at each event loop of the server, if other machines can
 * connect. One address hides a few browsers, with 6 connections each. */
#define VP_HTTP_CONNECTIONS_MAX 2048u
#define VP_HTTP_PER_IP_MAX 64u
/* File descriptors the server requests: a connection and the file it sends, for two addresses. */
#define VP_HTTP_DESCRIPTORS 8320u
/* Bytes of finished conversions in temporary space. The largest trace seen is 0.2 GB as
 * .json.gz. */
#define VP_HTTP_CACHE_BYTES_MAX (INT64_C(2) << 30)
/* Bytes of responses that are cached in memory for a second: of one, and of all. */
#define VP_HTTP_MEMO_BODY_MAX (256u << 10)
#define VP_HTTP_MEMO_BYTES_MAX (8u << 20)
/* Bytes of one response of a local program over loopback. TensorBoard's list of 10,000 runs is 0.4
 * MB. */
#define VP_LOCAL_ANSWER_MAX (8u << 20)
/* Frames and rows of a flame graph on a page: 0.4 kB each, and more than a reader can
 * distinguish. */
#define VP_FLAME_FRAMES_MAX 500u
#define VP_FLAME_ROWS_MAX 32u
/* Events in the timeline index of one host, 13 to 30 bytes each; further ones are only counted. */
#define VP_TIMELINE_EVENTS_MAX UINT64_C(250000000)
/* From this many events on, a trace is indexed after its analysis, in the memory that the events
 * took (20 bytes an event; the index has 12). At 100 M events this shows the timeline two seconds
 * later and saves 1 GB. */
#define VP_TIMELINE_LATE_EVENTS UINT64_C(32000000)
/* Bytes of the timeline indexes that the server caches while they are not in use. */
#define VP_TIMELINE_KEPT_MAX (UINT64_C(2) << 30)
/* One window of a timeline: its width in pixels, the tracks of one request, and its cells (rows
 * times pixels). A screen has 2 M. */
#define VP_TIMELINE_PX_MAX 16384u
#define VP_TIMELINE_TRACKS_MAX 4096u
#define VP_TIMELINE_CELLS_MAX 1000000u
/* Rows of the op table on a page; the rest is in "others". */
#define VP_TOP_MAX 100000u

#endif
