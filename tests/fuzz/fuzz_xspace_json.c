/* Any bytes as an XSpace: the JSON made of it is one that the clean-up finds nothing to mend in. */
#include <stdint.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/export/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int slurp(rd_stream *s, char **out, size_t *n)
{
    return rd_stream_slurp(s, (size_t)1 << 30, out, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    rd_source *in;
    rd_stream *s = NULL;
    char *made, *cleaned;
    size_t made_n, cleaned_n;
    ex_clean_counts c;
    if (rd_source_memory(&in, data, n) < 0)
        abort();
    if (ex_json_from_xspace(&s, in, NULL) < 0)
        return 0;
    if (slurp(s, &made, &made_n) < 0)
        abort();
    rd_stream_close(&s);
    if (rd_stream_memory(&s, made, made_n, 0) < 0 || ex_json_clean(&s, s) < 0 ||
        slurp(s, &cleaned, &cleaned_n) < 0)
        abort();
    ex_json_clean_counts(s, &c);
    if (s->damage.code || c.empty || c.refused || c.keys || c.strings || c.numbers || c.commas)
        abort();
    if (made_n != cleaned_n || memcmp(made, cleaned, made_n) != 0)
        abort();
    rd_stream_close(&s);
    vp_free(made);
    vp_free(cleaned);
    return 0;
}
