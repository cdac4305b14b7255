// tests/golden/halves.json says on which sources the constants are fitted, and which judge them.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace pentamesh {

class Halves {
  public:
    // Throws Error naming the file where it lacks one of the two lists of names, or a name is in both.
    Halves(std::string_view text, const std::string& path);
    // Returns false if the constants are fitted on it. Throws Error for a source that is in no half.
    [[nodiscard]] bool judged(const std::string& source) const;

  private:
    std::set<std::string> fitted_, judged_;
    std::string path_;
};

[[nodiscard]] Halves read_halves_file(const std::string& path);

}  // namespace pentamesh
