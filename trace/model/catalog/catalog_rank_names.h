/* Ranks in names of files and directories: "rank3", "rank-3", "rank_3", "-TP-1-DP-0", "worker2"
 * (docs/reference/ranks.md#ranks-in-names). Pure functions over paths below the root. Private to
 * the catalog. */
#ifndef VP_MODEL_CATALOG_RANK_NAMES_H
#define VP_MODEL_CATALOG_RANK_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/str.h"

#define CAT_RANK_LABEL 48u

typedef struct cat_rank_name {
    uint64_t form;    /* hash of the path without the numbers of its ranks; 0: it names no rank */
    uint64_t base;    /* the same of the file's name alone */
    uint64_t loose;   /* hash of the path without any number; never 0 */
    uint64_t numbers; /* hash of the numbers of its ranks */
    bool strong;      /* has the word "rank"; other words are also used for sizes and epochs */
    bool has_rank;    /* the word "rank" occurs once: rank is its number */
    uint32_t rank;
    char label[CAT_RANK_LABEL]; /* "rank3", "tp1-dp0"; "" if it names no rank */
} cat_rank_name;

/* Hash of a name without its numbers; never 0. */
uint64_t cat_form_without_numbers(vp_str path);
void cat_rank_name_of(cat_rank_name *out, vp_str path);
/* Appends the path with N instead of the numbers of its ranks. */
int cat_rank_form(vp_buf *b, vp_str path);

#endif
