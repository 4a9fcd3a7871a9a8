/* The recording macros that view_profile_capture.h lists, and their implementation. Names that
 * begin with vp__ are private to the library. Include view_profile_capture.h instead.
 *
 * The hot path is inline: without a recording, a scope costs one load and one branch; with one, two
 * readings of the clock and stores that overlap with them. These rules make it correct without a
 * lock:
 * - A scope stores the recording in which it began, and is recorded only if that one is still
 *   active.
 * - A thread writes into the image only while its `busy` is set, and only after it has seen, while
 *   busy, that the recording is active. The thread that ends a recording first makes that visible
 *   to all threads (membarrier), and takes the image when no thread is busy.
 * - A signal handler that finds its thread busy counts the events that it cannot record.
 * - A jump (longjmp, an exception through C) leaves scopes without an end. The next scope on the
 *   thread detects them by its own position: frames deeper in the stack than its own are gone, and
 *   so are frames at the same address with another caller, and the same scope in the same frame.
 *
 * The end of a scope also ends the scopes that were opened in it. */
#ifndef VIEW_PROFILE_CAPTURE_MACROS_H
#define VIEW_PROFILE_CAPTURE_MACROS_H

#include <stddef.h>
#include <time.h>

#include "view_profile_capture_layout.h"

/* A source location that records. id: recording << 32 | number of its name in that image. */
typedef struct vp__site {
    const char *name, *function, *file, *category; /* category NULL: none */
    uint32_t line;
    uint8_t kind, level;
    uint64_t id;
} vp__site;

/* Position of an open scope. frame, caller: of the function that contains it after inlining, and of
 * its caller. own: identifies the scope within it by its variable and its site: code inlined twice
 * has two variables, and scopes that are never open at once may share one. */
typedef struct vp__place {
    uintptr_t frame, caller, own;
} vp__place;

/* The recorder's state of a thread. It lives as long as the process, and is reused for later
 * threads. */
typedef struct vp__thread {
    uint32_t generation; /* recording of chunk and block; 0: none */
    uint32_t busy;
    vp__chunk *chunk;
    vp__block *block;
    uint32_t scope_depth, pair_depth;
    uint32_t correlation, correlation_depth;
    vp__place places[VP__DEPTH]; /* of the scopes below scope_depth */
} vp__thread;

typedef struct vp__scope {
    uint64_t start;
    vp__site *site;
    uint32_t generation; /* 0: not recorded */
    uint32_t depth;
} vp__scope;

/* A scope with attributes. */
typedef struct vp__rich_scope {
    vp__scope scope;
    const vp_arg *args;
    uint32_t arg_count, correlation;
    uint64_t number;
} vp__rich_scope;

/* The names contain VP__LAYOUT: a program built for another layout does not link. */
#define vp__on vp__on_2
#define vp__me vp__me_2

#if defined(VP_TLS_GD)
#define VP__TLS __thread
#else
#define VP__TLS __thread __attribute__((tls_model("initial-exec")))
#endif

/* The active recording: its generation, odd if its clock is the processor's; 0: none. */
VP_API extern uint32_t vp__on;
VP_API extern uint32_t vp__level;
VP_API extern VP__TLS vp__thread *vp__me; /* never NULL */
VP_API vp__thread **vp__me_place(void);   /* for programs that are not linked */

/* Called for every step, recorded or not; NULL: no listener. */
typedef void vp__step_fn(bool begin, uint64_t number);
VP_API extern vp__step_fn *vp__steps;

VP_API uint64_t vp__clock_ns(void);
/* Gives the calling thread a chunk and the site a number; false: nothing can be recorded. */
VP_API bool vp__prepare(vp__site *site, uint32_t generation);
/* The same, with the keys of this site's args, which always have this order. */
VP_API bool vp__prepare_args(vp__site *site, uint32_t generation, const vp_arg *args, size_t n);
/* Drops the scopes that a jump has left, as detected by a scope about to open at this position. */
VP_API void vp__scopes_left(vp__thread *t, uint32_t generation, vp__place here);
/* Slow path of vp__scope_end. */
VP_API void vp__scope_finish(vp__site *site, uint64_t start, uint64_t end, uint32_t generation,
                             uint32_t depth);
VP_API void vp__rich_end(vp__rich_scope *s);
/* Declares that the open scope at this depth is this step; otherwise known only at its end. */
VP_API void vp__step_opened(uint32_t generation, uint32_t depth, uint64_t number);
VP_API vp__site *vp__site_of(uint32_t name); /* id of vp_name; never NULL */
VP_API void vp__pair_begin(vp__site *site, uint32_t generation);
VP_API void vp__pair_end(uint32_t generation);
VP_API void vp__instant(vp__site *site, uint32_t generation);
VP_API void vp__counter(vp__site *site, uint32_t generation, int64_t value);
VP_API void vp__counter_real(vp__site *site, uint32_t generation, double value);
VP_API void vp__flow(uint32_t generation, uint64_t id, bool out);
/* Records a zone from `start` in the recording `generation` to now: for names of vp_name whose
 * scope is stored elsewhere. */
VP_API void vp__zone(uint32_t name, uint64_t start, uint32_t generation);
/* The same with an end, and with args whose keys need not be literals. */
VP_API void vp__zone_args(uint32_t name, uint64_t start, uint64_t end, uint32_t generation,
                          const vp_arg *args, size_t n);
VP_API vp_recording *vp__profile_begin(const char *dir);
VP_API void vp__profile_end(vp_recording **r);

#if defined(VP_STUB)
#include "view_profile_stub_calls.h"
#endif

#define VP__INLINE static inline __attribute__((always_inline, unused))
#define VP__LIKELY(x) __builtin_expect(!!(x), 1)
#define VP__LOAD(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define VP__STORE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
/* A signal handler runs on the thread itself, so only the compiler must keep the order. */
#define VP__FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

VP__INLINE uint32_t vp__generation(void)
{
    return VP__LOAD(vp__on);
}

VP__INLINE uint64_t vp__ticks(uint32_t generation)
{
#if defined(__x86_64__) || defined(__i386__)
    if (VP__LIKELY(generation & 1))
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (VP__LIKELY(generation & 1)) {
        uint64_t t;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
        return t;
    }
#endif
    (void)generation;
    return vp__clock_ns();
}

/* Marks the calling thread as busy; false: the recording is not active. */
VP__INLINE bool vp__enter(vp__thread *t, uint32_t generation)
{
    VP__STORE(t->busy, 1);
    VP__FENCE();
    if (VP__LIKELY(VP__LOAD(vp__on) == generation))
        return true;
    VP__FENCE();
    __atomic_store_n(&t->busy, 0, __ATOMIC_RELEASE);
    return false;
}

VP__INLINE void vp__leave(vp__thread *t)
{
    VP__FENCE();
    __atomic_store_n(&t->busy, 0, __ATOMIC_RELEASE);
}

/* True if the scope at p, which is not deeper in the stack than `here`, can be open while a scope
 * opens here. */
VP__INLINE bool vp__is_around(const vp__place *p, vp__place here)
{
    return p->frame == here.frame && p->caller == here.caller && p->own != here.own;
}

/* Pushes a scope, the innermost one, and returns its depth. A signal handler between the first and
 * the last store finds an old position and may misjudge it: the last store restores the depth. */
VP__INLINE uint32_t vp__scope_push(vp__thread *t, uint32_t generation, vp__place here)
{
    uint32_t depth = VP__LOAD(t->scope_depth), i = depth < VP__DEPTH ? depth : VP__DEPTH;
    for (; i && t->places[i - 1].frame <= here.frame; i--)
        if (!VP__LIKELY(vp__is_around(&t->places[i - 1], here))) {
            vp__scopes_left(t, generation, here);
            depth = VP__LOAD(t->scope_depth);
            break;
        }
    VP__STORE(t->scope_depth, depth + 1);
    VP__FENCE();
    if (VP__LIKELY(depth < VP__DEPTH)) {
        t->places[depth] = here;
        VP__FENCE();
        VP__STORE(t->scope_depth, depth + 1);
    }
    return depth;
}

/* own: a variable with the lifetime of the scope, other than the scope itself, so that the scope
 * stays in registers. */
VP__INLINE void vp__scope_open(vp__scope *s, vp__site *site, uint32_t generation, void *own)
{
    vp__place here = {(uintptr_t)__builtin_frame_address(0), (uintptr_t)__builtin_return_address(0),
                      (uintptr_t)own + ((uintptr_t)site << 20)};
    vp__thread *t = vp__me;
    s->site = site;
    s->generation = generation;
    s->depth = UINT32_MAX; /* not counted */
    if (!VP__LIKELY(t->generation == generation && VP__LOAD(site->id) >> 32 == generation)) {
        if (!vp__prepare(site, generation)) {
            s->start = vp__ticks(generation);
            return;
        }
        t = vp__me;
    }
    s->depth = vp__scope_push(t, generation, here);
    s->start = vp__ticks(generation);
    if (VP__LIKELY(s->depth < VP__DEPTH && !VP__LOAD(t->busy)) && vp__enter(t, generation)) {
        vp__frame *f = &t->block->scopes[s->depth];
        VP__STORE(f->name, (uint32_t)VP__LOAD(site->id));
        VP__STORE(f->kind, site->kind);
        __atomic_store_n(&f->start, s->start, __ATOMIC_RELEASE);
        vp__leave(t);
    }
}

VP__INLINE void vp__scope_end(vp__scope *s)
{
    uint32_t generation = s->generation;
    vp__thread *t;
    uint64_t end, id, dur;
    if (VP__LIKELY(!generation))
        return;
    end = vp__ticks(generation);
    dur = end - s->start;
    t = vp__me;
    id = VP__LOAD(s->site->id);
    if (VP__LIKELY(t->generation == generation && !VP__LOAD(t->busy) && id >> 32 == generation &&
                   dur <= UINT32_MAX && !t->correlation && s->depth < VP__DEPTH &&
                   t->scope_depth == s->depth + 1)) {
        if (!vp__enter(t, generation))
            return;
        vp__chunk *c = t->chunk;
        uint64_t state = VP__LOAD(c->state);
        if (VP__LIKELY((uint32_t)state < c->limit)) {
            uint64_t *slot = (uint64_t *)(void *)((vp__record *)(void *)c + (uint32_t)state);
            VP__STORE(slot[0], s->start);
            VP__STORE(slot[1], (uint64_t)VP__WHAT(id, 0, s->site->kind) << 32 | dur);
            __atomic_store_n(&c->state, state + ((uint64_t)1 << 32 | 1), __ATOMIC_RELEASE);
            __atomic_store_n(&t->block->scopes[s->depth].start, 0, __ATOMIC_RELEASE);
            t->scope_depth = s->depth;
            vp__leave(t);
            return;
        }
        vp__leave(t);
    }
    /* by value, so that the scope stays in registers */
    vp__scope_finish(s->site, s->start, end, generation, s->depth);
}

/* vp__zone without a call in the common case: a zone that ends now and is not a scope of the
 * thread. false: nothing was done. */
VP__INLINE bool vp__zone_plain(vp__site *site, uint64_t start, uint32_t generation)
{
    uint64_t end = vp__ticks(generation), dur = end - start, id = VP__LOAD(site->id);
    vp__thread *t = vp__me;
    if (!VP__LIKELY(t->generation == generation && !VP__LOAD(t->busy) && id >> 32 == generation &&
                    dur <= UINT32_MAX && !t->correlation && vp__enter(t, generation)))
        return false;
    vp__chunk *c = t->chunk;
    uint64_t state = VP__LOAD(c->state);
    bool room = (uint32_t)state < c->limit;
    if (VP__LIKELY(room)) {
        uint64_t *slot = (uint64_t *)(void *)((vp__record *)(void *)c + (uint32_t)state);
        VP__STORE(slot[0], start);
        VP__STORE(slot[1], (uint64_t)VP__WHAT(id, 0, VP__ZONE) << 32 | dur);
        __atomic_store_n(&c->state, state + ((uint64_t)1 << 32 | 1), __ATOMIC_RELEASE);
    }
    vp__leave(t);
    return room;
}

VP__INLINE vp__scope vp__scope_begin(vp__site *site, void *own)
{
    uint32_t generation = vp__generation();
    vp__scope s;
    s.generation = 0;
    if (!VP__LIKELY(!generation))
        vp__scope_open(&s, site, generation, own);
    return s;
}

VP__INLINE vp__scope vp__scope_begin_level(vp__site *site, void *own)
{
    uint32_t generation = vp__generation();
    vp__scope s;
    s.generation = 0;
    if (!VP__LIKELY(!generation) && site->level <= VP__LOAD(vp__level))
        vp__scope_open(&s, site, generation, own);
    return s;
}

VP__INLINE vp__scope vp__scope_begin_name(uint32_t name, void *own)
{
    uint32_t generation = vp__generation();
    vp__scope s;
    s.generation = 0;
    if (!VP__LIKELY(!generation))
        vp__scope_open(&s, vp__site_of(name), generation, own);
    return s;
}

VP__INLINE vp__rich_scope vp__rich_begin(vp__site *site, const vp_arg *args, size_t n,
                                         uint32_t correlation, uint64_t number, void *own)
{
    uint32_t generation = vp__generation();
    vp__rich_scope r;
    r.scope.generation = 0;
    if (!VP__LIKELY(!generation)) {
        if (VP__LOAD(site->id) >> 32 != generation)
            vp__prepare_args(site, generation, args, n);
        vp__scope_open(&r.scope, site, generation, own);
    }
    r.args = args;
    r.arg_count = (uint32_t)n;
    r.correlation = correlation;
    r.number = number;
    return r;
}

VP__INLINE void vp__rich_scope_end(vp__rich_scope *s)
{
    if (!VP__LIKELY(!s->scope.generation))
        vp__rich_end(s);
}

VP__INLINE vp__rich_scope vp__step_begin(vp__site *site, uint64_t number, void *own)
{
    vp__step_fn *told = __atomic_load_n(&vp__steps, __ATOMIC_ACQUIRE);
    vp__rich_scope r;
    if (!VP__LIKELY(!told))
        told(true, number);
    r = vp__rich_begin(site, NULL, 0, 0, number, own);
    if (!VP__LIKELY(!r.scope.generation))
        vp__step_opened(r.scope.generation, r.scope.depth, number);
    return r;
}

VP__INLINE void vp__step_end(vp__rich_scope *s)
{
    vp__step_fn *told = __atomic_load_n(&vp__steps, __ATOMIC_ACQUIRE);
    vp__rich_scope_end(s);
    if (!VP__LIKELY(!told))
        told(false, s->number);
}

VP__INLINE vp_arg vp__arg_i64(const char *key, int64_t v)
{
    vp_arg a;
    a.key = key;
    a.type = VP_ARG_I64;
    a.v.i = v;
    return a;
}

VP__INLINE vp_arg vp__arg_f64(const char *key, double v)
{
    vp_arg a;
    a.key = key;
    a.type = VP_ARG_F64;
    a.v.f = v;
    return a;
}

VP__INLINE vp_arg vp__arg_str(const char *key, const char *v)
{
    vp_arg a;
    a.key = key;
    a.type = VP_ARG_STR;
    a.v.s = v;
    return a;
}

#define VP__JOIN_(a, b) a##b
#define VP__JOIN(a, b) VP__JOIN_(a, b)
#define VP__CLEANUP(fn) __attribute__((cleanup(fn), unused))
/* A site keeps its name permanently, so a name built at run time could change or be freed. Only a
 * literal is a constant to __builtin_constant_p. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define VP__ASSERT(n, what, text) static_assert(what, text)
#elif !defined(__cplusplus) && __STDC_VERSION__ >= 201112L
#define VP__ASSERT(n, what, text) _Static_assert(what, text)
#else
#define VP__ASSERT(n, what, text)                                                                  \
    __attribute__((unused)) typedef char VP__JOIN(use_VP_SCOPE_DYN_, n)[(what) ? 1 : -1]
#endif
#define VP__LITERAL(n, name)                                                                       \
    VP__ASSERT(n, __builtin_constant_p(name),                                                      \
               "this name must be a string literal; VP_SCOPE_DYN(vp_name(text)) takes others")
#define VP__SITE(n, name, kind, level)                                                             \
    VP__LITERAL(n, name);                                                                          \
    VP__SITE_OF(n, name, kind, level)
#define VP__SITE_OF(n, name, kind, level)                                                          \
    static vp__site VP__JOIN(vp__site_, n) = {(name),   __func__, __FILE__, NULL,                  \
                                              __LINE__, (kind),   (level),  0}

#define VP__SCOPE_N(n, name, kind)                                                                 \
    VP__LITERAL(n, name);                                                                          \
    VP__SCOPE_OF(n, name, kind)
#define VP__SCOPE_OF(n, name, kind)                                                                \
    VP__SITE_OF(n, name, kind, VP_LEVEL_USER);                                                     \
    char VP__JOIN(vp__own_, n);                                                                    \
    vp__scope VP__JOIN(vp__scope_, n) VP__CLEANUP(vp__scope_end) =                                 \
        vp__scope_begin(&VP__JOIN(vp__site_, n), &VP__JOIN(vp__own_, n))
#define VP__LEVEL_N(n, level, name)                                                                \
    VP__SITE(n, name, VP__ZONE, level);                                                            \
    char VP__JOIN(vp__own_, n);                                                                    \
    vp__scope VP__JOIN(vp__scope_, n) VP__CLEANUP(vp__scope_end) =                                 \
        vp__scope_begin_level(&VP__JOIN(vp__site_, n), &VP__JOIN(vp__own_, n))
#define VP__DYN_N(n, id)                                                                           \
    char VP__JOIN(vp__own_, n);                                                                    \
    vp__scope VP__JOIN(vp__scope_, n) VP__CLEANUP(vp__scope_end) =                                 \
        vp__scope_begin_name((id), &VP__JOIN(vp__own_, n))
#define VP__RICH_N(n, name, kind, args, count, correlation, number)                                \
    VP__SITE(n, name, kind, VP_LEVEL_USER);                                                        \
    char VP__JOIN(vp__own_, n);                                                                    \
    vp__rich_scope VP__JOIN(vp__scope_, n) VP__CLEANUP(vp__rich_scope_end) = vp__rich_begin(       \
        &VP__JOIN(vp__site_, n), (args), (count), (correlation), (number), &VP__JOIN(vp__own_, n))
#define VP__STEP_N(n, name, number)                                                                \
    VP__SITE(n, name, VP__STEP, VP_LEVEL_USER);                                                    \
    char VP__JOIN(vp__own_, n);                                                                    \
    vp__rich_scope VP__JOIN(vp__scope_, n) VP__CLEANUP(vp__step_end) =                             \
        vp__step_begin(&VP__JOIN(vp__site_, n), (uint64_t)(number), &VP__JOIN(vp__own_, n))
#define VP__ARGS_N(n, name, ...)                                                                   \
    const vp_arg VP__JOIN(vp__args_, n)[] = {__VA_ARGS__};                                         \
    VP__RICH_N(n, name, VP__ZONE, VP__JOIN(vp__args_, n),                                          \
               sizeof VP__JOIN(vp__args_, n) / sizeof(vp_arg), 0, 0)
/* Records one event if a recording is active; `call` can use vp__g and the site. */
#define VP__EVENT(name, call)                                                                      \
    do {                                                                                           \
        VP__SITE(event, name, VP__ZONE, VP_LEVEL_USER);                                            \
        uint32_t vp__g = vp__generation();                                                         \
        if (!VP__LIKELY(!vp__g))                                                                   \
            call;                                                                                  \
    } while (0)

#if !defined(VP_DISABLE)

#define VP_I64(key, value) vp__arg_i64("" key, (value))
#define VP_F64(key, value) vp__arg_f64("" key, (value))
#if !defined(VP_STR) /* the library has an internal macro of this name */
#define VP_STR(key, value) vp__arg_str("" key, (value))
#endif

#define VP_SCOPE(name) VP__SCOPE_N(__COUNTER__, name, VP__ZONE)
#define VP_SCOPE_LEVEL(level, name) VP__LEVEL_N(__COUNTER__, level, name)
#define VP_SCOPE_ARGS(name, ...) VP__ARGS_N(__COUNTER__, name, __VA_ARGS__)
#define VP_SCOPE_DYN(id) VP__DYN_N(__COUNTER__, id)
#define VP_FUNC() VP__SCOPE_OF(__COUNTER__, __func__, VP__ZONE)
#define VP_STEP(name, number) VP__STEP_N(__COUNTER__, name, number)
#define VP_COMPILE_SCOPE(name) VP__SCOPE_N(__COUNTER__, name, VP__COMPILE)
#define VP_LAUNCH(name, correlation)                                                               \
    VP__RICH_N(__COUNTER__, name, VP__ZONE, NULL, 0, (uint32_t)(correlation), 0)
#define VP_BEGIN(name) VP__EVENT(name, vp__pair_begin(&vp__site_event, vp__g))
#define VP_END()                                                                                   \
    do {                                                                                           \
        uint32_t vp__g = vp__generation();                                                         \
        if (!VP__LIKELY(!vp__g))                                                                   \
            vp__pair_end(vp__g);                                                                   \
    } while (0)
#define VP_INSTANT(name) VP__EVENT(name, vp__instant(&vp__site_event, vp__g))
#define VP_COUNTER(name, value) VP__EVENT(name, vp__counter(&vp__site_event, vp__g, (value)))
#define VP_COUNTER_F(name, value) VP__EVENT(name, vp__counter_real(&vp__site_event, vp__g, (value)))
#define VP__FLOW(id, out)                                                                          \
    do {                                                                                           \
        uint32_t vp__g = vp__generation();                                                         \
        if (!VP__LIKELY(!vp__g))                                                                   \
            vp__flow(vp__g, (id), (out));                                                          \
    } while (0)
#define VP_FLOW_OUT(id) VP__FLOW(id, true)
#define VP_FLOW_IN(id) VP__FLOW(id, false)
#define VP_CALL_N(name, expression)                                                                \
    __extension__({                                                                                \
        VP_SCOPE(name);                                                                            \
        (expression);                                                                              \
    })
#define VP_CALL(expression) VP_CALL_N(#expression, expression)
#define VP_CALL_VOID_N(name, statement)                                                            \
    do {                                                                                           \
        VP_SCOPE(name);                                                                            \
        statement;                                                                                 \
    } while (0)
#define VP_CALL_VOID(statement) VP_CALL_VOID_N(#statement, statement)
#define VP_WRAP(type, new_name, fn, parameters, arguments)                                         \
    static type new_name parameters                                                                \
    {                                                                                              \
        VP_SCOPE(#fn);                                                                             \
        return fn arguments;                                                                       \
    }
#define VP_CONTEXT(profiler, step, name)                                                           \
    vp_context VP__JOIN(vp__context_, __COUNTER__) VP__CLEANUP(vp_context_end) =                   \
        vp_context_begin((profiler), (step), (name))
#define VP_PROFILE_SCOPE(dir)                                                                      \
    vp_recording *VP__JOIN(vp__profile_, __COUNTER__) VP__CLEANUP(vp__profile_end) =               \
        vp__profile_begin(dir)

#else

#define VP__UNUSED(x) ((void)sizeof(x))
#define VP_SCOPE(name) VP__UNUSED(name)
#define VP_SCOPE_LEVEL(level, name) VP__UNUSED(name)
#define VP_SCOPE_ARGS(name, ...) VP__UNUSED(name)
#define VP_SCOPE_DYN(id) VP__UNUSED(id)
#define VP_FUNC() ((void)0)
#define VP_STEP(name, number) VP__UNUSED(number)
#define VP_COMPILE_SCOPE(name) VP__UNUSED(name)
#define VP_LAUNCH(name, correlation) VP__UNUSED(correlation)
#define VP_BEGIN(name) VP__UNUSED(name)
#define VP_END() ((void)0)
#define VP_INSTANT(name) VP__UNUSED(name)
#define VP_COUNTER(name, value) VP__UNUSED(value)
#define VP_COUNTER_F(name, value) VP__UNUSED(value)
#define VP_FLOW_OUT(id) VP__UNUSED(id)
#define VP_FLOW_IN(id) VP__UNUSED(id)
#define VP_CALL_N(name, expression) (expression)
#define VP_CALL_VOID_N(name, statement) VP_CALL_VOID(statement)
#define VP_CALL(expression) (expression)
#define VP_CALL_VOID(statement)                                                                    \
    do {                                                                                           \
        statement;                                                                                 \
    } while (0)
#define VP_WRAP(type, new_name, fn, parameters, arguments)                                         \
    static type new_name parameters                                                                \
    {                                                                                              \
        return fn arguments;                                                                       \
    }
#define VP_CONTEXT(profiler, step, name) ((void)(profiler), (void)(step))
#define VP_PROFILE_SCOPE(dir) VP__UNUSED(dir)
/* Replacements with the names of the functions. */
VP__INLINE int vp__nothing(void)
{
    return VP_OK;
}
#define vp_step_begin(name, number) (VP__UNUSED(name), VP__UNUSED(number), vp__nothing())
#define vp_step_end() vp__nothing()

#endif

#endif
