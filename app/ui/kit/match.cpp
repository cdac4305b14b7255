#include "app/ui/kit/menu.h"
#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace pentamesh::ui {

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

}  // namespace pentamesh::ui
