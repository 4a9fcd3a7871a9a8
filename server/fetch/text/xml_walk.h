/* Streaming XML parser for listings: calls back at the start of an element and at its end with its
 * text. Elements are identified by local name. Document types are refused, and only the five
 * predefined entities and numeric ones are decoded. Names and texts have maximum lengths. */
#ifndef VP_FETCH_XML_WALK_H
#define VP_FETCH_XML_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

#define XML_NAME_MAX 64u
#define XML_TEXT_MAX 8192u

/* text: at an end, the text since the last tag, trimmed and with entities decoded; at a start, the
 * raw attributes, possibly truncated. Returns 0 or a failure, which xml_feed returns. */
typedef int xml_tell(void *ctx, bool is_end, vp_str name, vp_str text);

typedef struct xml_walk {
    xml_tell *tell;
    void *ctx;
    int state;
    unsigned depth;
    bool had_root, is_cut; /* is_cut: the text was truncated */
    size_t name_n, text_n, run_n;
    char name[XML_NAME_MAX], run[16], text[XML_TEXT_MAX];
} xml_walk;

void xml_begin(xml_walk *x, xml_tell *tell, void *ctx);
/* VP_ECORRUPT: malformed, or XML that is not supported. */
int xml_feed(xml_walk *x, vp_str piece);
/* VP_ECORRUPT: truncated. */
int xml_end(const xml_walk *x);
/* Parses "2024-01-31T10:20:30.123Z" to Unix time in ns; 0: malformed. */
int64_t xml_time(vp_str s);

#endif
