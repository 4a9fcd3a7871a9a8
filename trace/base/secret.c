#include "trace/base/secret.h"

#include <stdbool.h>
#include <string.h>

#include "trace/base/str.h"

#define HIDDEN "…"

/* host: the text after "://", which may start with "user:password@" */
static void cut_user(char *host)
{
    size_t n = strcspn(host, "/?# \t\n\"'");
    while (n && host[n - 1] != '@')
        n--;
    memmove(host, host + n, strlen(host + n) + 1);
}

/* Length of the query. Punctuation at its end belongs to the surrounding sentence. */
static size_t length_of(const char *query)
{
    size_t n = strcspn(query, " \t\n\"'");
    while (n && strchr(":,;.)", query[n - 1]))
        n--;
    return n;
}

static void cut_query(char *host, size_t size)
{
    char *query = host + strcspn(host, "? \t\n\"'");
    size_t n = *query == '?' ? length_of(query + 1) : 0, sign = sizeof HIDDEN - 1;
    if (!n)
        return;
    size_t rest = strlen(query + 1 + n) + 1, at = (size_t)(query - host) + 1;
    bool fits = at + sign + rest <= size;
    if (fits)
        memmove(query + 1 + sign, query + 1 + n, rest);
    else
        memmove(query + 1, query + 1 + n, rest);
    if (fits)
        memcpy(query + 1, HIDDEN, sign);
}

static bool text_before_ends_with(const char *text, const char *at, vp_str word)
{
    size_t n = (size_t)(at - text);
    return n >= word.n && vp_str_eq_nocase((vp_str){at - word.n, word.n}, word);
}

void vp_hide_secrets(char *text, unsigned long size)
{
    for (char *at = text; (at = strstr(at, "://"));) {
        bool web = text_before_ends_with(text, at, VP_STR("http")) ||
                   text_before_ends_with(text, at, VP_STR("https"));
        at += 3;
        if (web)
            cut_user(at);
        cut_query(at, size - (size_t)(at - text));
    }
}
