// Says which release this is, where pictures and pages say it.
#pragma once

#include <string_view>

namespace pentamesh::ui {

// Returns "Pentamesh 0.2.0".
[[nodiscard]] std::string_view name_and_version();

// While one lives, another text stands there. Pictures that are kept for comparison name no release.
class OtherVersion {
  public:
    explicit OtherVersion(std::string_view text);  // which must live as long
    ~OtherVersion();
    OtherVersion(const OtherVersion&) = delete;
    OtherVersion& operator=(const OtherVersion&) = delete;
};

}  // namespace pentamesh::ui
