// Draws the lower part of the page that decides: where the step goes, what else was tried, what is open.
#include "app/ui/kit/format.h"
#include "app/ui/review/decision_parts.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/pages.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kAllParts = 64;

// Returns the parts of the step in its order, what is small joined as the last.
std::vector<std::pair<std::string, StepSlice>> large_parts(const Step& step, std::size_t most) {
    std::vector<std::pair<std::string, StepSlice>> out;
    for (const StepSlice& s : joined(waterfall(step), is_below_peak, StepPart::products)) {
        out.emplace_back(part_name(s), s);
    }
    if (out.size() > most) {
        std::vector<double> times;
        for (const auto& [name, s] : out) times.push_back(s.time_s);
        std::sort(times.begin(), times.end(), std::greater<>());
        const double least = times[std::max<std::size_t>(most, 2) - 2];
        StepSlice other{.part = StepPart::optimizer};
        std::erase_if(out, [&](const auto& part) {
            if (part.second.time_s >= least) return false;
            other.time_s += part.second.time_s;
            return true;
        });
        out.emplace_back("other", other);
    }
    double at = 0;
    for (auto& [name, s] : out) s.from_s = at, at += s.time_s;
    return out;
}

void draw_step_column(ReviewSheet& sheet, Rect room, const Step& step) {
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line();
    sheet.label(room.cut_top(line), "Where the " + time_text(step.time_s) + " go", sheet.strong());
    const auto parts = large_parts(step, static_cast<std::size_t>(std::max(2.0f, std::floor(room.h / line))));
    float label = 0, figure = 0;
    for (const auto& [name, s] : parts) {
        label = std::max(label, c.text_width(name, sheet.plain()) + sheet.paper().body * 0.6f);
        figure =
            std::max(figure, c.text_width(time_text(s.time_s), sheet.plain()) + sheet.paper().body * 0.5f);
    }
    const float w = std::max(10.0f, room.w - label - figure);
    // On a slide the rows keep step with those of the other columns.
    const float high = sheet.paper().wide ? line : room.h / static_cast<float>(parts.size());
    for (const auto& [name, s] : parts) {
        const Rect row = room.cut_top(high);
        sheet.label({row.x, row.y, label, row.h}, name, sheet.plain());
        const float x = row.x + label + static_cast<float>(s.from_s / step.time_s) * w;
        const float len = std::max(1.5f, static_cast<float>(s.time_s / step.time_s) * w);
        fill_part(c, sheet.theme(), {x, row.y + row.h * 0.2f, len, row.h * 0.6f}, s);
        sheet.label({row.right() - figure, row.y, figure, row.h}, time_text(s.time_s), sheet.plain(),
                    Align::right);
    }
}

// Draws items below a heading, as many as there is room for, each with a mark or a box to tick. Returns how
// many.
std::size_t draw_items(ReviewSheet& sheet, Rect& room, const std::vector<std::string>& items, bool ticked) {
    Canvas& c = sheet.canvas();
    const float line = sheet.paper().line(), box = sheet.paper().body * 0.7f, indent = box * 1.7f;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const float h = c.paragraph_height(room.w - indent, items[i], sheet.plain(), line);
        const float more = i + 1 < items.size() ? line : 0;  // the line that says how many there are
        if (h + more > room.h) {
            if (room.h >= line)
                sheet.label(room.cut_top(line), std::to_string(items.size() - i) + " more on the next page",
                            sheet.faint());
            return i;
        }
        const Rect row = room.cut_top(h + line * 0.15f);
        const Rect mark{row.x, row.y + (line - box) / 2, box, box};
        if (ticked)
            c.frame(mark, sheet.theme().secondary, 1.2f, 2);
        else
            c.circle({mark.x + box * 0.4f, mark.center().y}, box * 0.22f, sheet.theme().secondary);
        c.paragraph({row.x + indent, row.y, row.w - indent, h}, items[i], sheet.plain(), line);
    }
    return items.size();
}

// Returns the height of a heading and of items below it.
float items_height(const ReviewSheet& sheet, float width, const std::vector<std::string>& items) {
    const float line = sheet.paper().line(), indent = sheet.paper().body * 0.7f * 1.7f;
    float out = line;
    for (const std::string& item : items) out += sheet.words_height(item, width - indent) + line * 0.15f;
    return out;
}

// Draws the author's alternatives, and below them what the program tried, as far as there is room.
bool draw_tried_column(ReviewSheet& sheet, Rect room, const ReviewContent& content,
                       const SearchResult* proposed) {
    const Reviewed of = content.first();
    const float line = sheet.paper().line();
    const std::vector<std::string> own = items_of(of.plan.review.alternatives);
    std::size_t said = 0;
    if (!own.empty()) {
        sheet.label(room.cut_top(line), "Alternatives", sheet.strong());
        said = draw_items(sheet, room, own, false);
        room.cut_top(line * 0.3f);
        if (room.h < line * 2.5f) return said == own.size();
    }
    Rect head = room.cut_top(line);
    const float memory_w = sheet.canvas().text_width("000.0", sheet.strong()) + 12,
                time_w = sheet.canvas().text_width("00.00 ms", sheet.strong()) + 6;
    sheet.label(head.cut_right(memory_w), "GiB", sheet.faint(), Align::right);
    sheet.label(head.cut_right(time_w), "step", sheet.faint(), Align::right);
    sheet.label(head, "One change each", sheet.strong());
    const auto row = [&](const std::string& words, double step_s, double memory, bool fits, bool strong) {
        TextStyle style = strong ? sheet.strong() : sheet.plain(), figure = style;
        if (!fits) figure.color = sheet.theme().bad;
        const float h = sheet.canvas().paragraph_height(room.w - memory_w - time_w, words, style, line);
        if (h > room.h) return false;
        Rect r = room.cut_top(h);
        if (strong)
            sheet.canvas().rect(r.inset(-4, 0), mix(sheet.theme().panel, sheet.theme().good, 0.14f), 3);
        Rect memory_at = r.cut_right(memory_w), time_at = r.cut_right(time_w);
        memory_at.h = time_at.h = line;
        sheet.label(memory_at, gib(memory), figure, Align::right);
        sheet.label(time_at, time_text(step_s), style, Align::right);
        sheet.canvas().paragraph(r, words, style, line);
        return true;
    };
    const Evaluation& e = of.evaluation;
    row("this plan", e.step->time_s, e.memory.peak(), fit_of_plan(e) == MemoryFit::yes, false);
    // Layouts that are faster and do not fit have the last rows.
    constexpr std::size_t kUnfitBeside = 2;
    const std::size_t unfit = std::min(content.unfit.size(), sheet.paper().wide ? kUnfitBeside : kAllParts);
    Rect last = room.cut_bottom(std::min(room.h * 0.5f, line * static_cast<float>(unfit)));
    for (const SearchResult& r : content.tried)
        if (!row(change_words(of.plan, r.choice), r.step_s, r.memory_bytes, true, &r == proposed)) break;
    room.h += last.h;
    for (const SearchResult& r : content.unfit)
        if (!row(change_words(of.plan, r.choice) + ": does not fit", r.step_s, r.memory_bytes, false, false))
            break;
    if (content.tried.empty() && room.h >= line)
        sheet.label(room.cut_top(line), "no other fits", sheet.faint());
    return said == own.size();
}

// Returns the author's questions, else the program's.
std::vector<std::string> questions_of(const ReviewContent& content) {
    std::vector<std::string> own = items_of(content.plans[0].review.open_questions);
    return own.empty() ? open_questions(content, better_of(content).value_or(0)) : own;
}

float questions_height(const ReviewSheet& sheet, float width, const ReviewContent& content) {
    const float line = sheet.paper().line();
    const std::vector<std::string> risks = items_of(content.plans[0].review.risks);
    return items_height(sheet, width, questions_of(content))
           + (risks.empty() ? 0 : items_height(sheet, width, risks) + line * 0.3f) + line * 3.5f;
}

// Draws room for a decision and its owner.
void draw_signature(ReviewSheet& sheet, Rect row, const std::string& owner) {
    const auto field = [&](Rect r, const std::string& name, const std::string& value) {
        sheet.canvas().line({r.x, r.bottom()}, {r.right(), r.bottom()}, sheet.theme().secondary);
        sheet.label({r.x, r.bottom() - sheet.paper().line(), r.w, sheet.paper().line()},
                    value.empty() ? name : name + ": " + value, sheet.faint());
    };
    const Rect right = row.cut_right(row.w * 0.5f - sheet.paper().body * 0.5f);
    row.cut_right(sheet.paper().body);
    field(row, "Decision", "");
    field(right, "Owner", owner);
}

// Draws what is open, the author's own in the place of the program's, the risks, and room for a decision.
bool draw_questions_column(ReviewSheet& sheet, Rect room, const ReviewContent& content) {
    const float line = sheet.paper().line();
    const AuthorWords& own = content.plans[0].review;
    const Rect signature = room.cut_bottom(line * 1.6f);
    sheet.label(room.cut_top(line), "Open questions", sheet.strong());
    const std::vector<std::string> questions = questions_of(content);
    if (questions.empty()) sheet.label(room.cut_top(line), "none from the figures", sheet.faint());
    const std::vector<std::string> risks = items_of(own.risks);
    // Risks keep a heading and a line at least.
    Rect upper = room;
    if (!risks.empty()) upper.cut_bottom(std::min(upper.h, line * 2.3f));
    const float before = upper.h;
    bool whole = draw_items(sheet, upper, questions, true) == questions.size();
    room.cut_top(before - upper.h);
    if (!risks.empty()) {
        room.cut_top(line * 0.3f);
        sheet.label(room.cut_top(line), "Risks", sheet.strong());
        whole = draw_items(sheet, room, risks, false) == risks.size() && whole;
    }
    draw_signature(sheet, signature, own.owner);
    return whole;
}

}  // namespace

std::string part_name(const StepSlice& s) {
    return s.part == StepPart::exposed    ? axis_label(s.group)
           : s.part == StepPart::products ? "below the peak"
                                          : std::string(name_of(s.part));
}

void draw_open(ReviewSheet& sheet, const ReviewContent& content) {
    const float high = questions_height(sheet, sheet.width(), content);
    if (high <= sheet.left()) {
        draw_questions_column(sheet, sheet.take(high), content);
        return;
    }
    // A page with less room has the decision at the right of the questions.
    const std::vector<std::string> questions = questions_of(content);
    const float line = sheet.paper().line(), apart = sheet.paper().body * 2.2f,
                half = (sheet.width() - apart) / 2;
    const float least = std::max(items_height(sheet, half, questions), 2.6f * line);
    if (!content.plans[0].review.risks.empty() || least > sheet.left()) return;
    Rect room = sheet.take(least);
    Rect right = room.cut_right(half);
    draw_signature(sheet, right.cut_bottom(line * 1.6f), content.plans[0].review.owner);
    room.cut_right(apart);
    sheet.label(room.cut_top(line), "Open questions", sheet.strong());
    if (questions.empty()) sheet.label(room, "none from the figures", sheet.faint());
    draw_items(sheet, room, questions, true);
}

bool draw_columns(ReviewSheet& sheet, const ReviewContent& content, const SearchResult* proposed) {
    const Step& step = *content.evaluations[0].step;
    if (sheet.paper().wide) {
        Rect room = sheet.take(std::max(0.0f, sheet.left() - 2));
        const float apart = sheet.paper().body * 1.4f, w = (room.w - 2 * apart) / 3;
        draw_step_column(sheet, room.cut_left(w), step);
        room.cut_left(apart);
        const bool tried = draw_tried_column(sheet, room.cut_left(w), content, proposed);
        room.cut_left(apart);
        return draw_questions_column(sheet, room, content) && tried;
    }
    const float line = sheet.paper().line(), apart = sheet.paper().body * 2.2f,
                half = (sheet.width() - apart) / 2;
    const auto rows = [&](std::size_t n) { return line * static_cast<float>(n); };
    const float course = std::min(sheet.left(), rows(large_parts(step, kAllParts).size() + 1));
    draw_step_column(sheet, sheet.take_grown(course, 3 * course), step);
    sheet.gap();
    const AuthorWords& own = content.plans[0].review;
    const float tried_h =
        rows(content.tried.size() + content.unfit.size() + 3)
        + (own.alternatives.empty() ? 0
                                    : items_height(sheet, half, items_of(own.alternatives)) + 1.5f * line);
    Rect room = sheet.take(std::min(std::max(0.0f, sheet.left() - 2),
                                    std::max(tried_h, questions_height(sheet, half, content))));
    const bool tried = draw_tried_column(sheet, room.cut_left(half), content, proposed);
    room.cut_left(apart);
    return draw_questions_column(sheet, room, content) && tried;
}

}  // namespace pentamesh::ui
