/* Field numbers of pprof profiles, limited to the fields that are read. Source: proto/profile.proto
 * of github.com/google/pprof. A constant is named PPROF, the message in one word, and the field. */
#ifndef VP_READ_PPROF_FIELDS_H
#define VP_READ_PPROF_FIELDS_H

#include "trace/base/pb.h"

enum {
    PPROF_PROFILE_SAMPLE_TYPE = 1,
    PPROF_PROFILE_SAMPLE = 2,
    PPROF_PROFILE_LOCATION = 4,
    PPROF_PROFILE_FUNCTION = 5,
    PPROF_PROFILE_STRING_TABLE = 6, /* other texts are indices into it */
    PPROF_PROFILE_TIME_NANOS = 9
};
enum { PPROF_SAMPLE_LOCATION_ID = 1, PPROF_SAMPLE_VALUE = 2, PPROF_SAMPLE_LABEL = 3 };
enum { PPROF_LOCATION_ID = 1, PPROF_LOCATION_LINE = 4 };

/* Messages with numbers only; …_END is one above the highest field that is read. */
enum { PPROF_VALUETYPE_TYPE = 1, PPROF_VALUETYPE_UNIT = 2, PPROF_VALUETYPE_END };
enum { PPROF_LABEL_KEY = 1, PPROF_LABEL_STR = 2, PPROF_LABEL_END };
enum { PPROF_LINE_FUNCTION_ID = 1, PPROF_LINE_LINE = 2, PPROF_LINE_END };
enum {
    PPROF_FUNCTION_ID = 1,
    PPROF_FUNCTION_NAME = 2,
    PPROF_FUNCTION_FILENAME = 4,
    PPROF_FUNCTION_END
};

/* Tag bytes of the first fields of a profile. */
enum {
    PPROF_PROFILE_SAMPLE_TYPE_TAG = VP_PB_TAG(PPROF_PROFILE_SAMPLE_TYPE, VP_PB_LEN),
    PPROF_PROFILE_SAMPLE_TAG = VP_PB_TAG(PPROF_PROFILE_SAMPLE, VP_PB_LEN),
    PPROF_VALUETYPE_TYPE_TAG = VP_PB_TAG(PPROF_VALUETYPE_TYPE, VP_PB_VARINT),
    PPROF_VALUETYPE_UNIT_TAG = VP_PB_TAG(PPROF_VALUETYPE_UNIT, VP_PB_VARINT)
};

#endif
