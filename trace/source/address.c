#include "trace/source/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/source/kept.h"

#define ADDRESS_MAX (1u << 20)

static const char *const schemes[] = {"http://", "https://", "gs://",   "s3://",
                                      "az://",   "abfs://",  "abfss://"};
#define WEB_SCHEMES 2u

static size_t scheme_of(const char *typed)
{
    size_t i = 0, n = sizeof schemes / sizeof *schemes;
    while (i < n && !vp_str_starts_nocase(vp_str_of(typed), vp_str_of(schemes[i])))
        i++;
    return i;
}

bool source_is_address(const char *typed)
{
    return scheme_of(typed) < sizeof schemes / sizeof *schemes;
}

static int take_user(source_address *a, const char *url, size_t host)
{
    size_t end = host + strcspn(url + host, "/?#"), at = end;
    while (a->web && at > host && url[at - 1] != '@')
        at--;
    size_t n = a->web ? at + strcspn(url + at, "?") : strlen(url);
    at = a->web ? at : host;
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, ADDRESS_MAX);
    vp_buf_printf(&b, "%.*s%.*s", (int)host, url, (int)(n - at), url + at);
    a->url = vp_buf_take(&b, &(size_t){0});
    a->query = vp_strdup(url + n);
    a->user = at > host ? vp_strndup(url + host, at - host) : NULL;
    VP_NEED(a->url && a->query && (a->user || at == host));
    return 0;
}

static int split_address(source_address *a, const char *typed)
{
    size_t scheme = scheme_of(typed);
    *a = (source_address){.web = scheme < WEB_SCHEMES};
    if (!source_is_address(typed))
        return vp_fail(VP_EARG, "not the address of a log directory");
    size_t least = strlen(schemes[scheme]);
    if (strlen(typed) >= ADDRESS_MAX / 2)
        return vp_fail(VP_EARG, "the address is too long");
    VP_TRY(take_user(a, typed, least));
    size_t n = strlen(a->url);
    while (n > least && a->url[n - 1] == '/')
        n--;
    a->base = vp_strndup(a->url, n);
    VP_NEED(a->base);
    if (n > least && n < VP_PATH_MAX / 2)
        return 0;
    vp_fail(VP_EARG, "the address has no %s", a->web ? "host" : "bucket");
    return vp_fail_at(VP_EARG, a->url, -1, -1);
}

static bool is_at_or_above(const source_address *top, const source_address *a)
{
    size_t n = top->base ? strlen(top->base) : 0;
    return n && !strncmp(a->base, top->base, n) && (!a->base[n] || a->base[n] == '/');
}

static void swap_texts(char **a, char **b)
{
    char *was = *a;
    *a = *b;
    *b = was;
}

int source_address_read(source_address *a, const char *typed)
{
    const char *known = getenv(ADDRESS_SECRETS);
    source_address top;
    VP_TRY(split_address(a, typed));
    if (!known || !source_is_address(known) || !a->web || a->user || a->query[0])
        return 0;
    if (split_address(&top, known) >= 0 && is_at_or_above(&top, a)) {
        swap_texts(&a->query, &top.query);
        swap_texts(&a->user, &top.user);
    }
    source_address_free(&top);
    return 0;
}

void source_address_free(source_address *a)
{
    vp_free(a->url);
    vp_free(a->base);
    vp_free(a->query);
    vp_free(a->user);
    *a = (source_address){0};
}

char *source_address_beneath(const source_address *a, const char *path)
{
    static const char plain[] = "-._~/!$&'()*+,;=:@";
    VP_CLEANUP(vp_buf_free) vp_buf b;
    vp_buf_init(&b, ADDRESS_MAX);
    vp_buf_printf(&b, "%s/", a->base);
    for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
        bool safe = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                    (*p >= '0' && *p <= '9') || strchr(plain, *p);
        if (safe || !a->web)
            vp_buf_putc(&b, (char)*p);
        else
            vp_buf_printf(&b, "%%%02X", *p);
    }
    return vp_buf_take(&b, &(size_t){0});
}

int source_address_place(char out[VP_PATH_MAX], const source_address *a)
{
    char name[KEPT_NAME];
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    bool has = state && *state == '/';
    if (!has && (!home || *home != '/'))
        return vp_fail(VP_EIO, "no state directory: set XDG_STATE_HOME or HOME");
    const vp_str parts[] = {vp_str_of(a->base), vp_str_of(a->query)};
    kept_name(name, parts, 2);
    int n = snprintf(out, VP_PATH_MAX, "%s%s/view_profile/watch/%.16s", has ? state : home,
                     has ? "" : "/.local/state", name);
    return n > 0 && n < (int)VP_PATH_MAX / 2
               ? 0
               : vp_fail(VP_ELIMIT, "XDG_STATE_HOME or HOME: the path is too long");
}
