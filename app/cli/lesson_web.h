// Makes the page (scripts/web) with a course inside.
#pragma once

#include <filesystem>

namespace pentamesh::cli {

// Writes `folder`/COURSE.html, which opens the course, and returns its path. Throws Error (kind io) where the
// page was not built.
[[nodiscard]] std::filesystem::path write_course_page(const std::filesystem::path& data_folder,
                                                      const std::filesystem::path& course,
                                                      const std::filesystem::path& folder);

}  // namespace pentamesh::cli
