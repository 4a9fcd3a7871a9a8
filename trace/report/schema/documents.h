/* The JSON documents described by the field tables, and the texts of their fields in the schema and
 * the reference page. Constant; used by `view_profile help --print-schema` and --print-reference.
 */
#ifndef VP_REPORT_DOCUMENTS_H
#define VP_REPORT_DOCUMENTS_H

#include "trace/report/data/fields.h"

typedef struct rep_part {
    const rep_field *fields; /* members of the document itself */
    bool whole;              /* absent if `complete` is false and only op tables were made */
} rep_part;

typedef struct rep_document {
    const char *name;   /* "report": NAME.schema.json */
    const char *schema; /* the value of its key "schema" */
    const char *title, *about;
    rep_part parts[12]; /* .fields NULL at the end */
} rep_document;

extern const rep_document rep_documents[]; /* .name NULL at the end */

/* Tables that a document refers to, each once, in the order in which they first appear. */
typedef struct rep_tables {
    const rep_field *list[96];
    size_t n;
} rep_tables;

void rep_tables_of(rep_tables *t, const rep_document *d);
const char *rep_table_name(const rep_field *fields);  /* NULL: a part of a document */
const char *rep_table_about(const rep_field *fields); /* likewise */

/* "ps": from the row, else from the end of the key; NULL: the value has no unit. */
const char *rep_field_unit(const rep_field *f);
/* What null means; NULL: the value is never null. */
const char *rep_field_null(const rep_field *f);

/* The words of a field of type REP_WORD or REP_BY_WORD. */
typedef struct rep_word_list {
    const char *const *words, *name; /* name: the heading, "cause" */
    const char *const *about;        /* as many as words */
    size_t n;
} rep_word_list;

const rep_word_list *rep_words_of(const rep_field *f);
extern const rep_word_list rep_word_lists[]; /* .words NULL at the end */

int rep_schema_json(vp_buf *b, const char *name); /* VP_ENOTFOUND */
int rep_reference(vp_buf *b);                     /* docs/reference/report.md */

#endif
