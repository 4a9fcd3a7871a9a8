/* "--name value" pairs of the examples. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <stddef.h>

typedef struct option_spec {
    const char *name;  /* with its dashes; NULL ends the list */
    const char **text; /* where a text goes; or */
    long *number;      /* where a number goes: from -1 to a thousand million */
    const char *help;
} option_spec;

/* 0; 1 after --help; 2 after a line on stderr about what is wrong. */
int options_parse(const option_spec *specs, int argc, char **argv);

/* For vp_config.log. */
void options_log(void *ctx, int level, const char *message);

#endif
