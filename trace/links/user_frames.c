#include "trace/links/user_frames.h"

static bool is_number(vp_str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n && n == s.n;
}

bool links_parse_frame(vp_str text, vp_str *file, vp_str *line, vp_str *function)
{
    size_t close = vp_str_find(text, VP_STR("): "));
    if (close < text.n) {
        size_t open = vp_str_rfind_char(vp_str_head(text, close), '(');
        if (open >= close)
            return false;
        *file = vp_str_head(text, open);
        *line = vp_str_skip(vp_str_head(text, close), open + 1);
        *function = vp_str_skip(text, close + 3);
        return file->n && is_number(*line);
    }
    if (!text.n || text.p[0] != '$')
        return false;
    text = vp_str_skip(text, 1);
    size_t space = vp_str_find(text, VP_STR(" "));
    size_t colon = vp_str_rfind_char(vp_str_head(text, space), ':');
    if (space >= text.n || colon >= space)
        return false;
    *file = vp_str_head(text, colon);
    *line = vp_str_skip(vp_str_head(text, space), colon + 1);
    *function = vp_str_skip(text, space + 1);
    return file->n && is_number(*line);
}

/* JAX's Python tracer writes files without directories. These are JAX's own, by which it calls the
 * runtime. */
static bool is_jax_file(vp_str file)
{
    static const vp_str files[] = {VP_STR_INIT("pjit.py"),       VP_STR_INIT("api.py"),
                                   VP_STR_INIT("core.py"),       VP_STR_INIT("pxla.py"),
                                   VP_STR_INIT("dispatch.py"),   VP_STR_INIT("array.py"),
                                   VP_STR_INIT("profiler.py"),   VP_STR_INIT("compiler.py"),
                                   VP_STR_INIT("util.py"),       VP_STR_INIT("lax.py"),
                                   VP_STR_INIT("lax_numpy.py"),  VP_STR_INIT("ufuncs.py"),
                                   VP_STR_INIT("stages.py"),     VP_STR_INIT("traceback_util.py"),
                                   VP_STR_INIT("contextlib.py"), VP_STR_INIT("functools.py")};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (vp_str_eq(file, files[i]))
            return true;
    return false;
}

bool links_is_user_frame(vp_str text)
{
    vp_str file, line, function;
    return links_parse_frame(text, &file, &line, &function) && rd_is_user_file(file) &&
           !(*text.p == '$' && is_jax_file(file));
}
