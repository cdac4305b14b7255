// Makes sentences with numbers in them, for problems, captions and notices.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pentamesh {

// Returns "16,384" for 16384.
[[nodiscard]] std::string with_commas(std::int64_t n);
// Says if zeros at the end of a figure stay: "4.5 ms" reads better in a sentence, "4.50 ms" in a column that
// changes.
enum class Zeros : std::uint8_t { dropped, kept };
// Returns three significant digits, without an exponent below a million: 0.0123, 4.5, 981, 12,300.
[[nodiscard]] std::string three_digits(double x, Zeros zeros = Zeros::dropped);
// Returns a count: 2,624, whole where it is whole, else in three digits.
[[nodiscard]] std::string whole_text(double count);
// Returns decimal units, as bandwidths and messages are counted: "28.1 GB".
[[nodiscard]] std::string bytes_text(double bytes, Zeros zeros = Zeros::dropped);
// Returns binary units, as memory is counted: "71.2 GiB".
[[nodiscard]] std::string memory_text(double bytes, Zeros zeros = Zeros::dropped);
// Returns "12.3 ms"; down to nanoseconds.
[[nodiscard]] std::string time_text(double seconds, Zeros zeros = Zeros::dropped);
// Returns "12.3 %" for 0.123.
[[nodiscard]] std::string percent_text(double fraction, Zeros zeros = Zeros::dropped);
// Returns "1 GPU", "8 GPUs".
[[nodiscard]] std::string count_text(std::int64_t n, std::string_view noun);

inline void append_part(std::string& out, std::string_view part) {
    out += part;
}
inline void append_part(std::string& out, std::integral auto part) {
    out += with_commas(part);
}
template <typename E>
requires std::is_enum_v<E>
void append_part(std::string& out, E part) {
    out += name_of(part);
}
// Joins strings as they are, integers with commas and enumerators by their names.
template <typename... Parts>
[[nodiscard]] std::string sentence(const Parts&... parts) {
    std::string out;
    (append_part(out, parts), ...);
    return out;
}

// Joins in the same way what `words` makes of each part.
template <typename Parts, typename Words = std::identity>
[[nodiscard]] std::string join(const Parts& parts, std::string_view between, const Words& words = {}) {
    std::string out;
    for (const auto& part : parts) {
        if (!out.empty()) out += between;
        append_part(out, words(part));
    }
    return out;
}

// Returns the pieces of a text, which must outlive them: those between separators, the last of them also
// where it is empty; lines, the last of which needs no end; words between blanks.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text, char end = '\n');
[[nodiscard]] std::vector<std::string_view> split_words(std::string_view text,
                                                        std::string_view blanks = " \t\r");

// Returns true if they are the same except for capitals.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b);

}  // namespace pentamesh
