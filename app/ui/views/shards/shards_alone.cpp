// Shows only one axis on a small copy of the model: a tile for each axis with its price, what each GPU then
// has, and what ZeRO-3 sheds.
#include "app/tables/plan_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "app/ui/views/shards/view.h"
#include "core/sharding/placement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

std::int64_t gpus_of(const PickerState& s) {
    return s.eight ? 8 : 4;
}

const StrategyPrice& picked(const PickerState& s) {
    return s.prices->price[static_cast<std::size_t>(s.strategy)];
}

// Returns the tokens by the first activation that a layer keeps: its input.
TokenShare tokens_of(const StrategyPrice& p, std::int64_t rank) {
    TokenShare out;
    for (const Placement& a : list_placements(p.plan, p.mesh, TensorState::activations, Moment::at_rest)) {
        if (a.expert || a.layers < 1 || a.place == Place::embedding) continue;
        const Part part = part_of(p.plan, p.mesh, a, rank);
        if (!part.held && p.mesh.dense[static_cast<std::size_t>(Axis::pp)].size == 1) continue;
        out.samples = a.shape[0];
        out.tokens = a.shape[1];
        out.sample = part.held ? part.box[0] : Range{0, a.shape[0]};
        out.token = part.held ? part.box[1] : Range{0, a.shape[1]};
        if (part.held) out.second = part.second;
        break;
    }
    return out;
}

void refresh_picker(const Scene& scene, PickerState& s, PickerShows shows, std::uint64_t revision) {
    SheetRequest request;
    request.state = shows.state;
    request.moment = shows.moment;
    const PickerState::Priced priced{revision, s.eight};
    s.prices.update(priced, [&](StrategyPrices& p) { price_strategies(scene.plan, gpus_of(s), p); });
    request.moe = moe_layers(picked(s).plan.model) > 0;
    s.gpus.update({priced, s.strategy, request}, [&] {
        StrategyGpus out;
        const StrategyPrice& p = picked(s);
        if (!p.possible) return out;
        out.stages = stages_of_layers(p.plan, p.mesh);
        for (std::int64_t r = 0; r < p.mesh.world; ++r) {
            request.rank = r;
            request.expert = 0;
            if (p.plan.model.moe) request.expert = contents_of(p.plan, p.mesh, r).experts.begin;
            make_sheets(p.plan, p.mesh, request, out.sheets.emplace_back());
            out.tokens.push_back(tokens_of(p, r));
        }
        return out;
    });
}

// ---- the tiles of the axes ------------------------------------------------------------------------------

// An axis with the strategies that it has, from one to another.
struct AxisTile {
    std::string_view name, cuts;
    Strategy first, last;
    [[nodiscard]] bool has(Strategy s) const { return first <= s && s <= last; }
    [[nodiscard]] int count() const { return static_cast<int>(last) - static_cast<int>(first) + 1; }
};
constexpr std::array<AxisTile, 5> kTiles{{{"dp", "the batch", Strategy::ddp, Strategy::fsdp},
                                          {"tp", "the width", Strategy::tp, Strategy::tp_sp},
                                          {"cp", "the sequence", Strategy::cp, Strategy::cp},
                                          {"pp", "the layers", Strategy::pp, Strategy::pp},
                                          {"ep", "the experts", Strategy::ep, Strategy::ep}}};
static_assert(static_cast<int>(kTiles.back().last) + 1 == kStrategyCount);

// The switches of a tile: where a long label has no room, the short one stands. DDP is ZeRO 0.
struct StrategyLabel {
    std::string_view name, brief;
};
constexpr std::array<StrategyLabel, kStrategyCount> kLabels{{{"DDP", "0"},
                                                             {"ZeRO-1", "1"},
                                                             {"ZeRO-2", "2"},
                                                             {"ZeRO-3", "3"},
                                                             {"TP", "TP"},
                                                             {"TP + SP", "SP"},
                                                             {"CP", "CP"},
                                                             {"PP", "PP"},
                                                             {"EP", "EP"}}};

constexpr float kTileGap = 8, kTilePad = 10, kChip = 20, kTileRow = 18, kTileBar = 8;
constexpr float kTall = 104, kLow = 56;

std::string strategy_tooltip(const StrategyPrice& p) {
    const StrategyFacts& facts = facts_of(p.strategy);
    return std::string(facts.name) + "\ncuts " + std::string(facts.splits) + "\n"
           + std::string(facts.composes) + "\n" + (p.possible ? state_sentence(p) + "\n" : "")
           + price_sentence(p);
}

// Draws the switches of a tile's strategies in a row.
void tile_chips(Ui& ui, Rect row, const AxisTile& tile, PickerState& s) {
    Canvas& c = ui.canvas();
    const float w = (row.w - 4 * static_cast<float>(tile.count() - 1)) / static_cast<float>(tile.count());
    for (int i = static_cast<int>(tile.first); i <= static_cast<int>(tile.last); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const Rect chip = row.cut_left(w);
        row.cut_left(4);
        const bool on = s.strategy == static_cast<Strategy>(i);
        const Hit hit = ui.area("shards.strategy", chip, at);
        const Color color =
            ui.theme().axis[static_cast<std::size_t>(facts_of(static_cast<Strategy>(i)).axis)];
        if (on)
            c.rect(chip, color, 4);
        else
            c.frame(chip, hit.hovered ? color : ui.theme().hairline, 1, 4);
        const std::array<std::string, 2> words{std::string(kLabels[at].name), std::string(kLabels[at].brief)};
        const TextStyle style = on ? ui.style(12, Tone::text, Face::semibold).in(ink_on(color)) : ui.small();
        c.text_in(chip, wording(ui, w - 4, words, style), style, Align::center);
        if (hit.focused) ui.focus_ring(chip, 4);
        if (hit.hovered) ui.tooltip(strategy_tooltip(s.prices->price[at]));
        if (hit.clicked) s.strategy = static_cast<Strategy>(i);
    }
}

// Draws the memory of the fullest GPU on the scale of all tiles; a line is the same model on one GPU.
void tile_bar(Ui& ui, Rect track, const StrategyPrice& p, double most) {
    Canvas& c = ui.canvas();
    const auto x = [&](double bytes) {
        return track.x + (most > 0 ? static_cast<float>(bytes / most) : 0) * track.w;
    };
    c.rect(track, mix(ui.theme().window, ui.theme().hairline, 0.6f), 1);
    c.rect({track.x, track.y, x(p.fullest.total()) - track.x, track.h}, ui.theme().memory[1], 1);
    const float one = x(p.single.total());
    c.line({one, track.y - 2}, {one, track.bottom() + 2}, ui.theme().text, 1.4f);
}

void axis_tile(Ui& ui, Rect box, std::size_t index, PickerState& s, double most) {
    Canvas& c = ui.canvas();
    const AxisTile& tile = kTiles[index];
    const bool on = tile.has(s.strategy), single = tile.count() == 1;
    const Strategy shown = on ? s.strategy : tile.first;
    const StrategyPrice& p = s.prices->price[static_cast<std::size_t>(shown)];
    const Color color = ui.theme().axis[static_cast<std::size_t>(facts_of(shown).axis)];
    Rect room = box.inset(kTilePad, box.h < kTall ? 5 : 8);
    const Rect chips = single ? Rect{} : room.cut_bottom(kChip);
    const Rect pressed{box.x, box.y, box.w, single ? box.h : chips.y - box.y};
    const Hit hit = single ? ui.area("shards.strategy", pressed, static_cast<std::uint64_t>(shown))
                           : ui.area("shards.axis_tile", pressed, index);
    if (on || hit.hovered) c.rect(box, ui.theme().raised, 6);
    c.frame(box, on ? ui.theme().text : ui.theme().hairline, on ? 1.4f : 1, 6);
    if (hit.focused) ui.focus_ring(box, 6);
    if (hit.hovered) ui.tooltip(strategy_tooltip(p));
    if (hit.clicked) s.strategy = shown;
    Rect head = room.cut_top(kTileRow);
    ui.swatch({head.x, head.center().y - 5}, p.possible ? color : color.alpha(0.45f));
    head.cut_left(16);
    write_left(ui, head, tile.name, ui.style(14, Tone::text, Face::semibold), 6);
    const TextStyle figure = ui.style(14, Tone::text, Face::semibold);
    const std::string holds = p.possible ? memory_text(p.fullest.total()) : "";
    const float w = c.text_width(holds, figure) + 2;
    if (w <= head.w) c.text_in(head.cut_right(w), holds, figure, Align::right);
    const std::string cuts(p.example ? "the experts of an example" : tile.cuts);
    const std::array<std::string, 2> words{"cuts " + cuts, std::string(tile.cuts)};
    if (head.w > 8) c.text_in(head, wording(ui, head.w - 6, words, ui.small()), ui.small());
    if (!p.possible) {
        put_paragraph(ui, room, p.why_not, ui.small(), 16);
    } else if (room.h >= kTileBar + 4) {
        room.cut_top(4);
        tile_bar(ui, room.cut_top(kTileBar), p, most);
        room.cut_top(4);
        if (room.h >= 15)
            ui.label(room.cut_top(16), "sends " + traffic_text(p.sent_bytes) + " a step", ui.small());
    }
    if (!single) tile_chips(ui, chips, tile, s);
}

// Draws a tile for each axis, all on one scale of memory.
void axis_tiles(Ui& ui, Rect row, PickerState& s) {
    double most = s.prices->single_gpu.total();
    for (const StrategyPrice& p : s.prices->price)
        if (p.possible) most = std::max({most, p.fullest.total(), p.single.total()});
    constexpr float kWider = 1.35f;  // the first has four switches
    const auto n = static_cast<float>(kTiles.size());
    const float w = (row.w - kTileGap * (n - 1)) / (n - 1 + kWider);
    for (std::size_t i = 0; i < kTiles.size(); ++i) {
        axis_tile(ui, row.cut_left(i == 0 ? kWider * w : w), i, s, most);
        row.cut_left(kTileGap);
    }
}

// ---- what ZeRO-3 sheds ----------------------------------------------------------------------------------

constexpr float kShedRow = 112;
constexpr std::size_t kAtWork = 1;  // the layer that is drawn at work

// Draws each layer's share that stays, and next to it the whole layer: while it is at work, and before and
// after it only as an outline.
void shed_layers(Ui& ui, Rect row, const PickerState& s, const LayerShed& shed, Color color) {
    Canvas& c = ui.canvas();
    const std::size_t n = s.gpus->stages.size();
    if (n < 2) return;
    const float pitch = std::min(row.w / static_cast<float>(n), 150.0f);
    const Rect labels = row.cut_bottom(2 * 15);
    row.cut_bottom(3);
    const double most = std::max(shed.kept, shed.gathered);
    for (std::size_t i = 0; i < n; ++i) {
        const Rect cell{row.x + pitch * static_cast<float>(i), row.y, pitch - 8, row.h};
        const float bar = std::min(cell.w * 0.42f, 44.0f);
        const auto column = [&](float x, double bytes) {
            const float h = most > 0 ? row.h * static_cast<float>(bytes / most) : 0;
            return Rect{x, cell.bottom() - h, bar, h};
        };
        c.rect(column(cell.x, shed.kept), color);
        const Rect whole = column(cell.x + bar + 3, shed.gathered);
        const bool works = i == kAtWork, next = i == kAtWork + 1;
        if (works || !shed.dropped)
            c.rect(whole, mix(ui.theme().window, ui.theme().text, 0.45f));
        else if (next)
            c.pattern(whole, Pattern::hatched, ui.theme().text, ui.theme().window);
        const bool there = works || next || !shed.dropped;
        c.frame(whole, there ? ui.theme().text : ui.theme().secondary, works ? 1.6f : 1, 0,
                there ? Dash::solid : Dash::dashed);
        const std::string_view words = works           ? "at work"
                                       : !shed.dropped ? "stays"
                                       : i < kAtWork   ? "dropped"
                                       : next          ? "comes next"
                                                       : "not yet";
        c.text_in({cell.x, labels.y, pitch - 4, 15}, "layer " + std::to_string(i),
                  works ? ui.style(12, Tone::text, Face::semibold) : ui.small());
        c.text_in({cell.x, labels.y + 15, pitch - 4, 15}, words, ui.small());
    }
}

// Says and draws what a GPU gathers for a layer and drops after it, next to what it keeps.
void draw_shed(Ui& ui, Rect row, const PickerState& s) {
    const LayerShed shed = shed_of(picked(s));
    const Color color = ui.theme().axis[static_cast<std::size_t>(Axis::dp_shard)];
    Rect words = row.cut_left(std::min(row.w * 0.4f, 420.0f));
    row.cut_left(16);
    const std::string gathered = memory_text(shed.gathered), kept = memory_text(shed.kept);
    const std::string bold =
        shed.dropped ? gathered + " are gathered for a layer, and dropped after it"
                     : gathered + " are gathered for a layer, and stay: this software drops nothing";
    words.cut_top(ui.canvas().paragraph(words, bold, ui.style(14, Tone::text, Face::semibold), 19) + 2);
    put_paragraph(ui, words,
                  "A GPU keeps " + kept + " of it between steps (in colour)."
                      + (shed.dropped ? " Whole are only the layer at work and the next one." : ""),
                  ui.style(13, Tone::secondary), 18);
    shed_layers(ui, row, s, shed, color);
}

// Cuts what a row of cells shows off its left, and writes it where it has room.
void cells_label(Ui& ui, Rect& row, std::string_view words) {
    const Rect label = row.cut_left(std::min(44.0f, row.w * 0.4f));
    if (label.w > 36) ui.canvas().text_in(label, words, ui.small());
}

// Draws the layers that a GPU runs, as cells above its tensors.
void layer_cells(Ui& ui, Rect row, const PickerState& s, std::int64_t rank, Color color) {
    Canvas& c = ui.canvas();
    const auto n = static_cast<float>(s.gpus->stages.size());
    if (n < 1) return;
    cells_label(ui, row, "layers");
    row = row.inset(0, 1);
    const StrategyPrice& p = picked(s);
    const auto pp = static_cast<std::size_t>(Axis::pp);
    const auto stage = static_cast<int>(dense_coordinates(p.mesh, rank)[pp]);
    const float step = std::min(16.0f, row.w / n);
    for (std::size_t l = 0; l < s.gpus->stages.size(); ++l) {
        const Rect cell{row.x + step * static_cast<float>(l), row.y, step - 2, row.h};
        const bool mine = s.gpus->stages[l][0] == stage || s.gpus->stages[l][1] == stage;
        // Without a pipeline every GPU works on every layer, and the sheets below show its part.
        if (p.mesh.dense[pp].size == 1)
            c.frame(cell, ui.theme().secondary, 1, 1);
        else
            c.rect(cell, mine ? color : mix(ui.theme().window, ui.theme().secondary, 0.16f), 1);
    }
}

// Draws the batch as rows of samples, each a sequence from left to right; the GPU's own part is solid where
// it is cut.
void token_cells(Ui& ui, Rect row, const TokenShare& t, Color color) {
    Canvas& c = ui.canvas();
    cells_label(ui, row, "tokens");
    const Rect all{row.x, row.y + 2, std::min(row.w, 130.0f), row.h - 4};
    const auto at = [&](Range samples, Range tokens) {
        const auto part = [](float from, float length, std::int64_t v, std::int64_t of) {
            return from + length * static_cast<float>(v) / static_cast<float>(of);
        };
        const float x = part(all.x, all.w, tokens.begin, t.tokens),
                    y = part(all.y, all.h, samples.begin, t.samples);
        return Rect{x, y, part(all.x, all.w, tokens.end, t.tokens) - x,
                    part(all.y, all.h, samples.end, t.samples) - y};
    };
    c.rect(all, mix(ui.theme().window, ui.theme().secondary, 0.16f), 1);
    if (t.whole() && t.second.size() == 0) {
        c.pattern(all, Pattern::hatched, color, mix(ui.theme().window, color, 0.2f));
    } else {
        c.rect(at(t.sample, t.token), color, 1);
        if (t.second.size() > 0) c.rect(at(t.sample, t.second), color, 1);
    }
    for (std::int64_t i = 1; i < t.samples; ++i) {
        const float y = at({i, i}, {0, 0}).y;
        c.line({all.x, y}, {all.right(), y}, ui.theme().window);
    }
    if (ui.hovers(all)) {
        const auto of = [](Range r) {
            return r.size() == 1 ? thousands(r.begin) : thousands(r.begin) + " – " + thousands(r.end - 1);
        };
        std::string text = "tokens of the batch\n";
        text += t.whole() && t.second.size() == 0 ? "all of them"
                                                  : (t.sample.size() == 1 ? "sample " : "samples ")
                                                        + of(t.sample) + ", tokens " + of(t.token);
        if (t.second.size() > 0) text += " and " + of(t.second);
        ui.tooltip(text);
    }
}

// Writes what a matrix is over its middle, where it has room: of a part that is elsewhere too.
void sheet_name(Ui& ui, Rect body, const Sheet& sheet) {
    const std::string name(short_name_of(sheet.placement.id));
    const std::array<std::string, 2> words{(sheet.placement.expert ? "experts' " : "") + name, name};
    const TextStyle style = ui.style(11);
    const std::string_view text = wording(ui, body.w - 14, words, style);
    const float w = ui.canvas().text_width(text, style) + 8;
    if (text.empty() || w > body.w - 4 || body.h < 20) return;
    const Vec2 at = body.center();
    write_plate(ui, {std::round(at.x - w / 2), std::round(at.y - 8), w, 16}, text, style,
                ui.theme().window.alpha(0.85f));
}

void gpu_box(Ui& ui, Rect box, PickerState& s, std::int64_t rank, Color color) {
    Canvas& c = ui.canvas();
    const StrategyPrice& p = picked(s);
    const std::vector<Sheet>& sheets = s.gpus->sheets[rank];
    c.frame(box, ui.theme().hairline, 1, 4);
    Rect room = box.inset(8, 6);
    const SheetTotals t = totals_of(sheets);
    Rect head = room.cut_top(18);
    c.text_in(head, "GPU " + std::to_string(rank), ui.style(12, Tone::text, Face::semibold));
    const std::string holds = t.bytes_here > 0 ? trimmed(t.bytes_here / t.bytes * 100) + " %" : "none";
    if (head.w > 92) c.text_in(head, head.w > 150 ? holds + " of a layer" : holds, ui.small(), Align::right);
    layer_cells(ui, room.cut_top(14), s, rank, color);
    if (room.h > 70 && room.w > 60)
        token_cells(ui, room.cut_top(26), s.gpus->tokens[static_cast<std::size_t>(rank)], color);
    room.cut_top(6);
    SheetLook look;
    look.dense = dense_coordinates(p.mesh, rank);
    look.expert = expert_coordinates(p.mesh, rank);
    look.highlighted_color = color;
    look.only_own = true;
    // Every GPU's box has the same tensors and the same room.
    const auto pack = [&] { return pack_sheets(sheets, {room.w, room.h}, {}); };
    const std::vector<SheetPlace>& places = s.packed.get({*s.gpus.key(), {room.w, room.h}}, pack).place;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Rect body{room.x + places[i].body.x, room.y + places[i].body.y, places[i].body.w,
                        places[i].body.h};
        draw_sheet(c, ui.theme(), body, sheets[i], look);
        if (places[i].to_scale) sheet_name(ui, body, sheets[i]);
        if (ui.hovers(body)) ui.tooltip(sheet_tooltip(sheets[i], rank));
    }
}

void gpu_boxes(Ui& ui, Rect room, PickerState& s) {
    const auto n = static_cast<std::int64_t>(s.gpus->sheets.size());
    if (n < 1) return;
    const float gap = 8;
    float w = 0, h = 0;
    std::int64_t columns = n;
    for (std::int64_t tried = n; tried >= 2; tried /= 2) {  // the grid whose boxes are largest
        const std::int64_t rows = n / tried;
        const auto across = static_cast<float>(tried), down = static_cast<float>(rows);
        const float x = (room.w - gap * (across - 1)) / across, y = (room.h - gap * (down - 1)) / down;
        if (std::min(x, y * 0.8f) > std::min(w, h * 0.8f)) w = x, h = y, columns = tried;
    }
    h = std::min(h, w * 1.6f);
    const Color axis = ui.theme().axis[static_cast<std::size_t>(facts_of(s.strategy).axis)];
    const auto ramp = shades(ui.theme(), axis);
    for (std::int64_t r = 0; r < n; ++r) {
        const auto i = static_cast<std::size_t>(r);
        gpu_box(ui, box_in_rows(room.min(), i, static_cast<std::size_t>(columns), {w, h}, {gap, gap}), s, r,
                ramp[i % kShadeCount]);
    }
}

}  // namespace

void draw_picker(Ui& ui, Rect room, Scene& scene, PickerState& s, PickerShows shows, std::uint64_t revision) {
    refresh_picker(scene, s, shows, revision);
    Canvas& c = ui.canvas();
    const StrategyFacts& facts = facts_of(s.strategy);
    Rect line = room.cut_top(24);
    static constexpr std::string_view kCounts[] = {"4 GPUs", "8 GPUs"};
    s.eight = ui.segments("shards.gpus", line.cut_right(124).inset(0, 1), kCounts, s.eight ? 1 : 0) == 1;
    line.cut_right(12);
    const std::string bold = std::string(facts.name) + " by itself cuts " + std::string(facts.splits) + ".";
    write_left(ui, line, bold, ui.title());
    const StrategyPrice& price = picked(s);
    const std::string layers = thousands(price.plan.model.layers) + " layers of " + price.plan.model.name;
    if (line.w > 60)
        c.text_in(line,
                  layers
                      + (price.example ? ", an example: this plan's model has none"
                                       : ", its embedding and head, trained as in this plan"),
                  ui.style(13, Tone::secondary));
    const std::string state = state_sentence(price);
    if (!state.empty() && room.h > 240) {
        Rect row = room.cut_top(20);
        write_left(ui, row, state, ui.style(13), 12);
        write_whole(ui, row, "solid: cut, its own part; hatched: a copy; grey: on another GPU", ui.small());
    }
    const std::string words = price_sentence(price);
    const std::string text = room.h > 360 ? words + " " + std::string(facts.composes) : words;
    const float h = std::min(c.paragraph_height(room.w, text, ui.style(13, Tone::secondary), 18), 54.0f);
    c.paragraph(room.cut_top(h), text, ui.style(13, Tone::secondary), 18);
    room.cut_top(8);
    axis_tiles(ui, room.cut_top(room.h > 300 ? kTall : kLow), s);
    room.cut_top(10);
    if (s.strategy == Strategy::fsdp && price.possible && shows.state == TensorState::parameters
        && room.h > 2.4f * kShedRow) {
        draw_shed(ui, room.cut_top(kShedRow), s);
        room.cut_top(10);
    }
    gpu_boxes(ui, room, s);
}

Table picker_data(const Scene& scene, const PickerState& state) {
    StrategyPrices prices;
    price_strategies(scene.plan, gpus_of(state), prices);
    return strategies_table(prices);
}

}  // namespace pentamesh::ui
