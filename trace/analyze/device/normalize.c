/* What ops are called once numbers and decorations are taken off
 * (docs/reference/metrics.md#op-names). */
#include "trace/analyze/device/classify.h"

static bool is_ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
    return is_ascii_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Step 1: decorations around the name. */
static vp_str strip_decorations(vp_str s)
{
    static const vp_str anon = VP_STR_INIT("(anonymous namespace)::");
    if (s.n && *s.p == '%')
        s = vp_str_skip(s, 1);
    s = vp_str_head(s, vp_str_find(s, VP_STR(" = ")));
    s = vp_str_head(s, vp_str_find(s, VP_STR(" [clone ")));
    if (vp_str_ends(s, VP_STR(".kd")))
        s.n -= 3;
    if (vp_str_starts(s, VP_STR("void ")))
        s = vp_str_skip(s, 5);
    while (vp_str_starts(s, anon))
        s = vp_str_skip(s, anon.n);
    return s;
}

/* The position after the bracket that closes the one at `at`, or s.n. Arrows are not brackets. */
static size_t skip_balanced(vp_str s, size_t at)
{
    size_t depth = 0;
    for (size_t i = at; i < s.n; i++) {
        char c = s.p[i];
        if (c == '-' && i + 1 < s.n && s.p[i + 1] == '>')
            i++;
        else if (c == '<' || c == '(' || c == '[' || c == '{')
            depth++;
        else if ((c == '>' || c == ')' || c == ']' || c == '}') && --depth == 0)
            return i + 1;
    }
    return s.n;
}

/* The unqualified name of a template argument that is a type ("CUDAFunctor_add" in
 * "at::native::CUDAFunctor_add<float>"); empty for numbers, primitives and pointers. */
static vp_str functor_of(vp_str argument)
{
    size_t start = 0, i = 0;
    bool qualified = false;
    argument = vp_str_trim(argument);
    if (vp_str_starts(argument, VP_STR("(anonymous namespace)::")))
        argument = vp_str_skip(argument, 23);
    for (; i < argument.n && (is_name_char(argument.p[i]) || argument.p[i] == ':'); i++)
        if (argument.p[i] == ':') {
            qualified = true;
            start = i + 1;
        }
    vp_str head = {argument.p + start, i - start};
    return qualified && head.n && !is_ascii_digit(*head.p) ? head : VP_STR_NONE;
}

/* The first functor among the arguments of "<…>" (without the brackets). */
static vp_str first_functor(vp_str list)
{
    size_t from = 0;
    for (size_t i = 0; i <= list.n; i++) {
        if (i < list.n && (list.p[i] == '<' || list.p[i] == '(')) {
            i = skip_balanced(list, i);
            if (i < list.n && list.p[i] != ',')
                continue;
        }
        if (i >= list.n || list.p[i] == ',') {
            vp_str f = functor_of((vp_str){list.p + from, (i < list.n ? i : list.n) - from});
            if (f.n)
                return f;
            from = i + 1;
        }
    }
    return VP_STR_NONE;
}

/* Step 2: removes parameter lists, and reduces template lists to their first functor. A '(' after a
 * space is part of the name: "Memcpy HtoD (Pageable -> Device)". */
static int strip_lists(vp_buf *out, vp_str s)
{
    for (size_t i = 0; i < s.n;) {
        char c = s.p[i], before = i ? s.p[i - 1] : ' ';
        bool attached = is_name_char(before) || before == '>';
        if (c == '(' && attached) {
            i = skip_balanced(s, i);
        } else if (c == '<' && attached) {
            size_t end = skip_balanced(s, i);
            vp_str list = {s.p + i + 1, end - i >= 2 ? end - i - 2 : 0};
            vp_str functor = first_functor(list);
            vp_buf_putc(out, '<');
            vp_buf_str(out, functor.n ? functor : VP_STR("$"));
            vp_buf_putc(out, '>');
            i = end;
        } else {
            vp_buf_putc(out, c);
            i++;
        }
    }
    return out->status;
}

/* Step 3: ".123", ".clone", ".remat2", ".clone.1" at the end. */
static vp_str strip_suffixes(vp_str s)
{
    for (;;) {
        size_t dot = vp_str_rfind_char(s, '.');
        if (dot == s.n || dot == 0)
            return s;
        vp_str tail = vp_str_skip(s, dot + 1);
        if (vp_str_starts(tail, VP_STR("remat")))
            tail = vp_str_skip(tail, 5);
        else if (vp_str_eq(tail, VP_STR("clone")))
            tail = VP_STR("");
        else if (!tail.n)
            return s;
        for (size_t i = 0; i < tail.n; i++)
            if (!is_ascii_digit(tail.p[i]))
                return s;
        s.n = dot;
    }
}

/* Step 4: XLA's GPU kernels are numbered with "_N". It is removed only after a known HLO stem, so
 * that numbers of shapes in other names are kept. */
static vp_str strip_kernel_number(vp_str s)
{
    static const char *const stems[] = {"fusion",    "dot",         "convert",   "reduce",
                                        "transpose", "copy",        "broadcast", "scatter",
                                        "gather",    "concatenate", "slice"};
    size_t i = s.n;
    while (i && is_ascii_digit(s.p[i - 1]))
        i--;
    if (i == s.n || i < 2 || s.p[i - 1] != '_')
        return s;
    vp_str stem = {s.p, i - 1};
    for (size_t k = 0; k < sizeof stems / sizeof *stems; k++)
        if (vp_str_ends(stem, vp_str_of(stems[k])))
            return stem;
    size_t wrapped = vp_str_find(stem, VP_STR("wrapped_"));
    return wrapped < stem.n && (!wrapped || s.p[wrapped - 1] == '_') ? stem : s;
}

int cl_normalize(vp_buf *out, vp_str raw)
{
    vp_buf tmp;
    vp_str s = strip_decorations(raw);
    vp_buf_init(&tmp, raw.n * 2 + 64);
    int rc = strip_lists(&tmp, s);
    s = vp_str_trim(strip_kernel_number(strip_suffixes(vp_buf_view(&tmp))));
    if (rc >= 0)
        rc = vp_buf_str(out, s.n ? s : raw);
    vp_buf_free(&tmp);
    return rc;
}
