/* Names of the options of a view, one list each in the order of its enum. JSON, queries and the
 * command line use these lists. */
#ifndef VP_REPORT_VIEW_WORDS_H
#define VP_REPORT_VIEW_WORDS_H

#include "include/view_profile.h"

/* FIRST(value, name), then X for each further value. */
#define REP_GROUP_WORDS(FIRST, X)                                                                  \
    FIRST(VP_GROUP_NAME, "name")                                                                   \
    X(VP_GROUP_CATEGORY, "category")                                                               \
    X(VP_GROUP_SCOPE, "scope")                                                                     \
    X(VP_GROUP_SOURCE, "source")                                                                   \
    X(VP_GROUP_MODULE, "module")                                                                   \
    X(VP_GROUP_RAW, "raw")                                                                         \
    X(VP_GROUP_STACK, "stack") X(VP_GROUP_OPERATOR, "operator") X(VP_GROUP_OUTERMOST, "outermost")
#define REP_SORT_WORDS(FIRST, X)                                                                   \
    FIRST(VP_BY_SELF, "self") X(VP_BY_TOTAL, "total") X(VP_BY_CALLS, "calls") X(VP_BY_MAX, "max")
#define REP_WHERE_WORDS(FIRST, X) FIRST(VP_WHERE_DEVICE, "device") X(VP_WHERE_HOST, "host")

/* "name|category|…", for the help of a command line option. */
#define REP_FIRST_CHOICE(value, word) word
#define REP_NEXT_CHOICE(value, word) "|" word
#define REP_CHOICES(WORDS) WORDS(REP_FIRST_CHOICE, REP_NEXT_CHOICE)

/* By value, terminated by NULL. */
extern const char *const rep_group_words[], *const rep_sort_words[], *const rep_where_words[];

#endif
