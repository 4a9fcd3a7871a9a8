/* view_profile for C++17: zones, steps and recordings as objects. The macros of
 * view_profile_capture.h also work in C++ and name a scope by a literal. These classes are for
 * names built at run time, for zones that move or end before their scope, and for recordings owned
 * by a scope. Nothing throws, and zones allocate nothing.
 *
 *     vp::recording r("profiles");
 *     static const vp::name forward("forward");       // looked up once
 *     for (std::uint64_t i = 0; i < 10; i++) {
 *         vp::step s("train", i);
 *         vp::zone z(forward);                        // ends with its scope, or by z.end()
 *         vp::zone batch(names[i]);                   // a std::string_view
 *     }
 *     if (int rc = r.stop(); rc < 0) …                // vp_error_last() has details
 *
 * A zone belongs to the thread on which it ends, so it may move to another thread. Zones that are
 * open when a process is killed are lost, whereas a VP_SCOPE is kept as unfinished. With VP_DISABLE
 * defined everything compiles to nothing. After view_profile_stub.h, zones and steps need no
 * library; recordings do. */
#ifndef VIEW_PROFILE_HPP
#define VIEW_PROFILE_HPP

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "view_profile_capture.h"

namespace vp {

/* A registered name built at run time (vp_name). It ends at a zero byte, and is truncated to 4,095
 * bytes. */
class name {
  public:
    explicit name(std::string_view text) noexcept
    {
#if !defined(VP_DISABLE)
        char copy[4100];
        std::size_t n = text.size() < sizeof copy ? text.size() : sizeof copy - 1;
        if (n)
            std::memcpy(copy, text.data(), n);
        copy[n] = 0;
        id_ = vp_name(copy);
#else
        (void)text;
#endif
    }
    std::uint32_t id() const noexcept
    {
        return id_;
    }

  private:
    std::uint32_t id_ = 0;
};

/* A zone from its construction to end() or destruction. A moved-from zone is empty. */
class zone {
  public:
    zone() noexcept = default;
    explicit zone(name n) noexcept
    {
#if !defined(VP_DISABLE)
        begin(vp__generation(), n);
#else
        (void)n;
#endif
    }
    explicit zone(std::string_view text) noexcept
    {
#if !defined(VP_DISABLE)
        std::uint32_t generation = vp__generation();
        if (!VP__LIKELY(!generation))
            begin(generation, name(text));
#else
        (void)text;
#endif
    }
    zone(zone &&other) noexcept
        : start_(other.start_), name_(other.name_), generation_(std::exchange(other.generation_, 0))
    {
    }
    zone &operator=(zone &&other) noexcept
    {
        if (this != &other) {
            end();
            start_ = other.start_;
            name_ = other.name_;
            generation_ = std::exchange(other.generation_, 0);
        }
        return *this;
    }
    zone(const zone &) = delete;
    zone &operator=(const zone &) = delete;
    ~zone()
    {
        end();
    }
    /* Ends the zone now; further calls do nothing. */
    void end() noexcept
    {
#if !defined(VP_DISABLE)
        if (!VP__LIKELY(!generation_))
            finish(name_, start_, std::exchange(generation_, 0));
#endif
    }

  private:
#if !defined(VP_DISABLE)
    /* Not inlined, so that callers pay nothing for it without a recording. */
    __attribute__((noinline)) static void finish(std::uint32_t id, std::uint64_t start,
                                                 std::uint32_t generation) noexcept
    {
        if (!vp__zone_plain(vp__site_of(id), start, generation))
            vp__zone(id, start, generation);
    }
    void begin(std::uint32_t generation, name n) noexcept
    {
        if (VP__LIKELY(!generation))
            return;
        name_ = n.id();
        generation_ = generation;
        start_ = vp__ticks(generation);
    }
#endif
    std::uint64_t start_ = 0;
    std::uint32_t name_ = 0, generation_ = 0;
};

/* A step with this number, until the end of its scope (vp_step_begin). A thread has one at a time,
 * and it must end on the thread where it began, so it can neither be moved nor copied. */
class step {
  public:
    step(const char *text, std::uint64_t number) noexcept
        : on_(vp_step_begin(text, number) == VP_OK)
    {
    }
    step(const step &) = delete;
    step &operator=(const step &) = delete;
    ~step()
    {
        if (on_)
            (void)vp_step_end();
    }

  private:
    bool on_;
};

#if !defined(VP_STUB)
/* A recording that ends with its owner. If it could not start, error() has the code. */
class recording {
  public:
    explicit recording(const char *dir) noexcept : error_(vp_trace(&r_, dir)) {}
    explicit recording(const vp_config &config) noexcept : error_(vp_start(&r_, &config)) {}
    recording(recording &&other) noexcept
        : r_(std::exchange(other.r_, nullptr)), error_(other.error_)
    {
    }
    recording &operator=(recording &&other) noexcept
    {
        if (this != &other) {
            (void)stop();
            r_ = std::exchange(other.r_, nullptr);
            error_ = other.error_;
        }
        return *this;
    }
    recording(const recording &) = delete;
    recording &operator=(const recording &) = delete;
    ~recording() { (void)stop(); }
    /* 0, or the code of the failed start. */
    int error() const noexcept { return error_; }
    vp_recording *get() const noexcept { return r_; }
    /* Ends and writes the recording; VP_EINACTIVE if there is none. result may be null. */
    int stop(vp_result *result = nullptr) noexcept
    {
        vp_recording *r = std::exchange(r_, nullptr);
        return r ? vp_stop(r, result) : VP_EINACTIVE;
    }

  private:
    vp_recording *r_ = nullptr;
    int error_ = VP_OK;
};
#endif

} // namespace vp
#endif
