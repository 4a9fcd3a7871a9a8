/* Macros for tables of fields. */
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
/* Written by put, and not read back because it is computed from other fields. */
#define MADE(key_, type_, put_) .key = key_, .type = type_, .put = put_, .made = true
/* The last row: the name and the description of the object. */
#define END(name_, about_) .key = NULL, .name = name_, .about = about_

#endif
