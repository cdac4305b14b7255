#include "app/ui/views/shards/view.h"

#include "app/tables/memory.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "core/plan/names.h"

#include <algorithm>

namespace pentamesh::ui {

namespace {

constexpr float kRow = 20;

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

void refresh(const Scene& scene, PickerState& s, PickerShows shows, std::uint64_t revision) {
    SheetRequest request;
    request.state = shows.state;
    request.moment = shows.moment;
    request.moe = moe_layers(scene.plan.model) > 0;
    const PickerState::Priced priced{revision, s.eight};
    s.prices.update(priced, [&](StrategyPrices& p) { price_strategies(scene.plan, gpus_of(s), p); });
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

// Draws a row for each strategy: memory and bytes sent as bars, both against the largest.
void price_table(Ui& ui, Rect room, PickerState& s) {
    Canvas& c = ui.canvas();
    double sent = 0, held = s.prices->single_gpu.total();
    for (const StrategyPrice& p : s.prices->price) {
        sent = std::max(sent, p.sent_bytes);
        held = std::max(held, p.fullest.total());
    }
    // Name, bar and figure of the memory, bar and figure of the bytes sent.
    const auto cells = [](Rect row) {
        return columns(row, {px(118), share(), px(6), em(5), px(8), share(), px(6), em(5)});
    };
    const auto head = cells(room.cut_top(kRow));
    c.text_in(head[1], "fullest GPU", ui.small());
    c.text_in(head[5], "sent per step", ui.small());
    const float row_h = std::clamp((room.h - kRow) / kStrategyCount, 16.0f, 26.0f);
    const auto bar = [&](Rect cell, double value, double most, Color color) {
        const Rect track = cell.inset(0, (row_h - 10) / 2);
        c.rect(track, mix(ui.theme().window, ui.theme().hairline, 0.6f), 1);
        c.rect({track.x, track.y, static_cast<float>(most > 0 ? value / most : 0) * track.w, track.h}, color,
               1);
    };
    {  // the plan on one GPU, for comparison
        const auto cell = cells(room.cut_top(row_h));
        c.text_in(cell[0], "one GPU", ui.small());
        bar(cell[1], s.prices->single_gpu.total(), held, ui.theme().secondary);
        c.text_in(cell[3], memory_text(s.prices->single_gpu.total()), ui.small());
        c.text_in(cell[5], "nothing", ui.small());
    }
    for (std::size_t i = 0; i < s.prices->price.size(); ++i) {
        if (room.h < row_h - 4) break;
        const StrategyPrice& p = s.prices->price[i];
        const Rect row = room.cut_top(row_h);
        const bool on = s.strategy == p.strategy;
        const Hit hit = ui.area("shards.strategy", row, i);
        row_ground(ui, row.inset(-4, 1), hit, on);
        if (hit.clicked) s.strategy = p.strategy;
        const StrategyFacts& facts = facts_of(p.strategy);
        const Color color = ui.theme().axis[static_cast<std::size_t>(facts.axis)];
        const auto cell = cells(row);
        Rect name = cell[0];
        ui.swatch({name.x, name.center().y - 5}, p.possible ? color : color.alpha(0.45f));
        name.cut_left(16);
        c.text_in(name, facts.name,
                  ui.style(12, on ? Tone::text : Tone::secondary, on ? Face::semibold : Face::regular));
        if (hit.hovered)
            ui.tooltip(std::string(facts.name) + "\ncuts " + std::string(facts.splits) + "\n"
                       + std::string(facts.composes) + "\n"
                       + (p.possible ? state_sentence(*s.prices, p) + "\n" : "")
                       + price_sentence(*s.prices, p));
        if (!p.possible) {
            c.text_in({cell[1].x, row.y, row.right() - cell[1].x, row.h}, p.why_not, ui.small());
            continue;
        }
        bar(cell[1], p.fullest.total(), held, ui.theme().memory[1]);
        c.text_in(cell[3], memory_text(p.fullest.total()), ui.small(Tone::text));
        bar(cell[5], p.sent_bytes, sent, color);
        c.text_in(cell[7], traffic_text(p.sent_bytes), ui.small(Tone::text));
    }
}

// Draws the layers that a GPU runs, as cells above its tensors.
void layer_cells(Ui& ui, Rect row, const PickerState& s, std::int64_t rank, Color color) {
    Canvas& c = ui.canvas();
    const auto n = static_cast<float>(s.gpus->stages.size());
    if (n < 1) return;
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
    const Rect label = row.cut_left(std::min(44.0f, row.w * 0.4f));
    if (label.w > 36) c.text_in(label, "tokens", ui.small());
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
        const auto of = [](Range r) { return thousands(r.begin) + " – " + thousands(r.end - 1); };
        std::string text = "tokens of the batch\n";
        text += t.whole() && t.second.size() == 0 ? "all of them"
                                                  : "samples " + of(t.sample) + ", tokens " + of(t.token);
        if (t.second.size() > 0) text += " and " + of(t.second);
        ui.tooltip(text);
    }
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
    layer_cells(ui, room.cut_top(12), s, rank, color);
    if (room.h > 70 && room.w > 60)
        token_cells(ui, room.cut_top(26), s.gpus->tokens[static_cast<std::size_t>(rank)], color);
    room.cut_top(6);
    SheetLook look;
    look.dense = dense_coordinates(p.mesh, rank);
    look.expert = expert_coordinates(p.mesh, rank);
    look.lit_color = color;
    look.only_own = true;
    // Every GPU's box has the same tensors and the same room.
    const auto pack = [&] { return pack_sheets(sheets, {room.w, room.h}, {}); };
    const std::vector<SheetPlace>& places = s.packed.get({*s.gpus.key(), {room.w, room.h}}, pack).place;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Rect body{room.x + places[i].body.x, room.y + places[i].body.y, places[i].body.w,
                        places[i].body.h};
        draw_sheet(c, ui.theme(), body, sheets[i], look);
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
    refresh(scene, s, shows, revision);
    Canvas& c = ui.canvas();
    const StrategyFacts& facts = facts_of(s.strategy);
    Rect line = room.cut_top(24);
    static constexpr std::string_view kCounts[] = {"4 GPUs", "8 GPUs"};
    s.eight = ui.segments("shards.gpus", line.cut_right(124).inset(0, 1), kCounts, s.eight ? 1 : 0) == 1;
    line.cut_right(12);
    const std::string bold = std::string(facts.name) + " alone cuts " + std::string(facts.splits) + ".";
    write_left(ui, line, bold, ui.title());
    const std::string layers =
        thousands(s.prices->single.model.layers) + " layers of " + scene.plan.model.name;
    if (line.w > 60)
        c.text_in(line, layers + ", its embedding and head, trained as in this plan",
                  ui.style(13, Tone::secondary));
    const std::string state = state_sentence(*s.prices, picked(s));
    if (!state.empty() && room.h > 240) ui.label(room.cut_top(20), state, ui.style(13));
    const std::string price = price_sentence(*s.prices, picked(s));
    const std::string text = room.h > 360 ? price + " " + std::string(facts.composes) : price;
    const float h = std::min(c.paragraph_height(room.w, text, ui.style(13, Tone::secondary), 18), 54.0f);
    c.paragraph(room.cut_top(h), text, ui.style(13, Tone::secondary), 18);
    room.cut_top(8);
    Rect table = room.cut_left(std::clamp(room.w * 0.42f, 320.0f, 560.0f));
    room.cut_left(16);
    price_table(ui, table, s);
    gpu_boxes(ui, room, s);
}

Table picker_data(const Scene& scene, const PickerState& state) {
    StrategyPrices prices;
    price_strategies(scene.plan, gpus_of(state), prices);
    return strategies_table(prices);
}

}  // namespace pentamesh::ui
