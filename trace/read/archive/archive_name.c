#include "trace/read/archive/archive_name.h"

#include "trace/base/limits.h"

const char *ar_refuse_entry(struct archive_entry *e)
{
    if (archive_entry_hardlink(e))
        return "hard link; links in archives are not followed";
    switch (archive_entry_filetype(e)) {
    case AE_IFREG:
        break;
    case AE_IFLNK:
        return "symbolic link; links in archives are not followed";
    case AE_IFCHR:
    case AE_IFBLK:
        return "a device, not a file";
    case AE_IFIFO:
        return "a FIFO, not a file";
    case AE_IFSOCK:
        return "a socket, not a file";
    default:
        return "not a file";
    }
    if (archive_entry_is_encrypted(e))
        return "encrypted; unpack it with its password first";
    if (archive_entry_size_is_set(e) &&
        (archive_entry_size(e) < 0 || archive_entry_size(e) > VP_ARCHIVE_MEMBER_MAX))
        return "exceeds the limit for one member (8 GiB)";
    return NULL;
}

static bool is_drive(vp_str s)
{
    return s.n >= 2 && s.p[1] == ':' &&
           ((s.p[0] >= 'a' && s.p[0] <= 'z') || (s.p[0] >= 'A' && s.p[0] <= 'Z'));
}

const char *ar_clean_name(vp_buf *out, vp_str raw)
{
    if (raw.n > VP_MEMBER_NAME_MAX)
        return "the name is longer than 1,024 bytes";
    if (raw.n && raw.p[0] == '/')
        return "the name is absolute";
    if (is_drive(raw))
        return "the name starts with a drive letter";
    if (memchr(raw.p, '\\', raw.n))
        return "the name has a backslash";
    while (raw.n) {
        vp_str part;
        vp_take_until(&raw, '/', VP_MEMBER_NAME_MAX, &part);
        if (vp_str_eq(part, VP_STR("..")))
            return "the name leads out of the archive (\"..\")";
        if (part.n == 0 || vp_str_eq(part, VP_STR(".")))
            continue;
        if (out->n)
            vp_buf_putc(out, '/');
        vp_buf_str(out, part);
    }
    return out->n ? NULL : "the name is empty";
}
