/* What a zone costs in other recorders, beside ours, in one run: cases in turn, thread CPU time,
 * the smallest of many rounds, as in bench_capture. The others are loaded where a path says that
 * they are; nothing is built against them:
 *
 *     bench_capture_peers ROUNDS [tracy=FILE] [microprofile=FILE]
 *
 * tracy: a library with Tracy's C API, built "on demand" (the extension module in PyPI's tracypy is
 * one), which records only while a server is connected. One that reads and forgets is played here:
 * the protocol's version is found by trying. microprofile: Debian's libmicroprofile.so.4. Prints a
 * table and one line of JSON; null for what is not there or does not record. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/capture_loops.h"

#define LOOPS 50000u
#define TRACY_PORT 28086

/* What the extension module takes from Python besides functions, none of which are called. */
__attribute__((visibility("default"))) char _Py_NoneStruct[1024], PyCode_Type[4096];
__attribute__((visibility("default"))) void *PyExc_TypeError;

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Resident, in bytes. */
static int64_t resident(void)
{
    long all = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* ---- Tracy ---- */

typedef struct tracy_place {
    const char *name, *function, *file;
    uint32_t line, color;
} tracy_place;

typedef struct tracy_zone {
    uint32_t id;
    int32_t active;
} tracy_zone;

static tracy_zone (*tracy_begin)(const tracy_place *place, int32_t active);
static void (*tracy_end)(tracy_zone zone);
static int32_t (*tracy_connected)(void);
static atomic_bool server_reads = true;
static atomic_uint_fast64_t server_bytes;

static int dial(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(TRACY_PORT)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 100; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
            return fd;
        close(fd);
        sleep_ms(20);
    }
    return -1;
}

/* A connection that was welcomed; -1: no version of the protocol is. */
static int greet(void)
{
    for (uint32_t version = 110; version > 50; version--) {
        char hello[12] = "TracyPrf", answer = 0;
        int fd = dial();
        memcpy(hello + 8, &version, sizeof version);
        if (fd < 0)
            return -1;
        if (send(fd, hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello &&
            recv(fd, &answer, 1, MSG_WAITALL) == 1 && answer == 1)
            return fd;
        close(fd);
    }
    return -1;
}

static void *serve(void *ctx)
{
    static char bytes[1 << 20];
    int fd = *(int *)ctx;
    for (;;) {
        if (!server_reads) {
            sleep_ms(1);
            continue;
        }
        ssize_t n = recv(fd, bytes, sizeof bytes, 0);
        if (n <= 0)
            return NULL;
        server_bytes += (uint64_t)n;
    }
}

static const char *tracy_open(const char *path)
{
    static int fd;
    void (*start)(void);
    pthread_t thread;
    char port[16];
    snprintf(port, sizeof port, "%d", TRACY_PORT);
    setenv("TRACY_PORT", port, 1);
    static const char *const quiet[] = {"TRACY_ONLY_LOCALHOST",    "TRACY_ONLY_IPV4",
                                        "TRACY_NO_SAMPLING",       "TRACY_NO_SYS_TRACE",
                                        "TRACY_NO_CONTEXT_SWITCH", "TRACY_NO_VSYNC_CAPTURE"};
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        setenv(quiet[i], "1", 1); /* zones and nothing else */
    void *lib = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
    if (!lib)
        return dlerror();
    *(void **)&tracy_begin = dlsym(lib, "___tracy_emit_zone_begin");
    *(void **)&tracy_end = dlsym(lib, "___tracy_emit_zone_end");
    *(void **)&tracy_connected = dlsym(lib, "___tracy_connected");
    if (!tracy_begin || !tracy_end || !tracy_connected)
        return "it has not Tracy's C API";
    *(void **)&start = dlsym(lib, "___tracy_startup_profiler"); /* where it does not start itself */
    if (start)
        start();
    fd = greet();
    if (fd < 0 || pthread_create(&thread, NULL, serve, &fd) != 0)
        return "its client does not answer";
    for (int i = 0; i < 200 && !tracy_connected(); i++)
        sleep_ms(10);
    return tracy_connected() ? NULL : "its client takes no connection";
}

/* ---- microprofile ---- */

static void (*micro_enter)(uint64_t token);
static void (*micro_leave)(void);
static void (*micro_flip)(void *gpu);
static void (*micro_enable)(int all);
static uint64_t micro_token = UINT64_MAX; /* none yet */

static const char *micro_open(const char *path)
{
    void (*init)(void), (*on_thread)(const char *);
    void (*token)(uint64_t *, const char *, const char *, uint32_t, uint32_t, uint32_t);
    void *lib = dlopen(path, RTLD_LAZY);
    if (!lib)
        return dlerror();
    *(void **)&init = dlsym(lib, "MicroProfileInit");
    *(void **)&on_thread = dlsym(lib, "MicroProfileOnThreadCreate");
    *(void **)&token = dlsym(lib, "MicroProfileGetTokenC");
    *(void **)&micro_enter = dlsym(lib, "MicroProfileEnter");
    *(void **)&micro_leave = dlsym(lib, "MicroProfileLeave");
    *(void **)&micro_flip = dlsym(lib, "MicroProfileFlip");
    *(void **)&micro_enable = dlsym(lib, "MicroProfileSetEnableAllGroups");
    if (!init || !on_thread || !token || !micro_enter || !micro_leave || !micro_flip ||
        !micro_enable)
        return "it has not microprofile's C API";
    init();
    on_thread("bench");
    token(&micro_token, "bench", "zone", 0xff00ff, 0, 0);
    return NULL;
}

/* ---- The loops ---- */

static void ours(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        VP_SCOPE("zone");
        keep(i);
    }
}

static void ours_pairs(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        VP_BEGIN("pair");
        keep(i);
        VP_END();
    }
}

static void tracy(uint32_t n)
{
    static const tracy_place place = {"zone", "tracy", __FILE__, __LINE__, 0};
    for (uint32_t i = 0; i < n; i++) {
        tracy_zone zone = tracy_begin(&place, 1);
        keep(i);
        tracy_end(zone);
    }
}

static void micro(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        micro_enter(micro_token);
        keep(i);
        micro_leave();
    }
}

/* Ends of frames. Its ring of a thread holds 131,072 zones, of several frames: what does not fit
 * is dropped, and costs half. */
static void micro_frames(void)
{
    for (int i = 0; i < 8; i++)
        micro_flip(NULL);
}

typedef struct peer_case {
    const char *name;
    void (*fn)(uint32_t n);
    bool there;
    double ns, bytes; /* a zone; bytes < 0: not measured */
} peer_case;

enum { READS, OURS, PAIRS, TRACY, MICRO, CASES };
static peer_case cases[CASES] = {{"two clock reads", two_clock_reads, true, 1e9, -1},
                                 {"VP_SCOPE", ours, true, 1e9, -1},
                                 {"VP_BEGIN, VP_END", ours_pairs, true, 1e9, -1},
                                 {"Tracy", tracy, false, 1e9, -1},
                                 {"microprofile", micro, false, 1e9, -1}};

static void run(unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < CASES; i++) {
            if (!cases[i].there)
                continue;
            double ns = time_loop(cases[i].fn, LOOPS);
            cases[i].ns = ns < cases[i].ns ? ns : cases[i].ns;
            if (i == MICRO)
                micro_frames();
            if (i == TRACY)
                sleep_ms(5); /* else its queue grows, and with it what a zone costs */
        }
}

/* What piles up while nobody takes it, which is what a recorder keeps of a zone. */
static double tracy_bytes(void)
{
    uint32_t zones = 2000000;
    server_reads = false;
    tracy(zones / 4); /* what is in flight, and the buffers of the connection */
    sleep_ms(300);
    int64_t before = resident();
    tracy(zones);
    double bytes = (double)(resident() - before) / zones;
    server_reads = true;
    return bytes;
}

static double our_bytes(void)
{
    char dir[] = "/tmp/bench_capture_XXXXXX";
    size_t pool = (size_t)8 << 20;
    vp_config cfg = VP_CONFIG_INIT;
    vp_result result = VP_RESULT_INIT;
    vp_recording *r = NULL;
    cfg.dir = mkdtemp(dir);
    cfg.pool_bytes = pool;
    cfg.in_memory = true;
    if (!cfg.dir || vp_start(&r, &cfg) < 0)
        return -1;
    ours(1000000); /* more than fit */
    return vp_stop(r, &result) < 0 || !result.zones ? -1 : (double)pool / (double)result.zones;
}

static void open_peer(const char *arg)
{
    const char *why = "what is that";
    if (strncmp(arg, "tracy=", 6) == 0) {
        why = tracy_open(arg + 6);
        cases[TRACY].there = !why;
    } else if (strncmp(arg, "microprofile=", 13) == 0) {
        why = micro_open(arg + 13);
        cases[MICRO].there = !why;
    }
    if (why)
        fprintf(stderr, "bench_capture_peers: %s: %s\n", arg, why);
}

/* A peer that takes the time of one that is off records nothing, whatever it was told. */
static void check_recording(uint64_t tracy_sent, double micro_off)
{
    if (cases[TRACY].there && (!tracy_connected() || server_bytes - tracy_sent < LOOPS)) {
        fprintf(stderr, "bench_capture_peers: Tracy records nothing\n");
        cases[TRACY].there = false;
    }
    if (cases[MICRO].there && cases[MICRO].ns < 2 * micro_off) {
        fprintf(stderr, "bench_capture_peers: microprofile records nothing\n");
        cases[MICRO].there = false;
    }
}

static void print(void)
{
    printf("%-20s %8s %18s %13s\n", "", "ns", "/ two clock reads", "bytes a zone");
    for (size_t i = 0; i < CASES; i++) {
        if (!cases[i].there)
            continue;
        printf("%-20s %8.2f %18.3f", cases[i].name, cases[i].ns, cases[i].ns / cases[READS].ns);
        if (cases[i].bytes >= 0)
            printf(" %13.1f", cases[i].bytes);
        putchar('\n');
    }
    printf("{");
    for (size_t i = 0; i < CASES; i++) {
        printf("%s\"%s\": ", i ? ", " : "", cases[i].name);
        if (!cases[i].there)
            printf("null");
        else if (cases[i].bytes < 0)
            printf("{\"ns\": %.3f, \"bytes\": null}", cases[i].ns);
        else
            printf("{\"ns\": %.3f, \"bytes\": %.1f}", cases[i].ns, cases[i].bytes);
    }
    printf("}\n");
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/bench_capture_XXXXXX";
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
    double micro_off = 1e9;
    vp_config cfg = VP_CONFIG_INIT;
    vp_recording *r = NULL;
    for (int i = 2; i < argc; i++)
        open_peer(argv[i]);
    for (int i = 0; cases[MICRO].there && i < 20; i++) {
        double ns = time_loop(micro, LOOPS);
        micro_off = ns < micro_off ? ns : micro_off;
    }
    if (cases[MICRO].there) {
        micro_enable(1);
        micro_frames(); /* groups are on from the next one */
    }
    cases[OURS].bytes = our_bytes();
    cfg.dir = mkdtemp(dir);
    cfg.mode = VP_RING;
    cfg.export_now = true;
    if (!rounds || !cfg.dir || vp_start(&r, &cfg) < 0)
        return 1;
    uint64_t sent = server_bytes;
    run(rounds);
    check_recording(sent, micro_off);
    vp_stop(r, NULL);
    if (cases[TRACY].there)
        cases[TRACY].bytes = tracy_bytes();
    print();
    fflush(stdout);
    _exit(0); /* the peers' threads wait for servers of their own */
}
