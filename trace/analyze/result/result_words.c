#include "trace/analyze/result/result_words.h"

#include <stddef.h>

#include "include/view_profile.h"

const char *const result_cause_words[] = {[VP_CAUSE_COMPILE] = "compile",
                                          [VP_CAUSE_INPUT] = "input",
                                          [VP_CAUSE_CALLBACK] = "callback",
                                          [VP_CAUSE_SYNC] = "sync",
                                          [VP_CAUSE_TRANSFER] = "transfer",
                                          [VP_CAUSE_HOST] = "host",
                                          [VP_CAUSE_CALL] = "call",
                                          [VP_CAUSE_LATENCY] = "latency",
                                          [VP_CAUSE_PEER] = "peer",
                                          [VP_CAUSE_UNKNOWN] = "unknown",
                                          NULL};
_Static_assert(sizeof result_cause_words / sizeof *result_cause_words == VP_CAUSES + 1,
               "every cause");
const char *const result_level_words[] = {
    [VP_LEVEL_LOW] = "low", [VP_LEVEL_MEDIUM] = "medium", [VP_LEVEL_HIGH] = "high", NULL};
