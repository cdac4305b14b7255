#include "app/ui/views/shards/view.h"

#include "app/tables/plan_tables.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "core/plan/names.h"
#include "core/sharding/placement.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace pentamesh::ui {

namespace {

using Shows = ShardsViewState::Shows;

constexpr std::array kAxes{Axis::tp, Axis::cp, Axis::ep, Axis::dp_shard, Axis::dp_replicate, Axis::pp};

std::int64_t shown_rank(const Scene& scene) {
    return std::max<std::int64_t>(scene.selection.rank, 0);
}

bool both_kinds(const Model& m) {
    return moe_layers(m) > 0 && times(m, Place::dense_layer) > 0;
}

bool shows_moe(const Model& m, const ShardsViewState& s) {
    return moe_layers(m) > 0 && !(s.dense && both_kinds(m));
}

std::int64_t shown_expert(const Scene& scene, const ShardsViewState& state) {
    if (!scene.plan.model.moe) return 0;
    if (state.expert >= 0) return std::min(state.expert, scene.plan.model.moe->experts - 1);
    return contents_of(scene.plan, scene.evaluation.mesh, shown_rank(scene)).experts.begin;
}

SheetRequest request_of(const Scene& scene, const ShardsViewState& s) {
    return {s.state,           s.moment,
            s.block,           shows_moe(scene.plan.model, s),
            shown_rank(scene), shown_expert(scene, s)};
}

// ---- what is seen, in a sentence ------------------------------------------------------------------------

std::string what_is_drawn(const Scene& scene, const ShardsViewState& s) {
    const Model& m = scene.plan.model;
    const bool moe = shows_moe(m, s);
    const std::int64_t count = moe ? moe_layers(m) : both_kinds(m) ? times(m, Place::dense_layer) : m.layers;
    const std::string layers = thousands(count)
                               + (moe             ? " MoE layers"
                                  : both_kinds(m) ? " dense layers"
                                                  : " layers");
    switch (s.block) {
    case Block::layer: return count == 1 ? "The only layer" : "One of " + layers;
    case Block::attention: return "Attention of one of " + layers;
    case Block::mlp: return (moe ? "Router and experts of one of " : "MLP of one of ") + layers;
    case Block::ends: break;
    }
    return "Embedding, last norm and head";
}

void write_sentence(const Scene& scene, const ShardsViewState& s, DrawnSheets& d) {
    const SheetTotals& t = d.totals;
    const std::string who =
        (scene.selection.rank < 0 ? "Rank 0 (none is selected) " : "Rank " + thousands(d.of.rank) + " ");
    const bool held =
        std::any_of(d.sheets.begin(), d.sheets.end(), [](const Sheet& x) { return x.part.held; });
    if (s.state == TensorState::parameters)
        d.bold = what_is_drawn(scene, s) + ": " + count_text(t.numbers) + " parameters, "
                 + memory_text(t.bytes) + ".";
    else if (s.state == TensorState::activations)
        d.bold = what_is_drawn(scene, s) + ": " + memory_text(t.bytes)
                 + (s.moment == Moment::at_rest
                        ? " kept for the backward pass of one micro-batch on every replica."
                        : " in one micro-batch on every replica.");
    else
        d.bold = what_is_drawn(scene, s) + ": " + memory_text(t.bytes) + " of "
                 + (s.state == TensorState::optimizer ? "optimizer state." : "gradients.");
    d.bold += " " + who
              + (!held                     ? "has none of it: another pipeline stage does."
                 : t.bytes_here >= t.bytes ? "holds all of it."
                                           : "holds " + memory_text(t.bytes_here) + ".");
    d.plain.clear();
    std::vector<Placement> placements;
    for (const Sheet& x : d.sheets) placements.push_back(x.placement);
    for (const Axis a : kAxes) {
        const std::string what = axis_sentence(placements, a);
        if (!what.empty()) d.plain += (d.plain.empty() ? "" : ". ") + std::string(name_of(a)) + " " + what;
    }
    if (d.plain.empty()) d.plain = "One GPU holds everything: nothing is cut";
    d.plain += ".";
}

void refresh(const Scene& scene, ShardsViewState& s, std::uint64_t revision) {
    const SheetRequest request = request_of(scene, s);
    const Mesh& mesh = scene.evaluation.mesh;
    const bool same_plan = s.drawn.key() != nullptr && s.drawn.key()->first == revision;
    s.drawn.update({revision, request}, [&](DrawnSheets& d) {
        SheetRequest like_before = d.of;
        like_before.rank = request.rank;
        if (same_plan && like_before == request)
            light_sheets(scene.plan, mesh, request.rank, d.sheets);
        else
            make_sheets(scene.plan, mesh, request, d.sheets);
        d.of = request;
        d.totals = totals_of(d.sheets);
        write_sentence(scene, s, d);
    });
    s.stages.update(revision, [&] { return stages_of_layers(scene.plan, mesh); });
}

// ---- controls -------------------------------------------------------------------------------------------

// Controls are in the head's row while they fit, then in rows below.
class ControlRows {
  public:
    ControlRows(Rect& head, Rect& room) : row_(head), room_(room) {}
    Rect take(float w) {
        if (row_.w < w) {
            row_ = room_.cut_top(24);
            room_.cut_top(4);
        }
        const Rect r = row_.cut_left(std::min(w, row_.w));
        row_.cut_left(std::min(row_.w, 8.0f));
        return r;
    }

  private:
    Rect& row_;
    Rect& room_;
};

template <std::size_t N>
int choose(Ui& ui, ControlRows& rows, std::string_view name, const std::array<std::string_view, N>& labels,
           int chosen, std::uint32_t disabled = 0) {
    float w = 0;
    for (const auto l : labels) w += ui.canvas().text_width(l, ui.small()) + 18;
    return ui.segments(name, rows.take(w), labels, chosen, std::nullopt, disabled);
}

void controls(Ui& ui, Rect& head_row, Rect& room, Scene& scene, ShardsViewState& s) {
    ControlRows rows(head_row, room);
    static constexpr std::array<std::string_view, 4> kStates{"parameters", "gradients", "optimizer",
                                                             "activations"};
    static constexpr std::array<std::string_view, 2> kMoments{"at rest", "computing"};
    static constexpr std::array<std::string_view, 4> kScopes{"loaf", "tensors", "only one axis", "list"};
    static constexpr std::array<std::string_view, 2> kKinds{"MoE", "dense"};
    const bool moe = shows_moe(scene.plan.model, s);
    const std::array<std::string_view, kBlockCount> blocks{"layer", "attention", moe ? "experts" : "MLP",
                                                           "ends"};
    const bool alone = s.shows == Shows::one_axis;
    if (ui.state().for_picture) {  // a picture has no switches: they are a subtitle
        if (s.shows == Shows::loaf || s.shows == Shows::list || s.shows_tokens()) return;
        std::string words =
            std::string(name_of(s.state)) + " " + std::string(kMoments[static_cast<std::size_t>(s.moment)]);
        words += ", " + std::string(alone ? kScopes[2] : blocks[static_cast<std::size_t>(s.block)]);
        ui.label(head_row, words, ui.style(13, Tone::secondary));
        return;
    }
    s.shows = static_cast<Shows>(choose(ui, rows, "shards.scope", kScopes, static_cast<int>(s.shows)));
    if (s.shows == Shows::loaf || s.shows == Shows::list) return;
    if (alone && s.picker.strategy == Strategy::cp && !scene.in_lesson) {
        static constexpr std::array<std::string_view, 2> kCpShows{"tokens", "price"};
        s.picker.as_tokens = choose(ui, rows, "shards.cp_shows", kCpShows, s.picker.as_tokens ? 0 : 1) == 0;
        static constexpr std::array<std::string_view, 2> kRanks{"cp 4", "cp 8"};
        if (s.shows_tokens() && scene.plan.layout.cp <= 1)
            s.picker.eight = choose(ui, rows, "shards.cp_ranks", kRanks, s.picker.eight ? 1 : 0) == 1;
    }
    if (s.shows_tokens()) return;
    const TensorState was = s.state;
    s.state = static_cast<TensorState>(choose(ui, rows, "shards.state", kStates, static_cast<int>(s.state)));
    if (s.state != was) scene.selection.tensor_state = s.state;  // the inspector follows
    s.moment = static_cast<Moment>(choose(ui, rows, "shards.moment", kMoments, static_cast<int>(s.moment)));
    if (s.shows == Shows::one_axis) return;
    s.block = static_cast<Block>(choose(ui, rows, "shards.block", blocks, static_cast<int>(s.block)));
    if (both_kinds(scene.plan.model)) s.dense = choose(ui, rows, "shards.kind", kKinds, s.dense ? 1 : 0) == 1;
}

// Draws a chip for each axis in use: a click shows only its cuts.
void axis_chips(Ui& ui, Rect& row, const Scene& scene, ShardsViewState& s) {
    Canvas& c = ui.canvas();
    const Mesh& mesh = scene.evaluation.mesh;
    if (s.isolate >= 0 && axis_size(mesh, static_cast<Axis>(s.isolate)) <= 1) s.isolate = -1;
    for (const Axis a : kAxes) {
        const std::int64_t n = axis_size(mesh, a);
        if (n <= 1) continue;
        const std::string label = std::string(name_of(a)) + " " + thousands(n);
        const float w = c.text_width(label, ui.small()) + 30;
        if (row.w < w) return;
        const Rect chip = row.cut_left(w);
        row.cut_left(4);
        const bool on = s.isolate == static_cast<int>(a), off = s.isolate >= 0 && !on;
        const Hit hit = ui.area("shards.axis", chip, static_cast<std::uint64_t>(a));
        if (on || hit.hovered) c.rect(chip, ui.theme().raised, 6);
        c.frame(chip, on ? ui.theme().text : ui.theme().hairline, 1, 6);
        const Color color = ui.theme().axis[static_cast<std::size_t>(a)];
        ui.swatch({chip.x + 8, chip.center().y - 5}, off ? color.alpha(0.45f) : color);
        c.text_in({chip.x + 23, chip.y, chip.w - 24, chip.h}, label,
                  ui.small(on || hit.hovered ? Tone::text : Tone::secondary));
        if (hit.focused) ui.focus_ring(chip, 6);
        const std::string action =
            on ? "click to see all axes again" : "click to see what only this axis cuts";
        names_axis(ui, group_of(a), chip, action, ui.id("shards.axis", static_cast<std::uint64_t>(a)));
        if (hit.hovered) ui.tooltip(label + "\n" + action);
        if (hit.clicked) s.isolate = on ? -1 : static_cast<int>(a);
    }
}

// Explains solid, hatched and dotted.
void key(Ui& ui, Rect& row, const std::vector<Sheet>& sheets) {
    Canvas& c = ui.canvas();
    static constexpr std::array<std::string_view, 3> kWords{"cut", "copied", "partial sums"};
    static constexpr std::array kSpreads{Spread::cut, Spread::copied, Spread::partial};
    const bool experts = std::any_of(sheets.begin(), sheets.end(), shows_one_expert);
    const std::string_view words = experts ? "areas are bytes, of one expert" : "areas are bytes";
    float w = 0;
    for (const auto word : kWords) w += c.text_width(word, ui.small()) + 34;
    if (row.w < w + 60) return;
    Rect r = row.cut_right(w - 12);
    const float area = c.text_width(words, ui.small()) + 2;
    if (row.w > area + 320) {
        row.cut_right(16);
        c.text_in(row.cut_right(area), words, ui.small());
    }
    for (std::size_t i = 0; i < kWords.size(); ++i) {
        const Rect box{r.x, r.center().y - 5, 14, 10};
        fill_spread(c, ui.theme(), box, kSpreads[i], ui.theme().secondary);
        const float word = c.text_width(kWords[i], ui.small());
        c.text_in({box.right() + 6, r.y, word + 2, r.h}, kWords[i], ui.small());
        r.cut_left(word + 34);
    }
}

// Draws every layer of the model as a cell in the shade of its stage; the rank's own are bright.
void layer_strip(Ui& ui, Rect row, const Scene& scene, ShardsViewState& s) {
    const auto n = s.stages->size();
    if (n < 2 || row.w < 120 || s.block == Block::ends) return;
    Canvas& c = ui.canvas();
    const Model& m = scene.plan.model;
    const std::string label = std::to_string(n) + " layers";
    const float label_w = c.text_width(label, ui.small()) + 8;
    c.text_in(row.cut_left(label_w), label, ui.small());
    const float step = std::min(14.0f, row.w / static_cast<float>(n));
    const Mesh& mesh = scene.evaluation.mesh;
    const auto pp = static_cast<std::size_t>(Axis::pp);
    const bool piped = mesh.dense[pp].size > 1;
    const auto own = static_cast<int>(dense_coordinates(mesh, s.drawn->of.rank)[pp]);
    const Color base = piped ? ui.theme().axis[pp] : mix(ui.theme().window, ui.theme().secondary, 0.5f);
    const Rect strip{row.x, row.center().y - 7, step * static_cast<float>(n), 14};
    const Hit hit = ui.area("shards.layers", strip, 0, true, false);
    for (std::size_t l = 0; l < n; ++l) {
        const Rect cell{strip.x + step * static_cast<float>(l), strip.y, step, strip.h};
        const bool moe = is_moe_layer(m, static_cast<std::int64_t>(l));
        const bool mine = (*s.stages)[l][0] == own || (*s.stages)[l][1] == own;
        const Color fill =
            mine ? base : mix(ui.theme().window, base, (*s.stages)[l][0] % 2 == 1 ? 0.28f : 0.42f);
        Rect box = step > 4 ? cell.inset(0.5f, 0) : cell;
        if (!moe && both_kinds(m)) box = {box.x, box.y + 5, box.w, box.h - 5};  // dense ones are lower
        c.rect(box, fill);
        if (hit.hovered && cell.contains(ui.frame().mouse)) {
            std::string t = "layer " + std::to_string(l) + (moe ? ", MoE" : "");
            if (piped) t += "\nstage " + std::to_string((*s.stages)[l][0]);
            if ((*s.stages)[l][1] >= 0) t += " and stage " + std::to_string((*s.stages)[l][1]);
            ui.tooltip(t + (mine ? "\non rank " + thousands(s.drawn->of.rank) : ""));
            if (piped) scene.next_hover.stage = (*s.stages)[l][0];
            if (hit.clicked && both_kinds(m)) s.dense = !moe;
        }
    }
}

}  // namespace

std::optional<PlanEdit> draw_shards(Ui& ui, Rect head_row, Rect room, Scene& scene, ShardsViewState& state,
                                    std::uint64_t revision) {
    Canvas& c = ui.canvas();
    controls(ui, head_row, room, scene, state);
    if (state.shows_tokens()) return draw_tokens(ui, room, scene, state.tokens, state.picker.eight, revision);
    if (state.shows == Shows::one_axis) {
        draw_picker(ui, room, scene, state.picker, {state.state, state.moment}, revision);
        return std::nullopt;
    }
    if (scene.evaluation.mesh.world < 1) {
        c.text_in(room, "No mesh to lay tensors on: see the problems.", ui.small(), Align::center);
        return std::nullopt;
    }
    if (state.shows == Shows::list) {
        draw_tensors(ui, head_row, room, scene, state.list, revision);
        return std::nullopt;
    }
    if (state.shows == Shows::loaf && scene.evaluation.valid)
        return draw_loaf(ui, room, scene, state.loaf, revision);
    refresh(scene, state, revision);
    const TextStyle bold = ui.title();
    const bool wraps = c.text_width(state.drawn->bold, bold) > room.w && room.h > 120;
    const Rect sentence =
        room.cut_top(wraps ? c.paragraph_height(room.w, state.drawn->bold, bold, 18) + 2 : 20.0f);
    if (wraps)
        c.paragraph(sentence, state.drawn->bold, bold, 18);
    else
        c.text_in(sentence, state.drawn->bold, bold);
    Rect rest = sentence;
    rest.cut_left(std::min(rest.w, c.text_width(state.drawn->bold, bold) + 6));
    if (room.h > 360) {  // a second line where the view fills the window
        c.paragraph(room, state.drawn->plain, ui.style(13, Tone::secondary), 18);
        room.cut_top(std::min(
            c.paragraph_height(room.w, state.drawn->plain, ui.style(13, Tone::secondary), 18), 54.0f));
    } else if (rest.w > 40) {
        c.text_in(rest, state.drawn->plain, ui.style(13, Tone::secondary));
    }
    if (ui.hovers(sentence)) ui.tooltip(state.drawn->bold + "\n" + state.drawn->plain);
    room.cut_top(4);
    Rect row = room.cut_top(22);
    axis_chips(ui, row, scene, state);
    row.cut_left(8);
    if (row.w > 520) key(ui, row, state.drawn->sheets);
    row.cut_right(16);
    layer_strip(ui, row, scene, state);
    room.cut_top(6);
    return draw_sheets(ui, room, scene, state);
}

Table shards_data(const Scene& scene, const ShardsViewState& state) {
    if (state.shows_tokens()) return tokens_data(scene, state.picker.eight);
    if (state.shows == Shows::one_axis) return picker_data(scene, state.picker);
    if (state.shows == Shows::list) return tensors_data(scene, 0);
    if (state.shows == Shows::loaf && scene.evaluation.valid) return loaf_data(scene);
    const Mesh& mesh = scene.evaluation.mesh;
    std::vector<Sheet> sheets;
    if (mesh.world > 0) make_sheets(scene.plan, mesh, request_of(scene, state), sheets);
    std::vector<HeldTensor> held;
    for (const Sheet& s : sheets) held.push_back({s.placement, s.part});
    return held_table(mesh, shown_rank(scene), held);
}

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
    look.highlighted_color = color;
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
    const std::string bold = std::string(facts.name) + " by itself cuts " + std::string(facts.splits) + ".";
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

// Draws who cuts a tensor: rulers at its edges, and the same in a line of words.

namespace {

constexpr float kBetween = 2;       // a ruler and the body
constexpr float kLeastSegment = 3;  // segments shorter than this are not drawn one by one
constexpr float kDigits = 11;       // height of a number
constexpr std::array kWhoCuts{Axis::tp, Axis::cp, Axis::dp_shard, Axis::dp_replicate};

struct Segment {
    Range at;
    std::int64_t part = 0;
};

// Returns the segments of an axis, in order; nothing where it cuts more finely than can be drawn.
std::vector<Segment> segments_of(const Sheet& s, Axis axis, bool rows) {
    std::vector<Segment> out;
    const TensorPieces& t = s.coarse.by[axis] && !s.coarse.piece.empty() ? s.coarse : s.fine;
    if (!t.by[axis]) return out;
    for (const Piece& piece : t.piece)
        for (int b = piece.first; b < piece.end; ++b) {
            const IndexBox& box = t.box[static_cast<std::size_t>(b)];
            out.push_back({rows ? box.rows : box.columns, piece.at[axis]});
        }
    std::sort(out.begin(), out.end(), [](const Segment& a, const Segment& b) {
        return a.at.begin != b.at.begin ? a.at.begin < b.at.begin
               : a.part != b.part       ? a.part < b.part
                                        : a.at.end < b.at.end;
    });
    const auto same = [](const Segment& a, const Segment& b) { return a.at == b.at && a.part == b.part; };
    out.erase(std::unique(out.begin(), out.end(), same), out.end());
    return out;
}

bool overlap(const Range& a, const Range& b) {
    return a.begin < b.end && b.begin < a.end;
}

}  // namespace

void draw_rulers(Ui& ui, Rect body, const Sheet& s, const SheetLook& look) {
    const std::vector<SheetRuler> rulers = rulers_of(s);
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    float left = 0, above = 0;  // taken by the finer ones, which lie nearer to the body
    for (std::size_t i = rulers.size(); i-- > 0;) {
        const SheetRuler& ruler = rulers[i];
        const bool down = ruler.rows != s.lying;
        float& taken = down ? left : above;
        const Rect strip = down ? Rect{body.x - taken - ruler.width, body.y, ruler.width - kBetween, body.h}
                                : Rect{body.x, body.y - taken - ruler.width, body.w, ruler.width - kBetween};
        taken += ruler.width;
        if (look.isolate >= 0 && look.isolate != static_cast<int>(ruler.axis)) continue;
        const Color color = color_of(theme, s.placement, ruler.axis);
        const auto whole = static_cast<double>(s.placement.shape[ruler.rows ? 1 : 2]);
        const auto rect_of = [&](const Range& r) {
            const float length = down ? strip.h : strip.w;
            const auto from = static_cast<float>(static_cast<double>(r.begin) / whole) * length;
            const auto size = static_cast<float>(static_cast<double>(r.size()) / whole) * length;
            return down ? Rect{strip.x, strip.y + from, strip.w, size}
                        : Rect{strip.x + from, strip.y, size, strip.h};
        };
        const std::int64_t own = part_index(s.placement.on(ruler.axis),
                                            (s.placement.expert ? look.expert : look.dense)[ruler.axis]);
        const auto is_own = [&](const Segment& g) {
            return s.part.held && g.part == own
                   && std::any_of(s.highlighted.begin(), s.highlighted.end(), [&](const IndexBox& b) {
                          return overlap(ruler.rows ? b.rows : b.columns, g.at);
                      });
        };
        c.rect(strip, pale(theme, color, false));
        const std::vector<Segment> segments = segments_of(s, ruler.axis, ruler.rows);
        const float each =
            segments.empty() ? 0 : (down ? strip.h : strip.w) / static_cast<float>(segments.size());
        if (each >= kLeastSegment) {
            for (const Segment& g : segments) {
                Rect r = rect_of(g.at);
                (down ? r.h : r.w) = std::max(1.0f, (down ? r.h : r.w) - 1);
                const Color fill = is_own(g) ? color : pale(theme, color, g.part % 2 == 1);
                c.rect(r, fill);
                const TextStyle digits = ui.style(kDigits).in(ink_on(fill));
                const std::string number = std::to_string(g.part);
                if (std::min(strip.w, strip.h) >= kDigits && r.h >= kDigits
                    && r.w >= c.text_width(number, digits))
                    c.text_in(r, number, digits, Align::center);
            }
        } else if (s.part.held) {
            for (const IndexBox& b : s.highlighted) {
                Rect r = rect_of(ruler.rows ? b.rows : b.columns);
                (down ? r.h : r.w) = std::max(2.0f, down ? r.h : r.w);
                c.rect(r, color);
            }
        }
    }
}

void draw_cutters(Ui& ui, Rect line, const Sheet& s) {
    constexpr float kSwatch = 9, kSpace = 12;
    Canvas& c = ui.canvas();
    const float right = line.right();
    float x = line.x;
    for (const Spread spread : {Spread::cut, Spread::partial, Spread::copied})
        for (const Axis a : kWhoCuts) {
            const AxisPlacement& on = s.placement.on(a);
            if (on.size <= 1 || on.spread != spread || on.dim == Dim::batch) continue;
            // The axis' name, or the bare mark, stands for words that have no room.
            const auto width = [&](const std::string& text) {
                return kSwatch + (text.empty() ? 0.0f : 5 + c.text_width(text, ui.small()));
            };
            std::string words = cutter_words(s.placement, a);
            if (x + width(words) > right) words = axis_name(s.placement, a);
            if (x + width(words) > right) words.clear();
            const float w = width(words);
            if (x + w > right) return;
            const Rect box{x, line.center().y - kSwatch / 2, kSwatch, kSwatch};
            const Color color = color_of(ui.theme(), s.placement, a);
            fill_spread(c, ui.theme(), box, spread, color);
            c.text_in({x + kSwatch + 5, line.y, w, line.h}, words, ui.small());
            x += w + kSpace;
        }
}

}  // namespace pentamesh::ui
