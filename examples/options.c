#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void help(const option_spec *specs, const char *program)
{
    printf("Usage: %s [OPTIONS]\n", program);
    for (; specs->name; specs++) {
        printf("  %-16s %s (default ", specs->name, specs->help);
        if (specs->number)
            printf("%ld)\n", *specs->number);
        else
            printf("%s)\n", *specs->text ? *specs->text : "none");
    }
}

static int set(const option_spec *spec, const char *value)
{
    char *end;
    if (spec->text) {
        *spec->text = value;
        return 0;
    }
    long n = strtol(value, &end, 10);
    if (end == value || *end || n < -1 || n > 1000000000)
        return -1;
    *spec->number = n;
    return 0;
}

int options_parse(const option_spec *specs, int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const option_spec *spec = specs;
        if (strcmp(argv[i], "--help") == 0) {
            help(specs, argv[0]);
            return 1;
        }
        while (spec->name && strcmp(spec->name, argv[i]) != 0)
            spec++;
        if (!spec->name || i + 1 == argc || set(spec, argv[i + 1]) < 0) {
            fprintf(stderr, "%s: %s: unknown, or its value is missing or no number; see --help\n",
                    argv[0], argv[i]);
            return 2;
        }
    }
    return 0;
}

void options_log(void *ctx, int level, const char *message)
{
    (void)ctx;
    (void)level;
    printf("%s\n", message);
}
