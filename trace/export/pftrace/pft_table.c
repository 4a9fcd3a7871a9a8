#include "trace/export/pftrace/pft_table.h"

#include <string.h>

#include "trace/base/err.h"
#include "trace/base/limits.h"
#include "trace/base/mem.h"
#include "trace/export/shared/stream_out.h"
#include "trace/read/json/json_text.h"

/* Longer texts rarely repeat. */
#define TEXT_MAX (16u << 10)
#define BYTES_MAX (32u << 20)
#define TEXTS_MAX (512u << 10)

static const pft_name_kind kinds[] = {PFT_EVENT_NAME, PFT_CATEGORY, PFT_ARG_NAME, PFT_ARG_TEXT};
#define KINDS (sizeof kinds / sizeof *kinds)

int pft_table_init(pft_table *t)
{
    *t = (pft_table){0};
    vp_arena_init(&t->arena);
    return vp_intern_init(&t->texts, &t->arena);
}

void pft_table_free(pft_table *t)
{
    vp_intern_free(&t->texts);
    vp_arena_free(&t->arena);
    vp_free(t->kinds);
}

static unsigned char bit_of(pft_name_kind kind)
{
    unsigned i = 0;
    while (kinds[i] != kind)
        i++;
    return (unsigned char)(1u << i);
}

/* Values of arguments may be different in every event: half of the table is reserved for names. */
static bool is_full_for_kind(const pft_table *t, pft_name_kind kind)
{
    unsigned half = kind == PFT_ARG_TEXT ? 1 : 0;
    return t->texts.bytes >= BYTES_MAX >> half || t->texts.count >= TEXTS_MAX >> half;
}

int pft_table_put(pft_table *t, pft_name_kind kind, vp_str json, uint64_t *number)
{
    vp_sid sid;
    size_t before = t->cap;
    if (json.n > TEXT_MAX || is_full_for_kind(t, kind))
        return 0;
    VP_TRY(vp_intern_put(&t->texts, json, &sid));
    if (t->texts.count > t->cap) {
        VP_TRY(vp_grow(&t->kinds, &t->cap, t->texts.count, 1, VP_INTERN_MAX));
        memset(t->kinds + before, 0, t->cap - before);
    }
    t->kinds[sid] |= bit_of(kind);
    *number = (uint64_t)sid + 1;
    return 1;
}

int pft_table_put_arg(pft_table *t, unsigned place, vp_str json, uint64_t *number)
{
    vp_sid *expected = &t->expected[place % PFT_EXPECTED];
    if (*expected && vp_str_eq(vp_intern_get(&t->texts, *expected), json)) {
        *number = (uint64_t)*expected + 1;
        return 1;
    }
    int known = pft_table_put(t, PFT_ARG_NAME, json, number);
    if (known > 0)
        *expected = (vp_sid)(*number - 1);
    return known;
}

vp_str pft_plain(vp_buf *scratch, vp_str json)
{
    if (!json.n || !memchr(json.p, '\\', json.n))
        return json;
    scratch->n = 0;
    char *p = vp_buf_reserve(scratch, JS_UTF8_MAX(json.n));
    return p ? (vp_str){p, js_unescape(json, p)} : VP_STR_NONE;
}

int pft_table_tell(const pft_table *t, pft_writer *w, vp_buf *scratch, size_t *next)
{
    for (; *next < t->texts.count && w->interned.n < EX_OUT_CHUNK; ++*next) {
        if (!t->kinds || !t->kinds[*next])
            continue;
        vp_str text = pft_plain(scratch, vp_intern_get(&t->texts, (vp_sid)*next));
        for (unsigned i = 0; i < KINDS; i++)
            if (t->kinds[*next] & 1u << i)
                pft_tell(w, kinds[i], *next + 1, text);
    }
    VP_TRY(scratch->status);
    if (w->interned.n)
        VP_TRY(pft_put_names(w));
    return *next == t->texts.count;
}
