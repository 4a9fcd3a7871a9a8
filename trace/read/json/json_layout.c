#include "trace/read/json/json_layout.h"

/* Without room all is forgotten: what a file holds now is not what it began with. Returns where the
 * text behind this one is to be noted. */
static uint32_t *remember(cj_layout *layout, uint32_t *place, vp_str text, int field)
{
    if (text.n > CJ_LAYOUT_TEXT)
        return NULL;
    if (!place || layout->count == CJ_LAYOUT_MAX) {
        layout->first = layout->count = 0;
        return NULL;
    }
    cj_layout_text *t = &layout->at[layout->count];
    memcpy(t->text, text.p, text.n);
    t->n = (uint32_t)text.n;
    t->field = field;
    t->next = t->beside = 0;
    *place = ++layout->count;
    return &t->next;
}

js_step cj_learn_field(const char **at, const char *end, cj_layout *layout, uint32_t *place,
                       uint32_t **link, cj_field_fn *field_of, int *field)
{
    const char *p = *at;
    vp_str key;
    js_step step = js_next_key(at, end, &key);
    if (step < 0)
        return step;
    *field = step == JS_CLOSE ? CJ_LAYOUT_CLOSE : field_of(key);
    if (*link)
        *link = remember(layout, place, (vp_str){p, (size_t)(*at - p)}, *field);
    return step;
}
