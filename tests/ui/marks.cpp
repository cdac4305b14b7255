#include "tests/ui/marks.h"

#include "core/base/files.h"
#include "core/base/number.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

namespace pentamesh::ui {
namespace {

constexpr double kNear = 0.75;    // pixels: half a pixel is lost by rounding
constexpr float kTouch = 0.02f;   // what overlaps a clip by less is not seen
constexpr double kRegular = 0.1;  // pixels by which marks of one line may stand off their places
const std::string kSameAs = "same as ";
constexpr std::size_t kMostPeriod = 24, kLeastTimes = 3;  // of marks that repeat
constexpr std::size_t kFewPoints = 12;            // a longer line has as many of its points in the list
constexpr int kMostLines = 12, kMostOfFile = 60;  // that a failure prints: of a picture, of a file

std::string hex(Color c) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out = "#";
    const auto byte = [&](unsigned v) {
        out += kDigits[v >> 4U];
        out += kDigits[v & 15U];
    };
    byte(c.r);
    byte(c.g);
    byte(c.b);
    if (c.a != 255) byte(c.a);
    return out;
}

// Returns a number with at most so many decimals: "12", "12.5", never "-0".
std::string number(double v, int decimals) {
    const double unit = std::pow(10.0, decimals);
    const double rounded = std::round(v * unit + 1e-6) / unit;
    return exact_text(rounded == 0 ? 0 : rounded);
}

std::string with_width(std::string look, float width) {
    if (width != 1) look += " " + number(static_cast<double>(width), 2);
    return look;
}

std::string with_radius(std::string look, float radius) {
    if (radius > 0) look += " round " + number(static_cast<double>(radius), 1);
    return look;
}

std::vector<double> place(Rect r) {
    return {static_cast<double>(r.x), static_cast<double>(r.y), static_cast<double>(r.w),
            static_cast<double>(r.h)};
}

Rect box_of(std::span<const Vec2> points) {
    Vec2 low = points.front(), high = low;
    for (const Vec2 p : points) {
        low = {std::min(low.x, p.x), std::min(low.y, p.y)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    return {low.x, low.y, high.x - low.x, high.y - low.y};
}

bool same_look(const DrawnMark& a, const DrawnMark& b) {
    return a.kind == b.kind && a.look == b.look && a.at.size() == b.at.size();
}

}  // namespace

bool MarkPage::hidden(Rect r) const {
    if (clips_.empty()) return false;
    const Rect& c = clips_.back();
    return r.right() < c.x + kTouch || r.x > c.right() - kTouch || r.bottom() < c.y + kTouch
           || r.y > c.bottom() - kTouch;
}

Rect MarkPage::seen(Rect r) const {
    if (clips_.empty()) return r;
    const Rect& c = clips_.back();
    const float x = std::max(r.x, c.x), y = std::max(r.y, c.y);
    return {x, y, std::max(0.0f, std::min(r.right(), c.right()) - x),
            std::max(0.0f, std::min(r.bottom(), c.bottom()) - y)};
}

void MarkPage::rect(Rect r, Color fill, float radius) {
    if (!hidden(r)) marks_.push_back({"rect", place(seen(r)), with_radius(hex(fill), radius)});
}

void MarkPage::frame(Rect r, Color color, float width, float radius) {
    if (!hidden(r)) marks_.push_back({"frame", place(r), with_radius(with_width(hex(color), width), radius)});
}

void MarkPage::pattern(Rect r, Pattern pattern, Color color) {
    static constexpr std::string_view kNames[] = {"solid", "hatched", "crossed", "dotted", "sparse"};
    static_assert(std::size(kNames) == kPatterns);
    if (!hidden(r))
        marks_.push_back(
            {std::string(kNames[static_cast<std::size_t>(pattern)]), place(seen(r)), hex(color)});
}

// Behind the first eight slices of one band, or lines of one hatching, each fourth is kept.
bool MarkPage::is_one_of_many(const DrawnMark& mark) {
    constexpr int kFirst = 8, kEach = 4;
    const bool more = !marks_.empty() && same_look(marks_.back(), mark);
    many_ = more ? many_ + 1 : 0;
    return many_ >= kFirst && many_ % kEach != 0;
}

void MarkPage::points(std::string_view kind, std::span<const Vec2> all, std::string look) {
    DrawnMark mark{std::string(kind), {}, std::move(look)};
    const std::size_t n = std::min(all.size(), kFewPoints);
    for (std::size_t i = 0; i < n; ++i) {
        const Vec2 p = all[n == all.size() ? i : i * (all.size() - 1) / (n - 1)];
        mark.at.push_back(static_cast<double>(p.x));
        mark.at.push_back(static_cast<double>(p.y));
    }
    if (n < all.size()) mark.look += " of " + std::to_string(all.size());
    if (!is_one_of_many(mark)) marks_.push_back(std::move(mark));
}

void MarkPage::stroke(std::span<const Vec2> all, Color color, float width, bool closed, Dash dash) {
    if (all.size() < 2) return;
    const Rect box = box_of(all);
    if (hidden({box.x - width / 2, box.y - width / 2, box.w + width, box.h + width})) return;
    std::string look = with_width(hex(color), width);
    if (dash != Dash::solid) look += dash == Dash::dashed ? " dashed" : " dotted";
    points(closed ? "outline" : all.size() == 2 ? "line" : "path", all, std::move(look));
}

void MarkPage::polygon(std::span<const Vec2> convex, Color fill) {
    if (!convex.empty() && !hidden(box_of(convex))) points("polygon", convex, hex(fill));
}

void MarkPage::circle(Vec2 center, float radius, Color fill) {
    if (hidden({center.x - radius, center.y - radius, 2 * radius, 2 * radius})) return;
    marks_.push_back(
        {"circle",
         {static_cast<double>(center.x), static_cast<double>(center.y), static_cast<double>(radius)},
         hex(fill)});
}

void MarkPage::text(Vec2 pen, std::string_view utf8, const TextStyle& style) {
    const float height = std::round(style.size * 1.25f);
    const float top = pen.y - height / 2 - faces_->baseline_below_middle() * style.size;
    float width = 0;
    for (std::string_view rest = utf8; !rest.empty();)
        width += faces_->glyph(style.face, take_character(rest)).advance * style.size + style.tracking;
    if (hidden({pen.x, top, width, height})) return;
    std::string look = hex(style.color) + " " + number(static_cast<double>(style.size), 2);
    if (style.face == Face::semibold) look += "b";
    if (style.face == Face::mono) look += "m";
    if (style.tracking != 0) look += "+" + number(static_cast<double>(style.tracking), 2);
    look += " ";
    for (const char c : utf8) look += c == '\n' ? ' ' : c;
    marks_.push_back({"text", {static_cast<double>(pen.x), static_cast<double>(top)}, std::move(look)});
}

// One mark has the corner of the first cell, of the last one, and of the last one of each box but the
// largest; its look has how many cells have each colour, and how ids follow from ranks.
void MarkPage::cells(const CellGrid& grid) {
    DrawnMark mark{"cells", {}, ""};
    const auto add = [&](Vec2 p) {
        mark.at.push_back(static_cast<double>(p.x));
        mark.at.push_back(static_cast<double>(p.y));
    };
    add(grid.cell);
    add(cell_position(grid, grid.first));
    add(cell_position(grid, grid.first + std::int64_t{grid.count - 1} * grid.step));
    std::int64_t inside = 1;
    std::string levels;
    for (int i = 0; i < grid.levels; ++i) {
        const CellGrid::Level& l = grid.level[static_cast<std::size_t>(i)];
        levels += " " + std::to_string(l.size) + "/" + std::to_string(l.cols);
        inside *= l.size;
        if (i + 1 < grid.levels) add(cell_position(grid, inside - 1));
    }
    std::map<std::int64_t, int> by_color;
    for (std::int32_t k = 0; k < grid.count; ++k)
        by_color[cell_id(grid, grid.first + std::int64_t{k} * grid.step) % grid.palette_size] += 1;
    mark.look = hex(grid.ground) + " " + std::to_string(grid.count) + " from " + std::to_string(grid.first);
    if (grid.step != 1) mark.look += " by " + std::to_string(grid.step);
    mark.look += ", boxes" + levels + ", ids";
    for (int i = 0; i < grid.digits; ++i) {
        const CellGrid::Digit& d = grid.digit[static_cast<std::size_t>(i)];
        mark.look +=
            " " + std::to_string(d.stride) + "%" + std::to_string(d.size) + "*" + std::to_string(d.weight);
    }
    if (grid.highlighted_id >= 0)
        mark.look +=
            ", only " + std::to_string(grid.highlighted_id) + " " + number(static_cast<double>(grid.dim), 2);
    mark.look += ", colours";
    for (const auto& [id, count] : by_color)
        mark.look += " " + hex(grid.palette[static_cast<std::size_t>(id)]) + "*" + std::to_string(count);
    marks_.push_back(std::move(mark));
}

void MarkPage::push_clip(Rect r) {
    r.w = std::max(0.0f, r.w), r.h = std::max(0.0f, r.h);
    clips_.push_back(seen(r));
}

void MarkPage::pop_clip() {
    if (!clips_.empty()) clips_.pop_back();
}

void MarkPage::begin_inset(Vec2 corner, float scale) {
    marks_.push_back({"inset",
                      {static_cast<double>(corner.x), static_cast<double>(corner.y)},
                      "#" + number(static_cast<double>(scale), 3)});
    clips_.push_back({-1e6f, -1e6f, 2e6f, 2e6f});
}

void MarkPage::end_inset() {
    pop_clip();
    marks_.push_back({"end", {}, "#"});
}

FontFiles mark_fonts() {
    const auto mono = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets").mono;
    return {mono, mono, mono};
}

// ---- lines --------------------------------------------------------------------------------------------

namespace {

// Returns how often the `period` marks from `first` on come, each as far from its like before as at first.
std::size_t times_of(const std::vector<DrawnMark>& marks, std::size_t first, std::size_t period) {
    std::size_t n = 1;
    for (; first + (n + 1) * period <= marks.size(); ++n)
        for (std::size_t k = 0; k < period; ++k) {
            const DrawnMark &a = marks[first + k], &b = marks[first + period + k],
                            &m = marks[first + n * period + k];
            if (!same_look(a, m)) return n;
            for (std::size_t c = 0; c < a.at.size(); ++c)
                if (std::abs(a.at[c] + (b.at[c] - a.at[c]) * static_cast<double>(n) - m.at[c]) > kRegular)
                    return n;
        }
    return n;
}

std::string line_of(const DrawnMark& m, int decimals = 0) {
    std::string out = m.kind;
    for (const double v : m.at) out += " " + number(v, decimals);
    return out + " " + m.look;
}

[[noreturn]] void refuse(const std::string& line) {
    throw std::runtime_error("no mark: " + line);
}

}  // namespace

namespace {

// Says a mark that comes `n` times, the last one as `last`.
std::string line_of_many(const DrawnMark& m, const DrawnMark& last, std::size_t n) {
    std::string out = m.kind + " x" + std::to_string(n);
    for (const double v : m.at) out += " " + number(v, 1);
    out += " by";
    for (std::size_t k = 0; k < m.at.size(); ++k)
        out += " " + number((last.at[k] - m.at[k]) / static_cast<double>(n - 1), n > 20 ? 4 : 2);
    return out + " " + m.look;
}

}  // namespace

std::vector<std::string> lines_of_marks(const std::vector<DrawnMark>& marks) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < marks.size();) {
        std::size_t period = 1, n = 1;
        for (std::size_t p = 1; p <= kMostPeriod; ++p) {
            const std::size_t times = times_of(marks, i, p);
            if (times >= kLeastTimes && times * p > n * period) period = p, n = times;
        }
        if (n < kLeastTimes) {
            out.push_back(line_of(marks[i++]));
            continue;
        }
        if (period > 1) out.push_back("repeat " + std::to_string(n) + " " + std::to_string(period));
        for (std::size_t k = 0; k < period; ++k)
            out.push_back(line_of_many(marks[i + k], marks[i + (n - 1) * period + k], n));
        i += n * period;
    }
    return out;
}

namespace {

// Reads a line; returns the mark that it says how many times.
std::vector<DrawnMark> marks_of_line(const std::string& line) {
    std::string_view rest = line;
    const auto word = [&] {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        const std::string_view w = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return w;
    };
    DrawnMark first{std::string(word()), {}, ""};
    std::vector<double> by;
    std::size_t count = 1;
    bool distance = false;
    while (!rest.empty() && rest.front() != '#') {
        const std::string_view w = word();
        const std::optional<double> v = parse_double(w);
        if (w == "by")
            distance = true;
        else if (v)
            (distance ? by : first.at).push_back(*v);
        else if (const auto n = parse_whole(w.substr(1)); w.front() == 'x' && n && *n > 0)
            count = static_cast<std::size_t>(*n);
        else
            refuse(line);
    }
    first.look = rest;
    if (rest.empty() || (count > 1 && by.size() != first.at.size())) refuse(line);
    std::vector<DrawnMark> out(count, first);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < by.size(); ++k) out[i].at[k] += by[k] * static_cast<double>(i);
    return out;
}

}  // namespace

std::vector<DrawnMark> marks_of_lines(const std::vector<std::string>& lines) {
    constexpr std::string_view kRepeat = "repeat ";
    std::vector<DrawnMark> out;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (!lines[i].starts_with(kRepeat)) {
            for (DrawnMark& m : marks_of_line(lines[i])) out.push_back(std::move(m));
            continue;
        }
        const std::string_view numbers = std::string_view(lines[i]).substr(kRepeat.size());
        const std::size_t blank = std::min(numbers.find(' '), numbers.size());
        const auto n = parse_whole(numbers.substr(0, blank)),
                   period = parse_whole(numbers.substr(std::min(blank + 1, numbers.size())));
        if (!n || !period || *n < 1 || *period < 1 || i + static_cast<std::size_t>(*period) >= lines.size())
            refuse(lines[i]);
        std::vector<std::vector<DrawnMark>> group;
        for (std::int64_t k = 0; k < *period; ++k) group.push_back(marks_of_line(lines[++i]));
        for (std::size_t k = 0; k < static_cast<std::size_t>(*n); ++k)
            for (const std::vector<DrawnMark>& of : group) {
                if (k >= of.size()) refuse(lines[i]);
                out.push_back(of[k]);
            }
    }
    return out;
}

namespace {

bool same(const DrawnMark& golden, const DrawnMark& now) {
    if (golden.kind != now.kind || golden.look != now.look || golden.at.size() != now.at.size()) return false;
    for (std::size_t k = 0; k < now.at.size(); ++k)
        if (std::abs(golden.at[k] - now.at[k]) > kNear) return false;
    return true;
}

// Finds pairs that are the same, in both orders, as many as there are (the longest common subsequence).
std::vector<std::string> difference_of(std::span<const DrawnMark> a, std::span<const DrawnMark> b) {
    const std::size_t wide = b.size() + 1;
    std::vector<std::uint32_t> most((a.size() + 1) * wide);
    for (std::size_t i = a.size(); i-- > 0;)
        for (std::size_t j = b.size(); j-- > 0;)
            most[i * wide + j] = same(a[i], b[j])
                                     ? most[(i + 1) * wide + j + 1] + 1
                                     : std::max(most[(i + 1) * wide + j], most[i * wide + j + 1]);
    std::vector<std::string> out;
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        if (i < a.size() && j < b.size() && same(a[i], b[j])) {
            ++i, ++j;
        } else if (j == b.size() || (i < a.size() && most[(i + 1) * wide + j] >= most[i * wide + j + 1])) {
            out.push_back("- " + line_of(a[i++], 1));
        } else {
            out.push_back("+ " + line_of(b[j++], 1));
        }
    }
    return out;
}

}  // namespace

std::vector<std::string> difference_of_marks(const std::vector<DrawnMark>& golden,
                                             const std::vector<DrawnMark>& now) {
    std::span<const DrawnMark> a = golden, b = now;
    while (!a.empty() && !b.empty() && same(a.front(), b.front())) a = a.subspan(1), b = b.subspan(1);
    while (!a.empty() && !b.empty() && same(a.back(), b.back()))
        a = a.first(a.size() - 1), b = b.first(b.size() - 1);
    constexpr std::size_t kMost = 16'000'000;  // pairs; beyond, only the first ones are compared
    const std::size_t side = 4000;
    if (a.size() * b.size() > kMost)
        a = a.first(std::min(a.size(), side)), b = b.first(std::min(b.size(), side));
    return difference_of(a, b);
}

std::vector<DrawnMark> marks_beyond_those(const std::vector<DrawnMark>& before, std::vector<DrawnMark> now) {
    std::map<std::string, int> known;
    for (const DrawnMark& m : before) known[line_of(m, 3)] += 1;
    std::erase_if(now, [&](const DrawnMark& m) { return known[line_of(m, 3)]-- > 0; });
    return now;
}

// ---- golden files -------------------------------------------------------------------------------------

GoldenMarks::GoldenMarks(std::string_view name)
    : file_(
        (std::filesystem::path(SOURCE_DIR) / "tests/golden/marks" / (std::string(name) + ".txt")).string()),
      name_(name), refresh_(std::getenv("PENTAMESH_REFRESH_MARKS") != nullptr) {
    if (!std::filesystem::exists(file_)) return;
    const std::string text = read_file(file_);
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.starts_with("== "))
            golden_.push_back({std::string(line.substr(3)), {}});
        else if (!line.empty() && !golden_.empty())
            golden_.back().lines.emplace_back(line);
    }
}

void GoldenMarks::check(const std::string& picture, const std::vector<DrawnMark>& marks) {
    const auto named = [&](const Picture& p) { return p.name == picture; };
    REQUIRE_MESSAGE(std::none_of(now_.begin(), now_.end(), named), "two pictures have the name ", picture);
    const auto at = std::find_if(golden_.begin(), golden_.end(), named);
    const std::vector<std::string> known = at == golden_.end() ? std::vector<std::string>{} : lines_of(*at);
    const std::vector<std::string> difference = difference_of_marks(marks_of_lines(known), marks);
    const bool equal = at != golden_.end() && difference.empty();
    // Equal marks keep their golden lines: another machine rounds another way.
    now_.push_back({picture, equal ? known : lines_of_marks(marks)});
    changed_ = changed_ || !equal;
    if (equal || refresh_) return;
    std::string said = name_ + ": " + picture + ": " + std::to_string(difference.size())
                       + " marks differ, - as it was, + as it is\n";
    int lines = 0;
    for (const std::string& line : difference) {
        if (lines++ == kMostLines || printed_ == kMostOfFile) {
            said += "  ...\n";
            break;
        }
        said += "  " + line + "\n", ++printed_;
    }
    CHECK_MESSAGE(equal, said);
}

// Returns the lines of a picture; one that is the same as another has only its name.
std::vector<std::string> GoldenMarks::lines_of(const Picture& picture) const {
    if (picture.lines.size() != 1 || !picture.lines[0].starts_with(kSameAs)) return picture.lines;
    for (const Picture& p : golden_)
        if (kSameAs + p.name == picture.lines[0]) return p.lines;
    return {};
}

void GoldenMarks::finish() {
    for (const Picture& p : golden_) {
        const bool drawn =
            std::any_of(now_.begin(), now_.end(), [&](const Picture& n) { return n.name == p.name; });
        changed_ = changed_ || !drawn;
        if (!refresh_) CHECK_MESSAGE(drawn, name_, ": nothing draws the picture ", p.name);
    }
    if (!refresh_ || !changed_) return;
    std::string text;
    for (const Picture& p : now_) {
        text += "== " + p.name + "\n";
        const auto first =
            std::find_if(now_.begin(), now_.end(), [&](const Picture& n) { return n.lines == p.lines; });
        if (first->name != p.name && p.lines.size() > 1)
            text += kSameAs + first->name + "\n";
        else
            for (const std::string& line : p.lines) text += line + "\n";
    }
    std::filesystem::create_directories(std::filesystem::path(file_).parent_path());
    write_file(file_, text);
    MESSAGE("written anew: ", file_);
}

}  // namespace pentamesh::ui
