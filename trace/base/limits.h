/* Every ceiling of the product, each with its reason. Nothing that grows with input may exist
 * without one. Everyone may include this header. */
#ifndef VP_BASE_LIMITS_H
#define VP_BASE_LIMITS_H

#include <stdint.h>

/* The image of a recording, which is read whole: 64 MiB unless its program asked for more. */
#define VP_RECORDING_MAX (INT64_C(16) << 30)
/* A path that users type or that archives name; PATH_MAX on Linux. */
#define VP_PATH_MAX 4096u
/* An archive member's name: deeper trees are not profiles
 * (docs/reference/formats.md#archive-limits). */
#define VP_MEMBER_NAME_MAX 1024u
/* Directory depth below the profile directory; real log directories stay below 12. */
#define VP_WALK_DEPTH_MAX 32u
/* Files and directories looked at in one scan: 10,000 runs of 20 hosts are 400,000. */
#define VP_WALK_ENTRIES_MAX 2000000u
/* Of them, those in directories that are read before the walk comes to them: 160 bytes each, and a
 * quarter of that in one directory. */
#define VP_WALK_AHEAD_MAX 65536u
/* Entries, bytes and ratio of one archive (docs/reference/formats.md#archive-limits; real traces
 * reach 12.4:1). */
#define VP_ARCHIVE_ENTRIES_MAX 100000u
#define VP_ARCHIVE_MEMBER_MAX (INT64_C(8) << 30)
#define VP_ARCHIVE_TOTAL_MAX (INT64_C(16) << 30)
#define VP_ARCHIVE_RATIO_MAX 200
#define VP_ARCHIVE_RATIO_FREE (INT64_C(64) << 20)
/* gzip: the same ratio rule, but JSON of one repeated event reaches 1,030:1 (deflate's limit). */
#define VP_GZIP_RATIO_MAX 1100
/* One JSON event with its args. The largest seen is 142 kB: what is larger than this is no event.
 */
#define VP_JSON_EVENT_MAX (16u << 20)
/* Distinct strings and kinds in a trace: ids are uint32 and 0 is the empty string. */
#define VP_INTERN_MAX 0x7fffffffu
#define VP_INTERN_BYTES_MAX (UINT64_C(4) << 30)
/* Events of one trace that are kept in columns; indices are uint32. */
#define VP_EVENTS_MAX UINT32_C(0xfffffff0)
/* Times of events on any clock: 2^61 ps are 26 days either way, so that sums and differences of two
 * of them, and the window over all, fit in int64 without further checks. */
#define VP_TIME_MAX_PS (INT64_C(1) << 61)
/* Tracks and processes: a trace with more is a generator gone wrong. */
#define VP_TRACKS_MAX 1000000u
#define VP_PROCESSES_MAX 100000u
/* One XPlane's metadata section that is held at once (HLO protos included: 86 modules were 1.5 MB).
 */
#define VP_XPLANE_META_MAX (UINT64_C(2) << 30)
/* One HLO proto and its instructions. */
#define VP_HLO_PROTO_MAX (UINT64_C(1) << 30)
#define VP_HLO_INSTRUCTIONS_MAX 50000000u
/* Of its buffer assignment: buffers, allocations and events of the heap, each of up to 72 bytes. A
 * program of 200,000 instructions has about as many buffers. */
#define VP_HLO_BUFFERS_MAX 4000000u
/* Dimensions of one array, and what its tiles make of them. */
#define VP_HLO_RANK_MAX 64u
/* Steps to lay the kernels of a trace's CUDA graphs along their programs, kernels times fusions of
 * each replay that differs: at 20 ns a step 1.3 s, and 8 MiB of bits. */
#define VP_GRAPH_STEPS_MAX (UINT64_C(1) << 26)
/* Devices of one program, and ids in the groups of one of its collectives: the largest TPU slices
 * have 9,216 chips. */
#define VP_GROUP_DEVICES_MAX 16384u
/* The groups or devices as text: 16,384 ids of up to 11 digits and what stands between. */
#define VP_GROUP_TEXT_MAX (256u << 10)
/* Who takes part in a collective, as text ("0-252:4"): real groups are one or a few runs. */
#define VP_MEMBERS_TEXT_MAX 256u
/* Arguments of zones and counters in one trace, different texts of one that are told apart, the
 * length of such a text, and facts that a program says of itself: real programs have tens. */
#define VP_ARGS_MAX 4096u
#define VP_ARG_VALUES_MAX 64u
#define VP_ARG_TEXT_MAX 200u
#define VP_METAS_MAX 1024u
/* Slices that an analysis adds to a timeline, of 48 bytes each; and bytes of a name there. */
#define VP_DERIVED_MAX 8000000u
#define VP_DERIVED_NAME_MAX 256u
/* Bytes of the name of a track in a .pftrace; of one of an event or argument there that is told
 * once for all, and of all that one event tells. What is longer is cut off. */
#define VP_TRACK_NAME_MAX (256u << 10)
#define VP_TOLD_NAME_MAX (4u << 20)
#define VP_TOLD_BYTES_MAX (48u << 20)
/* Different lengths among the longest slices of a timeline that are asked for, of 16 bytes each;
 * fewer slices are the longest where there are more. */
#define VP_PICK_LENGTHS_MAX (4u << 20)
/* Bytes of those that the server keeps for the next export and nobody holds. */
#define VP_DERIVED_KEPT_MAX (UINT64_C(256) << 20)
/* Quality entries kept per host; further ones only count. */
#define VP_QUALITY_MAX 200u
/* Bytes of memory that the analysis of a profile may take for each byte that it has on the disk,
 * and the least that any is allowed. Of our 93 real ones above 50 kB the greediest takes 18 times
 * its size (resident, beside what the program takes for nothing); deflate makes a thousandth of
 * what repeats, and such a file is no profile. */
#define VP_MEMORY_RATIO_MAX 250
#define VP_MEMORY_LEAST (INT64_C(250) * 1000000)
/* A report printed as JSON or HTML. */
#define VP_REPORT_BYTES_MAX (UINT64_C(1) << 30)
/* A report read back for merging or comparing; jansson takes about 10 times that in memory, and
 * that of 1,000 devices is 50 MB. */
#define VP_REPORT_READ_MAX (UINT64_C(256) << 20)
/* A decompressed member that is held in memory; larger ones go to an unlinked temporary file. */
#define VP_SPOOL_MEMORY_MAX (UINT64_C(64) << 20)
/* An object that lies elsewhere: the largest that is read, bytes of one that are held in memory
 * (looks at a line that follow each other lie that close together), the largest of which all is
 * held where asking twice takes long, one that is kept on disk after its first read, and one that
 * is kept there whole since it is an archive or goes to TensorBoard. */
#define VP_REMOTE_OBJECT_MAX (INT64_C(1) << 40)
#define VP_REMOTE_CACHE_MAX (INT64_C(64) << 20)
#define VP_REMOTE_CACHE_FAR (INT64_C(192) << 20)
#define VP_REMOTE_SMALL_MAX (INT64_C(4) << 20)
#define VP_REMOTE_WHOLE_MAX (INT64_C(512) << 20)
/* An archive that is looked into where it was not named itself: a bucket may be full of data sets.
 */
#define VP_REMOTE_ARCHIVE_MAX (INT64_C(64) << 20)
/* Bytes and files of all that is kept so. */
#define VP_REMOTE_KEPT_MAX (INT64_C(1) << 30)
#define VP_REMOTE_KEPT_FILES_MAX 100000u
/* The window through which files are read: small enough for L2, large enough for few calls
 * (touching fresh memory costs more than parsing: docs/reference/formats.md#reading-cost). */
#define VP_READ_WINDOW (1u << 20)
/* What is inflated at once, and scanned at once where several threads read: wherever it is done,
 * so that of damaged data the same is read. */
#define VP_INFLATE_WINDOW (256u << 10)
/* One HTTP request: target, header pool, body (docs/reference/http.md#request-checks). */
#define VP_HTTP_TARGET_MAX 4096u
#define VP_HTTP_POOL (36u << 10) /* above 32 KiB libmicrohttpd maps it, and gives it back whole */
#define VP_HTTP_BODY_MAX (64u << 10)
/* Connections to one listening address (40 KiB each): a thousand stalled ones must leave room for a
 * live one. PER_IP: how many of them one peer's address may have at each of the server's loops,
 * where more than this machine's users can connect: behind an address stand a few browsers with 6
 * connections each. */
#define VP_HTTP_CONNECTIONS_MAX 2048u
#define VP_HTTP_PER_IP_MAX 64u
/* Descriptors that a server asks for: a connection and the file that it sends, for two addresses.
 */
#define VP_HTTP_DESCRIPTORS 8320u
/* Finished conversions in temporary space: the largest trace seen is 0.2 GB as .json.gz. */
#define VP_HTTP_CACHE_BYTES_MAX (INT64_C(2) << 30)
/* Bytes of the answers that are kept in memory for a second: of a single one, and of all. */
#define VP_HTTP_MEMO_BODY_MAX (256u << 10)
#define VP_HTTP_MEMO_BYTES_MAX (8u << 20)
/* One answer of a program that we ask over loopback: TensorBoard's list of 10,000 runs is 0.4 MB.
 */
#define VP_LOCAL_ANSWER_MAX (8u << 20)
/* Frames and rows of a flame graph on a page: 0.4 kB each, and more than anybody tells apart. */
#define VP_FLAME_FRAMES_MAX 500u
#define VP_FLAME_ROWS_MAX 32u
/* Events that the index of one host's timeline holds, of 13 to 30 bytes each; further ones are
 * counted. */
#define VP_TIMELINE_EVENTS_MAX UINT64_C(250000000)
/* Events of a trace whose index waits for the analysis, and then takes the events' place in memory
 * (20 bytes an event, where the index has 12): two seconds later on the screen, 1 GB less of 100 M.
 */
#define VP_TIMELINE_LATE_EVENTS UINT64_C(32000000)
/* Indexes that the server keeps beside reports: bytes of all of them that nobody looks at. */
#define VP_TIMELINE_KEPT_MAX (UINT64_C(2) << 30)
/* One window of a timeline: pixels that it may be wide, tracks that it may ask for, cells (rows
 * times pixels) that it is made of; a screen has 2 M. */
#define VP_TIMELINE_PX_MAX 16384u
#define VP_TIMELINE_TRACKS_MAX 4096u
#define VP_TIMELINE_CELLS_MAX 1000000u
/* Rows of the op table that a page shows at most; the rest is in "others". */
#define VP_TOP_MAX 100000u

#endif
