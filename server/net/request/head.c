#include "server/net/request/head.h"

#include <string.h>

#include "server/net/request/libmicrohttpd.h"

#include "server/net/request/request.h"

/* libmicrohttpd before 1.0 leaves the head where it was received, with a NUL for every ':', CR and
 * LF, and hands out C strings into it. What it skips or cuts is still there between those strings:
 * a NUL inside a value, a nameless field, the first line of a folded one, whose pieces it glues
 * together. Whoever reads the same bytes in another way would see another request. So the bytes are
 * walked over again, and each of them has to belong to a string that was handed out, or to end one.
 */
typedef struct walk {
    const char *at, *end;
} walk;

/* The text p,n has to stand exactly here. */
static bool match_head_text(walk *w, const char *p, size_t n)
{
    if (p != w->at || n > (size_t)(w->end - w->at))
        return false;
    w->at += n;
    return true;
}

static bool match_terminator(walk *w)
{
    return w->at < w->end && *w->at++ == 0;
}

/* CRLF or LF. */
static bool match_line_end(walk *w)
{
    if (!match_terminator(w))
        return false;
    if (w->at < w->end && *w->at == 0)
        w->at++;
    return true;
}

static bool match_head_field(walk *w, const http_field *f)
{
    if (!match_head_text(w, f->name.p, f->name.n) || !match_terminator(w))
        return false;
    while (w->at < w->end && (*w->at == ' ' || *w->at == '\t'))
        w->at++;
    return match_head_text(w, f->value.p, f->value.n) && match_line_end(w);
}

bool http_head_is_whole(const http_req *rq, const char *method, const char *version)
{
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(rq->conn, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (strncmp(MHD_get_version(), "0.", 2) != 0 || !size) /* 1.0 refuses such heads itself */
        return true;
    walk w = {method, method + size->header_size};
    if (!match_head_text(&w, method, strlen(method)) || !match_terminator(&w) ||
        !match_head_text(&w, rq->uri_at, rq->uri_n) || !match_terminator(&w) ||
        !match_head_text(&w, version, strlen(version)) || !match_line_end(&w))
        return false;
    for (size_t i = 0; i < rq->head.field_count; i++)
        if (!match_head_field(&w, &rq->head.fields[i]))
            return false;
    /* The empty line; where lines end with LF alone, match_line_end() has taken it already. */
    return w.at == w.end || (match_line_end(&w) && w.at == w.end);
}
