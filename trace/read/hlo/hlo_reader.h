/* State and helpers shared by the parts of the HLO reader while a proto is read. The arrays belong
 * to the program or to the reader, which hlo_program_parse frees. Functions return VP_ECORRUPT,
 * VP_ELIMIT or VP_ENOMEM. */
#ifndef VP_READ_HLO_READER_H
#define VP_READ_HLO_READER_H

#include "trace/base/pb.h"
#include "trace/read/hlo/hlo_program.h"

typedef struct hlo_reader {
    hlo_program *p;
    size_t instr_cap, computation_cap, shape_cap, number_cap, link_cap, buffer_cap, allocation_cap,
        assigned_cap, event_cap, trace_cap, alias_cap, peak_cap;
    /* By shape: its bytes, until its elements are read. */
    vp_str *shape_bytes;
    size_t shape_bytes_cap;
    /* By link: the referenced id, until all instructions are known. */
    int64_t *ids;
    size_t ids_cap;
    int64_t *root_ids; /* by computation */
    size_t root_ids_cap;
    vp_map computation_by_id, buffer_by_id;
} hlo_reader;

typedef enum hlo_as { HLO_AS_TEXT, HLO_AS_NUMBER, HLO_AS_INT, HLO_AS_BOOL } hlo_as;

/* A field that occurs at most once, and the member that stores it: vp_str, int64_t, int32_t or
 * bool. A table ends with number 0. */
typedef struct hlo_field {
    uint8_t number, as;
    uint16_t at;
} hlo_field;

/* First row and number of rows of a repeated field. */
typedef struct hlo_span {
    uint32_t first, count;
} hlo_span;

/* Sets the members of `row` whose fields the message has. VP_ECORRUPT: damaged; `what` names it in
 * the error. */
int hlo_take(void *row, vp_str message, const hlo_field *fields, const char *what);
/* Appends the numbers of a repeated field, packed or not, to the program's numbers. */
int hlo_take_numbers(hlo_reader *r, vp_str message, uint32_t field, hlo_span *out);
/* The same, as links whose ids are resolved later. */
int hlo_take_ids(hlo_reader *r, vp_str message, uint32_t field, hlo_span *out);
/* Calls `each` for every message of a repeated field. */
int hlo_each(hlo_reader *r, vp_str message, uint32_t field, int (*each)(hlo_reader *, vp_str));

int hlo_put_number(hlo_reader *r, int64_t v);
/* Reads a shape with all its elements; *shape is its index. */
int hlo_read_shape(hlo_reader *r, vp_str proto, uint32_t *shape);
int hlo_read_module(hlo_reader *r, vp_str proto);
int hlo_read_assignment(hlo_reader *r, vp_str proto);

#define HLO_GROW(r, rows, name)                                                                    \
    vp_grow(&(r)->p->rows, &(r)->name##_cap, (r)->p->name##_count + 1, sizeof *(r)->p->rows,       \
            VP_HLO_INSTRUCTIONS_MAX)
#define HLO_GROW_BUFFERS(r, rows, name)                                                            \
    vp_grow(&(r)->p->rows, &(r)->name##_cap, (r)->p->name##_count + 1, sizeof *(r)->p->rows,       \
            VP_HLO_BUFFERS_MAX)

#endif
