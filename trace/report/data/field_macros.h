/* How a table of fields is spelt. Only the files that hold tables include this. */
#ifndef VP_REPORT_FIELD_MACROS_H
#define VP_REPORT_FIELD_MACROS_H

#include "trace/report/data/fields.h"

#define F(key_, type_, struct_, member_)                                                           \
    .key = key_, .type = type_, .at = offsetof(struct_, member_)
#define LIST(key_, struct_, member_, count_, item_, fields_)                                       \
    F(key_, REP_LIST, struct_, member_), .count_at = offsetof(struct_, count_),                    \
                                         .size = sizeof(item_), .fields = fields_
#define ARRAY(key_, type_, struct_, member_, count_)                                               \
    F(key_, type_, struct_, member_), .count_at = offsetof(struct_, count_)
#define MADE(key_, put_) .key = key_, .type = REP_MADE, .put = put_

#endif
