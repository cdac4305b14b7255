// Draws the loaf uncut, and where the axes cut it.
#include "app/ui/kit/format.h"
#include "app/ui/kit/rows.h"
#include "app/ui/panels/plan_panel.h"
#include "app/ui/scene/axis_name.h"
#include "app/ui/views/shards/view.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"
#include "core/teach/axis_sentences.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr std::int64_t kMostSamples = 8;  // of more samples, as many are drawn
constexpr std::int64_t kMostCuts = 16;    // of more parts, one cut is drawn
constexpr float kChipRow = 26;

struct Knife {
    Axis axis;
    bool seam;  // between things that hardly talk: solid; else through the grain: dashed
};
constexpr std::array<Knife, 6> kKnives{{{Axis::tp, false},
                                        {Axis::ep, false},
                                        {Axis::pp, true},
                                        {Axis::cp, false},
                                        {Axis::dp_shard, true},
                                        {Axis::dp_replicate, true}}};

// The axes of data parallelism cut between the samples: the chip is that of the one that grows.
bool is_offered(const Plan& plan, Axis axis) {
    if (axis == Axis::ep) return plan.model.moe.has_value();
    if (axis == Axis::dp_shard) return plan.layout.dp_shard > 1;
    if (axis == Axis::dp_replicate) return plan.layout.dp_shard == 1 || factor_in_force(plan, axis) > 1;
    return true;
}

// The uncut loaf as it is drawn: of many samples only the first.
LoafSlice drawn_whole(const Loaf& loaf) {
    LoafSlice out = loaf.whole;
    if (loaf.samples > kMostSamples)
        for (LoafBlock& b : out.blocks)
            if (b.part == LoafPart::bread)
                b.bytes *= static_cast<double>(kMostSamples) / static_cast<double>(loaf.samples);
    return out;
}

struct Whole {
    LoafPlace place;
    LoafStarts starts;
    double drawers_from;
    std::int64_t samples;
    [[nodiscard]] float bread_at(double share) const {
        const float from = starts[static_cast<std::size_t>(LoafPart::bread)];
        return from + (starts.back() - from) * static_cast<float>(share);
    }
};

// Draws one cut of an axis, at a share of what it cuts.
void draw_cut(Canvas& c, const Whole& w, const Knife& knife, double at, Color color) {
    const Dash dash = knife.seam ? Dash::solid : Dash::dashed;
    const auto line = [&](Vec2 a, Vec2 b) { c.line(a, b, color, 2, dash); };
    const LoafPlace& p = w.place;
    const float end = w.starts.back();
    switch (knife.axis) {
    case Axis::tp:
    case Axis::ep: {
        const double x = knife.axis == Axis::ep ? w.drawers_from + (1 - w.drawers_from) * at : at;
        const float back = knife.axis == Axis::ep ? w.starts[static_cast<std::size_t>(LoafPart::bread)] : end;
        line(p.point(x, 1, 0), p.point(x, 0, 0));
        line(p.point(x, 0, 0), p.point(x, 0, back));
        break;
    }
    case Axis::pp:
        line(p.point(0, at, 0), p.point(1, at, 0));
        line(p.point(1, at, 0), p.point(1, at, end));
        break;
    case Axis::cp:
    case Axis::dp_shard:
    case Axis::dp_replicate: {
        const float z = w.bread_at(at);
        line(p.point(0, 0, z), p.point(1, 0, z));
        line(p.point(1, 0, z), p.point(1, 1, z));
        break;
    }
    }
}

void draw_cuts(Canvas& c, const Whole& w, const Knife& knife, std::int64_t parts, Color color) {
    // cp cuts through each sample: it is drawn through the first.
    const double scale = knife.axis == Axis::cp ? 1.0 / static_cast<double>(w.samples) : 1.0;
    if (parts > kMostCuts) return draw_cut(c, w, knife, 0.5 * scale, color);
    for (std::int64_t i = 1; i < parts; ++i)
        draw_cut(c, w, knife, scale * static_cast<double>(i) / static_cast<double>(parts), color);
}

std::string action_of(const Plan& plan, const Knife& knife, std::int64_t now,
                      const std::vector<std::int64_t>& legal) {
    const auto above = std::upper_bound(legal.begin(), legal.end(), now);
    std::string out = above != legal.end()
                          ? "click: " + std::string(name_of(knife.axis)) + " " + thousands(*above)
                          : "no larger factor divides what this plan has";
    if (now > 1) out += ", right click: less";
    if (knife.axis == Axis::tp && plan.model.kv_heads < now)
        out += "\nkeys and values have " + plural(plan.model.kv_heads, "head", "heads")
               + ": beyond that they are copied";
    return out;
}

struct Chip {
    std::size_t knife;
    std::int64_t factor;
    std::string label;
    Rect at;
};

// Places a chip for each axis, in as many rows at the bottom of the room as they need.
std::vector<Chip> place_chips(Ui& ui, Rect& room, const Plan& plan) {
    std::vector<Chip> out;
    float x = room.x;
    int rows = 1;
    for (std::size_t i = 0; i < kKnives.size(); ++i) {
        if (!is_offered(plan, kKnives[i].axis)) continue;
        const std::int64_t now = factor_in_force(plan, kKnives[i].axis);
        Chip chip{i, now, std::string(name_of(kKnives[i].axis)) + (now > 1 ? " " + thousands(now) : ""), {}};
        const float w = ui.canvas().text_width(chip.label, ui.small()) + 16;
        if (x > room.x && x + w > room.right()) x = room.x, ++rows;
        chip.at = {x, static_cast<float>(rows - 1) * kChipRow, w, kChipRow - 4};
        x += w + 4;
        out.push_back(std::move(chip));
    }
    const Rect place = room.cut_bottom(kChipRow * static_cast<float>(rows));
    for (Chip& chip : out) chip.at.y += place.y + 2;
    return out;
}

// Its card stands next to the loaf that the knife cuts.
std::optional<PlanEdit> draw_chip(Ui& ui, const Scene& scene, const Chip& chip, const Whole& w, Rect loaf) {
    Canvas& c = ui.canvas();
    const Knife& knife = kKnives[chip.knife];
    const bool on = chip.factor > 1;
    const Color color = ui.theme().axis[static_cast<std::size_t>(knife.axis)];
    const Hit hit = ui.area("shards.knife", chip.at, chip.knife, !ui.state().for_picture);
    if (on) {
        write_plate(ui, chip.at, chip.label, ui.small().in(ink_on(color)), color, 6);
    } else {
        c.frame(chip.at, hit.hovered ? color : ui.theme().hairline, 1, 6);
        c.text_in(chip.at, chip.label, ui.small(hit.hovered ? Tone::text : Tone::secondary), Align::center);
    }
    if (hit.focused) ui.focus_ring(chip.at, 6);
    draw_cuts(c, w, knife, on ? chip.factor : hit.hovered ? 2 : 1, on ? color : color.alpha(0.7f));
    const std::vector<std::int64_t> legal = legal_factors(scene.plan, knife.axis);
    const std::string action = action_of(scene.plan, knife, chip.factor, legal);
    names_axis(ui, group_of(knife.axis), chip.at, action, ui.id("shards.knife", chip.knife), loaf);
    if (hit.hovered) ui.tooltip(std::string(sentence_of(knife.axis)) + "\n" + action);
    const auto above = std::upper_bound(legal.begin(), legal.end(), chip.factor);
    const auto below = std::lower_bound(legal.begin(), legal.end(), chip.factor);
    if (hit.clicked && above != legal.end()) return factor_edit(scene.plan, knife.axis, *above, true);
    if (hit.right_clicked && below != legal.begin())
        return factor_edit(scene.plan, knife.axis, *(below - 1), true);
    return std::nullopt;
}

void draw_whole_legend(Ui& ui, Rect room, const Loaf& loaf) {
    const auto line = [&](const std::string& words, Color color, LoafPart part) {
        if (room.h < 16) return;
        Rect at = room.cut_top(16);
        ui.swatch({at.x, at.center().y - 5}, color);
        at.cut_left(16);
        ui.canvas().text_in(at.cut_left(std::max(0.0f, at.w - 70)), words, ui.small());
        ui.canvas().text_in(at, memory_text(loaf.whole.bytes_of(part)), ui.small(Tone::text), Align::right);
    };
    for (const LoafPart part : {LoafPart::optimizer, LoafPart::gradients, LoafPart::parameters})
        line("crust: " + std::string(name_of(part)), ui.theme().memory[2 - static_cast<std::size_t>(part)],
             part);
    line("bread: " + plural(loaf.samples, "sample", "samples")
             + (loaf.samples > kMostSamples ? ", " + thousands(kMostSamples) + " drawn" : ""),
         ui.theme().memory[3], LoafPart::bread);
}

}  // namespace

std::optional<PlanEdit> draw_whole_loaf(Ui& ui, Rect room, Scene& scene, const Loaf& loaf) {
    Canvas& c = ui.canvas();
    const Rect all = room;
    const bool known = loaf.whole_known;
    const std::string holds = known ? "would hold " + memory_text(loaf.whole.total) : "",
                      has = holds + "; it has " + memory_text(scene.plan.cluster.gpu.hbm_bytes);
    ui.section(room.cut_top(20), "ONE GPU",
               known && c.text_width(has, ui.style(11)) + 90 < room.w ? has : holds);
    if (!known) {
        put_paragraph(ui, room, "On one GPU this plan breaks a rule, so it has no figures.", ui.small(), 16);
        return std::nullopt;
    }
    const std::vector<Chip> chips = place_chips(ui, room, scene.plan);
    draw_whole_legend(ui, room.cut_bottom(std::min(room.h * 0.45f, 66.0f)), loaf);
    room.cut_bottom(6);
    const LoafSlice slice = drawn_whole(loaf);
    const std::span<const LoafSlice> one(&slice, 1);
    const LoafScale scale = scale_for(one, room.w, room.h);
    const Whole w{place_in(room, scale, one), starts_of(scale, slice), loaf.drawers_from,
                  std::min(loaf.samples, kMostSamples)};
    LoafLook look;
    look.bread = ui.theme().memory[3];
    look.drawers_from = loaf.drawers_from;
    if (scene.plan.model.moe)
        look.drawers = static_cast<int>(std::min<std::int64_t>(scene.plan.model.moe->experts, 8));
    look.layers = loaf.layers;
    look.samples = w.samples;
    draw_slice(c, ui.theme(), w.place, slice, look);
    std::optional<PlanEdit> edit;
    for (const Chip& chip : chips)
        if (auto one_edit = draw_chip(ui, scene, chip, w, all)) edit = std::move(one_edit);
    return edit;
}

}  // namespace pentamesh::ui
