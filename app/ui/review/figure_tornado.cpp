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

}  // namespace

void draw_tornado(ReviewSheet& sheet, const Reviewed& reviewed, const Sensitivity& of, std::size_t most) {
    const std::vector<Constant> constants = list_constants(reviewed.plan, reviewed.presets);
    ByFit has{};
    const std::vector<std::size_t> order = of.by_reach();
    Canvas& c = sheet.canvas();
    std::vector<TornadoRow> rows;
    double slower = 0, faster = 0;
    for (const std::size_t i : order) {
        if (rows.size() >= most) break;
        TornadoRow row = row_of(constants, of.rows[i], of.step_s);
        if (row.words.empty()) continue;
        for (const auto* n : {&of.rows[i].down, &of.rows[i].up})
            if (*n && (*n)->valid()) {
                slower = std::max(slower, (*n)->same_tokens_s - of.step_s);
                faster = std::max(faster, of.step_s - (*n)->same_tokens_s);
            }
        for (std::size_t f = 0; f < has.size(); ++f) has[f] = has[f] || row.has[f];
        rows.push_back(std::move(row));
    }
    if (rows.empty() || slower + faster <= 0) {
        sheet.words("No single change moves the time for the step's tokens.");
        return;
    }
    const float gap = sheet.paper().body;
    float name = 0, words = 0;
    for (const TornadoRow& r : rows) {
        name = std::max(name, c.text_width(r.name, sheet.plain()));
        words = std::max(words, c.text_width(r.words, sheet.plain()));
    }
    // If both leave no room for bars, the words go below their row's name.
    const bool below = name + words + 2 * gap > sheet.width() * 0.8f;
    name = std::min(name, sheet.width() * 0.45f);
    const float line = sheet.paper().line(), row_h = line * (below ? 2.2f : 1.15f);
    sheet.need(std::min(sheet.whole(), row_h * static_cast<float>(rows.size() + 1)));
    for (const TornadoRow& r : rows) {
        Rect row = sheet.take(row_h);
        const Rect bars_words =
            below ? Rect{row.x + gap, row.y + line, row.w - gap, line} : row.cut_right(words);
        Rect top = below ? Rect{row.x, row.y, row.w, line} : row;
        sheet.label(top.cut_left(name + 1), r.name, sheet.plain());
        top.cut_left(gap);
        if (!below) top.cut_right(gap);
        const double span = slower + faster;
        const auto x_of = [&](double d) { return top.x + static_cast<float>((d + faster) / span) * top.w; };
        for (const auto* n : {&r.of->down, &r.of->up}) {
            if (!*n || !(*n)->valid()) continue;
            const double d = (*n)->same_tokens_s - of.step_s;
            const float x0 = std::min(x_of(0), x_of(d)), x1 = std::max(x_of(0), x_of(d));
            sheet.canvas().rect({x0, top.y + top.h * 0.18f, std::max(1.0f, x1 - x0), top.h * 0.64f},
                                d > 0 ? sheet.theme().amber : sheet.theme().good);
        }
        sheet.canvas().line({x_of(0), top.y}, {x_of(0), top.bottom()}, sheet.theme().secondary);
        sheet.label(bars_words, r.words, below ? sheet.faint() : sheet.plain());
    }
    for (const MemoryFit f : {MemoryFit::no, MemoryFit::if_small})
        if (has[static_cast<std::size_t>(f)])
            sheet.words(std::string(kFitMarks[static_cast<std::size_t>(f)]) + " " + std::string(name_of(f))
                            + ".",
                        sheet.faint());
}

}  // namespace pentamesh::ui
