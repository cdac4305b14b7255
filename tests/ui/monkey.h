// Uses the window at random, from a seed, and checks what must hold after any event.
#pragma once

#include "tests/ui/driver.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace pentamesh::ui {

class Monkey {
  public:
    // Writes and reads files only in `folder`, which must be the current one: it is named by no path.
    Monkey(std::uint64_t seed, const std::filesystem::path& folder);

    // Makes one event and checks what must hold after it. Doctest's failure says which event of which seed it
    // was.
    void event();
    [[nodiscard]] int events() const { return count_; }
    [[nodiscard]] double slowest_frame_s() const { return slowest_s_; }

  private:
    std::mt19937_64 rng_;
    Driver driver_;
    std::vector<std::string> files_;  // to be dropped
    int count_ = 0, plans_checked_ = 0;
    double slowest_s_ = 0;

    [[nodiscard]] std::size_t below(std::size_t n) { return n == 0 ? 0 : rng_() % n; }
    [[nodiscard]] bool chance(int in) { return below(static_cast<std::size_t>(in)) == 0; }
    [[nodiscard]] Vec2 anywhere();
    [[nodiscard]] Vec2 some_area(std::string& name);
    void begin(const std::string& what);

    void frame();
    void click(Vec2 at, std::size_t button, bool twice);
    void drag();
    void wheel();
    void key();
    void chord();
    void type();
    void palette();
    void resize();
    void drop();
    void paste();
    void lesson();
    void change_lesson();
    void wait();
    void close();

    void check_frame();
    void check_words();
    void check_plan();
};

}  // namespace pentamesh::ui
