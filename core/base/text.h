// Classifies characters of the formats that are read here, for any locale.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pentamesh {

[[nodiscard]] constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Returns true if the character may stand in a name of a shell or of Python, and begin one.
[[nodiscard]] constexpr bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
[[nodiscard]] constexpr bool is_name_char(char c) {
    return is_name_start(c) || is_digit(c);
}

// Drops blanks at both ends: spaces, tabs and carriage returns where no others are named.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view s, std::string_view blank = " \t\r") {
    const std::size_t first = s.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return s.substr(first, s.find_last_not_of(blank) - first + 1);
}

// Makes sentences with numbers in them, for problems, captions and notices.

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

// Finds the known word closest to an unknown one, for errors that say what was probably meant, and shows text
// out of files.

// Returns the number of insertions, deletions and replacements of one character that turn a into b; a swap of
// neighbours counts one (optimal string alignment). Letters' case costs nothing.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the distance of a word to a name that may be meant: 1 where the word is only its beginning.
[[nodiscard]] std::size_t distance_to_name(std::string_view word, std::string_view name);

// Returns the known word of least distance, the first of several; empty where `known` is.
[[nodiscard]] std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

// Returns a value out of a file for a message: cut to a readable length, control characters replaced.
[[nodiscard]] std::string shown_text(std::string_view text);

// Returns a text out of a file as it is shown: a character of control, which a terminal would obey, and one
// that turns the direction of writing is named ("<U+001B>"), a byte that is no UTF-8 is U+FFFD. Line breaks
// and tabs stay.
[[nodiscard]] std::string printable(std::string_view text);
// Does the same for a JSON text, by its own escapes: the values stay.
[[nodiscard]] std::string printable_json(std::string_view json);

// Reads a text typed into a field with a unit. A number without a unit takes the unit that the field shows; a
// unit of another kind, or one that may mean two things, is refused in words.

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
