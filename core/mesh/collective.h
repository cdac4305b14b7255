// Lists the kinds of collectives, and counts how many bytes of one leave a rank.
#pragma once

#include "core/base/enum_array.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pentamesh {

enum class Collective : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all, send_recv };
template <>
inline constexpr std::size_t kEnumCount<Collective> = 5;
[[nodiscard]] std::string_view name_of(Collective c);
[[nodiscard]] std::string_view words_of(Collective c);  // "all-gather", as it stands in a sentence

// Returns the bytes that leave a rank in one call over n ranks with the given buffer (communication.md,
// Collectives).
[[nodiscard]] double sent_bytes(Collective c, std::int64_t n, double buffer_bytes);

}  // namespace pentamesh
