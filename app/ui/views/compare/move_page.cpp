#include "app/ui/views/compare/move_page.h"

#include "app/tables/move_tables.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/compare/view.h"
#include "core/base/text.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace pentamesh::ui {

namespace {

constexpr float kMoveGap = 20, kMoveRow = 20, kMoveName = 92;
constexpr double kKeepsSomething = 0.01;  // of what a GPU needs: norms by themselves are less

GroupKind axis_of_cause(MoveCause cause) {
    switch (cause) {
    case MoveCause::stage: return GroupKind::pp;
    case MoveCause::experts: return GroupKind::ep;
    case MoveCause::width: return GroupKind::tp;
    case MoveCause::shard:
    case MoveCause::new_gpu: break;
    }
    return GroupKind::dp;
}

// A part stays: filled. The first wire's is outlined on a faint ground, those further out are hatched.
void fill_wire(Ui& ui, Rect r, int tier, Color color, const Cluster& cluster) {
    if (r.w <= 0 || r.h <= 0) return;
    Canvas& c = ui.canvas();
    if (tier < 0) {
        c.rect(r, color);
        return;
    }
    if (tier == 0)
        c.rect(r, color.alpha(0.38f));
    else
        c.pattern(r, tier == 1 ? Pattern::hatched : Pattern::cross_hatched, color, color.alpha(0.12f));
    if (r.w > 3 && r.h > 3) c.frame(r.inset(0.5f), color, 1, 0, mark_of_tier(ui.theme(), cluster, tier).dash);
}

std::string tier_words(const std::vector<Tier>& tiers, int tier) {
    return tier < 0 ? "stays" : "over " + wire_words(tiers, tier);
}

// Draws what stays and what each wire brings as one lying bar.
void draw_wires_bar(Ui& ui, Rect bar, const MoveBytes& bytes, double most, Color color, const Plan& b,
                    const std::vector<Tier>& tiers) {
    float x = bar.x;
    const auto part = [&](double of, int tier) {
        const auto w = static_cast<float>(of / most * static_cast<double>(bar.w));
        if (of <= 0) return;
        const Rect r{x, bar.y, w, bar.h};
        fill_wire(ui, r, tier, color, b.cluster);
        const std::string words = memory_text(of);
        const TextStyle s = ui.style(11.5f).in(tier < 0 ? ink_on(color) : ui.theme().text);
        if (tier <= 0 && ui.canvas().text_width(words, s) + 8 < w)
            ui.canvas().text_in(r, words, s, Align::center);
        if (ui.hovers(r)) ui.tooltip(tier_words(tiers, tier) + "\n" + memory_text(of));
        x += w;
    };
    part(bytes.stays, -1);
    for (std::size_t t = 0; t < tiers.size() && t < bytes.over.size(); ++t)
        part(bytes.over[t], static_cast<int>(t));
}

// Every k-th line, so that lines stand apart.
std::size_t every_line(std::size_t lines, float length) {
    constexpr float kApart = 24;
    const auto most = static_cast<std::size_t>(std::max(1.0f, length / kApart));
    return (lines + most - 1) / std::max<std::size_t>(most, 1);
}

void draw_cuts(Ui& ui, Rect sheet, const MoveSheet& cut) {
    Canvas& c = ui.canvas();
    const Color across = color_of(ui.theme(), GroupKind::tp), down = color_of(ui.theme(), GroupKind::pp);
    const auto layers = static_cast<float>(std::max<std::size_t>(cut.layers.size(), 1));
    const auto lines = [&](const auto& at, float length, auto&& draw) {
        const std::size_t every = std::max<std::size_t>(every_line(at.size(), length), 1);
        for (std::size_t i = every - 1; i < at.size(); i += every) draw(static_cast<float>(at[i]));
    };
    lines(cut.width_a, sheet.w, [&](float at) {
        const float x = sheet.x + at * sheet.w;
        c.line({x, sheet.y}, {x, sheet.bottom()}, across, 1.3f);
    });
    lines(cut.stages_a, sheet.h, [&](float at) {
        const float y = sheet.y + at / layers * sheet.h;
        c.line({sheet.x, y}, {sheet.right(), y}, down, 1.3f);
    });
    lines(cut.width_b, sheet.w, [&](float at) {
        const float x = sheet.x + at * sheet.w;
        c.line({x, sheet.y - 10}, {x, sheet.bottom() + 10}, across, 2.6f, Dash::dashed);
    });
    lines(cut.stages_b, sheet.h, [&](float at) {
        const float y = sheet.y + at / layers * sheet.h;
        c.line({sheet.x - 10, y}, {sheet.right() + 10, y}, down, 2.6f, Dash::dashed);
    });
    c.frame(sheet, ui.theme().faint, 1);
}

Color color_of_state(const Theme& theme, TensorState state) {
    return theme.memory[state == TensorState::optimizer ? 2 : 0];
}

// Draws the pieces of one rank; those of the same slice and layers share its width by their bytes.
Rect draw_rank_pieces(Ui& ui, Rect sheet, const MoveShown& shown, const MoveSheet& cut,
                      const ComparedPair& pair, const std::vector<Tier>& tiers) {
    const Color color = color_of_state(ui.theme(), cut.state);
    const auto layers = static_cast<float>(std::max<std::size_t>(cut.layers.size(), 1));
    struct Slice {
        double all = 0, used = 0;
    };
    std::map<std::tuple<double, double, std::vector<std::int64_t>>, Slice> slices;
    const auto is_shown = [&](const MovePiece& p) { return p.id == cut.id && p.state == cut.state; };
    for (const MovePiece& p : shown.pieces)
        if (is_shown(p)) slices[{p.begin, p.end, p.layers}].all += p.bytes;
    Rect hull{};
    for (const MovePiece& p : shown.pieces) {
        if (!is_shown(p)) continue;
        Slice& slice = slices[{p.begin, p.end, p.layers}];
        const double from = p.begin + (p.end - p.begin) * slice.used / slice.all;
        slice.used += p.bytes;
        const double to = p.begin + (p.end - p.begin) * slice.used / slice.all;
        std::vector<std::pair<float, float>> runs;  // of rows of the sheet
        if (p.layers.empty()) runs.emplace_back(0.0f, 1.0f);
        for (std::size_t i = 0; i < cut.layers.size(); ++i) {
            if (!std::binary_search(p.layers.begin(), p.layers.end(), cut.layers[i])) continue;
            const auto y = static_cast<float>(i);
            if (!runs.empty() && runs.back().second == y)
                runs.back().second = y + 1;
            else
                runs.emplace_back(y, y + 1);
        }
        for (const auto& [top, bottom] : runs) {
            const Rect r{sheet.x + static_cast<float>(from) * sheet.w, sheet.y + top / layers * sheet.h,
                         static_cast<float>(to - from) * sheet.w, (bottom - top) / layers * sheet.h};
            fill_wire(ui, r, p.tier, color, pair.b.cluster);
            const float right = std::max(hull.right(), r.right()), low = std::max(hull.bottom(), r.bottom());
            if (hull.empty()) hull = r;
            hull.x = std::min(hull.x, r.x), hull.y = std::min(hull.y, r.y);
            hull.w = std::max(right, r.right()) - hull.x, hull.h = std::max(low, r.bottom()) - hull.y;
            const std::string who = p.tier < 0    ? "on GPU " + std::to_string(shown.rank)
                                    : p.handed_on ? "rank " + std::to_string(p.from) + " of B hands it on"
                                                  : "from rank " + std::to_string(p.from) + " of A";
            if (ui.hovers(r))
                ui.tooltip(tier_words(tiers, p.tier) + "\n" + who + "\n" + memory_text(p.bytes));
            if (r.w < 44 || r.h < 34) continue;
            const TextStyle s = ui.style(11.5f).in(p.tier < 0 ? ink_on(color) : ui.theme().text);
            const Rect words{r.x + 2, r.y + r.h / 2 - 15, r.w - 4, 15};
            const auto line = [&](Rect at, std::string_view text) {
                if (ui.canvas().text_width(text, s) > at.w) return;
                const float w = ui.canvas().text_width(text, s) + 6;
                if (p.tier > 0) ui.canvas().rect({at.x + (at.w - w) / 2, at.y, w, at.h}, ui.theme().panel);
                ui.canvas().text_in(at, text, s, Align::center);
            };
            line(words, p.tier < 0 ? "stays" : wire_words(tiers, p.tier));
            line({words.x, words.y + 15, words.w, 15},
                 p.tier < 0 ? memory_text(p.bytes) : "GPU " + std::to_string(p.from));
        }
    }
    return hull;
}

// Draws the optimizer's states of the same tensor next to it: data parallelism cuts them once more.
void draw_optimizer_sheet(Ui& ui, Rect room, const ComparedPair& pair, const MoveShown& shown,
                          const std::vector<Tier>& tiers) {
    Canvas& c = ui.canvas();
    constexpr float kBeyond = 12;  // dashes of B go over the edge
    const MoveSheet& cut = *shown.optimizer;
    const Rect words = room.cut_bottom(2 * kMoveRow + kBeyond);
    const Rect sheet = room.inset(12, 0);
    c.rect(sheet, ui.theme().raised);
    const Rect hull = draw_rank_pieces(ui, sheet, shown, cut, pair, tiers);
    draw_cuts(ui, sheet, cut);
    if (!hull.empty()) c.frame(hull, ui.theme().text, 2.5f);
    MoveBytes own;
    for (const MovePiece& p : shown.pieces) {
        if (p.id != cut.id || p.state != cut.state) continue;
        own.needed += p.bytes;
        if (p.tier < 0) own.stays += p.bytes;
    }
    c.text_in({words.x, words.y + kBeyond, words.w, kMoveRow}, "its optimizer states", ui.small(),
              Align::center);
    c.text_in({words.x, words.y + kBeyond + kMoveRow * 0.8f, words.w, kMoveRow},
              memory_text(own.needed) + ", " + memory_text(own.stays) + " stay", ui.small(), Align::center);
}

std::int64_t draw_sheet(Ui& ui, Rect room, const ComparedPair& pair, const MoveShown& shown,
                        const std::vector<Tier>& tiers) {
    Canvas& c = ui.canvas();
    const MoveSheet& cut = shown.sheet;
    ui.label(room.cut_top(kMoveRow),
             sentence(std::string(name_of(cut.id)), ", cut two ways: what GPU ", shown.rank,
                      " of B needs, and from where"),
             ui.title());
    ui.label(room.cut_top(kMoveRow),
             sentence("It travels farthest. Solid: A's cuts, dashed: B's, through the ",
                      cut.columns ? "columns" : "rows",
                      cut.layers.empty() ? "." : " and between its layers."),
             ui.small());
    const Rect foot = room.cut_bottom(kMoveRow);
    room.cut_bottom(12);
    room.cut_top(16);
    constexpr float kBesideIt = 0.3f;
    if (shown.optimizer && room.w > 420)
        draw_optimizer_sheet(ui, room.cut_right(std::floor(room.w * kBesideIt)), pair, shown, tiers);
    const Rect sheet{room.x + 64, room.y, room.w - 64 - 24, room.h};
    if (sheet.w < 60 || sheet.h < 40) return -1;
    c.rect(sheet, ui.theme().raised);
    const Rect hull = draw_rank_pieces(ui, sheet, shown, cut, pair, tiers);
    draw_cuts(ui, sheet, cut);
    if (hull.empty())
        c.text_in(sheet, "This GPU of B has no part of it.", ui.small(), Align::center);
    else
        c.frame(hull, ui.theme().text, 2.5f);
    if (!cut.layers.empty()) {
        c.text_in({room.x, sheet.y, 56, 16}, "layer " + std::to_string(cut.layers.front()), ui.small(),
                  Align::right);
        c.text_in({room.x, sheet.bottom() - 16, 56, 16}, std::to_string(cut.layers.back()), ui.small(),
                  Align::right);
    }
    float x = foot.x + 64;
    const Color color = ui.theme().memory[0];
    const auto mark = [&](int tier) {
        fill_wire(ui, {x, foot.y + 4, 18, 12}, tier, color, pair.b.cluster);
        const std::string words = tier_words(tiers, tier);
        c.text_in({x + 24, foot.y, 140, kMoveRow}, words, ui.small());
        x += 40 + c.text_width(words, ui.small());
    };
    mark(-1);
    for (std::size_t t = 0; t < tiers.size() && x < foot.right() - 120; ++t)
        if (shown.move.all.over[t] > 0) mark(static_cast<int>(t));
    // A click on a cell asks for the first GPU of B that needs what lies there.
    const Hit hit = ui.area("compare.move.sheet", sheet);
    if (!hit.clicked) return -1;
    const Vec2 at = ui.state().mouse;
    const auto row = static_cast<std::size_t>(
        (at.y - sheet.y) / sheet.h * static_cast<float>(std::max<std::size_t>(cut.layers.size(), 1)));
    return first_rank_at(cut, static_cast<double>((at.x - sheet.x) / sheet.w), row);
}

void draw_causes(Ui& ui, Rect& room, const ComparedPair& pair, const MoveShown& shown,
                 const std::vector<Tier>& tiers) {
    Canvas& c = ui.canvas();
    const Move& m = shown.move;
    const MoveEnd a{pair.a, pair.ea.mesh}, b{pair.b, pair.eb.mesh};
    ui.label(room.cut_top(kMoveRow), "Which axis makes it move?", ui.title());
    ui.label(room.cut_top(kMoveRow), "a GPU of B on average; one scale", ui.small());
    room.cut_top(6);
    const MoveBytes mean = m.mean();
    const MoveBytes own = m.of_rank[static_cast<std::size_t>(shown.rank)];
    const double most = std::max({mean.needed, own.needed, 1.0});
    for (const MoveCause cause : all_of<MoveCause>()) {
        const double bytes = m.by_cause[cause] / static_cast<double>(m.gpus_b);
        const std::int64_t in_a = size_of_cause(a, cause), in_b = size_of_cause(b, cause);
        if (bytes <= 0) continue;
        Rect row = room.cut_top(kMoveRow + 2);
        const std::string name =
            cause == MoveCause::new_gpu
                ? "new GPUs"
                : std::string(name_of(cause)) + " " + std::to_string(in_a) + " → " + std::to_string(in_b);
        const Color color =
            cause == MoveCause::new_gpu ? ui.theme().secondary : color_of(ui.theme(), axis_of_cause(cause));
        c.text_in(row.cut_left(kMoveName), name, ui.style(12).in(color));
        const auto w = static_cast<float>(bytes / most * static_cast<double>(row.w * 0.5f));
        c.rect({row.x, row.y + 3, std::max(w, 1.0f), row.h - 6}, color);
        ui.label({row.x + w + 8, row.y, row.w - w - 8, row.h},
                 memory_text(bytes) + ": " + std::string(words_of(cause)), ui.small());
    }
    room.cut_top(6);
    const auto bar = [&](const std::string& name, const MoveBytes& bytes) {
        Rect row = room.cut_top(kMoveRow + 8);
        c.text_in(row.cut_left(kMoveName), name, ui.style(12));
        draw_wires_bar(ui, {row.x, row.y + 3, row.w - 8, row.h - 6}, bytes, most, ui.theme().memory[0],
                       pair.b, tiers);
    };
    bar("GPU " + std::to_string(shown.rank), own);
    bar("a GPU, mean", mean);
    room.cut_top(kMoveGap);
}

// Draws a bar for each GPU of the node of the rank that is shown: what stays and what each wire brings, on
// one scale. A node with more of them than there is room for shows the first.
void draw_node_bars(Ui& ui, Rect& room, const ComparedPair& pair, const MoveShown& shown,
                    const std::vector<Tier>& tiers) {
    constexpr float kBars = 96, kLeastBar = 14, kGapOfBars = 10, kWidestBar = 34;
    const Move& m = shown.move;
    const std::int64_t domain = tiers.empty() ? 1 : std::max<std::int64_t>(tiers.front().domain, 1);
    if (domain < 2 || room.h < kBars + 3 * kMoveRow) return;
    const std::int64_t at = m.first_gpu + shown.rank, first = std::max(at / domain * domain, m.first_gpu),
                       end = std::min(at / domain * domain + domain, m.first_gpu + m.gpus_b);
    const auto most_bars = static_cast<std::int64_t>((room.w + kGapOfBars) / (kLeastBar + kGapOfBars));
    const std::int64_t bars = std::min(end - first, most_bars);
    if (bars < 2) return;
    double most = 1;
    std::int64_t keep = 0;
    for (std::int64_t g = first; g < end; ++g) {
        const MoveBytes& of = m.of_rank[static_cast<std::size_t>(g - m.first_gpu)];
        most = std::max(most, of.needed);
        keep += of.stays > kKeepsSomething * of.needed ? 1 : 0;
    }
    ui.label(room.cut_top(kMoveRow),
             sentence("Of the ", end - first, " GPUs of this node ", keep, keep == 1 ? " keeps" : " keep",
                      " more than ", percent_text(kKeepsSomething)),
             ui.title());
    ui.label(room.cut_top(kMoveRow),
             bars < end - first ? sentence("what stays at the bottom, each wire above; the first ", bars)
                                : std::string("what stays at the bottom, each wire above; one scale"),
             ui.small());
    room.cut_top(6);
    Rect row = room.cut_top(kBars);
    const Rect names = room.cut_top(kMoveRow);
    const float w = std::min(kWidestBar, (row.w + kGapOfBars) / static_cast<float>(bars) - kGapOfBars);
    for (std::int64_t i = 0; i < bars; ++i) {
        const std::int64_t rank = first - m.first_gpu + i;
        const MoveBytes& of = m.of_rank[static_cast<std::size_t>(rank)];
        const float x = row.x + static_cast<float>(i) * (w + kGapOfBars);
        float y = row.bottom();
        const auto part = [&](double bytes, int tier) {
            if (bytes <= 0) return;
            const auto h = static_cast<float>(bytes / most * static_cast<double>(row.h));
            y -= h;
            const Rect r{x, y, w, h};
            fill_wire(ui, r, tier, ui.theme().memory[0], pair.b.cluster);
            if (ui.hovers(r))
                ui.tooltip(
                    sentence("GPU ", rank, " of B, ", tier_words(tiers, tier), "\n", memory_text(bytes)));
        };
        part(of.stays, -1);
        for (std::size_t t = 0; t < tiers.size() && t < of.over.size(); ++t)
            part(of.over[t], static_cast<int>(t));
        const bool own = rank == shown.rank;
        if (own) ui.canvas().frame(Rect{x, row.y, w, row.h}.inset(-2), ui.theme().text, 1.5f);
        const TextStyle style = own ? ui.style(11.5f, Tone::text, Face::semibold) : ui.small();
        const std::string name = std::to_string(rank);
        if (ui.canvas().text_width(name, style) <= w + kGapOfBars)
            ui.canvas().text_in({x - kGapOfBars / 2, names.y, w + kGapOfBars, names.h}, name, style,
                                Align::center);
    }
    room.cut_top(kMoveGap / 2);
}

void draw_bound(Ui& ui, Rect& room, const MoveShown& shown, const Plan& b, const std::vector<Tier>& tiers) {
    Canvas& c = ui.canvas();
    const Move& m = shown.move;
    const std::string slowest = wire_words(tiers, m.slowest);
    ui.label(room.cut_top(kMoveRow),
             m.bound_s > 0 ? "The slowest wire sets the bound: " + slowest + ", " + time_text(m.bound_s)
                           : std::string("No wire is used"),
             ui.title());
    ui.label(room.cut_top(kMoveRow),
             "the busiest domain's bytes at the full rate of its GPUs, all wires at once", ui.small());
    room.cut_top(4);
    for (std::size_t t = 0; t < tiers.size() && t < m.at_least_s.size(); ++t) {
        if (m.at_least_s[t] <= 0) continue;
        Rect row = room.cut_top(kMoveRow + 4);
        c.text_in(row.cut_left(kMoveName), tiers[t].name, ui.style(12));
        const auto w = static_cast<float>(m.at_least_s[t] / m.bound_s * static_cast<double>(row.w * 0.5f));
        fill_wire(ui, {row.x, row.y + 3, std::max(w, 1.0f), row.h - 6}, static_cast<int>(t),
                  ui.theme().secondary, b.cluster);
        ui.label({row.x + w + 8, row.y, row.w - w - 8, row.h},
                 time_text(m.at_least_s[t]) + ", " + bytes_text(m.all.over[t]) + " in all at "
                     + bytes_text(bytes_per_s_of(tiers[t])) + "/s a GPU",
                 ui.small());
    }
    room.cut_top(kMoveGap / 2);
}

}  // namespace

void keep_move(MoveShown& shown, const ComparedPair& pair, std::pair<std::uint64_t, std::uint64_t> key,
               std::int64_t rank, const MoveOptions& options, std::int64_t most) {
    const MoveEnd a{pair.a, pair.ea.mesh}, b{pair.b, pair.eb.mesh};
    rank = rank >= 0 && rank < pair.eb.mesh.world ? rank : 0;
    const bool same = shown.made && shown.key == key && shown.options.optimizer == options.optimizer
                      && shown.options.apart == options.apart;
    if (same && shown.rank == rank) return;
    if (!same) {
        shown = {};
        shown.key = key, shown.made = true, shown.options = options;
        shown.why = pair.ea.valid && pair.eb.valid ? no_move_words(pair.a, pair.b, options)
                                                   : "One of the plans has errors.";
        if (const std::int64_t gpus = pair.ea.mesh.world + pair.eb.mesh.world;
            shown.why.empty() && gpus > most)
            shown.why = sentence("A and B have ", gpus, " GPUs together, more than the ", most,
                                 " that a window works out: `pentamesh move` says what moves, and draws it.");
        if (!shown.why.empty()) return;
        shown.move = move_between(a, b, options);
        const MoveOfTensor& far = shown.move.tensors[shown.move.farthest];
        shown.sheet = sheet_of_move(a, b, far.id, TensorState::parameters);
        if (options.optimizer) shown.optimizer = sheet_of_move(a, b, far.id, TensorState::optimizer);
    }
    shown.rank = rank;
    if (shown.why.empty()) shown.pieces = pieces_of_rank(a, b, options, rank);
}

std::int64_t draw_move_page(Ui& ui, Rect room, const ComparedPair& pair, const MoveShown& shown) {
    Canvas& c = ui.canvas();
    if (!shown.why.empty()) {
        room.cut_top(16);
        static_cast<void>(c.paragraph(room, shown.why, ui.style(14), 20));
        return -1;
    }
    const std::vector<Tier>& tiers = move_tiers(pair.a, pair.b);
    room.cut_top(
        c.paragraph(room, move_sentence(shown.move, tiers), {Face::semibold, 16, ui.theme().text, 0}, 22)
        + 2);
    if (ui.state().for_picture)  // whose title is B's
        ui.label(room.cut_top(18), "A: " + title_of(pair.a) + ". B: " + title_of(pair.b) + ".", ui.small());
    if (pair.eb.memory.fit() == MemoryFit::no)
        ui.label(room.cut_top(18),
                 "B does not fit as it stands: " + memory_text(pair.eb.memory.peak()) + " of "
                     + memory_text(pair.eb.memory.hbm) + ".",
                 ui.small().in(ui.theme().bad));
    const std::string assumed = move_assumed(shown.move, pair.a, pair.b);
    const float words = c.paragraph_height(room.w, assumed, ui.small(), 16);
    if (room.h > 420) static_cast<void>(c.paragraph(room.cut_bottom(words), assumed, ui.small(), 16));
    room.cut_top(10);
    room.cut_bottom(6);
    constexpr float kBeside = 760;
    if (room.w < kBeside) {  // the sheet gives way first
        draw_causes(ui, room, pair, shown, tiers);
        draw_bound(ui, room, shown, pair.b, tiers);
        return room.h > 160 ? draw_sheet(ui, room, pair, shown, tiers) : -1;
    }
    const Rect left = room.cut_left(std::floor(room.w * 0.5f));
    room.cut_left(kMoveGap);
    const std::int64_t picked = draw_sheet(ui, left, pair, shown, tiers);
    draw_causes(ui, room, pair, shown, tiers);
    draw_bound(ui, room, shown, pair.b, tiers);
    draw_node_bars(ui, room, pair, shown, tiers);
    return picked;
}

}  // namespace pentamesh::ui
