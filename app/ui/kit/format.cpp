#include "app/ui/kit/format.h"

#include "app/ui/kit/menu.h"
#include "core/base/number.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

struct Unit {
    double size;
    const char* name;
};

template <std::size_t N>
std::string with_unit(double value, const std::array<Unit, N>& units, Zeros zeros) {
    // The search goes from the largest unit down; a value that rounds up to 1,000 takes the next unit.
    for (const Unit& u : units)
        if (std::abs(value) >= u.size * 0.9995) return three_digits(value / u.size, zeros) + " " + u.name;
    return three_digits(value / units.back().size, zeros) + " " + units.back().name;
}

}  // namespace

std::string significant(double value, int digits) {
    if (!std::isfinite(value)) return "–";
    if (value == 0) return "0";
    const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
    const double step = std::pow(10.0, magnitude - digits + 1);
    const double rounded = std::round(value / step) * step;
    if (std::abs(rounded) >= 1000) return thousands(static_cast<std::int64_t>(std::llround(rounded)));
    const int shown = static_cast<int>(std::floor(std::log10(std::abs(rounded))));
    return fixed_text(rounded, std::max(0, digits - 1 - shown));
}

std::string gib(double bytes) {
    return significant(bytes / (1024.0 * 1024 * 1024));
}

std::string bandwidth_text(double bytes_per_s) {
    static constexpr std::array<Unit, 3> kUnits{{{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}}};
    return with_unit(bytes_per_s, kUnits, Zeros::dropped);
}

std::string percent(double fraction) {
    return fraction > 0 && fraction < 0.001 ? "< 0.1 %" : percent_text(fraction, Zeros::kept);
}

std::string count_text(double value) {
    static constexpr std::array<Unit, 4> kUnits{{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}}};
    if (std::abs(value) < 1000) return significant(value);
    return with_unit(value, kUnits, Zeros::kept);
}

std::string sequence_text(std::int64_t tokens) {
    constexpr std::int64_t k = 1024;
    if (tokens == 0 || tokens % k != 0) return thousands(tokens);
    return tokens % (k * k) == 0 ? thousands(tokens / (k * k)) + "M" : thousands(tokens / k) + "K";
}

std::string ordinal(std::int64_t n) {
    const std::int64_t tens = n % 100, ones = n % 10;
    const char* ending = tens >= 11 && tens <= 13 ? "th"
                         : ones == 1              ? "st"
                         : ones == 2              ? "nd"
                         : ones == 3              ? "rd"
                                                  : "th";
    return thousands(n) + ending;
}

std::string plural(std::int64_t n, const char* one, const char* many) {
    return thousands(n) + " " + (n == 1 ? one : many);
}

std::string in_capitals(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
}

std::string typeset(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool begins = text[i] == '-' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '(');
        const char next = i + 1 < text.size() ? text[i + 1] : '\0';
        const bool minus = (next >= '0' && next <= '9') || (next == ' ' && i > 0);
        if (begins && next == '>')
            out += "→", ++i;
        else if (begins && minus)
            out += "−";
        else
            out += text[i];
    }
    return out;
}

std::string file_stem(std::string_view text) {
    constexpr std::size_t kLongest = 60;
    std::string name;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                           || c == '.' || c == '_' || static_cast<unsigned char>(c) >= 0x80;
        if (plain)
            name += c;
        else if (!name.empty() && name.back() != '-')
            name += '-';
        if (name.size() >= kLongest && static_cast<unsigned char>(c) < 0x80) break;
    }
    while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
    while (!name.empty() && name.front() == '.') name.erase(name.begin());
    return name;
}

namespace {

constexpr int kWholeAtWord = 200000, kWhole = 100000, kWordsAtWords = 80000, kWords = 60000, kNoMatch = -1;
constexpr std::size_t kMostTyped = 64;

bool is_word_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool word_starts(std::string_view text, std::size_t i) {
    return is_word_letter(text[i]) && (i == 0 || !is_word_letter(text[i - 1]));
}

std::string lower(std::string_view s) {
    std::string out(s);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

// Says where `part` is in the text: at a word's start where there is such a place. npos means nowhere.
struct Found {
    std::size_t at = std::string_view::npos;
    bool word = false;
};
Found find_part(std::string_view part, std::string_view text) {
    Found found;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
        if (found.at == std::string_view::npos) found.at = at;
        if (word_starts(text, at)) return {at, true};
    }
    return found;
}

// Returns -1 if a letter is missing, or out of order.
int scattered(std::string_view letters, std::string_view text) {
    std::size_t at = 0;
    int score = 0;
    for (const char c : letters) {
        const auto i = text.find(c, at);
        if (i == std::string_view::npos) return kNoMatch;
        score += i == at ? 5 : word_starts(text, i) ? 4 : 1;
        at = i + 1;
    }
    return score * 10;
}

// Returns the fewest pieces into which the letters fall so that each begins a word of the text, in its order;
// 0 means that there is no such way.
int pieces(std::string_view letters, std::string_view text) {
    constexpr int kNever = 1000;
    const std::size_t n = letters.size(), columns = text.size() + 1;
    // least[i * columns + t] is for the letters from i on, in the text from t on.
    std::vector<int> least((n + 1) * columns, kNever);
    std::fill(least.end() - static_cast<std::ptrdiff_t>(columns), least.end(), 0);
    for (std::size_t i = n; i-- > 0;)
        for (std::size_t t = text.size(); t-- > 0;) {
            int& best = least[i * columns + t];
            best = least[i * columns + t + 1];
            if (!word_starts(text, t)) continue;
            for (std::size_t k = 0; i + k < n && t + k < text.size() && letters[i + k] == text[t + k]; ++k)
                best = std::min(best, 1 + least[(i + k + 1) * columns + t + k + 1]);
        }
    return least[0] < kNever ? least[0] : 0;
}

}  // namespace

int match_score(std::string_view typed, std::string_view text) {
    const std::string line = lower(text), all = lower(typed.substr(0, kMostTyped));
    const std::vector<std::string_view> words = split_words(all, " ");
    std::string letters;
    for (const std::string_view word : words) letters += word;
    if (words.empty()) return 0;
    const auto trimmed = std::string_view(all).substr(
        static_cast<std::size_t>(words.front().data() - all.data()),
        static_cast<std::size_t>(words.back().data() + words.back().size() - words.front().data()));
    const Found whole = find_part(trimmed, line);
    if (whole.word) return kWholeAtWord;
    if (whole.at != std::string::npos && trimmed.size() > 1) return kWhole;
    bool each = true, at_words = true;
    for (const std::string_view w : words) {
        const Found f = find_part(w, line);
        each = each && f.at != std::string::npos;
        at_words = at_words && f.word;
    }
    if (each) return at_words ? kWordsAtWords : kWords;
    const int low = scattered(letters, line);
    if (low < 0) return low;
    const int n = pieces(letters, line);
    return n > 0 ? std::max(kTogether, kWords - 100 * n) : std::min(low, kTogether - 1);
}

std::string focused_words(const UiState& state, std::span<const TextRun> drawn) {
    constexpr float kMostLabel = 240;  // from the label of a control to the control
    if (!state.focus_visible || state.focus == 0) return {};
    const std::optional<Rect> area = state.rect_of(state.focus);
    if (!area) return {};
    std::vector<const TextRun*> found;
    for (const TextRun& run : drawn) {
        const bool inside = run.at.y > area->y - 4 && run.at.y < area->bottom();
        if (inside && run.at.x >= area->x - kMostLabel && run.at.x < area->right()) found.push_back(&run);
    }
    std::stable_sort(found.begin(), found.end(), [](const TextRun* a, const TextRun* b) {
        return a->at.y + 6 < b->at.y || (std::abs(a->at.y - b->at.y) <= 6 && a->at.x < b->at.x);
    });
    return join(found, ", ", [](const TextRun* run) -> const std::string& { return run->text; });
}

}  // namespace pentamesh::ui
