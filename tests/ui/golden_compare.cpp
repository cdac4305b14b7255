#include "tests/ui/golden_compare.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace pentamesh::ui {
namespace {

constexpr int kComparedTile = 16;
constexpr double kMostOfTile = 0.2;
constexpr int kMostOfChannel = 48;  // of 255, at the edge of a letter

bool differs(const Image& a, const Image& b, std::size_t pixel) {
    for (std::size_t k = 0; k < 3; ++k)
        if (std::abs(a.pixels[4 * pixel + k] - b.pixels[4 * pixel + k]) > kMostOfChannel) return true;
    return false;
}

struct Line {
    int x = 0, y = 0;
    std::string text, whole;
};

std::vector<Line> lines_of(std::string_view text) {
    std::vector<Line> lines;
    std::istringstream in{std::string(text)};
    for (std::string whole; std::getline(in, whole);) {
        std::istringstream words(whole);
        Line line;
        words >> line.x >> line.y;
        words.get();  // the blank
        std::getline(words, line.text);
        line.whole = whole;
        lines.push_back(std::move(line));
    }
    return lines;
}

bool same(const Line& a, const Line& b) {
    return a.text == b.text && std::abs(a.x - b.x) <= 1 && std::abs(a.y - b.y) <= 1;
}

}  // namespace

double different(const Image& a, const Image& b) {
    if (a.width != b.width || a.height != b.height) return 1;
    const std::size_t pixels = a.pixels.size() / 4;
    std::size_t bad = 0;
    for (std::size_t i = 0; i < pixels; ++i) bad += differs(a, b, i) ? 1 : 0;
    return static_cast<double>(bad) / static_cast<double>(pixels);
}

TileReport compare_tiles(const Image& a, const Image& b) {
    TileReport report;
    if (a.width != b.width || a.height != b.height) return {1, 1, 0, 0, 1};
    for (int top = 0; top < a.height; top += kComparedTile)
        for (int left = 0; left < a.width; left += kComparedTile) {
            const int right = std::min(left + kComparedTile, a.width),
                      bottom = std::min(top + kComparedTile, a.height);
            int bad = 0;
            for (int y = top; y < bottom; ++y)
                for (int x = left; x < right; ++x)
                    bad += differs(a, b,
                                   static_cast<std::size_t>(y) * static_cast<std::size_t>(a.width)
                                       + static_cast<std::size_t>(x))
                               ? 1
                               : 0;
            // A tile cut off by the edge counts as a whole one: a line along the edge is no fifth of it.
            const double share = bad / static_cast<double>(kComparedTile * kComparedTile);
            ++report.tiles;
            report.bad += share > kMostOfTile ? 1 : 0;
            if (share > report.worst) report.worst = share, report.worst_x = left, report.worst_y = top;
        }
    return report;
}

std::string text_lines(const std::vector<TextRun>& runs) {
    std::vector<Line> lines;
    for (const TextRun& r : runs)
        lines.push_back(
            {static_cast<int>(std::lround(r.at.x)), static_cast<int>(std::lround(r.at.y)), r.text, ""});
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line& a, const Line& b) { return a.y != b.y ? a.y < b.y : a.x < b.x; });
    std::string text;
    for (const Line& l : lines) text += std::to_string(l.x) + " " + std::to_string(l.y) + " " + l.text + "\n";
    return text;
}

std::string text_difference(std::string_view golden, std::string_view now) {
    std::vector<Line> missing = lines_of(golden), extra;
    for (Line& line : lines_of(now)) {
        const auto at =
            std::find_if(missing.begin(), missing.end(), [&](const Line& l) { return same(l, line); });
        if (at == missing.end())
            extra.push_back(std::move(line));
        else
            missing.erase(at);
    }
    std::string text;
    for (const Line& l : missing) text += "- " + l.whole + "\n";
    for (const Line& l : extra) text += "+ " + l.whole + "\n";
    return text;
}

}  // namespace pentamesh::ui
