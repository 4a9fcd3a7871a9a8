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

/* JAX's Python tracer writes files without directories. These are of JAX, NumPy and the standard
 * library, by which programs call the runtime: "NAME.py" each. */
static const char jax_files[] =
    " "
    "__init__ _base _finfo _format_impl _function_base_impl _func_ops_gen _methods "
    "_npyio_impl _ods_common _shape_base_impl _stablehlo_ops_gen "
    "_stride_tricks_impl _ufunc_config _weakrefset abstract_arrays ad ad_util api "
    "api_util array array_constructors array_creation array_methods arrayprint "
    "cache_key callback compilation_cache compiler contextlib core "
    "custom_derivatives debugging dispatch dtypes effects fromnumeric functools "
    "indexing inspect jaxpr_util lax lax_numpy layout linear_util literals mesh "
    "mlir monitoring multiarray named_sharding numeric op_shardings partial_eval "
    "partition_spec pjit prng profiler pxla reductions sharding sharding_impls "
    "slicing source_info_util stages tensor_contractions traceback_util tree_util "
    "ufunc_api ufuncs util xla_bridge ";

static bool is_jax_file(vp_str file)
{
    vp_str rest = {jax_files, sizeof jax_files - 1};
    if (!vp_str_ends(file, VP_STR(".py")))
        return false;
    vp_str name = vp_str_head(file, file.n - 3);
    for (size_t at; (at = vp_str_find(rest, name)) < rest.n; rest = vp_str_skip(rest, at + 1))
        if (name.n && at && rest.p[at - 1] == ' ' && rest.p[at + name.n] == ' ')
            return true;
    return false;
}

bool links_is_user_frame(vp_str text)
{
    vp_str file, line, function;
    return links_parse_frame(text, &file, &line, &function) && rd_is_user_file(file) &&
           !(*text.p == '$' && is_jax_file(file));
}
