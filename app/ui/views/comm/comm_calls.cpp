#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/comm/view.h"
#include "app/ui/views/mesh/mesh_layout.h"
#include "core/comm/call_names.h"
#include "core/teach/loaf.h"

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
struct CallSet {
    std::vector<int> operations;
    bool outside = false;  // on other stages
};

bool have_one_size(const Operation& a, const Operation& b) {
    return a.message_bytes == b.message_bytes && a.count_per_step == b.count_per_step && a.tier == b.tier
           && a.group_size == b.group_size;
}

// Returns the calls of an axis: those of one size together, those of other stages last.
std::vector<CallSet> call_sets_of(const Comm& comm, GroupKind group) {
    std::vector<CallSet> out;
    CallSet outside{{}, true};
    for (std::size_t i = 0; i < comm.operations.size(); ++i) {
        const Operation& o = comm.operations[i];
        if (o.group != group) continue;
        if (o.on_other_stage) {
            outside.operations.push_back(static_cast<int>(i));
            continue;
        }
        const auto call_set = std::find_if(out.begin(), out.end(), [&](const CallSet& l) {
            return have_one_size(comm.operations[static_cast<std::size_t>(l.operations.front())], o);
        });
        if (call_set == out.end())
            out.push_back({{static_cast<int>(i)}});
        else
            call_set->operations.push_back(static_cast<int>(i));
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

// Says why the step waits for a call; of one that is hidden in part, for how much of it.
std::string because_words(const Operation& o) {
    constexpr double kWhole = 0.95;
    std::string words(words_of(o.waits_because));
    if (words.empty() || o.exposed_s >= kWhole * o.time_s) return words;
    return time_text(o.exposed_s) + " of it: " + words;
}

// The words of one row, from which each form of the table takes its columns.
struct RowWords {
    std::string axis, what, collective, over, link, calls, buffer;
    double sent = 0;
    std::string because{};  // why it waits; empty: it does not, or it is a heading
};

constexpr int kBarColumn = 8;
constexpr std::string_view kSwatchRoom = "     ", kIndent = "   ";  // painted over

class Lister {
  public:
    Lister(const Scene& scene, CallColumns columns, std::uint64_t closed, int stage)
        : scene_(scene), columns_(columns), closed_(closed), stage_(stage) {
        const auto number = [](const char* title) { return Table::Column{title, Shown::plain}; };
        if (has_bars(columns))
            out_.table.columns = {{"axis"},           {"what"},        {"collective"},   number("over"),
                                  {"link"},           number("calls"), number("buffer"), number("sent"),
                                  {"time of a step"}, number("waits"), number("time")};
        else if (columns == CallColumns::narrow)
            out_.table.columns = {{"axis"},        {"what, by which collective"},
                                  number("calls"), number("sent"),
                                  number("time"),  number("exposed")};
        else
            out_.table.columns = {{"axis, what"}, number("sent"), number("time")};
        if (columns == CallColumns::all_and_why) out_.table.columns.push_back({"waits because"});
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
        const std::vector<CallSet> call_sets = call_sets_of(comm, kind);
        std::vector<int> all;
        for (const CallSet& l : call_sets)
            if (!l.outside) all.insert(all.end(), l.operations.begin(), l.operations.end());
        const GroupSummary& groups = scene_.evaluation.groups[kind];
        RowWords w{.axis = axis_label(kind),
                   .what = carried_over(comm, kind),
                   .collective = collectives_text(comm, all),
                   .over = std::to_string(groups.degree),
                   .link = tier_label(scene_.plan.cluster, groups.slowest_tier),
                   .calls = thousands(std::llround(t.count)),
                   .buffer = {},
                   .sent = t.sent_bytes_per_rank};
        out_.longest_s = std::max(out_.longest_s, t.time_s);
        if (!add_heading(kind, w, t.time_s, t.exposed_s, false)) {
            for (const CallSet& l : call_sets) next_heading_ += needs_heading(l) ? 1 : 0;
            return;
        }
        for (const CallSet& l : call_sets) list_call_set(kind, l);
    }

    static bool needs_heading(const CallSet& call_set) {
        return call_set.outside || call_set.operations.size() >= kLeastEqual;
    }

    void list_call_set(GroupKind kind, const CallSet& call_set) {
        const Comm& comm = scene_.evaluation.comm;
        if (needs_heading(call_set)) {
            const Operation& first = comm.operations[static_cast<std::size_t>(call_set.operations.front())];
            RowWords w{.axis = {},
                       .what = std::to_string(call_set.operations.size())
                               + (call_set.outside ? " on other stages, in no sum" : " of one size"),
                       .collective = collectives_text(comm, call_set.operations),
                       .over = {},
                       .link = tier_label(scene_.plan.cluster, first.tier),
                       .calls = {},
                       .buffer = {}};
            double time = 0, exposed = 0, calls = 0, most = 0;
            for (const int i : call_set.operations) {
                const Operation& o = comm.operations[static_cast<std::size_t>(i)];
                time += o.time_s;
                exposed += o.exposed_s;
                calls += o.count_per_step;
                w.sent += o.sent_bytes_per_rank;
                most = std::max(most, o.message_bytes);
            }
            w.calls = thousands(std::llround(calls));
            w.buffer = (call_set.outside ? "to " : "") + traffic_text(most);
            if (!add_heading(kind, w, time, exposed, call_set.outside)) return;
        }
        for (const int i : call_set.operations) add_call(i, needs_heading(call_set));
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
        add_words({.axis = has_bars(columns_) ? std::string() : axis_label(o.group),
                   .what = what_and_where(o),
                   .collective = std::string(words_of(o.collective)),
                   .over = std::to_string(o.group_size),
                   .link = tier_label(scene_.plan.cluster, o.tier),
                   .calls = thousands(std::llround(o.count_per_step)),
                   .buffer = traffic_text(o.message_bytes),
                   .sent = o.sent_bytes_per_rank,
                   .because = because_words(o)},
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
        if (has_bars(columns_))
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
            rows.push_back({axis,
                            w.what + "\n" + w.collective + (w.because.empty() ? "" : ", waits: " + w.because),
                            w.calls, sent, time, waits});
        else
            rows.push_back(
                {w.what + "\n" + w.axis + (w.axis.empty() ? "" : ", ") + w.collective, sent, time});
        if (columns_ == CallColumns::all_and_why) rows.back().emplace_back(w.because);
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
    const CallColumns columns = room.w >= 1300  ? CallColumns::all_and_why
                                : room.w >= 860 ? CallColumns::all
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
        .drawn_column = has_bars(columns) ? kBarColumn : -1};
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

namespace {

using Shape = CollectivePhase::Shape;

constexpr double kStep_s = 0.9;  // time for which a step is shown
constexpr std::int64_t kMostShown = 12;
constexpr double kTurn = 6.283185307179586;

// Returns the call to show: the selected one, or the axis' busiest.
int operation_of(const Scene& scene) {
    const auto& ops = scene.evaluation.comm.operations;
    const int selected = scene.selection.operation;
    const GroupKind axis = shown_group(scene);
    if (selected >= 0 && selected < static_cast<int>(ops.size()) && ops[selected].group == axis)
        return selected;
    int most = -1;
    for (std::size_t i = 0; i < ops.size(); ++i)
        if (ops[i].group == axis && (most < 0 || ops[i].sent_bytes_per_rank > ops[most].sent_bytes_per_rank))
            most = static_cast<int>(i);
    return most;
}

std::int64_t steps_of(const std::vector<CollectivePhase>& phases) {
    std::int64_t n = 0;
    for (const CollectivePhase& p : phases) n += p.steps;
    return n;
}

// Says where the animation is: phase, step in it, share of that step.
struct Instant {
    std::size_t phase = 0;
    std::int64_t step = 0;
    float share = 0;
    double passed_s = 0;
};
Instant instant_of(const CommRingState& state) {
    Instant m;
    double left = state.played.at;
    for (std::size_t i = 0; i < state.phases->size(); ++i) {
        const CollectivePhase& p = (*state.phases)[i];
        const auto steps = static_cast<double>(p.steps);
        const bool last = i + 1 == state.phases->size();
        if (left < steps || last) {
            m.phase = i;
            m.passed_s += std::min(left, steps) * p.step_s;
            m.step = std::min(static_cast<std::int64_t>(left), p.steps);
            m.share = m.step >= p.steps ? 0 : static_cast<float>(left - static_cast<double>(m.step));
            return m;
        }
        left -= steps;
        m.passed_s += steps * p.step_s;
    }
    return m;
}

// Holds the ranks of the members that a phase joins, among them the selected rank.
struct Members {
    std::vector<std::int64_t> rank;
    bool all = true;
};
Members members_of(const Scene& scene, const Operation& op, const CollectivePhase& phase) {
    const Mesh& mesh = scene.evaluation.mesh;
    const std::int64_t chosen =
        scene.selection.rank >= 0 && scene.selection.rank < mesh.world ? scene.selection.rank : 0;
    const MeshAxis axis{.kind = op.group, .factors = group_factors(mesh, op.group)};
    const std::int64_t first = axis.first_of(chosen), own = axis.place_of(chosen);
    const std::int64_t degree = scene.evaluation.groups[op.group].degree;
    const std::int64_t base = own - own / phase.stride % phase.ranks * phase.stride;
    Members m;
    const std::int64_t shown = std::min(phase.ranks, kMostShown);
    m.all = shown == phase.ranks;
    for (std::int64_t i = 0; i < shown; ++i) {
        // If there are too many, the first ones are shown, and the last one after the gap.
        const std::int64_t k = !m.all && i + 1 == shown ? phase.ranks - 1 : i;
        m.rank.push_back(axis.member(first, std::min(base + k * phase.stride, degree - 1)));
    }
    return m;
}

struct Layout {
    Vec2 center;
    float rx = 0, ry = 0;
    std::size_t n = 1;
    [[nodiscard]] Vec2 at(double i) const {
        const double a = kTurn * (i / static_cast<double>(n) - 0.25);
        return center + Vec2{rx * static_cast<float>(std::cos(a)), ry * static_cast<float>(std::sin(a))};
    }
};

Vec2 between(Vec2 a, Vec2 b, float k) {
    return a + (b - a) * k;
}

void draw_links(Ui& ui, const Layout& layout, const Scene& scene, const CollectivePhase& phase,
                const Members& m) {
    Canvas& c = ui.canvas();
    const TierMark mark = mark_of_tier(ui.theme(), scene.plan.cluster, phase.tier);
    const bool wraps = phase.shape != Shape::pass || scene.plan.layout.virtual_stages > 1;
    for (std::size_t i = 0; i < layout.n; ++i) {
        const bool gap = !m.all && i + 2 == layout.n;
        switch (phase.shape) {
        case Shape::switch_up:
        case Shape::switch_down:
            c.line(layout.at(static_cast<double>(i)), layout.center, mark.color, 1.5f, mark.dash);
            break;
        case Shape::exchange:
            for (std::size_t j = i + 1; j < layout.n; ++j)
                c.line(layout.at(static_cast<double>(i)), layout.at(static_cast<double>(j)),
                       mark.color.alpha(0.35f), 1, mark.dash);
            break;
        default:
            if (i + 1 == layout.n && !wraps) break;
            c.line(layout.at(static_cast<double>(i)), layout.at(static_cast<double>((i + 1) % layout.n)),
                   mark.color, 1.5f, gap ? Dash::dotted : mark.dash);
        }
    }
}

// Returns the pieces that go round, if each is distinct: all members are shown, and each step moves one.
std::optional<RingPart> ring_part(const Operation& op, const CollectivePhase& phase, std::size_t shown) {
    if (phase.steps != phase.ranks - 1 || static_cast<std::int64_t>(shown) != phase.ranks)
        return std::nullopt;
    switch (phase.shape) {
    case Shape::ring_reduce: return RingPart::reduce;
    case Shape::ring_gather:
        return op.collective == Collective::all_reduce ? RingPart::after_reduce : RingPart::gather;
    case Shape::exchange: return RingPart::exchange;
    default: return std::nullopt;
    }
}

// Draws the chunks that move in the running step: all ranks send at once. Each has the number of its piece.
void draw_chunks(Ui& ui, const Layout& layout, const Operation& op, const CollectivePhase& phase,
                 const Instant& now, Color color) {
    Canvas& c = ui.canvas();
    if (now.step >= phase.steps) return;
    for (std::size_t i = 0; i < layout.n; ++i) {
        const Vec2 from = layout.at(static_cast<double>(i));
        Vec2 to = layout.center;
        float k = now.share;
        switch (phase.shape) {
        case Shape::switch_up: break;
        case Shape::switch_down: k = 1 - k; break;
        case Shape::exchange:
            to = layout.at(static_cast<double>((i + 1 + static_cast<std::size_t>(now.step) % (layout.n - 1))
                                               % layout.n));
            break;
        default: to = layout.at(static_cast<double>((i + 1) % layout.n));
        }
        if (phase.shape == Shape::pass && i + 1 == layout.n) continue;
        const Vec2 at = between(from, to, k);
        c.box({at.x - 5, at.y - 5, 10, 10}, color, ui.theme().window, 1, 2);
        if (const auto part = ring_part(op, phase, layout.n); part && now.share > 0.1f) {
            const std::string piece =
                std::to_string(piece_sent(*part, phase.ranks, static_cast<std::int64_t>(i), now.step));
            c.text({at.x + 8, at.y - 8}, piece, ui.style(11));
        }
    }
}

// Says what a rank brings to a call, or has after it.
std::string buffer_text(const Operation& op) {
    const std::string all = traffic_text(op.message_bytes),
                      part = traffic_text(op.message_bytes / static_cast<double>(op.group_size));
    switch (op.collective) {
    case Collective::all_gather: return part + " from each rank, " + all + " together";
    case Collective::reduce_scatter: return all + " a rank, of which each keeps the sum of " + part;
    case Collective::all_reduce:
    case Collective::all_to_all:
    case Collective::send_recv: break;
    }
    return all + " a rank";
}

// Returns the pieces that a rank holds whole (gather) or has in its sum (reduce), as a share of all.
double held(const CollectivePhase& p, const Instant& now) {
    if (p.shape == Shape::pass || p.shape == Shape::switch_up)
        return static_cast<double>(now.step) / static_cast<double>(p.steps);
    return static_cast<double>(now.step + 1) / static_cast<double>(p.steps + 1);
}

// Draws a cell for each piece: as high as the member's share of it.
void draw_pieces(Ui& ui, Rect row, RingPart part, std::int64_t n, std::int64_t member, std::int64_t steps,
                 Color color) {
    const float w = row.w / static_cast<float>(n);
    for (std::int64_t q = 0; q < n; ++q) {
        const Rect cell{row.x + w * static_cast<float>(q), row.y, std::max(1.0f, w - 1), row.h};
        ui.canvas().rect(cell, mix(ui.theme().panel, ui.theme().secondary, 0.25f));
        const auto h = static_cast<float>(piece_held(part, n, member, q, steps)) * cell.h;
        if (h > 0) ui.canvas().rect({cell.x, cell.bottom() - h, cell.w, h}, color);
    }
}

void draw_nodes(Ui& ui, const Layout& layout, const Scene& scene, const Operation& op,
                const CollectivePhase& phase, const Instant& now, const Members& m, Color color) {
    Canvas& c = ui.canvas();
    for (std::size_t i = 0; i < layout.n; ++i) {
        const Vec2 p = layout.at(static_cast<double>(i));
        const std::string label = thousands(m.rank[i]);
        const float w = std::max(34.0f, c.text_width(label, ui.small()) + 12);
        const Rect box{p.x - w / 2, p.y - 13, w, 27};
        c.rect(box, ui.theme().panel, 4);
        if (const auto part = ring_part(op, phase, layout.n))
            draw_pieces(ui, {box.x + 2, box.bottom() - 8, box.w - 4, 7}, *part, phase.ranks,
                        static_cast<std::int64_t>(i), now.step, color);
        else
            c.rect({box.x, box.bottom() - 5, box.w * static_cast<float>(held(phase, now)), 5},
                   phase.shape == Shape::ring_reduce || phase.shape == Shape::switch_up ? color.alpha(0.55f)
                                                                                        : color,
                   1);
        const bool own = m.rank[i] == scene.selection.rank;
        c.frame(box, own ? ui.theme().text : ui.theme().secondary, own ? 2.0f : 1.0f, 4);
        c.text_in({box.x, box.y, box.w, 19}, label, ui.style(12), Align::center);
    }
    if (phase.shape == Shape::switch_up || phase.shape == Shape::switch_down) {
        const Rect box{layout.center.x - 30, layout.center.y - 12, 60, 24};
        c.rect(box, ui.theme().raised, 4);
        c.text_in(box, "switch", ui.small(), Align::center);
    }
}

Film film_of(std::int64_t steps) {
    const auto end = static_cast<double>(steps);
    const auto after = [end](double at) { return std::min(std::floor(at) + 1, end); };
    return {.end = end, .telling = 0, .a_second = 1 / kStep_s, .after = after, .before = {}};
}

void controls(Ui& ui, Rect row, Playback& played, const Film& film) {
    if (ui.button("comm.ring.play", row.cut_left(64), played.playing ? "pause" : "play"))
        play_or_pause(ui, played, film);
    row.cut_left(6);
    if (ui.button("comm.ring.step", row.cut_left(56), "step", 0, played.at < film.end))
        step_film(played, film, 1);
    row.cut_left(6);
    if (ui.button("comm.ring.restart", row.cut_left(64), "restart", 0, played.at > 0)) played = {.at = 0};
}

void draw_words(Ui& ui, Rect room, const Scene& scene, const Operation& op, const CommRingState& state,
                const Instant& now) {
    Canvas& c = ui.canvas();
    const CollectivePhase& p = (*state.phases)[now.phase];
    const auto line = [&](const std::string& text, const TextStyle& s) {
        const float h = c.paragraph_height(room.w, text, s, 18);
        if (h > room.h + 2) return;
        room.cut_top(c.paragraph(room, text, s, 18));
    };
    const std::string kind(words_of(op.collective));
    line(std::string(words_of(op.what)), ui.style(12, Tone::text, Face::semibold));
    line(kind + " over " + thousands(op.group_size) + ", " + buffer_text(op) + ", "
             + plural(std::llround(op.count_per_step), "call", "calls") + " a step",
         ui.small());
    line(std::string(name_of(p.shape)) + " of " + thousands(p.ranks) + ": step "
             + thousands(std::min(now.step + 1, p.steps)) + " of " + thousands(p.steps),
         ui.style(12));
    line(traffic_text(p.chunk_bytes) + " from each rank over " + tier_label(scene.plan.cluster, p.tier) + ", "
             + time_text(p.step_s) + " a step",
         ui.small());
    if (!scene.plan.cluster.tiers[static_cast<std::size_t>(p.tier)].torus.empty())
        line("On a torus all links work at once: a step is shown as the mean of theirs.", ui.small());
    line((now.passed_s > 0 ? time_text(now.passed_s) : std::string("0")) + " of " + time_text(op.call_s),
         ui.small());
    if (ring_part(op, p, static_cast<std::size_t>(std::min(p.ranks, kMostShown))))
        line(
            p.shape == Shape::ring_reduce ? "A cell in each box is a piece, as high as the share of ranks in "
                                            "its sum; beside what travels stands its piece."
            : p.shape == Shape::exchange
                ? "A cell in each box is what one rank had for it; beside what travels stands whom it is for."
                : "A cell in each box is a piece, full where the rank has it; beside what travels stands its "
                  "piece.",
            ui.small());
}

}  // namespace

void draw_ring(Ui& ui, Rect room, Scene& scene, CommRingState& state, std::uint64_t revision) {
    Canvas& c = ui.canvas();
    const int chosen = operation_of(scene);
    if (chosen < 0) {
        c.text_in(room, "Nobody talks on this axis.", ui.small(), Align::center);
        return;
    }
    const Operation& op = scene.evaluation.comm.operations[chosen];
    const auto make = [&] { return collective_phases(scene.plan, scene.evaluation, op); };
    if (state.phases.update({revision, chosen}, make)) state.played = {.at = 0};
    if (state.phases->empty()) return;
    const Film film = film_of(steps_of(*state.phases));
    play_on(ui, state.played, film);
    const Instant now = instant_of(state);
    const CollectivePhase& phase = (*state.phases)[now.phase];
    const bool beside = room.w > room.h * 1.3f;
    const bool slender = beside && room.w < 420;  // the controls over both
    if (slender && !ui.state().for_picture) {
        controls(ui, room.cut_top(26), state.played, film);
        room.cut_top(6);
    }
    Rect words = beside ? room.cut_right(std::min(270.0f, room.w * 0.45f)) : room.cut_bottom(124);
    if (beside) room.cut_right(16);
    if (!ui.state().for_picture && !slender) controls(ui, words.cut_top(26), state.played, film);
    if (!slender) words.cut_top(6);
    draw_words(ui, words, scene, op, state, now);
    const Members members = members_of(scene, op, phase);
    const Color color = color_of(ui.theme(), op.group);
    const Layout layout{room.center(), std::max(20.0f, std::min(room.w / 2 - 30, 220.0f)),
                        std::max(20.0f, std::min(room.h / 2 - 16, 160.0f)), members.rank.size()};
    if (ui.area("comm.ring", room, 0, true, false).hovered)
        ui.tooltip("rank " + thousands(members.rank.front()) + "'s group on " + axis_label(op.group)
                   + "\nSelect a GPU in the mesh for its own group; a row of the table for another call.");
    draw_links(ui, layout, scene, phase, members);
    draw_chunks(ui, layout, op, phase, now, color);
    draw_nodes(ui, layout, scene, op, phase, now, members, color);
    if (!members.all)
        c.text_in({layout.center.x - 80, layout.center.y - 9, 160, 18},
                  thousands(static_cast<std::int64_t>(members.rank.size())) + " of " + thousands(phase.ranks)
                      + " shown",
                  ui.small(), Align::center);
}

}  // namespace pentamesh::ui
