/* Names of the enums of a result, by value and terminated by NULL, as used in JSON, findings and
 * derived tracks. Constant. */
#ifndef VP_ANALYZE_RESULT_WORDS_H
#define VP_ANALYZE_RESULT_WORDS_H

extern const char *const result_cause_words[];    /* vp_cause: "compile" */
extern const char *const result_cell_words[];     /* vp_cell: "useful" */
extern const char *const result_dtype_words[];    /* vp_dtype: "bf16" */
extern const char *const result_level_words[];    /* vp_level: "low" */
extern const char *const result_activity_words[]; /* vp_activity_kind: "input" */
extern const char *const result_torch_words[];    /* vp_torch_kind: "reads" */

#endif
