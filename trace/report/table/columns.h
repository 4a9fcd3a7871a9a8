/* Macros for the columns of tables: {TBL_PS, AT(total_ps), PAGE("Total", "Sum of durations"),
 * TERM(2, "total"), DROP(3)}. They set members of tbl_column; AT and ALSO need ROW to be the struct
 * of a row. */
#ifndef VP_REPORT_COLUMNS_H
#define VP_REPORT_COLUMNS_H

#include <stddef.h>

#include "trace/report/table/tbl.h"

#define AT(member) .at = offsetof(ROW, member)
#define ALSO(member) .also = offsetof(ROW, member)
/* A member of the struct to which a pointer of the row leads. */
#define VIA(pointer, row, member) .via = 1 + offsetof(ROW, pointer), .at = offsetof(row, member)
#define ALSO_OF_HOSTS(member) ALSO(member), .also_needs = TBL_HOSTS
#define GET(function) .get = (function)
#define OWN(number) .own = (number)
#define SCALE(number) .scale = (number)
#define DIGITS(number) .digits = (number)
#define STYLE(name) .style = (name)
/* On a page. */
#define PAGE(the_head, the_tip) .head = (the_head), .tip = (the_tip)
#define UNIT(name) .unit = TBL_UNIT_##name
#define NEEDS(bits) .needs = (bits)
#define SORT(by) .sort = 1 + (by)
/* On a terminal: the position among its columns and the head, alone or with the unit. */
#define TERM(order, the_head) .text_order = (order), .text = (the_head)
#define TERM_UNIT(order, the_head) TERM(order, the_head), .says_unit = true
#define TERM_NEEDS(bits) .text_needs = (bits)
#define DROP(rank) .drop = (rank)
#define SHORT(wanted, least) .want = (wanted), .min = (least)
#define LEFT .left = true
/* As CSV. */
#define CSV(order, the_key) .key_order = (order), .key = (the_key)

#endif
