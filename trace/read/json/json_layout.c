#include "trace/read/json/json_layout.h"

/* Stores a text; when the layout is full, it is cleared, because the file's content has changed.
 * Returns the link for the text that follows. */
static uint32_t *layout_remember(cj_layout *layout, uint32_t *link, vp_str text, int field)
{
    unsigned beside = 0;
    if (link == &layout->none || text.n > CJ_LAYOUT_TEXT)
        return &layout->none;
    for (; *link; link = &layout->at[*link].beside)
        beside++;
    if (beside == CJ_LAYOUT_BESIDE || layout->count == CJ_LAYOUT_MAX - 1) {
        layout->first = layout->count = 0;
        return &layout->none;
    }
    *link = ++layout->count;
    cj_layout_text *t = &layout->at[*link];
    *t = (cj_layout_text){.n = (uint32_t)text.n,
                          .mask = UINT32_MAX >> (CJ_LAYOUT_TEXT - text.n),
                          .field = field,
                          .least = field == CJ_LAYOUT_CLOSE ? 0 : ' ' + 1};
    memcpy(t->text, text.p, text.n);
    return &t->next;
}

js_step cj_learn_field(const char **at, const char *end, cj_layout *layout, uint32_t **link,
                       cj_field_fn *field_of, int *field)
{
    const char *p = *at;
    vp_str key;
    js_step step = js_next_key(at, end, &key);
    if (step < 0)
        return step;
    *field = step == JS_CLOSE ? CJ_LAYOUT_CLOSE : field_of(key);
    *link = layout_remember(layout, *link, (vp_str){p, (size_t)(*at - p)}, *field);
    return step;
}
