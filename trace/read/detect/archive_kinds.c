#include "trace/read/detect/archive_kinds.h"

#define KIND_ROW(kind, name, short_suffix, packer, magic, filter)                                  \
    [AR_##kind] = {"." name, short_suffix, packer, magic},
const ar_kind_row ar_kinds[AR_KIND_COUNT] = {AR_KINDS(KIND_ROW)};

ar_kind ar_kind_by_magic(vp_str head)
{
    for (int k = AR_NONE + 1; k < AR_KIND_COUNT; k++)
        if (ar_kinds[k].magic[0] && vp_str_starts(head, vp_str_of(ar_kinds[k].magic)))
            return (ar_kind)k;
    return AR_NONE;
}

static bool has_suffix(vp_str name, const char *suffix, size_t *n)
{
    vp_str s = vp_str_of(suffix);
    *n = s.n;
    if (name.n + 1 == s.n)
        return vp_str_eq_nocase(name, vp_str_skip(s, 1));
    return s.n && vp_str_ends_nocase(name, s);
}

ar_kind ar_kind_by_name(vp_str name, size_t *n)
{
    for (int k = AR_NONE + 1; k < AR_KIND_COUNT; k++)
        if (has_suffix(name, ar_kinds[k].suffix, n) ||
            has_suffix(name, ar_kinds[k].short_suffix, n))
            return (ar_kind)k;
    *n = 0;
    return AR_NONE;
}
