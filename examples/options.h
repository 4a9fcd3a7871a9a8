/* Parses "--name value" options of the examples. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <stddef.h>

typedef struct option_spec {
    const char *name;  /* with the dashes; NULL ends the list */
    const char **text; /* destination of a text; or */
    long *number;      /* destination of a number: from -1 to 1,000,000,000 */
    const char *help;
} option_spec;

/* 0; 1 after --help; 2 after an error message on stderr. */
int options_parse(const option_spec *specs, int argc, char **argv);

/* A log function for vp_config.log. */
void options_log(void *ctx, int level, const char *message);

#endif
