// Text that is drawn in other words than it was given: a lesson's question hides its answer wherever it
// stands.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pentamesh {

using Rewording = std::function<std::string(std::string_view)>;

// While it lives, all canvases of this thread draw and measure each text as `words` returns it; an empty
// function: as it is. Guards nest, the innermost counts. `words` outlives the guard.
class Reworded {
  public:
    explicit Reworded(const Rewording& words);
    ~Reworded();
    Reworded(const Reworded&) = delete;
    Reworded& operator=(const Reworded&) = delete;

  private:
    const Rewording* before_;
};
// The rewording in force; null: none.
[[nodiscard]] const Rewording* rewording();
// Whether the one in force says it in other words.
[[nodiscard]] bool is_reworded(std::string_view text);

}  // namespace pentamesh
