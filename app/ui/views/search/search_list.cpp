#include "app/ui/views/search/search_parts.h"

#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "core/plan/factors.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr float kRow = 24, kGap = 8;
constexpr float kStep = 54, kTokens = 58, kMemory = 44, kMark = 15, kNumber = 22;

// Returns a short title for a column.
std::string_view column_name(Varied v) {
    switch (v) {
    case Varied::virtual_stages: return "v";
    case Varied::dp_shard: return "shard";
    case Varied::dp_replicate: return "repl";
    case Varied::micro_batch: return "mb";
    default: return chip_name(v);
    }
}

// Returns the columns: fields in which the results differ.
std::vector<Varied> differing(const std::vector<SearchRow>& rows, const LayoutChoice& own) {
    std::vector<Varied> out;
    for (const Varied v : all_of<Varied>())
        if (std::any_of(rows.begin(), rows.end(),
                        [&](const SearchRow& r) { return value_text(r.choice, v) != value_text(own, v); }))
            out.push_back(v);
    return out;
}

struct Columns {
    std::vector<Varied> fields;  // empty: the layout is one text
    std::vector<Size> size;
    std::string same;  // values shared by all results, in no column: "schedule zb-v, micro-batch 1"
};

Columns columns_of_results(Ui& ui, float room, const std::vector<SearchRow>& rows, const LayoutChoice& own) {
    Columns out{differing(rows, own), {}, {}};
    const TextStyle s = ui.style(12);
    float all = kNumber + kStep + kTokens + kMemory + kMark;
    for (const Varied v : out.fields) {
        float w = std::max(ui.canvas().text_width(column_name(v), ui.small()),
                           ui.canvas().text_width(value_text(own, v), s));
        for (const SearchRow& r : rows) w = std::max(w, ui.canvas().text_width(value_text(r.choice, v), s));
        out.size.push_back(px(w + kGap));
        all += w + kGap;
    }
    // If that is too wide, fields that the results share go into a line below.
    for (std::size_t i = out.fields.size(); i-- > 0 && all > room && !rows.empty();) {
        const Varied v = out.fields[i];
        const std::string value = value_text(rows.front().choice, v);
        if (std::any_of(rows.begin(), rows.end(),
                        [&](const SearchRow& r) { return value_text(r.choice, v) != value; }))
            continue;
        const std::string own_value = value_text(own, v);
        out.same = std::string(chip_name(v)) + " " + value
                   + (own_value == value ? "" : " (this plan: " + own_value + ")")
                   + (out.same.empty() ? "" : ", ") + out.same;
        all -= out.size[i].px;
        out.fields.erase(out.fields.begin() + static_cast<std::ptrdiff_t>(i));
        out.size.erase(out.size.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (all > room) out = {};
    return out;
}

// Holds the texts of a line: a result's, or the titles.
struct Line {
    std::string number;
    std::vector<std::string> fields;  // of the columns; one text where the layout is one
    std::string step, tokens, memory;
};

void draw_line(Ui& ui, Rect row, const Columns& columns, const Line& line, const TextStyle& number,
               const TextStyle& plain, const TextStyle& step) {
    std::vector<Words> cells{{line.number, px(kNumber), number}};
    for (std::size_t i = 0; i < line.fields.size(); ++i)
        cells.push_back({line.fields[i], columns.fields.empty() ? share() : columns.size[i], plain});
    cells.push_back({{}, columns.fields.empty() ? px(8) : share()});
    cells.push_back({line.step, px(kStep), step, Align::right});
    cells.push_back({line.tokens, px(kTokens), plain, Align::right});
    cells.push_back({line.memory, px(kMemory), plain, Align::right});
    cells.push_back(space(kMark));
    text_row(ui, row, cells);
}

void draw_head(Ui& ui, Rect row, const Columns& columns) {
    ui.canvas().line({row.x, row.bottom()}, {row.right(), row.bottom()}, ui.theme().hairline);
    Line titles{"", {}, "step", "tokens/s", "GiB"};
    for (const Varied v : columns.fields) titles.fields.emplace_back(column_name(v));
    if (columns.fields.empty()) titles.fields = {"layout"};
    draw_line(ui, row, columns, titles, ui.small(), ui.small(), ui.small());
}

struct Result {
    std::string number, step, tokens, memory;
    LayoutChoice choice;
    bool pareto = false, own = false;
};

void draw_result(Ui& ui, Rect row, const Columns& columns, const Result& r, bool experts) {
    Line line{r.number, {}, r.step, r.tokens, r.memory};
    for (const Varied v : columns.fields) line.fields.push_back(value_text(r.choice, v));
    if (columns.fields.empty()) line.fields = {words_of(r.choice, experts)};  // the card has all of it
    draw_line(ui, row, columns, line, ui.small(r.own ? Tone::text : Tone::secondary), ui.style(12),
              ui.style(12, Tone::text, Face::semibold));
    if (r.pareto) ui.canvas().circle({row.right() - 6, row.center().y}, 3.5f, ui.theme().good);
}

std::string_view words_of_goal(Goal goal) {
    switch (goal) {
    case Goal::tokens: return "BEST, MOST TOKENS PER SECOND";
    case Goal::memory: return "BEST, LEAST MEMORY";
    case Goal::cost: return "BEST, LEAST COST PER TOKEN";
    }
    return "";
}

}  // namespace

float results_height(std::size_t rows) {
    return 20 + 22 + kRow * static_cast<float>(rows + 2) + 28;
}

void draw_results(Ui& ui, Rect& room, const Scene& scene, const SearchFound& found,
                  const std::vector<SearchRow>& rows, std::size_t most, bool& all_rows, SearchPick& pick) {
    const std::optional<LayoutChoice> lit = pick.hovered;  // in the plot, which is drawn first
    ui.section(room.cut_top(20), words_of_goal(found.request.goal),
               found.report && !found.report->cancelled ? "" : "so far");
    const bool experts = scene.plan.model.moe.has_value();
    const LayoutChoice own = choice_of(scene.plan);
    const std::size_t shown = all_rows ? rows.size() : std::min(rows.size(), most);
    const std::vector<SearchRow> listed(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown));
    const Columns columns = columns_of_results(ui, room.w - 12, listed, own);
    draw_head(ui, room.cut_top(20).inset(6, 0), columns);
    room.cut_top(2);
    const double tokens = tokens_per_step(scene.plan.training);
    bool own_listed = false;
    for (std::size_t i = 0; i < shown; ++i) {
        const SearchRow& r = rows[i];
        const Rect row = room.cut_top(kRow);
        const Hit hit = ui.area("search.row", row, i);
        const bool is_own = r.choice == own;
        own_listed = own_listed || is_own;
        row_ground(ui, row, hit, lit && *lit == r.choice);
        if (is_own) ui.canvas().frame(row, ui.theme().text, 1, 4);
        draw_result(ui, row.inset(6, 0), columns,
                    {std::to_string(i + 1), time_text(r.step_s),
                     count_text(r.step_s > 0 ? tokens / r.step_s : 0), gib(r.memory_bytes), r.choice,
                     r.pareto, is_own},
                    experts);
        const bool by_keys = hit.focused && ui.state().focus_visible && !pick.hovered;
        if (hit.hovered || by_keys) pick.hovered = r.choice, pick.row = r;
        if (hit.hovered) pick.at = ui.frame().mouse;
        if (by_keys) pick.at = row.center();
        if (hit.clicked) pick.clicked = r.choice;
    }
    const Evaluation& e = scene.evaluation;
    if (!own_listed && e.step && !e.memory.stage.empty()) {
        const Rect row = room.cut_top(kRow);
        ui.canvas().frame(row, ui.theme().text, 1, 4);
        draw_result(ui, row.inset(6, 0), columns,
                    {"", time_text(e.step->time_s), count_text(e.step->tokens_per_s), gib(e.memory.peak()),
                     own, false, true},
                    experts);
    }
    if (!columns.same.empty())
        ui.label(room.cut_top(20).inset(6, 0), "all that are listed: " + columns.same, ui.small());
    if (rows.size() > most) {
        const Rect row = room.cut_top(kRow);
        const std::size_t more = rows.size() - most;
        if (ui.state().for_picture)
            ui.canvas().text_in(row.inset(6, 0), std::to_string(more) + " more", ui.small());
        else if (ui.link("search.all", {row.x + 6, row.y + 4},
                         all_rows ? "fewer" : "all " + std::to_string(rows.size())))
            all_rows = !all_rows;
    }
    room.cut_top(14);
}

float rejected_height(const SearchFound& found) {
    return 24 + kRow * static_cast<float>(found.report ? found.report->rejected.size() + 1 : 1);
}

void draw_rejected(Ui& ui, Rect& room, const SearchFound& found, SearchPick& pick) {
    const SearchCounts& n = found.counts;
    const std::int64_t others = n.invalid + n.too_big + n.left_out + (found.report ? n.skipped : 0);
    ui.section(room.cut_top(20), "WHY THE OTHERS ARE NOT HERE", thousands(others));
    room.cut_top(4);
    struct Reason {
        std::string words, about;
        std::int64_t count;
        const Plan* example;
        bool bad;
    };
    std::vector<Reason> reasons;
    if (found.report) {
        for (const Rejection& r : found.report->rejected) {
            const bool big = r.code == ProblemCode::out_of_memory;
            reasons.push_back({std::string(reason_words(r.code)), r.message, r.count, &r.example, big});
        }
        if (n.skipped > 0)
            reasons.push_back(
                {found.report->cancelled ? "not looked at" : "proved no better, without a look",
                 found.report->cancelled
                     ? "The search was stopped."
                     : "The least time and memory that they can take is beaten by a layout that "
                       "was found.",
                 n.skipped, nullptr, false});
    } else {
        if (n.too_big > 0)
            reasons.push_back(
                {std::string(reason_words(ProblemCode::out_of_memory)), "", n.too_big, nullptr, true});
        if (n.invalid > 0) reasons.push_back({"break a rule", "", n.invalid, nullptr, false});
    }
    std::sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
    std::int64_t most = 1;
    for (const Reason& r : reasons) most = std::max(most, r.count);
    Canvas& c = ui.canvas();
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        const Reason& r = reasons[i];
        const Rect row = room.cut_top(kRow);
        const Hit hit = ui.area("search.reason", row, i, r.example != nullptr);
        row_ground(ui, row, hit);
        if (ui.hovers(row) && !r.about.empty())
            ui.tooltip(r.words + "\n"
                       + (r.example != nullptr
                              ? "for example "
                                    + words_of(choice_of(*r.example), r.example->model.moe.has_value())
                                    + ":\n"
                              : "")
                       + r.about + (r.example != nullptr ? "\nclick: open that example" : ""));
        const auto [words, bar, count] =
            columns(row, {share(), px(std::min(220.0f, (row.w - 84) * 0.4f)), px(84)});
        ui.label({words.x, words.y, words.w - 8, words.h}, r.words, ui.style(12));
        const auto part = static_cast<float>(static_cast<double>(r.count) / static_cast<double>(most));
        c.rect({bar.x, bar.center().y - 5, std::max(1.0f, bar.w * part), 10},
               r.bad ? ui.theme().bad : ui.theme().faint);
        c.text_in(count, thousands(r.count), ui.small(), Align::right);
        if (hit.clicked) pick.example = r.example;
    }
}

}  // namespace pentamesh::ui
