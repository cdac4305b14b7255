// Says if this build looks for broken memory as it runs, and how much of a long test it then runs.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define PENTAMESH_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PENTAMESH_SANITIZED 1
#endif
#endif

namespace pentamesh::test {

#ifdef PENTAMESH_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Returns how many of so many random cases a test tries: a fifth under the sanitizers, where each takes
// thirty times as long and faults of memory show in any of them. The build without sanitizers checks all the
// numbers.
constexpr int rounds(int all) {
    return kSanitized ? all / 5 : all;
}

}  // namespace pentamesh::test
