#include "server/mcp/mcp_lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/fs.h"
#include "trace/base/mem.h"

void mcp_lines_init(mcp_lines *l)
{
    *l = (mcp_lines){.taken = 0};
    vp_buf_init(&l->b, 2 * MCP_LINE_MAX);
}

void mcp_lines_read(mcp_lines *l)
{
    const size_t piece = 64u << 10;
    if (l->taken)
        memmove(l->b.p, l->b.p + l->taken, l->b.n - l->taken);
    l->b.n -= l->taken;
    l->taken = 0;
    char *p = vp_buf_reserve(&l->b, piece);
    ssize_t n = p ? read(STDIN_FILENO, p, piece) : -1;
    if (n > 0)
        l->b.n += (size_t)n;
    else if (n == 0 || errno != EINTR)
        l->ended = true;
}

bool mcp_lines_next(mcp_lines *l, vp_str *line)
{
    for (;;) {
        vp_str rest = vp_str_skip(vp_buf_view(&l->b), l->taken);
        const char *end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;
        if (!end && rest.n <= MCP_LINE_MAX)
            return false;
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        bool was = l->skip;
        l->taken += n + (end ? 1 : 0);
        l->skip = !end;
        if (was)
            continue; /* the rest of a rejected line */
        *line = end && n <= MCP_LINE_MAX ? vp_str_head(rest, n) : VP_STR_NONE;
        return true;
    }
}

static bool write_mcp_message(json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    if (!text)
        return false;
    size_t n = strlen(text);
    text[n] = '\n'; /* replaces the newline */
    bool said = vp_fs_write_all(STDOUT_FILENO, text, n + 1) >= 0;
    vp_free(text);
    return said;
}

static json_t *message_of(json_t *id)
{
    json_t *m = json_pack("{ss}", "jsonrpc", "2.0");
    json_object_set_new(m, "id", id ? json_incref(id) : json_null());
    return m;
}

bool mcp_say_result(json_t *id, json_t *result)
{
    json_t *m = message_of(id);
    json_object_set_new(m, "result", result);
    return write_mcp_message(m);
}

bool mcp_say_error(json_t *id, int code, const char *message, json_t *data)
{
    json_t *m = message_of(id), *e = json_pack("{si ss}", "code", code, "message", message);
    if (data)
        json_object_set_new(e, "data", data);
    json_object_set_new(m, "error", e);
    return write_mcp_message(m);
}
