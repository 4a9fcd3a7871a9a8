/* Cleans up Trace Event JSON and calls an editor for every event that is kept. json_plan.c (first
 * pass) and json_rewrite.c (second pass) are editors. */
#ifndef VP_EXPORT_JSON_EDIT_H
#define VP_EXPORT_JSON_EDIT_H

#include "trace/export/json/json_value.h"

typedef struct ex_editor {
    /* Appends the output for an event, whose text is valid until this returns, with RD_PAD readable
     * bytes after it. `at` is its offset in the input. EX_KEPT; EX_EMPTY: dropped; EX_USELESS:
     * dropped, and counted as refused; < 0: the export fails. NULL: events are copied. */
    int (*event)(void *ctx, vp_buf *out, vp_str text, int64_t at, const ex_fields *f);
    /* The output is not used: events that parse as objects are passed as in the input, without
     * repair of their values. */
    bool glance;
    /* The output before the events is a separate chunk, so that the reader can wait before the
     * editor gets the first event. */
    bool apart;
    /* Appends additional events before the first event of the file; may be NULL. */
    int (*first)(void *ctx, vp_buf *out);
    /* Appends additional events after the last event of the file, until the buffer is full. *any:
     * whether an event precedes. 1: there are more; 0: done; < 0. May be NULL. */
    int (*behind)(void *ctx, vp_buf *out, bool *any);
    /* Appends members of the object after the events, each after a comma; may be NULL. */
    int (*last)(void *ctx, vp_buf *out, const ex_clean_counts *counts);
    void *ctx;
} ex_editor;

/* As ex_json_clean. The editor is copied; the data it points to must outlive the stream. */
int ex_json_edited(rd_stream **out, rd_stream *in, const ex_editor *edit);
/* Runs such a stream only for its editor, without output. 1: reached the end; 0: `until` bytes of
 * the input are read, and the next call continues from there; < 0. */
int ex_json_run(rd_stream *s, int64_t until);

#endif
