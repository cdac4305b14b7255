// Which sources are the constants fitted on, and which judge them? tests/golden/halves.json.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace pentamesh {

class Halves {
  public:
    // Error naming the file where it has not the two lists of names, or a name is in both.
    Halves(std::string_view text, const std::string& path);
    // False: the constants are fitted on it. Error for a source that is in no half.
    [[nodiscard]] bool judged(const std::string& source) const;

  private:
    std::set<std::string> fitted_, judged_;
    std::string path_;
};

[[nodiscard]] Halves read_halves_file(const std::string& path);

}  // namespace pentamesh
