/* vp_json_quote without sequences that Perfetto misreads. */
#include "trace/base/err.h"
#include "trace/base/json.h"
#include "trace/export/shared/quote.h"

int ex_quote(vp_buf *b, vp_str s)
{
    VP_TRY(vp_json_quote(b, s));
    if (!vp_str_ends(s, VP_STR("\\")))
        return 0;
    b->n -= 3; /* the backslash, which is two bytes, and the quote */
    return vp_buf_puts(b, "\\u005c\"");
}
