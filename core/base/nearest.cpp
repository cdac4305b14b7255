#include "core/base/nearest.h"

#include "core/base/json_reader.h"

#include <algorithm>
#include <cctype>

namespace pentamesh {
namespace {

// A word out of a file can be as long as the file; beyond this the first characters decide.
constexpr std::size_t kMostLetters = 64;

char lower(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

constexpr unsigned kNoCharacter = 0x110000;  // stands for U+0000

// Returns the code of the character at the begin of a text of UTF-8, if it is never shown as it is, with the
// bytes that it takes; 0 for all others.
unsigned hidden_character(std::string_view text, std::size_t& bytes) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    bytes = 1;
    if (first == '\n' || first == '\t' || (first == '\r' && text.substr(1).starts_with('\n'))) return 0;
    if (first < 0x20 || first == 0x7f) return first == 0 ? kNoCharacter : first;
    if (first == 0xc2 && text.size() > 1 && byte(1) < 0xa0) return bytes = 2, byte(1);
    if (first != 0xe2 || text.size() < 3) return 0;
    const unsigned code = 0x2000U + ((byte(1) & 0x3fU) << 6U) + (byte(2) & 0x3fU);
    const bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return turns ? (bytes = 3, code) : 0;
}

// `named` writes a hidden character.
template <typename Named>
std::string shown(std::string_view text, const Named& named) {
    const std::string whole = as_utf8(text);
    text = whole;
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::size_t bytes = 1;
        const unsigned code = hidden_character(text, bytes);
        if (code == 0)
            out += text.substr(0, bytes);
        else
            named(out, code == kNoCharacter ? 0 : code);
        text.remove_prefix(bytes);
    }
    return out;
}

std::string hexadecimal(unsigned code) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string out;
    for (unsigned shift = 16; shift > 0; shift -= 4) out += kDigits[(code >> (shift - 4)) & 15U];
    return out;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    a = a.substr(0, kMostLetters);
    b = b.substr(0, kMostLetters);
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = std::min(now[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, now);
    }
    return last[b.size()];
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
    std::string_view best;
    std::size_t least = std::string_view::npos;
    for (const std::string_view k : known) {
        const std::size_t distance = edit_distance(word, k);
        if (distance >= least) continue;
        least = distance;
        best = k;
    }
    return best;
}

std::string shown_text(std::string_view text) {
    constexpr std::size_t most = 60;
    std::string out;
    for (const char c : text.substr(0, most))
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    if (text.size() <= most) return out;
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (!out.empty() && (static_cast<unsigned char>(out.back()) & 0x80) != 0) out.pop_back();
    return out + "...";
}

std::string printable(std::string_view text) {
    return shown(text, [](std::string& out, unsigned code) { out += "<U+" + hexadecimal(code) + ">"; });
}

std::string printable_json(std::string_view json) {
    return shown(json, [](std::string& out, unsigned code) { out += "\\u" + hexadecimal(code); });
}

}  // namespace pentamesh
