#include "app/ui/views/shards/view.h"

#include "app/tables/tensors.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/axis_name.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "core/plan/names.h"
#include "core/sharding/placement_words.h"

#include <algorithm>

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
    ControlRows(Rect head, Rect& room) : row_(head), room_(room) {}
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
    Rect row_;
    Rect& room_;
};

template <std::size_t N>
int choose(Ui& ui, ControlRows& rows, std::string_view name, const std::array<std::string_view, N>& labels,
           int chosen, std::uint32_t disabled = 0) {
    float w = 0;
    for (const auto l : labels) w += ui.canvas().text_width(l, ui.small()) + 18;
    return ui.segments(name, rows.take(w), labels, chosen, std::nullopt, disabled);
}

void controls(Ui& ui, Rect head_row, Rect& room, Scene& scene, ShardsViewState& s) {
    ControlRows rows(head_row, room);
    static constexpr std::array<std::string_view, 4> kStates{"parameters", "gradients", "optimizer",
                                                             "activations"};
    static constexpr std::array<std::string_view, 2> kMoments{"at rest", "computing"};
    static constexpr std::array<std::string_view, 3> kScopes{"loaf", "tensors", "one axis alone"};
    static constexpr std::array<std::string_view, 2> kKinds{"MoE", "dense"};
    const bool moe = shows_moe(scene.plan.model, s);
    const std::array<std::string_view, kBlockCount> blocks{"layer", "attention", moe ? "experts" : "MLP",
                                                           "ends"};
    const bool alone = s.shows == Shows::one_axis;
    if (ui.state().for_picture) {  // a picture has no switches: they are a subtitle
        if (s.shows == Shows::loaf) return;
        std::string words =
            std::string(name_of(s.state)) + " " + std::string(kMoments[static_cast<std::size_t>(s.moment)]);
        words += ", " + std::string(alone ? kScopes[2] : blocks[static_cast<std::size_t>(s.block)]);
        ui.label(head_row, words, ui.style(13, Tone::secondary));
        return;
    }
    s.shows = static_cast<Shows>(choose(ui, rows, "shards.scope", kScopes, static_cast<int>(s.shows)));
    if (s.shows == Shows::loaf) return;
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
    if (state.shows == Shows::one_axis) {
        draw_picker(ui, room, scene, state.picker, {state.state, state.moment}, revision);
        return std::nullopt;
    }
    if (scene.evaluation.mesh.world < 1) {
        c.text_in(room, "No mesh to lay tensors on: see the problems.", ui.small(), Align::center);
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
    if (state.shows == Shows::one_axis) return picker_data(scene, state.picker);
    if (state.shows == Shows::loaf && scene.evaluation.valid) return loaf_data(scene);
    const Mesh& mesh = scene.evaluation.mesh;
    std::vector<Sheet> sheets;
    if (mesh.world > 0) make_sheets(scene.plan, mesh, request_of(scene, state), sheets);
    std::vector<HeldTensor> held;
    for (const Sheet& s : sheets) held.push_back({s.placement, s.part});
    return held_table(mesh, shown_rank(scene), held);
}

}  // namespace pentamesh::ui
