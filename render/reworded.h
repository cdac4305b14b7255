// Text is drawn in other words than it was given: a lesson's question hides its answer everywhere.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pentamesh {

using Rewording = std::function<std::string(std::string_view)>;

// While it lives, all canvases of this thread draw and measure each text as `words` returns it; an empty
// function leaves it as it is. Guards nest, the innermost counts. `words` outlives the guard.
class Reworded {
  public:
    explicit Reworded(const Rewording& words);
    ~Reworded();
    Reworded(const Reworded&) = delete;
    Reworded& operator=(const Reworded&) = delete;

  private:
    const Rewording* before_;
};
// Returns the rewording in force, or null.
[[nodiscard]] const Rewording* rewording();
// Returns true if the rewording in force changes this text.
[[nodiscard]] bool is_reworded(std::string_view text);

}  // namespace pentamesh
