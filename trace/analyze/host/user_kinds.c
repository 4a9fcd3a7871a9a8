#include "trace/analyze/host/user_kinds.h"

#include <stdio.h>

#include "trace/analyze/host/host_kinds.h"
#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/map.h"
#include "trace/base/mem.h"
#include "trace/links/user_frames.h"
#include "trace/read/semantics/hlo.h"

static vp_str base_name(vp_str path)
{
    size_t slash = vp_str_rfind_char(path, '/');
    return slash < path.n ? vp_str_skip(path, slash + 1) : path;
}

static int add_user_file(void *files, vp_str path)
{
    vp_str name = base_name(path);
    return rd_is_user_file(path) ? vp_map_set(files, vp_hash(name.p, name.n, 0), 1) : 0;
}

/* The names of the user's files that device ops come from, and of those that call them. */
static int find_user_files(vp_map *files, const trace *t)
{
    vp_sid last = 0; /* kinds with the same source follow each other */
    for (uint32_t i = 0; i < t->kind_count; i++) {
        vp_str source = trace_str(t, t->kinds[i].source);
        if (t->kinds[i].source == last)
            continue;
        last = t->kinds[i].source;
        VP_TRY(add_user_file(files, vp_str_head(source, vp_str_rfind_char(source, ':'))));
    }
    for (uint32_t i = 0; i < t->program_count; i++)
        VP_TRY(hlo_each_source_file(t->programs[i].proto, add_user_file, files));
    return 0;
}

/* A part of the function around it, without a name of its own. */
static bool is_comprehension(vp_str function)
{
    return vp_str_eq(function, VP_STR("<listcomp>")) || vp_str_eq(function, VP_STR("<dictcomp>")) ||
           vp_str_eq(function, VP_STR("<setcomp>")) || vp_str_eq(function, VP_STR("<genexpr>"));
}

static bool is_user_frame(const trace *t, uint32_t kind, const vp_map *files)
{
    vp_str file, line, function, name = trace_str(t, t->kinds[kind].name);
    if (!links_parse_frame(name, &file, &line, &function) || is_comprehension(function))
        return false;
    if (*name.p == '$' && base_name(file).n == file.n && files->count)
        return vp_map_get(files, vp_hash(file.p, file.n, 0)) != VP_MAP_NONE;
    return links_is_user_frame(name);
}

int user_kinds_mark(uint32_t *flags, const trace *t)
{
    vp_map files;
    vp_map_init(&files);
    int rc = find_user_files(&files, t);
    for (uint32_t i = 0; rc >= 0 && i < t->kind_count; i++)
        if ((flags[i] & HK_PYTHON) && is_user_frame(t, i, &files))
            flags[i] |= HK_USER;
    vp_map_free(&files);
    return rc;
}

int user_frame_text(const char **out, host_result *h, const trace *t, uint32_t kind)
{
    vp_str file, line, function;
    char text[400];
    if (kind == UINT32_MAX ||
        !links_parse_frame(trace_str(t, t->kinds[kind].name), &file, &line, &function))
        return 0;
    int n = snprintf(text, sizeof text, "%.*s (%.*s:%.*s)", VP_STR_CUT(function, 100u),
                     VP_STR_CUT(file, 200u), VP_STR_CUT(line, 20u));
    return n > 0 ? host_text(out, h, (vp_str){text, (size_t)n}) : 0;
}

int user_stack_open(user_stack *s, uint32_t kind, int64_t end)
{
    VP_TRY(vp_grow(&s->v, &s->cap, s->n + 1, sizeof *s->v, VP_EVENTS_MAX));
    s->v[s->n++] = (struct user_open){end, kind};
    return 0;
}

void user_stack_close(user_stack *s, int64_t now)
{
    while (s->n && s->v[s->n - 1].end <= now)
        s->n--;
}
