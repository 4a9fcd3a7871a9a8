#include "server/cli/capture/profile_targets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/err.h"
#include "trace/base/mem.h"
#include "trace/base/str.h"

typedef struct target_list {
    profile_name *items;
    size_t n, cap;
} target_list;

static bool host_char(char c, bool bracketed)
{
    return (c >= '0' && c <= '9') || (vp_lower(c) >= 'a' && vp_lower(c) <= 'z') || c == '-' ||
           c == '.' || c == '_' || (bracketed && (c == ':' || c == '%'));
}

static bool is_host_and_port(vp_str s)
{
    size_t colon = vp_str_rfind_char(s, ':');
    uint64_t port;
    if (colon == s.n || !colon || colon > 255 || !vp_str_to_u64(vp_str_skip(s, colon + 1), &port) ||
        !port || port > 65535)
        return false;
    bool bracketed = colon > 2 && s.p[0] == '[' && s.p[colon - 1] == ']';
    for (size_t i = bracketed; i < colon - bracketed; i++)
        if (!host_char(s.p[i], bracketed))
            return false;
    return s.p[0] != '-';
}

static int target_list_add(target_list *l, vp_str s)
{
    s = vp_str_trim(s);
    if (!s.n)
        return 0;
    if (!is_host_and_port(s))
        return vp_fail(VP_EARG, "\"%.*s\" is not HOST:PORT, such as 127.0.0.1:9012",
                       VP_STR_CUT(s, 100));
    for (size_t i = 0; i < l->n; i++)
        if (vp_str_eq(s, vp_str_of(l->items[i].target)))
            return vp_fail(VP_EARG, "%.*s is given twice", VP_STR_CUT(s, 100));
    VP_TRY(vp_grow(&l->items, &l->cap, l->n + 1, sizeof *l->items, PROFILE_TARGETS_MAX));
    profile_name *t = &l->items[l->n++];
    size_t k = 0;
    snprintf(t->target, sizeof t->target, "%.*s", (int)s.n, s.p);
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '[' && s.p[i] != ']')
            t->host[k++] = s.p[i] == ':' || s.p[i] == '%' ? '_' : s.p[i];
    t->host[k] = 0;
    return 0;
}

static int add_words(target_list *l, vp_str s)
{
    vp_str one;
    while (s.n) {
        vp_take_until(&s, ',', s.n, &one);
        VP_TRY(target_list_add(l, one));
    }
    return 0;
}

/* One or more comma-separated targets per line; # starts a comment. */
static int target_list_add_file(target_list *l, const char *path)
{
    char line[4096];
    FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
    if (!f) {
        vp_fail(errno == ENOENT ? VP_ENOTFOUND : VP_EIO, "cannot read: %s", strerror(errno));
        return vp_fail_at(vp_error_last()->code, path, -1, -1);
    }
    int rc = 0;
    while (rc >= 0 && fgets(line, sizeof line, f)) {
        line[strcspn(line, "#\r\n")] = 0;
        rc = add_words(l, vp_str_of(line));
    }
    if (rc >= 0 && ferror(f))
        rc = vp_fail_at(vp_fail(VP_EIO, "read error"), path, -1, -1);
    if (f != stdin)
        (void)fclose(f);
    return rc;
}

int profile_targets(profile_name **out, size_t *n, char *const *words, size_t word_n,
                    const char *hosts_file)
{
    target_list l = {0};
    int rc = 0;
    for (size_t i = 0; i < word_n && rc >= 0; i++)
        rc = add_words(&l, vp_str_of(words[i]));
    if (rc >= 0 && hosts_file)
        rc = target_list_add_file(&l, hosts_file);
    if (rc >= 0 && !l.n)
        rc = vp_fail(VP_EARG, "missing HOST:PORT, such as 127.0.0.1:9012");
    if (rc < 0) {
        vp_free(l.items);
        return rc;
    }
    *out = l.items;
    *n = l.n;
    return 0;
}
