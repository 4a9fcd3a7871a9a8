/* Cleans up Trace Event JSON and calls an editor for every event that is kept. json_plan.c (first
 * pass) and json_rewrite.c (second pass) are editors. */
#ifndef VP_EXPORT_JSON_EDIT_H
#define VP_EXPORT_JSON_EDIT_H

#include "trace/export/json/json_value.h"

typedef struct ex_editor {
    /* Appends what becomes of an event, whose text is valid until this returns; RD_PAD bytes behind
     * it are readable. `at` is its place in the input. EX_KEPT; EX_EMPTY: dropped; EX_USELESS:
     * dropped, and counted as refused; < 0: the whole fails. NULL: it is copied. */
    int (*event)(void *ctx, vp_buf *out, vp_str text, int64_t at, const ex_fields *f);
    /* Nobody wants the text: events that read as objects are shown as they are in the input,
     * whatever their values are made of. */
    bool glance;
    /* What stands before the events is a chunk of its own, so that whoever reads can wait before
     * the editor is asked for the first. */
    bool apart;
    /* Appends events of its own before the file's first; may be NULL. */
    int (*first)(void *ctx, vp_buf *out);
    /* Appends events of its own behind the file's last, until the buffer is full. *any: whether
     * there is an event before. 1: there are more; 0; < 0. May be NULL. */
    int (*behind)(void *ctx, vp_buf *out, bool *any);
    /* Appends members of the object behind the events, each after a comma; may be NULL. */
    int (*last)(void *ctx, vp_buf *out, const ex_clean_counts *counts);
    void *ctx;
} ex_editor;

/* As ex_json_clean. The editor is copied; what it points to outlives the stream. */
int ex_json_edited(rd_stream **out, rd_stream *in, const ex_editor *edit);
/* Runs such a stream for what its editor sees; nothing is handed out. 1: to its end; 0: it has read
 * `until` bytes of its input, and goes on from there in the next call; < 0. */
int ex_json_run(rd_stream *s, int64_t until);

#endif
