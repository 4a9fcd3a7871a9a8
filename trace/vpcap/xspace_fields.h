/* Field numbers of XSpace, for its readers, writers and converters. Source:
 * tsl/profiler/protobuf/xplane.proto (docs/reference/xprof.md#xspace). A constant is named after
 * the message in one word and the field, because XEvent.metadata_id and XEventMetadata.id must
 * differ. */
#ifndef VP_IMAGE_XSPACE_FIELDS_H
#define VP_IMAGE_XSPACE_FIELDS_H

#include "trace/base/pb.h"

enum { XSPACE_PLANES = 1, XSPACE_ERRORS = 2, XSPACE_WARNINGS = 3, XSPACE_HOSTNAMES = 4 };

enum {
    XPLANE_ID = 1,
    XPLANE_NAME = 2,
    XPLANE_LINES = 3,
    XPLANE_EVENT_METADATA = 4, /* a map, with entries XMAP_… */
    XPLANE_STAT_METADATA = 5,  /* a map */
    XPLANE_STATS = 6
};

/* An entry of a map from ids to metadata. */
enum { XMAP_KEY = 1, XMAP_VALUE = 2 };

enum {
    XLINE_ID = 1,
    XLINE_NAME = 2,
    XLINE_TIMESTAMP_NS = 3,
    XLINE_EVENTS = 4,
    XLINE_DURATION_PS = 9,
    XLINE_DISPLAY_ID = 10,
    XLINE_DISPLAY_NAME = 11
};

enum {
    XEVENT_METADATA_ID = 1,
    XEVENT_OFFSET_PS = 2,
    XEVENT_DURATION_PS = 3,
    XEVENT_STATS = 4,
    XEVENT_NUM_OCCURRENCES = 5 /* of an aggregated event, in place of offset_ps */
};

/* double_value to ref_value are alternatives. */
enum {
    XSTAT_METADATA_ID = 1,
    XSTAT_DOUBLE_VALUE = 2,
    XSTAT_UINT64_VALUE = 3,
    XSTAT_INT64_VALUE = 4,
    XSTAT_STR_VALUE = 5,
    XSTAT_BYTES_VALUE = 6,
    XSTAT_REF_VALUE = 7 /* id of the XStatMetadata whose name is the value */
};

enum {
    XEVENTMETADATA_ID = 1,
    XEVENTMETADATA_NAME = 2,
    XEVENTMETADATA_METADATA = 3,
    XEVENTMETADATA_DISPLAY_NAME = 4,
    XEVENTMETADATA_STATS = 5,
    XEVENTMETADATA_CHILD_ID = 6
};

enum { XSTATMETADATA_ID = 1, XSTATMETADATA_NAME = 2, XSTATMETADATA_DESCRIPTION = 3 };

/* The tag byte before a field's content, for code that compares or writes many of them. */
enum {
    XSPACE_PLANES_TAG = VP_PB_TAG(XSPACE_PLANES, VP_PB_LEN),
    XSPACE_ERRORS_TAG = VP_PB_TAG(XSPACE_ERRORS, VP_PB_LEN),
    XSPACE_WARNINGS_TAG = VP_PB_TAG(XSPACE_WARNINGS, VP_PB_LEN),
    XSPACE_HOSTNAMES_TAG = VP_PB_TAG(XSPACE_HOSTNAMES, VP_PB_LEN),
    XPLANE_ID_TAG = VP_PB_TAG(XPLANE_ID, VP_PB_VARINT),
    XPLANE_NAME_TAG = VP_PB_TAG(XPLANE_NAME, VP_PB_LEN),
    XPLANE_LINES_TAG = VP_PB_TAG(XPLANE_LINES, VP_PB_LEN),
    XLINE_EVENTS_TAG = VP_PB_TAG(XLINE_EVENTS, VP_PB_LEN),
    XEVENT_METADATA_ID_TAG = VP_PB_TAG(XEVENT_METADATA_ID, VP_PB_VARINT),
    XEVENT_OFFSET_PS_TAG = VP_PB_TAG(XEVENT_OFFSET_PS, VP_PB_VARINT),
    XEVENT_DURATION_PS_TAG = VP_PB_TAG(XEVENT_DURATION_PS, VP_PB_VARINT),
    XEVENT_STATS_TAG = VP_PB_TAG(XEVENT_STATS, VP_PB_LEN),
    XSTAT_METADATA_ID_TAG = VP_PB_TAG(XSTAT_METADATA_ID, VP_PB_VARINT),
    XSTAT_DOUBLE_VALUE_TAG = VP_PB_TAG(XSTAT_DOUBLE_VALUE, VP_PB_FIXED64),
    XSTAT_UINT64_VALUE_TAG = VP_PB_TAG(XSTAT_UINT64_VALUE, VP_PB_VARINT),
    XSTAT_INT64_VALUE_TAG = VP_PB_TAG(XSTAT_INT64_VALUE, VP_PB_VARINT),
    XSTAT_STR_VALUE_TAG = VP_PB_TAG(XSTAT_STR_VALUE, VP_PB_LEN)
};

#endif
