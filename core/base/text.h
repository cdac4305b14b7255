// Sentences with numbers in them: what problems, captions and notices are made of.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace pentamesh {

// 16384 -> "16,384".
[[nodiscard]] std::string with_commas(std::int64_t n);
// Zeros at the end of a figure: "4.5 ms" reads better in a sentence, "4.50 ms" in a column that changes.
enum class Zeros : std::uint8_t { dropped, kept };
// Three significant digits, no exponent below a million: 0.0123, 4.5, 981, 12,300.
[[nodiscard]] std::string three_digits(double x, Zeros zeros = Zeros::dropped);
// A count: 2,624, whole where it is whole, else in three digits.
[[nodiscard]] std::string whole_text(double count);
// Decimal, as bandwidths and messages are counted: "28.1 GB".
[[nodiscard]] std::string bytes_text(double bytes, Zeros zeros = Zeros::dropped);
// Binary, as memory is counted: "71.2 GiB".
[[nodiscard]] std::string memory_text(double bytes, Zeros zeros = Zeros::dropped);
// "12.3 ms"; down to nanoseconds.
[[nodiscard]] std::string time_text(double seconds, Zeros zeros = Zeros::dropped);
// 0.123 -> "12.3 %".
[[nodiscard]] std::string percent_text(double fraction, Zeros zeros = Zeros::dropped);
// "1 GPU", "8 GPUs".
[[nodiscard]] std::string count_text(std::int64_t n, std::string_view noun);

inline void append_part(std::string& out, std::string_view part) {
    out += part;
}
inline void append_part(std::string& out, std::integral auto part) {
    out += with_commas(part);
}
// Strings as they are, integers with commas.
template <typename... Parts>
[[nodiscard]] std::string sentence(const Parts&... parts) {
    std::string out;
    (append_part(out, parts), ...);
    return out;
}

// Whether they are the same but for capitals.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b);

}  // namespace pentamesh
