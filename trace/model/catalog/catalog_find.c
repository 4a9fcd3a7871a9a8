/* Finds the run for a key, and reports candidates if there is none. */
#include "trace/base/err.h"
#include "trace/model/catalog/catalog_impl.h"

#include <stdio.h>
#include <string.h>

#define CANDIDATES_MAX 3u

static bool is_exactly(const char *text, vp_str key)
{
    return vp_str_eq(vp_str_of(text), key);
}

/* True if it ends with the key at a word boundary: "06_33_16" but not "3_16" for
 * 2026_11_21_06_33_16. */
static bool id_ends_with_key(const char *text, vp_str key)
{
    vp_str t = vp_str_of(text);
    if (!vp_str_ends(t, key))
        return false;
    if (t.n == key.n)
        return true;
    char before = t.p[t.n - key.n - 1];
    return before == '/' || before == '!' || before == '_' || before == '-' || before == '.';
}

typedef bool matches_fn(const cat_session *s, vp_str key);

static bool session_has_id(const cat_session *s, vp_str key)
{
    return is_exactly(s->id, key);
}

static bool session_has_name(const cat_session *s, vp_str key)
{
    return is_exactly(s->name, key);
}

static bool session_has_path(const cat_session *s, vp_str key)
{
    return is_exactly(s->path, key);
}

static bool by_suffix(const cat_session *s, vp_str key)
{
    return id_ends_with_key(s->name, key) || id_ends_with_key(s->path, key);
}

/* True if the key names one of the files of a run of several, such as a rank. */
static bool session_has_file(const cat_session *s, vp_str key)
{
    for (size_t i = 0; s->host_count > 1 && i < s->file_count; i++)
        if (id_ends_with_key(s->files[i].path, key))
            return true;
    return false;
}

typedef struct candidates {
    const cat_session *first[CANDIDATES_MAX];
    size_t count; /* number of all candidates */
} candidates;

static void add_session_candidate(candidates *c, const cat_session *s)
{
    if (c->count < CANDIDATES_MAX)
        c->first[c->count] = s;
    c->count++;
}

static void list_names(const candidates *c, char *out, size_t cap)
{
    size_t used = 0, shown = c->count < CANDIDATES_MAX ? c->count : CANDIDATES_MAX;
    out[0] = 0;
    for (size_t i = 0; i < shown && used < cap; i++) {
        int r = snprintf(out + used, cap - used, "%s%s", i ? ", " : "", c->first[i]->name);
        used += r > 0 ? (size_t)r : 0;
    }
    if (c->count > shown && used < cap)
        snprintf(out + used, cap - used, " and %zu more", c->count - shown);
}

static const cat_session *none_matches(const catalog *c, vp_str key)
{
    candidates all = {0};
    char names[200];
    for (size_t i = 0; i < c->count; i++)
        add_session_candidate(&all, &c->sessions[i]);
    list_names(&all, names, sizeof names);
    vp_fail(VP_ENOTFOUND, "no run \"%.*s\"; available: %s", VP_STR_CUT(key, 80u),
            all.count ? names : "none");
    return NULL;
}

const cat_session *catalog_by_id(const catalog *c, const char *id)
{
    for (size_t i = 0; i < c->count; i++)
        if (!strcmp(c->sessions[i].id, id))
            return &c->sessions[i];
    return NULL;
}

const cat_host *catalog_host(const cat_session *s, vp_str name)
{
    for (size_t i = 0; i < s->host_count; i++)
        if (vp_str_eq(vp_str_of(s->hosts[i].name), name))
            return &s->hosts[i];
    return NULL;
}

const cat_session *catalog_find(const catalog *c, vp_str key)
{
    static matches_fn *const rules[] = {session_has_id, session_has_name, session_has_path,
                                        by_suffix, session_has_file};
    if (vp_str_starts(key, VP_STR("./")))
        key = vp_str_skip(key, 2);
    while (key.n > 1 && key.p[key.n - 1] == '/')
        key.n--;
    for (size_t r = 0; key.n && r < sizeof rules / sizeof *rules; r++) {
        candidates found = {0};
        char names[200];
        for (size_t i = 0; i < c->count; i++)
            if (rules[r](&c->sessions[i], key))
                add_session_candidate(&found, &c->sessions[i]);
        if (found.count == 1)
            return found.first[0];
        if (!found.count)
            continue;
        list_names(&found, names, sizeof names);
        vp_fail(VP_ENOTFOUND, "\"%.*s\" matches %zu runs: %s", VP_STR_CUT(key, 80u), found.count,
                names);
        return NULL;
    }
    return none_matches(c, key);
}

bool catalog_is_bare(const catalog *c)
{
    return !c->seen.files && !c->count;
}

static const cat_session *nothing_found(const catalog *c)
{
    static const char looked_for[] =
        "no profile found (*.xplane.pb, *.trace.json[.gz], *.pt.trace.json[.gz], other trace JSON, "
        "or archives of these)";
    const cat_seen *seen = &c->seen;
    if (seen->unreadable)
        vp_fail(VP_ENOTFOUND,
                "%s; of %llu files, %llu have a known format that cannot be read (%s)", looked_for,
                (unsigned long long)seen->files, (unsigned long long)seen->unreadable,
                seen->unreadable_why);
    else if (seen->caches)
        vp_fail(VP_ENOTFOUND, "%s; of %llu files, %llu are caches of XProf", looked_for,
                (unsigned long long)seen->files, (unsigned long long)seen->caches);
    else
        vp_fail(VP_ENOTFOUND, "%s; files: %llu, directories: %llu", looked_for,
                (unsigned long long)seen->files, (unsigned long long)seen->directories);
    vp_fail_at(VP_ENOTFOUND, c->path, -1, -1);
    return NULL;
}

int catalog_check_latest(const catalog *c, const cat_session *s)
{
    const char *cut = s->file_count ? s->files[0].cut : NULL;
    for (size_t i = 0; i < c->count && &c->sessions[i] != s; i++) {
        const cat_session *newer = &c->sessions[i];
        if (newer->status != CAT_UNREADABLE || !newer->time_from_name || !s->time_from_name ||
            newer->captured_unix_ns <= s->captured_unix_ns)
            continue;
        vp_fail(VP_EUNSUPPORTED,
                "cannot read the newest run: %s; to read an older run, give its name, such as %s",
                newer->why, s->name);
        return vp_fail_at(VP_EUNSUPPORTED, newer->path, -1, -1);
    }
    if (!cut || !c->single)
        return 0;
    vp_fail(
        VP_ECORRUPT,
        "%s; newer runs may be missing; to read what is left of a run, give its name, such as %s",
        cut, s->name);
    return vp_fail_at(VP_ECORRUPT, s->files[0].location, -1, -1);
}

const cat_session *catalog_latest(const catalog *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->sessions[i].status == CAT_OK && c->sessions[i].host_count)
            return &c->sessions[i];
    for (size_t i = 0; i < c->count; i++)
        if (c->sessions[i].status == CAT_UNFINISHED && c->sessions[i].host_count)
            return &c->sessions[i];
    for (size_t i = 0; i < c->count; i++)
        if (c->sessions[i].status == CAT_OK)
            return &c->sessions[i];
    return nothing_found(c);
}
