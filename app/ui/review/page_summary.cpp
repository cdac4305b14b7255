#include "app/tables/compare.h"
#include "app/tables/review.h"
#include "app/ui/review/decision_parts.h"
#include "app/ui/review/decision_words.h"
#include "app/ui/review/pages.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "core/base/text.h"
#include "core/explain/verdict.h"
#include "core/mesh/layout_name.h"
#include "core/plan/edit_words.h"
#include "core/plan/title.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace pentamesh::ui {

namespace {

std::string layout_words(const Reviewed& of) {
    if (!of.evaluation.valid) return "";
    const LayoutName name = layout_name(of.plan, of.evaluation.mesh);
    return name.name + ": " + name.reason;
}

// Draws what the axes in use are called, each on its colour; returns the height.
float draw_axis_names(ReviewSheet& sheet, Rect room, const Reviewed& of, const std::vector<GroupKind>& axes,
                      bool draw) {
    const float line = sheet.paper().line(), mark = sheet.paper().body * 0.8f;
    float x = 0, y = 0;
    for (const GroupKind kind : axes) {
        const std::string name = axis_label(kind) + " " + with_commas(of.evaluation.groups[kind].degree);
        const float w = mark + 8 + sheet.canvas().text_width(name, sheet.strong()) + 2;
        if (x > 0 && x + w > room.w) x = 0, y += line;
        const Rect at{room.x + x, room.y + y, w, line};
        if (draw) {
            sheet.canvas().rect({at.x, at.center().y - mark / 2, mark, mark}, color_of(sheet.theme(), kind),
                                3);
            sheet.label({at.x + mark + 8, at.y, w - mark - 8, line}, name, sheet.strong());
        }
        x += w + sheet.paper().body;
    }
    return y + line;
}

// Draws figures at the left, the mesh at the right: one rank's groups of every axis, in a small cluster those
// of the first axis.
void figures_and_mesh(ReviewSheet& sheet, const Reviewed& of) {
    const Table figures = key_figures_table(of.plan, of.evaluation);
    const std::vector<GroupKind> axes = axes_in_use(of.evaluation);
    const bool all = of.evaluation.mesh.world > kMostCards;
    const auto draw_words = [&](Rect room, bool draw) {
        return all ? draw_axis_names(sheet, room, of, axes, draw)
                   : draw_axis_words(sheet, room, of, axes.front(), draw);
    };
    const float gap = sheet.paper().body * 2;
    const float left = axes.empty() ? sheet.width() : sheet.width() * 0.58f;
    const float right = sheet.width() - left - gap;
    const float table = sheet.table_in({0, 0, left, 0}, figures, false);
    float words = 0;
    if (!axes.empty()) words = draw_words({0, 0, right, 0}, false);
    const float least = axes.empty() ? 0 : words + sheet.paper().line() * 5;
    const Rect room = sheet.take(std::min(std::max(table, least), sheet.whole()));
    sheet.table_in({room.x, room.y, left, table}, figures);
    if (axes.empty()) return;
    Rect mesh{room.x + left + gap, room.y, right, room.h};
    draw_words(mesh, true);
    mesh.cut_top(words + sheet.paper().line() * 0.3f);
    draw_mesh_figure(sheet, mesh, of, all ? std::nullopt : std::optional(axes.front()));
}

}  // namespace

std::string by_and_when(const ReviewRequest& r) {
    return r.author + (!r.author.empty() && !r.date.empty() ? ", " : "") + r.date;
}

std::string problem_words(const Problem& p) {
    static constexpr std::array<const char*, 3> kWords{"Error", "Warning", "Note"};
    const std::string change = words_of(p.fix);
    return kWords[static_cast<std::size_t>(p.severity)] + (": " + p.message)
           + (change.empty() ? "" : " Change: " + change + ".");
}

bool in_use(const Evaluation& e, GroupKind axis) {
    return e.groups[axis].groups > 0 && e.groups[axis].degree > 1;
}

std::vector<GroupKind> axes_in_use(const Evaluation& e) {
    static constexpr std::array kAll{GroupKind::tp,           GroupKind::cp, GroupKind::dp_shard,
                                     GroupKind::dp_replicate, GroupKind::pp, GroupKind::etp,
                                     GroupKind::ep,           GroupKind::edp};
    std::vector<GroupKind> out;
    for (const GroupKind k : kAll)
        if (in_use(e, k)) out.push_back(k);
    return out;
}

void draw_item(ReviewSheet& sheet, Color mark, std::string_view words) {
    const float side = sheet.paper().body * 0.55f, indent = sheet.paper().body * 1.2f;
    bool first = true;
    const auto lines = sheet.canvas().wrapped(sheet.width() - indent, words, sheet.plain());
    sheet.need(std::min(sheet.whole(), sheet.paper().line() * static_cast<float>(lines.size())));
    for (const std::string_view line : lines) {
        Rect row = sheet.take(sheet.paper().line());
        if (first) sheet.canvas().rect({row.x, row.center().y - side / 2, side, side}, mark, 2);
        first = false;
        row.cut_left(indent);
        sheet.label(row, line, sheet.plain());
    }
}

void draw_problem_list(ReviewSheet& sheet, const Evaluation& e) {
    const Theme& t = sheet.theme();
    if (e.problems.empty()) sheet.words("None.");
    for (const Problem& p : e.problems) {
        const Color mark = p.severity == Severity::error     ? t.bad
                           : p.severity == Severity::warning ? t.amber
                                                             : t.secondary;
        draw_item(sheet, mark, problem_words(p));
        sheet.gap(0.2f);
    }
}

void author_words(ReviewSheet& sheet, const AuthorWords& words) {
    const std::array<std::pair<const char*, const std::string*>, 5> said{
        {{"Decision", &words.decision},
         {"Alternatives", &words.alternatives},
         {"Open questions", &words.open_questions},
         {"Risks", &words.risks},
         {"Owner", &words.owner}}};
    if (words == AuthorWords{}) return;
    sheet.head("In the author's words", sheet.paper().line() * 2);
    for (const auto& [name, text] : said) {
        if (text->empty()) continue;
        sheet.words(name, sheet.strong());
        for (const std::string& item : items_of(*text)) draw_item(sheet, sheet.theme().secondary, item);
        sheet.gap(0.3f);
    }
    sheet.gap();
}

namespace {

// Lists what the figures leave open, where the author asks nothing: the first page had no room for it.
void program_questions(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.first();
    if (content.comparison || !of.evaluation.step || !items_of(of.plan.review.open_questions).empty()) return;
    sheet.head("Open questions", sheet.paper().line() * 2);
    for (const std::string& q : open_questions(content, 0)) draw_item(sheet, sheet.theme().secondary, q);
    sheet.gap();
}

// Lists the problems, and draws what else was tried where the first page has no room for all of it. On a
// slide a long list has one half of the page, the changes the other one.
void advice_and_tried(ReviewSheet& sheet, const ReviewContent& content) {
    const Evaluation& e = content.evaluations[0];
    const float line = sheet.paper().line(), indent = sheet.paper().body * 1.2f;
    const bool tried = e.step && content.tried.size() + content.unfit.size() > 0
                       && (sheet.paper().wide || content.comparison);
    float list = sheet.paper().head * 1.35f + line * 0.25f;
    for (const Problem& p : e.problems)
        list += sheet.words_height(problem_words(p), sheet.width() - indent) + line * 0.2f;
    const bool halves = tried && !e.problems.empty() && sheet.paper().wide && !sheet.paper().one_a_page
                        && list > sheet.left();
    if (halves) {
        sheet.need(sheet.whole());
        sheet.columns(2);
    }
    // That there are none is no page of its own.
    if (!e.problems.empty() || sheet.left() >= line * 3) {
        const std::string first = e.problems.empty() ? "" : problem_words(e.problems[0]);
        sheet.head("Problems and advice", sheet.words_height(first, sheet.width() - indent));
        draw_problem_list(sheet, e);
    }
    if (!tried) return;
    if (halves) sheet.need(sheet.whole());  // the other half
    const float rows = tried_height(sheet, sheet.width(), content);
    sheet.head("What else was tried, one change each", rows);
    if (halves) {
        draw_tried(sheet, sheet.take(std::max(rows, std::min(2.6f * rows, sheet.left()))), content);
        sheet.columns(1);
    } else {
        draw_tried(sheet, sheet.take_grown(rows, 1.8f * rows), content);
    }
}

}  // namespace

void summary_page(ReviewSheet& sheet, const ReviewContent& content) {
    const Reviewed of = content.first();
    const ReviewRequest& r = content.request;
    bool said = false;  // all of the author's words, on the first page
    if (of.evaluation.step && !content.comparison) {
        said = decision_page(sheet, content);
        if (r.first_page_only) return;
    }
    if (!of.evaluation.valid && !content.comparison) impossible_page(sheet, content);
    const std::string letter = content.comparison ? plan_letter(content.request.second_is_a ? 1 : 0) : "";
    sheet.section(letter.empty() ? "The plan" : "Plan " + letter + ", on the pages from here on");
    if (!r.title.empty() && r.title != title_of(of.plan)) sheet.words(title_of(of.plan), sheet.strong());
    if (!r.author.empty()) sheet.words(r.author, sheet.faint());  // the date is in the foot
    sheet.words(asked_line(of.plan, of.evaluation.valid ? of.evaluation.microbatches : 0));
    if (const std::string layout = layout_words(of); !layout.empty()) sheet.words(layout, sheet.faint());
    sheet.gap();
    if (of.evaluation.valid) {
        figures_and_mesh(sheet, of);
        sheet.gap();
    }
    if (!said) {
        author_words(sheet, of.plan.review);
        program_questions(sheet, content);
    }
    if (!of.plan.notes.empty()) {
        sheet.head("Notes of the plan", sheet.words_height(of.plan.notes, sheet.width()));
        sheet.words(of.plan.notes);
        sheet.gap();
    }
    if (!of.evaluation.valid && !content.comparison) return;  // they are on the first page
    advice_and_tried(sheet, content);
}

}  // namespace pentamesh::ui
