#include "app/tables/table.h"
#include "core/base/text.h"

#include <algorithm>
#include <vector>

namespace pentamesh {
namespace {

using Row = Table::Row;

// Returns the number of letters, not of bytes: continuation bytes of UTF-8 take no room.
std::size_t letters(std::string_view s) {
    return static_cast<std::size_t>(std::count_if(
        s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// Breaks a text into lines of so many letters; a longer word has a line of its own.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
    if (letters(text) <= width) return {text};
    std::vector<std::string> lines;
    for (const std::string_view word : split_words(text, " ")) {
        if (!lines.empty() && letters(lines.back()) + 1 + letters(word) <= width)
            lines.back() += " " + std::string(word);
        else
            lines.emplace_back(word);
    }
    return lines;
}

// Holds the letters that each column takes.
struct TextWidths {
    std::vector<std::size_t> all, least;  // `least`: of the longest word, where the column has words

    explicit TextWidths(const Table& t) : all(t.columns.size()), least(t.columns.size()) {
        const auto add = [&](std::size_t i, const std::string& text) {
            all[i] = std::max(all[i], letters(text));
            if (t.columns[i].shown == Shown::words)
                for (const std::string_view word : split_words(text, " "))
                    least[i] = std::max(least[i], letters(word));
        };
        for (std::size_t i = 0; i < all.size(); ++i) {
            add(i, t.columns[i].title);
            for (const Row& row : t.rows)
                if (i < row.size()) add(i, row[i].text());
            if (t.columns[i].shown != Shown::words) least[i] = all[i];
        }
    }
    // Takes letters from the widest column that can give some, until the line fits.
    void fit(std::size_t width) {
        std::size_t line = 2 * (all.size() - 1);
        for (const std::size_t w : all) line += w;
        while (line > width) {
            std::size_t widest = all.size();
            for (std::size_t i = 0; i < all.size(); ++i)
                if (all[i] > least[i] && (widest == all.size() || all[i] > all[widest])) widest = i;
            if (widest == all.size()) return;
            --all[widest], --line;
        }
    }
};

}  // namespace

std::string write_text(const Table& t, std::size_t limit) {
    TextWidths widths(t);
    if (limit > 0 && !t.columns.empty()) widths.fit(limit);
    const std::vector<std::size_t>& width = widths.all;
    std::string out;
    const auto line = [&](auto&& text_of) {
        std::vector<std::vector<std::string>> cells;
        std::size_t high = 1;
        for (std::size_t i = 0; i < width.size(); ++i) {
            cells.push_back(wrapped(text_of(i), width[i]));
            high = std::max(high, cells.back().size());
        }
        for (std::size_t n = 0; n < high; ++n) {
            std::string words;
            for (std::size_t i = 0; i < width.size(); ++i) {
                const std::string text = n < cells[i].size() ? cells[i][n] : "";
                const std::string pad(width[i] - std::min(width[i], letters(text)), ' ');
                words += (i ? "  " : "") + (t.columns[i].shown == Shown::words ? text + pad : pad + text);
            }
            words.erase(words.find_last_not_of(' ') + 1);
            out += words + "\n";
        }
    };
    line([&](std::size_t i) { return t.columns[i].title; });
    for (const Row& row : t.rows)
        line([&](std::size_t i) { return i < row.size() ? row[i].text() : std::string(); });
    return out;
}

}  // namespace pentamesh
