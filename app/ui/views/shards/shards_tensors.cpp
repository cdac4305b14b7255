// The page Tensors of Shards lists every parameter tensor, how each axis places it, and what one GPU keeps.
#include "app/tables/plan_tables.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/scene.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "app/ui/views/shards/view.h"
#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/sharding/sharding.h"
#include "core/sharding/stage_tensors.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace pentamesh::ui {

Table tensors_data(const Scene& scene, int state) {
    if (scene.evaluation.mesh.world <= 0) return tensors_table({});
    return tensors_table(
        list_placements(scene.plan, scene.evaluation.mesh, static_cast<TensorState>(state), Moment::at_rest));
}

namespace {

constexpr double kLeastShare = 0.01;  // of a stage's bytes; smaller tensors share a row
// The first of them that cuts a tensor gives it its colour.
constexpr std::array kCutters{Axis::ep, Axis::tp, Axis::dp_shard, Axis::dp_replicate, Axis::cp};

// Returns "experts" of "experts.gate".
std::string module_name(const Placement& p) {
    const std::string name(name_of(p.id));
    return name.substr(0, name.find('.'));
}

// Says what fills the GPU, and what of the model stands on other stages.
std::string words_of(const std::vector<Placement>& placed, const std::vector<StageTensor>& held,
                     std::string_view whose, double all) {
    std::vector<std::pair<std::string, double>> modules;
    const StageTensor* largest = nullptr;
    for (const StageTensor& t : held) {
        const std::string name = module_name(placed[t.placement]);
        const auto at =
            std::find_if(modules.begin(), modules.end(), [&](auto& m) { return m.first == name; });
        (at == modules.end() ? modules.emplace_back(name, 0.0) : *at).second += t.bytes;
        if (largest == nullptr || t.bytes > largest->bytes) largest = &t;
    }
    if (modules.empty()) return "This GPU keeps no parameters.";
    const auto most = std::max_element(modules.begin(), modules.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    const auto share = [all](double bytes) { return percent_text(all > 0 ? bytes / all : 0); };
    const std::string largest_name(name_of(placed[largest->placement].id));
    const bool several = largest->bytes < most->second;
    std::string words =
        sentence("Of ", memory_text(all), " of parameters that ", whose, " keeps, ",
                 several ? "the tensors of " : "", most->first, several ? " take " : " takes ",
                 memory_text(most->second), " (", share(most->second), ")", several ? " together" : "", ".");
    if (several) words += " The largest one is " + largest_name + ", " + share(largest->bytes) + ".";
    std::string elsewhere;
    for (const Placement& p : placed) {
        const std::string name = module_name(p);
        const bool here =
            std::any_of(modules.begin(), modules.end(), [&](auto& m) { return m.first == name; });
        if (!here && elsewhere.find(name) == std::string::npos)
            elsewhere += (elsewhere.empty() ? "" : ", ") + name;
    }
    if (!elsewhere.empty()) words += " On other stages: " + elsewhere + ".";
    return words;
}

// Returns the axis whose colour a tensor has: one that cuts it, else one that copies it.
Axis axis_of(const Placement& p) {
    for (const Spread spread : {Spread::cut, Spread::copied})
        for (const Axis a : kCutters)
            if (p.on(a).size > 1 && p.on(a).spread == spread) return a;
    return Axis::pp;
}

// Says what the pictures of these tensors are made of: of hatching only where some are hatched.
std::string drawn_words(const std::vector<Placement>& placements) {
    bool cut = false, copied = false;
    for (const Placement& p : placements) {
        const Axis axis = axis_of(p);
        if (axis == Axis::pp) continue;
        cut = cut || p.on(axis).spread == Spread::cut;
        copied = copied || p.on(axis).spread == Spread::copied;
    }
    std::string out = cut || copied ? "filled: kept here" : "whole on this GPU";
    if (cut) out += "; solid: cut by the axis of its colour";
    if (copied) out += "; hatched: others of the axis have the same";
    return out;
}

TensorRows rows_of(const Scene& scene, std::int64_t rank) {
    TensorRows out;
    out.table.columns = {{"tensor"},
                         {"the whole, one layer"},
                         {"on this GPU"},
                         {"layers", Shown::count},
                         {"in all", Shown::plain},
                         {""}};  // says what is drawn, once that is known
    const Evaluation& e = scene.evaluation;
    if (e.mesh.world <= 0) return out;
    const int stage = std::max(stage_of_rank(e.mesh, rank), 0);
    const auto placed = list_placements(scene.plan, e.mesh, TensorState::parameters, Moment::at_rest);
    const auto held = tensors_of_stage(scene.plan, e.comm.stages, stage, placed);
    for (const StageTensor& t : held) out.all += t.bytes;
    StageTensor rest;
    std::int64_t kinds = 0;
    for (const StageTensor& t : held) {
        if (t.bytes < kLeastShare * out.all) {
            rest.bytes += t.bytes, ++kinds;
            continue;
        }
        const Placement& p = placed[t.placement];
        out.table.rows.push_back({name_of(p.id), shape_text(p, p.shape), shape_text(p, p.local), t.layers,
                                  memory_text(t.bytes), ""});
        out.placements.push_back(p), out.layers.push_back(t.layers), out.bytes.push_back(t.bytes);
        out.parts.push_back(part_of(scene.plan, e.mesh, p, rank));
        out.tensors.push_back(static_cast<int>(t.placement));
    }
    out.table.columns.back().title = drawn_words(out.placements);
    if (kinds > 0) {
        out.table.rows.push_back(
            {plural(kinds, "kind", "kinds") + " under 1 % each", "", "", "", memory_text(rest.bytes), ""});
        out.tensors.push_back(-1), out.bytes.push_back(rest.bytes);
    }
    const std::string whose =
        e.comm.stages.devices > 1 ? "a GPU of stage " + std::to_string(stage) : std::string("a GPU");
    out.words = words_of(placed, held, whose, out.all);
    return out;
}

// Returns the GPU whose tensors are listed: the one that was picked, or the first of the fullest stage.
std::int64_t listed_rank(const Scene& scene) {
    if (const std::int64_t rank = chosen_rank(scene); rank >= 0) return rank;
    const Memory& memory = scene.evaluation.memory;
    if (memory.stage.empty()) return 0;
    return memory.stage[memory.peak_stage].stage * scene.evaluation.mesh.dense[Axis::pp].stride;
}

// Draws a tensor with its cuts; what the GPU keeps of it is filled.
class TensorGlyph {
  public:
    TensorGlyph(Canvas& c, const Theme& theme, const Placement& p, const Part& part)
        : c_(c), theme_(theme), p_(p), part_(part), axis_(axis_of(p)), color_(color_of(theme, p, axis_)) {}

    void draw(Rect r) const {
        c_.rect(r, mix(theme_.window, color_, 0.12f));
        fill(kept(r));
        for (const Axis a : kCutters) cut_lines(r, a);
        c_.frame(r, color_.alpha(0.8f), 1);
    }
    // Fills as the tensor is: solid where it is cut, hatched where others have the same.
    void fill(Rect r) const {
        if (axis_ == Axis::pp)
            c_.rect(r, theme_.secondary);
        else
            fill_spread(c_, theme_, r, p_.on(axis_).spread, color_);
    }

  private:
    // Experts stand below each other, then rows; columns next to each other.
    [[nodiscard]] Rect kept(Rect r) const {
        double top = 0, high = 1, left = 0, wide = 1;
        const auto narrow = [](double& from, double& length, const Range& kept, std::int64_t whole) {
            if (whole <= 0) return;
            from += length * static_cast<double>(kept.begin) / static_cast<double>(whole);
            length *= static_cast<double>(kept.size()) / static_cast<double>(whole);
        };
        narrow(top, high, part_.box[0], p_.shape[0]);
        narrow(top, high, part_.box[1], p_.shape[1]);
        narrow(left, wide, part_.box[2], p_.shape[2]);
        std::int64_t box = 1;
        for (const Range& range : part_.box) box *= std::max<std::int64_t>(range.size(), 1);
        narrow(top, high, part_.flat, box);
        constexpr float kLeast = 3;  // pixels: a 128th would be none
        high = std::max<double>(high, kLeast / r.h), top = std::min(top, 1 - high);
        wide = std::max<double>(wide, kLeast / r.w), left = std::min(left, 1 - wide);
        return {r.x + r.w * static_cast<float>(left), r.y + r.h * static_cast<float>(top),
                r.w * static_cast<float>(wide), r.h * static_cast<float>(high)};
    }
    // A count that is drawn is the count; more than have room are not drawn.
    void cut_lines(Rect r, Axis a) const {
        const AxisPlacement& on = p_.on(a);
        if (on.size <= 1 || on.spread != Spread::cut || on.dim == Dim::layers) return;
        constexpr float kLeastGap = 3;
        const bool across = on.dim == Dim::columns;
        const float length = across ? r.w : r.h, gap = length / static_cast<float>(on.parts);
        if (gap < kLeastGap) return;
        for (std::int64_t i = 1; i < on.parts; ++i) {
            const float at = gap * static_cast<float>(i);
            if (across)
                c_.line({r.x + at, r.y}, {r.x + at, r.bottom()}, color_of(theme_, p_, a), 1);
            else
                c_.line({r.x, r.y + at}, {r.right(), r.y + at}, color_of(theme_, p_, a), 1);
        }
    }

    Canvas& c_;
    const Theme& theme_;
    const Placement& p_;
    const Part& part_;
    Axis axis_;
    Color color_;
};

// Draws the bytes of all layers as a bar with a gap between two of them, and its share of the GPU's.
void draw_bar(Ui& ui, Rect room, double share, double of_most, std::int64_t layers,
              const TensorGlyph* glyph) {
    constexpr float kShare = 64, kGaps = 4;
    Rect bar = room.inset(0, std::max((room.h - 14) / 2, 0.0f));
    bar.w = std::max((bar.w - kShare) * static_cast<float>(of_most), 1.0f);
    if (glyph != nullptr)
        glyph->fill(bar);
    else
        ui.canvas().rect(bar, ui.theme().secondary);
    const float each = bar.w / static_cast<float>(std::max<std::int64_t>(layers, 1));
    for (std::int64_t i = 1; i < layers && each >= kGaps; ++i)
        ui.canvas().rect({bar.x + each * static_cast<float>(i) - 0.5f, bar.y, 1, bar.h}, ui.theme().window);
    ui.canvas().text_in({bar.right() + 6, room.y, kShare - 6, room.h}, percent(share),
                        ui.small(Tone::secondary));
}

}  // namespace

void draw_tensors(Ui& ui, Rect head_row, Rect room, Scene& scene, TensorListState& state,
                  std::uint64_t revision) {
    const std::int64_t rank = listed_rank(scene);
    const TensorRows& rows = state.rows.get({revision, rank}, [&] { return rows_of(scene, rank); });
    head_sentence(ui, head_row, room, rows.words);
    const auto drawn = static_cast<int>(rows.table.columns.size()) - 1;
    const double most = rows.bytes.empty() ? 1 : *std::max_element(rows.bytes.begin(), rows.bytes.end());
    constexpr float kGlyph = 50, kGlyphGap = 14, kRow = 34, kLowRow = 20;
    const auto count = static_cast<float>(rows.table.rows.size());
    const float height = held_between((room.h - 30) / std::max(count, 1.0f), kLowRow, kRow);
    const auto paint = [&](Rect cell, std::size_t row, std::size_t column) {
        if (static_cast<int>(column) != drawn) return false;
        const double share = rows.all > 0 ? rows.bytes[row] / rows.all : 0;
        Rect glyph = cell.cut_left(std::min(cell.w, kGlyph)).inset(0, 3);
        cell.cut_left(std::min(cell.w, kGlyphGap));
        if (row >= rows.placements.size()) {
            draw_bar(ui, cell, share, rows.bytes[row] / most, 1, nullptr);
            return true;
        }
        const TensorGlyph tensor(ui.canvas(), ui.theme(), rows.placements[row], rows.parts[row]);
        tensor.draw(glyph);
        draw_bar(ui, cell, share, rows.bytes[row] / most, rows.layers[row], &tensor);
        return true;
    };
    const bool activation = scene.selection.activation >= 0;
    const auto selected = std::find(rows.tensors.begin(), rows.tensors.end(), scene.selection.tensor);
    const int row = draw_table(ui, "tensors.table", room, rows.table, state.table,
                               activation || scene.selection.tensor < 0 || selected == rows.tensors.end()
                                   ? -1
                                   : static_cast<int>(selected - rows.tensors.begin()),
                               {.paint = paint, .drawn_column = drawn, .least_row = height});
    if (row < 0 || rows.tensors[static_cast<std::size_t>(row)] < 0) return;
    scene.selection.tensor = rows.tensors[static_cast<std::size_t>(row)];
    scene.selection.activation = -1;
    scene.selection.tensor_state = TensorState::parameters;
    scene.selection.topic = Selection::Topic::tensor;
}

}  // namespace pentamesh::ui
