// Reads a text typed into a field with a unit. A number without a unit takes the unit that the field shows; a
// unit of another kind, or one that may mean two things, is refused in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pentamesh {

enum class Dimension : std::uint8_t {
    count,        // "10 M"; "8K" and "8k" are 8,192, as sequence lengths are written
    bytes,        // "80 GiB", "80 GB"
    bytes_per_s,  // "50 GB/s"; "400 Gb/s" are bits
    seconds,      // "3.1 µs"
    flops_per_s,  // "989 TFLOP/s"
    share,        // "45 %"
    ratio         // "1 : 7", "7"
};

// Holds one of both: the value in base units (bytes, seconds, 0.45 for 45 %) or why the text is refused.
struct Quantity {
    std::optional<double> value;
    std::string refusal;
};
// A plain number may multiply and divide: "4 x 400 Gb/s / 8", four NICs of eight GPUs.
// `shown_unit` is the unit after the number that the field shows ("GB/s", "µs", "%", or empty).
[[nodiscard]] Quantity parse_quantity(std::string_view text, Dimension dimension,
                                      std::string_view shown_unit = {});
// Returns the unit of a text such as "50 GB/s": the part after the number.
[[nodiscard]] std::string_view unit_of(std::string_view shown);

}  // namespace pentamesh
