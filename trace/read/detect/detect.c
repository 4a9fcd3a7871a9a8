#include "trace/read/detect/detect.h"

#include "trace/base/pb.h"
#include "trace/vpcap/xspace_fields.h"
#include "trace/read/detect/archive_kinds.h"
#include "trace/read/detect/detect_parts.h"
#include "trace/read/gzip/gzip.h"
#include "trace/read/pickle/torch_snapshot.h"
#include "trace/read/pprof/pprof_fields.h"
#include "trace/read/vpcap/vpcap_reader.h"

static const char why_lfs[] =
    "a Git LFS pointer instead of the file; run `git lfs pull` in its repository";
static const char why_empty[] = "empty file: the profiler did not finish writing; capture again "
                                "and let the program stop the profiler";
static const char why_foreign[] =
    "the content is not a profile although the file name is; check how the file was copied";
/* By the compression of a kind of archive. */
#define WHY_PACKED(kind, name, short_suffix, packer, ...)                                          \
    "compressed with " packer ", which is supported only for tar files; unpack it with `" packer   \
    " -d`",
static const char *const why_packed[AR_KIND_COUNT] = {AR_KINDS(WHY_PACKED)};
static const char why_systrace[] =
    "an Android or Linux kernel trace (systrace), not an ML profile; open it at ui.perfetto.dev";

#define TAR_BLOCK 512

/* The header's checksum counts its own eight bytes as spaces (POSIX ustar, 4.4 ustar format). */
bool rd_is_tar(vp_str head)
{
    const unsigned char *h = (const unsigned char *)head.p;
    uint64_t sum = 0, want = 0;
    size_t i = 148;
    if (head.n < TAR_BLOCK || h[0] == 0)
        return false;
    while (i < 156 && h[i] == ' ')
        i++;
    for (; i < 156 && h[i] >= '0' && h[i] <= '7'; i++)
        want = want * 8 + (h[i] - '0');
    for (i = 0; i < TAR_BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : h[i];
    return sum == want;
}

static bool is_printable_text(vp_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20)
            return false;
    return s.n > 0;
}

/* The first field of a message as a nested message: its bytes, as far as `head` reaches. */
static bool first_nested(vp_pb *r, uint8_t tag, vp_str *body, bool *whole)
{
    uint64_t n;
    if (r->p >= r->end || *r->p != tag)
        return false;
    r->p++;
    if (!vp_pb_varint(r, &n))
        return false;
    size_t left = (size_t)(r->end - r->p);
    *whole = n <= left;
    *body = (vp_str){(const char *)r->p, *whole ? (size_t)n : left};
    r->p += body->n;
    return true;
}

/* A plane starts with its id or its name, and the name is text. This distinguishes it from
 * HloProto, OpStats, pprof and the old Trace proto, which also start with field 1 of type
 * message. */
static bool is_xspace(vp_str head)
{
    vp_pb r = vp_pb_of(head), plane;
    vp_str body, name;
    uint64_t id;
    bool whole;
    if (!first_nested(&r, XSPACE_PLANES_TAG, &body, &whole))
        return false;
    plane = vp_pb_of(body);
    if (plane.p < plane.end && *plane.p == XPLANE_ID_TAG) {
        plane.p++;
        if (!vp_pb_varint(&plane, &id))
            return false;
    }
    return first_nested(&plane, XPLANE_NAME_TAG, &name, &whole) && is_printable_text(name);
}

/* For files named like an XSpace: checks only what the first bytes can disprove, because fields may
 * come in any order. All fields of XSpace and XPlane are nested except XPlane.id; a plane without
 * content proves nothing. */
static bool may_be_xspace(vp_str head)
{
    vp_pb r = vp_pb_of(head);
    uint64_t tag, length, inner;
    while (r.p < r.end && vp_pb_varint(&r, &tag) && vp_pb_varint(&r, &length)) {
        if (tag != XSPACE_PLANES_TAG)
            return tag == XSPACE_ERRORS_TAG || tag == XSPACE_WARNINGS_TAG ||
                   tag == XSPACE_HOSTNAMES_TAG;
        if (!length)
            continue;
        size_t left = (size_t)(r.end - r.p);
        uint64_t declared = length;
        if (!left)
            return true;
        const uint8_t *body = r.p;
        if (*body == XPLANE_ID_TAG)
            return true;
        r.p++;
        bool nested =
            (*body & 7) == VP_PB_LEN && *body >> 3 >= XPLANE_NAME && *body >> 3 <= XPLANE_STATS;
        return nested && (!vp_pb_varint(&r, &inner) || inner < declared);
    }
    return false;
}

/* sample_type comes first; its type and unit are both varints. */
static bool is_pprof(vp_str head)
{
    vp_pb r = vp_pb_of(head), type;
    vp_str body;
    uint64_t v;
    bool whole;
    if (!first_nested(&r, PPROF_PROFILE_SAMPLE_TYPE_TAG, &body, &whole) || !whole)
        return false;
    type = vp_pb_of(body);
    for (uint8_t tag = PPROF_VALUETYPE_TYPE_TAG; tag <= PPROF_VALUETYPE_UNIT_TAG;
         tag += VP_PB_TAG(1, 0)) {
        if (type.p >= type.end || *type.p != tag)
            return false;
        type.p++;
        if (!vp_pb_varint(&type, &v))
            return false;
    }
    return type.p == type.end && r.p < r.end &&
           (*r.p == PPROF_PROFILE_SAMPLE_TYPE_TAG || *r.p == PPROF_PROFILE_SAMPLE_TAG);
}

static bool is_lfs_pointer(vp_str head)
{
    return vp_str_starts(head, VP_STR("version https://git-lfs.github.com/spec/"));
}

/* Kernel trace text: its header, or lines in ftrace's format. */
static bool is_systrace(vp_str name, vp_str text)
{
    if (vp_str_starts(text, VP_STR("# tracer:")))
        return true;
    if (vp_str_starts_nocase(rd_skip_blank(text), VP_STR("<!doctype html")) ||
        vp_str_starts_nocase(rd_skip_blank(text), VP_STR("<html")))
        return rd_name_has(name, VP_STR("systrace"));
    return vp_str_find(text, VP_STR("] ")) < text.n &&
           (vp_str_find(text, VP_STR(": sched_switch: ")) < text.n ||
            vp_str_find(text, VP_STR(": tracing_mark_write: ")) < text.n);
}

bool rd_is_zip(vp_str head)
{
    return vp_str_starts(head, VP_STR("PK\3\4")) || vp_str_starts(head, VP_STR("PK\5\6"));
}

/* Zip is also the container of checkpoints, wheels, jars and office files. */
static bool is_trace_zip(vp_str name, vp_str head)
{
    static const char *const others[] = {".pt",   ".pth",  ".npz",  ".keras", ".ckpt", ".whl",
                                         ".jar",  ".docx", ".xlsx", ".pptx",  ".odt",  ".apk",
                                         ".epub", ".mar",  ".bin",  ".egg",   ".ptl"};
    if (!rd_is_zip(head))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (vp_str_ends_nocase(name, vp_str_of(others[i])))
            return false;
    return true;
}

static rd_kind kind_of_format(rd_format format, const char *why)
{
    return (rd_kind){format, false, why};
}

/* The compression does not reveal the content. */
static rd_kind of_packed(vp_str name, rd_format promised, ar_kind packing)
{
    if (promised == RD_ARCHIVE)
        return kind_of_format(RD_ARCHIVE, NULL);
    if (rd_name_has(name, VP_STR(".json")) || rd_name_has(name, VP_STR(".pb")))
        return kind_of_format(RD_UNREADABLE, why_packed[packing]);
    return kind_of_format(RD_UNKNOWN, NULL);
}

/* By first bytes that are unique to one format, whatever the name; else RD_UNKNOWN. */
static rd_format by_magic(vp_str text)
{
    if (vr_is(text))
        return RD_VPCAP;
    if (ts_is(text))
        return RD_SNAPSHOT;
    return RD_UNKNOWN;
}

/* By the structure, for content without such bytes and without a matching name. */
static rd_format by_shape(vp_str text)
{
    if (is_pprof(text))
        return RD_PPROF;
    return is_xspace(text) ? RD_XSPACE : RD_UNKNOWN;
}

/* Detects uncompressed content; `promised` is the format expected by the name. */
static rd_kind of_content(vp_str name, rd_kind promised, vp_str text)
{
    vp_str start = rd_skip_blank(text);
    rd_format known = by_magic(text);
    if (known != RD_UNKNOWN)
        return kind_of_format(known, NULL);
    if (promised.format == RD_VPCAP)
        return kind_of_format(RD_UNREADABLE, why_foreign);
    if (is_trace_zip(name, text) || rd_is_tar(text))
        return kind_of_format(RD_ARCHIVE, NULL);
    ar_kind packing = ar_kind_by_magic(text);
    if (packing != AR_NONE)
        return of_packed(name, promised.format, packing);
    if (promised.format == RD_XSPACE)
        return may_be_xspace(text) ? promised : kind_of_format(RD_UNREADABLE, why_foreign);
    if (start.n && (start.p[0] == '{' || start.p[0] == '['))
        return rd_sniff_json(name, promised.format, start);
    if (promised.format == RD_UNREADABLE)
        return promised;
    known = by_shape(text);
    if (known != RD_UNKNOWN)
        return kind_of_format(known, NULL);
    if (is_systrace(name, text))
        return kind_of_format(RD_UNREADABLE, why_systrace);
    return promised.format == RD_UNKNOWN ? promised : kind_of_format(RD_UNREADABLE, why_foreign);
}

rd_kind rd_detect(vp_str name, vp_str head, vp_str inner)
{
    rd_kind promised = rd_kind_by_name(name), found;
    bool gzip = gz_is(head.p, head.n);
    if (promised.format == RD_CACHE)
        return promised;
    if (head.n == 0)
        return promised.format == RD_UNKNOWN ? promised : kind_of_format(RD_UNREADABLE, why_empty);
    if (is_lfs_pointer(head)) {
        bool ours =
            promised.format != RD_UNKNOWN || rd_name_has(name, VP_STR(".json")) ||
            vp_str_ends_nocase(name, VP_STR(".gz")) || vp_str_ends_nocase(name, VP_STR(".pb")) ||
            vp_str_ends_nocase(name, VP_STR(".pickle")) || vp_str_ends_nocase(name, VP_STR(".pkl"));
        return ours ? kind_of_format(RD_UNREADABLE, why_lfs) : kind_of_format(RD_UNKNOWN, NULL);
    }
    if (gzip && inner.n == 0)
        found = promised;
    else
        found = of_content(name, promised, gzip ? inner : head);
    found.gzip = gzip;
    return found;
}
