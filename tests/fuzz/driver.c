/* Runs a fuzz target over every file of the folders and files named on the command line, so that a
 * corpus is a regression test with any compiler. Fails when there was nothing to run. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static size_t runs;

static void run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *p = malloc(64u << 20);
    if (!f || !p) {
        perror(path);
        exit(1);
    }
    size_t n = fread(p, 1, 64u << 20, f);
    uint8_t *exact = malloc(n ? n : 1); /* so that ASan sees the end */
    memcpy(exact, p, n);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    free(p);
    fclose(f);
    runs++;
}

static void run(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0) {
        perror(path);
        exit(1);
    }
    if (!S_ISDIR(st.st_mode)) {
        run_file(path);
        return;
    }
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char sub[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(sub, sizeof sub, "%s/%s", path, e->d_name);
        run(sub);
    }
    closedir(d);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    printf("%zu inputs replayed\n", runs);
    return runs ? 0 : 1;
}
