/* In every program of a build with -fsanitize=address,undefined: undefined behaviour traps there
 * (CMakeLists.txt), and the other sanitizer says where, with the stack, and ends the program with
 * its exit code. ASAN_OPTIONS may say otherwise. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "handle_sigill=1";
}
