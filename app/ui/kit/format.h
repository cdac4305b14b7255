// Writes numbers as people read them: three significant digits, binary GiB for memory, decimal GB/s for
// bandwidth.
#pragma once

#include "app/ui/kit/ui.h"
#include "core/base/text.h"
#include "render/surface.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pentamesh::ui {

[[nodiscard]] std::string significant(double value, int digits = 3);  // "66.1", "0.0123", "1,234"
[[nodiscard]] inline std::string trimmed(double value) {              // "50", "1.5"
    return three_digits(value);
}
[[nodiscard]] inline std::string thousands(std::int64_t value) {  // "16,384"
    return with_commas(value);
}
[[nodiscard]] inline std::string memory_text(double bytes) {  // "66.1 GiB"
    return pentamesh::memory_text(bytes, Zeros::kept);
}
// Returns "79.6 GiB (85.5 GB)": a GPU's memory, in both units.
[[nodiscard]] inline std::string capacity_text(double bytes) {
    return memory_text(bytes) + " (" + bytes_text(bytes) + ")";
}
[[nodiscard]] inline std::string traffic_text(double bytes) {  // "237 GB"
    return bytes_text(bytes, Zeros::kept);
}
[[nodiscard]] inline std::string time_text(double seconds) {  // "6.90 s", "210 µs"
    return pentamesh::time_text(seconds, Zeros::kept);
}
[[nodiscard]] std::string percent(double fraction);            // "40.6 %"; "< 0.1 %" where there is little
[[nodiscard]] std::string gib(double bytes);                   // "66.1", without the unit
[[nodiscard]] std::string bandwidth_text(double bytes_per_s);  // "450 GB/s"
[[nodiscard]] std::string count_text(double value);            // "405 B", "2.43 M"
[[nodiscard]] std::string sequence_text(std::int64_t tokens);  // "8K", "2M"; "3,000" where it is no multiple
[[nodiscard]] std::string ordinal(std::int64_t n);             // "2nd", "11th", "1,024th"
[[nodiscard]] std::string plural(std::int64_t n, const char* one, const char* many);  // "1 group", "8 groups"
// Says below a list how many are left out: "… and 1,024 more", "… and 3 more groups".
[[nodiscard]] inline std::string and_more(std::size_t n, std::string_view of = "") {
    return "… and " + thousands(static_cast<std::int64_t>(n)) + " more" + std::string(of);
}

// Returns the head of a section: "TWO WAYS".
[[nodiscard]] std::string in_capitals(std::string_view text);
// Returns "tp 8 → 4: −3 s" for "tp 8 -> 4: -3 s", which files and the command line write.
[[nodiscard]] std::string typeset(std::string_view text);

// Turns a text into a part of a file's name that every system takes.
// Returns "Ada-Lovelace" for "Ada / Lovelace". Letters, digits, '.', '_' and characters that are not ASCII
// stay, all else becomes one '-', with none at either end; the length is limited to that of a name. It is
// empty where no character stays.
[[nodiscard]] std::string file_stem(std::string_view text);

// Says in words what the keyboard has reached, for a screen reader: of a picture it knows nothing.

// Returns the texts that stand in the focused area, behind those to the left of it on its line, which name
// it: "tensor parallel, 8, +". It is empty where the keyboard was not used last or nothing has it.
[[nodiscard]] std::string focused_words(const UiState& state, std::span<const TextRun> drawn);

// Says which release this is, where pictures and pages say it.

// Returns "Pentamesh 0.2.0".
[[nodiscard]] inline std::string_view name_and_version() {
    return "Pentamesh " PENTAMESH_VERSION;
}

}  // namespace pentamesh::ui
