#include "server/net/request/head.h"

#include <string.h>

#include "server/net/request/libmicrohttpd.h"

#include "server/net/request/request.h"

/* libmicrohttpd before 1.0 parses the head in place, with a NUL for every ':', CR and LF, and
 * returns C strings into it. Bytes that it skips remain between these strings: a NUL inside a
 * value, a field without a name, the first line of a folded one. Another parser of the same bytes
 * would see a different request. Therefore every byte of the head must belong to a returned string
 * or terminate one. */
typedef struct walk {
    const char *at, *end;
} walk;

/* Requires the text p,n at this position. */
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
    if (strncmp(MHD_get_version(), "0.", 2) != 0 || !size) /* 1.0 rejects such heads itself */
        return true;
    walk w = {method, method + size->header_size};
    if (!match_head_text(&w, method, strlen(method)) || !match_terminator(&w) ||
        !match_head_text(&w, rq->uri_at, rq->uri_n) || !match_terminator(&w) ||
        !match_head_text(&w, version, strlen(version)) || !match_line_end(&w))
        return false;
    for (size_t i = 0; i < rq->head.field_count; i++)
        if (!match_head_field(&w, &rq->head.fields[i]))
            return false;
    /* The empty line; if lines end with LF alone, match_line_end() has already consumed it. */
    return w.at == w.end || (match_line_end(&w) && w.at == w.end);
}
