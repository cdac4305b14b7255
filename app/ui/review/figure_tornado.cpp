#include "app/ui/panels/constants_panel.h"
#include "app/ui/review/figures.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/step/constants.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {

namespace {

std::string signed_time(double s) {
    return (s < 0 ? "−" : "+") + time_text(std::abs(s), Zeros::kept);
}

// Returns a constant in its unit, a setting as it is written.
std::string value_words(const std::vector<Constant>& constants, const SensitivityRow& row,
                        const std::string& value) {
    if (row.kind != SensitivityRow::Kind::constant) return value;
    const auto number = parse_double(value);
    for (const Constant& c : constants)
        if (c.id == row.id && number) return constant_text(c.unit, *number);
    return value;
}

// Behind a change's time; what it means stands below.
constexpr std::array<std::string_view, 3> kFitMarks{"", "**", "*"};
using ByFit = std::array<bool, 3>;

struct TornadoRow {
    const SensitivityRow* of = nullptr;
    std::string name, words;  // the changed field; its new value, and the effect
    ByFit has{};              // whether one of its changes fits so
};

TornadoRow row_of(const std::vector<Constant>& constants, const SensitivityRow& r, double step_s) {
    TornadoRow out{&r, r.name + " " + value_words(constants, r, r.value), "", {}};
    const auto effect = [&](const Nudge& n) {
        out.has[static_cast<std::size_t>(n.fit)] = true;
        return signed_time(n.same_tokens_s - step_s)
               + std::string(kFitMarks[static_cast<std::size_t>(n.fit)]);
    };
    if (!r.down && r.up && r.up->valid()) {  // one of several choices
        out.name += " → " + value_words(constants, r, r.up->value);
        out.words = effect(*r.up);
        return out;
    }
    for (const auto* n : {&r.down, &r.up})
        if (*n && (*n)->valid())
            out.words += (out.words.empty() ? "" : ",  ") + value_words(constants, r, (*n)->value) + ": "
                         + effect(**n);
    return out;
}

// Returns by how much the best of its changes that fit makes the step shorter; nullopt: none fits.
std::optional<double> best_gain(const SensitivityRow& r, double step_s) {
    std::optional<double> out;
    for (const auto* n : {&r.down, &r.up})
        if (*n && (*n)->valid() && (*n)->fit == MemoryFit::yes)
            out = std::max(out.value_or(step_s - (*n)->same_tokens_s), step_s - (*n)->same_tokens_s);
    return out;
}

// Returns what may be chosen: rows with a change that fits, what gains most first, then the widest.
std::vector<std::size_t> choices_of(const Sensitivity& of, std::size_t most) {
    std::vector<std::size_t> out;
    for (const std::size_t i : of.by_reach())
        if (of.rows[i].kind != SensitivityRow::Kind::constant && best_gain(of.rows[i], of.step_s))
            out.push_back(i);
    std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
        return std::max(0.0, *best_gain(of.rows[a], of.step_s))
               > std::max(0.0, *best_gain(of.rows[b], of.step_s));
    });
    if (out.size() > most) out.resize(most);
    return out;
}

std::vector<std::size_t> constants_of(const Sensitivity& of, std::size_t most) {
    std::vector<std::size_t> out;
    for (const std::size_t i : of.by_reach())
        if (of.rows[i].kind == SensitivityRow::Kind::constant && out.size() < most) out.push_back(i);
    return out;
}

// Holds the scale that all bars share, and the widths of their words.
struct TornadoScale {
    double slower = 0, faster = 0, step_s = 0;
    float name = 0, words = 0;
    bool below = false;  // the words stand below the name
};

void draw_row(ReviewSheet& sheet, Rect row, const TornadoRow& r, const TornadoScale& scale) {
    const float line = sheet.paper().line(), gap = sheet.paper().body;
    const Rect bars_words =
        scale.below ? Rect{row.x + gap, row.y + line, row.w - gap, line} : row.cut_right(scale.words);
    Rect top = scale.below ? Rect{row.x, row.y, row.w, line} : row;
    sheet.label(top.cut_left(scale.name + 1), r.name, sheet.plain());
    top.cut_left(gap);
    if (!scale.below) top.cut_right(gap);
    const auto x_of = [&](double d) {
        return top.x + static_cast<float>((d + scale.faster) / (scale.slower + scale.faster)) * top.w;
    };
    for (const auto* n : {&r.of->down, &r.of->up}) {
        if (!*n || !(*n)->valid()) continue;
        const double d = (*n)->same_tokens_s - scale.step_s;
        const float x0 = std::min(x_of(0), x_of(d)), x1 = std::max(x_of(0), x_of(d));
        sheet.canvas().rect({x0, top.y + top.h * 0.18f, std::max(1.0f, x1 - x0), top.h * 0.64f},
                            d > 0 ? sheet.theme().amber : sheet.theme().good);
    }
    sheet.canvas().line({x_of(0), top.y}, {x_of(0), top.bottom()}, sheet.theme().secondary);
    sheet.label(bars_words, r.words, scale.below ? sheet.faint() : sheet.plain());
}

}  // namespace

void draw_tornado(ReviewSheet& sheet, const Reviewed& reviewed, const Sensitivity& of) {
    constexpr std::size_t kChoices = 8, kConstants = 5;
    const std::vector<Constant> constants = list_constants(reviewed.plan, reviewed.presets);
    const auto rows_of = [&](const std::vector<std::size_t>& which) {
        std::vector<TornadoRow> out;
        for (const std::size_t i : which) {
            out.push_back(row_of(constants, of.rows[i], of.step_s));
            if (out.back().words.empty()) out.pop_back();
        }
        return out;
    };
    const std::array<std::vector<TornadoRow>, 2> panels{rows_of(choices_of(of, kChoices)),
                                                        rows_of(constants_of(of, kConstants))};
    TornadoScale scale{.step_s = of.step_s};
    ByFit has{};
    for (const auto& rows : panels)
        for (const TornadoRow& r : rows) {
            for (const auto* n : {&r.of->down, &r.of->up})
                if (*n && (*n)->valid()) {
                    scale.slower = std::max(scale.slower, (*n)->same_tokens_s - of.step_s);
                    scale.faster = std::max(scale.faster, of.step_s - (*n)->same_tokens_s);
                }
            for (std::size_t f = 0; f < has.size(); ++f) has[f] = has[f] || r.has[f];
            scale.name = std::max(scale.name, sheet.canvas().text_width(r.name, sheet.plain()));
            scale.words = std::max(scale.words, sheet.canvas().text_width(r.words, sheet.plain()));
        }
    if (scale.slower + scale.faster <= 0) {
        sheet.words("No single change moves the time for the step's tokens.");
        return;
    }
    // If both leave no room for bars, the words go below their row's name.
    scale.below = scale.name + scale.words + 2 * sheet.paper().body > sheet.width() * 0.8f;
    scale.name = std::min(scale.name, sheet.width() * 0.45f);
    const float row_h = sheet.paper().line() * (scale.below ? 2.2f : 1.1f);
    for (std::size_t k = 0; k < panels.size(); ++k) {
        if (panels[k].empty()) continue;
        const float high = row_h * static_cast<float>(panels[k].size());
        sheet.need(std::min(sheet.whole(), high + sheet.paper().line()));
        sheet.words(k == 0 ? "What may be chosen, what gains most first" : "What it rests on",
                    sheet.strong());
        Rect rows = sheet.take_grown(high, 1.7f * high);
        const float each = rows.h / static_cast<float>(panels[k].size());
        for (const TornadoRow& r : panels[k]) draw_row(sheet, rows.cut_top(each), r, scale);
    }
    for (const MemoryFit f : {MemoryFit::no, MemoryFit::if_small})
        if (has[static_cast<std::size_t>(f)])
            sheet.words(std::string(kFitMarks[static_cast<std::size_t>(f)]) + " " + std::string(name_of(f))
                            + ".",
                        sheet.faint());
}

}  // namespace pentamesh::ui
