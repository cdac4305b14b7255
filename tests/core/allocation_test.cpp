// The loop that a search runs allocates nothing once it is warm. The test counts every operator new of this
// binary.
#include "core/evaluate.h"
#include "core/io/presets.h"

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <new>

namespace {
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): the hook has nowhere else to count
std::atomic<std::size_t> allocations{0};

void* counted(std::size_t size) {
    ++allocations;
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): this is operator new
    if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
    throw std::bad_alloc();
}
}  // namespace

// NOLINTBEGIN(cppcoreguidelines-no-malloc)
void* operator new(std::size_t size) {
    return counted(size);
}
void* operator new[](std::size_t size) {
    return counted(size);
}
// Sorting's temporary buffer comes from here; a sanitizer wants it from where it is given back.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* p) noexcept {
    std::free(p);
}
void operator delete[](void* p) noexcept {
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
    std::free(p);
}
void operator delete[](void* p, std::size_t) noexcept {
    std::free(p);
}
// NOLINTEND(cppcoreguidelines-no-malloc)

using namespace pentamesh;

TEST_CASE("evaluating without the timeline allocates nothing once it is warm, whatever plan comes") {
    const Presets presets(SOURCE_DIR "/presets");
    std::vector<Plan> plans;
    for (const Presets::Entry& e : presets.list(PresetKind::plan)) plans.push_back(presets.plan(e.id));
    Evaluation out;
    for (const bool report : {true, false}) {
        const EvaluateOptions fast{.timeline = false, .messages = false, .report = report};
        for (const Plan& p : plans) evaluate(p, out, fast);
        for (const Plan& p : plans) {
            CAPTURE(p.name);  // the first CAPTURE allocates
            const std::size_t before = allocations;
            evaluate(p, out, fast);
            const std::size_t after = allocations;
            CHECK(after == before);
        }
    }
}

TEST_CASE("the hook does count") {
    const std::size_t before = allocations;
    const std::vector<int> some(100, 1);
    CHECK(some.size() == 100);
    CHECK(allocations > before);
}
