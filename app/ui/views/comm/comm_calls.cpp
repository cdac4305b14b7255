#include "app/ui/views/comm/view.h"

#include "app/ui/kit/format.h"
#include "app/ui/scene/axis_name.h"
#include "core/comm/comm_count.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace pentamesh::ui {

namespace {

constexpr std::size_t kLeastEqual = 4;  // fewer calls of one size get no heading
constexpr int kHeadings = 64;           // bits of CommCallsState::closed
constexpr float kRow = 20;

// Calls in a row of the list, all of one axis.
struct Lot {
    std::vector<int> operations;
    bool outside = false;  // on other stages
};

bool have_one_size(const Operation& a, const Operation& b) {
    return a.message_bytes == b.message_bytes && a.count_per_step == b.count_per_step && a.tier == b.tier
           && a.group_size == b.group_size;
}

// Returns the calls of an axis: those of one size together, those of other stages last.
std::vector<Lot> lots_of(const Comm& comm, GroupKind group) {
    std::vector<Lot> out;
    Lot outside{{}, true};
    for (std::size_t i = 0; i < comm.operations.size(); ++i) {
        const Operation& o = comm.operations[i];
        if (o.group != group) continue;
        if (o.on_other_stage) {
            outside.operations.push_back(static_cast<int>(i));
            continue;
        }
        const auto lot = std::find_if(out.begin(), out.end(), [&](const Lot& l) {
            return have_one_size(comm.operations[static_cast<std::size_t>(l.operations.front())], o);
        });
        if (lot == out.end())
            out.push_back({{static_cast<int>(i)}});
        else
            lot->operations.push_back(static_cast<int>(i));
    }
    if (!outside.operations.empty()) out.push_back(std::move(outside));
    return out;
}

// Returns "5 all-gather, 5 reduce-scatter"; "3 kinds" of more than two.
std::string collectives_text(const Comm& comm, const std::vector<int>& operations) {
    EnumArray<Collective, int> count{};
    for (const int i : operations) ++count[comm.operations[static_cast<std::size_t>(i)].collective];
    std::string s;
    int kinds = 0;
    for (const Collective c : all_of<Collective>()) kinds += count[c] > 0 ? 1 : 0;
    if (kinds > 2) return std::to_string(kinds) + " kinds";
    for (const Collective c : all_of<Collective>())
        if (count[c] > 0)
            s += (s.empty() ? "" : ", ") + (kinds > 1 ? std::to_string(count[c]) + " " : std::string())
                 + std::string(words_of(c));
    return s;
}

// The sums are of the busiest stage's bytes and time; the words say where a row is of another stage.
std::string what_and_where(const Operation& op) {
    std::string s(words_of(op.what));
    if (op.on_other_stage) s += op.scope == Scope::head ? " (last stage)" : " (first stage)";
    return s;
}

std::string waits_text(double time_s) {
    return time_s > 0 ? time_text(time_s) : "none";
}

// The words of one row, from which each form of the table takes its columns.
struct RowWords {
    std::string axis, what, collective, over, link, calls, buffer;
    double sent = 0;
};

constexpr int kBarColumn = 8;
constexpr std::string_view kSwatchRoom = "     ", kIndent = "   ";  // painted over

class Lister {
  public:
    Lister(const Scene& scene, CallColumns columns, std::uint64_t closed, int stage)
        : scene_(scene), columns_(columns), closed_(closed), stage_(stage) {
        const auto number = [](const char* title) { return Table::Column{title, Shown::plain}; };
        if (columns == CallColumns::all)
            out_.table.columns = {{"axis"},           {"what"},        {"collective"},   number("over"),
                                  {"link"},           number("calls"), number("buffer"), number("sent"),
                                  {"time of a step"}, number("waits"), number("time")};
        else if (columns == CallColumns::narrow)
            out_.table.columns = {{"axis"},        {"what, by which collective"},
                                  number("calls"), number("sent"),
                                  number("time"),  number("exposed")};
        else
            out_.table.columns = {{"axis, what"}, number("sent"), number("time")};
    }

    CallRows list() {
        const Comm& comm = scene_.evaluation.comm;
        if (stage_ >= 0) {
            counted_ = comm;
            count_calls(scene_.plan, stage_, counted_);
        }
        std::vector<GroupKind> kinds;
        for (const Operation& o : comm.operations)
            if (std::find(kinds.begin(), kinds.end(), o.group) == kinds.end()) kinds.push_back(o.group);
        std::stable_sort(kinds.begin(), kinds.end(), [&](GroupKind a, GroupKind b) {
            return comm.by_axis[a].time_s > comm.by_axis[b].time_s;
        });
        for (const GroupKind kind : kinds) list_axis(kind);
        return std::move(out_);
    }

  private:
    void list_axis(GroupKind kind) {
        const Comm& comm = scene_.evaluation.comm;
        const AxisTraffic& t = comm.by_axis[kind];
        const std::vector<Lot> lots = lots_of(comm, kind);
        std::vector<int> all;
        for (const Lot& l : lots)
            if (!l.outside) all.insert(all.end(), l.operations.begin(), l.operations.end());
        const GroupSummary& groups = scene_.evaluation.groups[kind];
        RowWords w{.axis = axis_label(kind),
                   .what = plural(static_cast<std::int64_t>(all.size()), "collective", "collectives"),
                   .collective = collectives_text(comm, all),
                   .over = std::to_string(groups.degree),
                   .link = tier_label(scene_.plan.cluster, groups.slowest_tier),
                   .calls = thousands(std::llround(t.count)),
                   .buffer = {},
                   .sent = t.sent_bytes_per_rank};
        out_.longest_s = std::max(out_.longest_s, t.time_s);
        if (!add_heading(kind, w, t.time_s, t.exposed_s, false)) {
            for (const Lot& l : lots) next_heading_ += needs_heading(l) ? 1 : 0;
            return;
        }
        for (const Lot& l : lots) list_lot(kind, l);
    }

    static bool needs_heading(const Lot& lot) { return lot.outside || lot.operations.size() >= kLeastEqual; }

    void list_lot(GroupKind kind, const Lot& lot) {
        const Comm& comm = scene_.evaluation.comm;
        if (needs_heading(lot)) {
            const Operation& first = comm.operations[static_cast<std::size_t>(lot.operations.front())];
            RowWords w{.axis = {},
                       .what = std::to_string(lot.operations.size())
                               + (lot.outside ? " on other stages, in no sum" : " of one size"),
                       .collective = collectives_text(comm, lot.operations),
                       .over = {},
                       .link = tier_label(scene_.plan.cluster, first.tier),
                       .calls = {},
                       .buffer = {}};
            double time = 0, exposed = 0, calls = 0, most = 0;
            for (const int i : lot.operations) {
                const Operation& o = comm.operations[static_cast<std::size_t>(i)];
                time += o.time_s;
                exposed += o.exposed_s;
                calls += o.count_per_step;
                w.sent += o.sent_bytes_per_rank;
                most = std::max(most, o.message_bytes);
            }
            w.calls = thousands(std::llround(calls));
            w.buffer = (lot.outside ? "to " : "") + traffic_text(most);
            if (!add_heading(kind, w, time, exposed, lot.outside)) return;
        }
        for (const int i : lot.operations) add_call(i, needs_heading(lot));
    }

    // Returns true if the heading's rows are shown.
    bool add_heading(GroupKind kind, const RowWords& w, double time_s, double exposed_s, bool outside) {
        const int bit = std::min(next_heading_++, kHeadings - 1);
        out_.row.push_back({kind, -1, bit, outside, time_s, exposed_s});
        out_.tone.push_back(w.axis.empty() ? (outside ? RowTone::faint : RowTone::plain) : RowTone::heading);
        add_words(w, time_s, exposed_s, w.axis.empty() ? 1 : 0);
        return ((closed_ >> bit) & 1U) == 0;
    }

    void add_call(int i, bool deep) {
        const Operation& o = scene_.evaluation.comm.operations[static_cast<std::size_t>(i)];
        out_.row.push_back({o.group, i, -1, o.on_other_stage, o.time_s, o.exposed_s});
        bool made = true;
        if (stage_ >= 0) {
            const Operation& there = counted_.operations[static_cast<std::size_t>(i)];
            made = !there.on_other_stage && there.count_per_step > 0;
        }
        out_.tone.push_back(made ? RowTone::plain : RowTone::faint);
        out_.longest_s = std::max(out_.longest_s, o.time_s);
        add_words({.axis = columns_ == CallColumns::all ? std::string() : axis_label(o.group),
                   .what = what_and_where(o),
                   .collective = std::string(words_of(o.collective)),
                   .over = std::to_string(o.group_size),
                   .link = tier_label(scene_.plan.cluster, o.tier),
                   .calls = thousands(std::llround(o.count_per_step)),
                   .buffer = traffic_text(o.message_bytes),
                   .sent = o.sent_bytes_per_rank},
                  o.time_s, o.exposed_s, deep ? 3 : 2);
    }

    // `depth` is by how much the row's words are set in: 0 for an axis.
    void add_words(const RowWords& w, double time_s, double exposed_s, int depth) {
        std::string indent;
        for (int i = 0; i < depth; ++i) indent += kIndent;
        const std::string sent = traffic_text(w.sent), time = time_text(time_s),
                          waits = waits_text(exposed_s),
                          axis = w.axis.empty() ? w.axis : std::string(kSwatchRoom) + w.axis;
        auto& rows = out_.table.rows;
        if (columns_ == CallColumns::all)
            rows.push_back({axis,
                            std::string(kSwatchRoom) + indent + w.what,
                            w.collective,
                            w.over,
                            w.link,
                            w.calls,
                            w.buffer,
                            sent,
                            {},
                            waits,
                            time});
        else if (columns_ == CallColumns::narrow)
            rows.push_back({axis, w.what + "\n" + w.collective, w.calls, sent, time, waits});
        else
            rows.push_back(
                {w.what + "\n" + w.axis + (w.axis.empty() ? "" : ", ") + w.collective, sent, time});
    }

    const Scene& scene_;
    CallColumns columns_;
    std::uint64_t closed_;
    int stage_;
    int next_heading_ = 0;
    Comm counted_;
    CallRows out_;
};

// Returns the middle of a cell's first line: words may take two.
float first_line(Rect cell) {
    return std::min(cell.center().y, cell.y + 11);
}

// Draws a row's time on the common scale: filled where the step waits, outlined where it is hidden.
void draw_time(Ui& ui, Rect cell, const CallRow& row, double longest_s, RowTone tone) {
    if (longest_s <= 0) return;
    Color color = color_of(ui.theme(), row.group);
    if (tone != RowTone::heading) color = mix(ui.theme().window, color, 0.7f);
    const float h = tone == RowTone::heading ? 12.0f : 8.0f;
    const auto width = [&](double time) { return static_cast<float>(time / longest_s) * cell.w; };
    const Rect all{cell.x, first_line(cell) - h / 2, std::max(width(row.time_s), 1.0f), h};
    if (row.time_s > row.exposed_s) ui.canvas().frame(all, color, 1);
    if (row.exposed_s > 0) ui.canvas().rect({all.x, all.y, std::max(width(row.exposed_s), 1.0f), h}, color);
}

// Draws the triangle of a heading: it points down where its rows are shown.
void draw_caret(Ui& ui, Vec2 at, bool open) {
    const std::array<Vec2, 3> down{Vec2{at.x - 4, at.y - 2.5f}, Vec2{at.x + 4, at.y - 2.5f},
                                   Vec2{at.x, at.y + 3}},
        right{Vec2{at.x - 2.5f, at.y - 4}, Vec2{at.x + 3, at.y}, Vec2{at.x - 2.5f, at.y + 4}};
    ui.canvas().polygon(open ? down : right, ui.theme().secondary);
}

// Paints what the words leave out: axis colours, carets, links and bars. Returns true where it drew the cell.
bool paint_cell(Ui& ui, const CallRows& rows, std::uint64_t closed, Rect cell, std::size_t r,
                std::size_t column) {
    const CallRow& row = rows.row[r];
    if (column == 0 && row.heading >= 0 && rows.tone[r] == RowTone::heading) {
        ui.swatch({cell.x, first_line(cell) - 5}, color_of(ui.theme(), row.group));
        names_axis(ui, row.group, cell, "click to open or close its calls");
    }
    if (rows.table.columns.size() <= kBarColumn) return false;
    if (column == 1 && row.heading >= 0 && !ui.state().for_picture)
        draw_caret(ui, {cell.x + (rows.tone[r] == RowTone::heading ? 6.0f : 16.0f), first_line(cell)},
                   ((closed >> row.heading) & 1U) == 0);
    if (column != kBarColumn) return false;
    draw_time(ui, cell, row, rows.longest_s, rows.tone[r]);
    return true;
}

// Returns the headings to close so that at most `fit` rows are left: calls of one size first, then the axes
// from the quickest on, but for the slowest. `rows_of` counts the rows that are left of `all`.
template <typename RowsOf>
std::uint64_t closed_to_fit(const CallRows& all, std::size_t fit, RowsOf&& rows_of) {
    std::uint64_t out = 0;
    if (all.row.size() <= fit) return out;
    std::vector<std::uint64_t> axes;
    for (std::size_t r = 0; r < all.row.size(); ++r) {
        if (all.row[r].heading < 0) continue;
        const std::uint64_t bit = std::uint64_t{1} << all.row[r].heading;
        if (all.tone[r] == RowTone::heading)
            axes.push_back(bit);
        else
            out |= bit;
    }
    for (std::size_t i = axes.size(); i-- > 1 && rows_of(out) > fit;) out |= axes[i];
    return out;
}

}  // namespace

void draw_comm_calls(Ui& ui, Rect room, Scene& scene, CommCallsState& state, std::uint64_t revision) {
    const CallColumns columns = room.w >= 860   ? CallColumns::all
                                : room.w >= 430 ? CallColumns::narrow
                                                : CallColumns::slender;
    int stage = chosen_stage(scene);
    if (scene.evaluation.comm.stages.devices < 2 || stage >= scene.evaluation.comm.stages.devices) stage = -1;
    const auto list = [&](auto& kept, std::uint64_t closed) -> const CallRows& {
        return kept.get({revision, columns, closed, stage},
                        [&] { return Lister(scene, columns, closed, stage).list(); });
    };
    const CallRows* rows = &list(state.all, 0);
    const float lacks = static_cast<float>(rows->row.size()) * kRow + 24 - room.h;
    if (ui.state().for_picture && lacks > 0)  // one that may grow gets all rows
        ui.state().hidden = std::max(ui.state().hidden, std::ceil(lacks));
    const auto fit = static_cast<std::size_t>(std::max(0.0f, room.h - 24) / kRow);
    const std::uint64_t closed =
        state.touched ? state.closed : state.fitting.get({revision, columns, stage, fit}, [&] {
            return closed_to_fit(*rows, fit, [&](std::uint64_t bits) {
                return Lister(scene, columns, bits, stage).list().row.size();
            });
        });
    state.closed_shown = closed;
    if (closed != 0) rows = &list(state.some, closed);
    int selected = -1;
    for (std::size_t r = 0; r < rows->row.size(); ++r)
        if (rows->row[r].operation >= 0 && rows->row[r].operation == scene.selection.operation)
            selected = static_cast<int>(r);
    const RowLooks looks{
        .tone = rows->tone,
        .paint = [&](Rect cell, std::size_t r,
                     std::size_t column) { return paint_cell(ui, *rows, closed, cell, r, column); },
        .drawn_column = columns == CallColumns::all ? kBarColumn : -1};
    const int clicked = draw_table(ui, "comm.table", room, rows->table, state.table, selected, looks);
    if (clicked < 0) return;
    const CallRow& row = rows->row[static_cast<std::size_t>(clicked)];
    scene.selection.choose(row.group);
    if (row.heading >= 0) {
        state.closed = closed ^ (std::uint64_t{1} << row.heading);
        state.touched = true;
        return;
    }
    scene.selection.operation = row.operation;
    scene.selection.topic = Selection::Topic::operation;
}

}  // namespace pentamesh::ui
