#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/panels/plan_panel.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/shards/shards_sheets.h"
#include "app/ui/views/shards/shards_stages.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/teach/glossary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

// Draws the loaf uncut, and where the axes cut it.

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
// `cuts`: the loaf shows the axis' own, not only the one that a click would make.
std::optional<PlanEdit> draw_chip(Ui& ui, const Scene& scene, const Chip& chip, const Whole& w, Rect loaf,
                                  bool cuts) {
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
    if (cuts || !on)
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

// Returns "bread: 4 samples"; of a step of several rounds "bread: 4 of 32 samples at a time".
std::string bread_words(const Loaf& loaf, const LoafRound& round, bool in_lesson) {
    std::string out = in_lesson ? "bread: " : "activations: ";
    const std::int64_t all = loaf.samples / round.at_once * round.microbatches;
    out += all > loaf.samples ? thousands(loaf.samples) + " of " + thousands(all) + " samples at a time"
                              : plural(loaf.samples, "sample", "samples");
    if (loaf.samples > kMostSamples) out += ", " + thousands(kMostSamples) + " drawn";
    return out;
}

void draw_whole_legend(Ui& ui, Rect room, const Scene& scene, const Loaf& loaf, bool brief) {
    const bool in_lesson = scene.in_lesson;
    double rest = loaf.whole.total;
    const auto write = [&](Rect at, const std::string& words, double bytes) {
        at.cut_left(16);
        ui.label(at.cut_left(std::max(0.0f, at.w - 70)), words, ui.small());
        rest -= bytes;
        if (scene.asked && scene.evaluation.mesh.world == 1) return;  // they may be the answer
        ui.canvas().text_in(at, memory_text(bytes), ui.small(Tone::text), Align::right);
    };
    const auto line = [&](const std::string& words, Color color, double bytes) {
        if (room.h < 16) return;
        const Rect at = room.cut_top(16);
        ui.swatch({at.x, at.center().y - 5}, color);
        write(at, words, bytes);
    };
    if (brief)
        line(in_lesson ? "crust: the state" : "state", ui.theme().memory[2], loaf.whole.crust());
    else
        for (const LoafPart part : {LoafPart::optimizer, LoafPart::gradients, LoafPart::parameters})
            line((in_lesson ? "crust: " : "") + std::string(name_of(part)),
                 ui.theme().memory[2 - static_cast<std::size_t>(part)], loaf.whole.bytes_of(part));
    constexpr float kSwatch = 16, kFigure = 70;
    std::string bread = bread_words(loaf, round_of(scene.plan, scene.evaluation), in_lesson);
    if (ui.canvas().text_width(bread, ui.small()) > room.w - kSwatch - kFigure)
        bread = bread.substr(0, bread.find(" sample"));  // "bread: 4 of 32"
    line(bread, ui.theme().memory[3], loaf.whole.bytes_of(LoafPart::bread));
    if (room.h >= 16 && rest > 0) write(room.cut_top(16), "buffers, not drawn", rest);
}

// ---- the names of the edges -----------------------------------------------------------------------------

constexpr float kWidestLegend = 440, kNameApart = 12;
constexpr float kSideName = 62, kEdgeName = 16;  // room for them left of the front and below it

// Returns "16 layers", "80 layers, 10 a stripe".
std::string layers_words(std::int64_t layers) {
    const int stripes = stripes_of(layers);
    std::string out = plural(layers, "layer", "layers");
    if (stripes > 1 && stripes < layers) out += ", " + thousands(layers / stripes) + " a stripe";
    return out;
}

// Writes what each edge is: the width below the front, the tokens along the side, layers left of the front.
void name_edges(Ui& ui, Rect room, const Plan& plan, const Loaf& loaf, const Whole& w, bool layers) {
    Canvas& c = ui.canvas();
    const TextStyle style = ui.style(11, Tone::secondary);
    const LoafPlace& p = w.place;
    const Vec2 left = p.point(0, 1, 0), front = p.point(0.5, 1, 0);
    const std::string width = "width " + thousands(plan.model.hidden);
    const float across = c.text_width(width, style) + 2;
    c.text_in({std::max(room.x, front.x - across / 2), left.y + 2, across, kEdgeName - 2}, width, style,
              Align::center);
    const std::string samples = plural(loaf.samples, "sample", "samples") + " of "
                                + thousands(plan.training.sequence_length) + " tokens";
    const Vec2 side = p.point(1, 1, w.bread_at(0.35));
    const float along = c.text_width(samples, style) + 2;
    if (side.x + 8 + along <= room.right())
        c.text_in({side.x + 8, side.y + 1, along, kEdgeName - 2}, samples, style);
    else if (along <= room.right() - front.x - p.scale.w / 2 - 8)
        c.text_in({room.right() - along, left.y + 2, along, kEdgeName - 2}, samples, style);
    if (!layers) return;
    const Vec2 middle = p.point(0, 0.5, 0);
    const float h = c.paragraph_height(kSideName - 8, layers_words(plan.model.layers), style, 14);
    c.paragraph({middle.x - kSideName, middle.y - h / 2, kSideName - 8, h}, layers_words(plan.model.layers),
                style, 14);
}

// Draws the cuts between stages where they are, and names the layers of each where there is room for names. A
// stage that stands out has an outline.
void draw_seams(Ui& ui, const Whole& w, const WholeLook& look, std::int64_t layers, bool names) {
    Canvas& c = ui.canvas();
    const LoafPlace& p = w.place;
    const std::vector<StagePiece>& pieces = look.stages->loaf.pieces;
    const auto all = static_cast<double>(std::max<std::int64_t>(layers, 1));
    const float end = w.starts.back(), beyond = pieces.size() <= 16 ? 10 : 4;
    const Color color = ui.theme().axis[static_cast<std::size_t>(Axis::pp)];
    const TextStyle style = ui.style(11, Tone::secondary);
    // Close cuts are thin; of those that would lie closer still, some are drawn.
    constexpr float kLeastApart = 4;
    const float apart = p.scale.h / static_cast<float>(std::max<std::size_t>(pieces.size(), 1));
    const float width = apart >= 10 ? 2.0f : apart >= 5 ? 1.2f : 0.7f;
    float drawn = p.point(0, 0, 0).y, named = -1e6f;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const double top = static_cast<double>(pieces[i].begin) / all,
                     bottom = static_cast<double>(pieces[i].end) / all;
        if (const float y = p.point(0, top, 0).y;
            i > 0 && (apart >= kLeastApart || y - drawn >= kLeastApart)) {
            drawn = y;
            const Vec2 at = p.point(0, top, 0), back = p.point(1, top, end);
            c.line({at.x - beyond, at.y}, p.point(1, top, 0), color, width);
            c.line(p.point(1, top, 0), {back.x + beyond * kLoafAcross, back.y - beyond * kLoafUp}, color,
                   width);
        }
        const bool bright = pieces[i].stage == look.highlighted;
        const float middle = p.point(0, (top + bottom) / 2, 0).y;
        const auto covers = [&](const StagePiece& o) {  // a piece that stands out has its name first
            const double at = static_cast<double>(o.begin + o.end) / (2 * all);
            return o.stage == look.highlighted && std::abs(p.point(0, at, 0).y - middle) < kNameApart;
        };
        if (names && pieces[i].layers() > 0 && middle - named >= kNameApart
            && (bright || std::none_of(pieces.begin(), pieces.end(), covers))) {
            const std::string words = thousands(pieces[i].begin)
                                      + (pieces[i].layers() > 1 ? "–" + thousands(pieces[i].end - 1) : "");
            c.text_in({p.at.x - kSideName, middle - 7, kSideName - 14, 14}, words,
                      bright ? ui.style(11, Tone::text, Face::semibold) : style, Align::right);
            named = middle;
        }
    }
    if (names && p.at.y - p.scale.h - 20 > 0)
        c.text_in({p.at.x - kSideName, p.at.y - p.scale.h - 16, kSideName - 14, 14}, "layers", style,
                  Align::right);
    for (const StagePiece& piece : pieces) {
        if (piece.stage != look.highlighted) continue;
        const double top = static_cast<double>(piece.begin) / all,
                     bottom = static_cast<double>(piece.end) / all;
        const std::array<Vec2, 6> outline{p.point(0, top, 0),    p.point(1, top, 0),
                                          p.point(1, top, end),  p.point(1, bottom, end),
                                          p.point(1, bottom, 0), p.point(0, bottom, 0)};
        c.polyline(outline, ui.theme().text, 2, true);
    }
}

// Returns true if the loaf at this scale has room.
bool has_room(std::span<const LoafSlice> slices, const LoafScale& scale, Rect room) {
    const float length = starts_of(scale, slices.front()).back();
    return scale.w + kLoafAcross * length <= room.w && scale.h + kLoafUp * length <= room.h;
}

// Returns true if no stripe of the front lies on both sides of a cut between stages.
bool stripes_fit(const StagesShown& stages, std::int64_t layers) {
    const int n = stripes_of(layers);
    return std::all_of(stages.loaf.pieces.begin(), stages.loaf.pieces.end(), [&](const StagePiece& p) {
        return p.begin * n % std::max<std::int64_t>(layers, 1) == 0;
    });
}

// Returns a scale that gives the whole loaf one shape in every room: between a question and its answer its
// room changes, and a loaf that turned narrow would look as if its width were cut.
LoafScale scale_of_whole(std::span<const LoafSlice> one, float width, float height) {
    constexpr float kFront = 1.7f,
                    kDepth = 0.7f;  // front's width and what lies over it, by the front's height
    const float wide = kFront + kLoafAcross * kDepth / kLoafUp, high = 1 + kDepth;
    LoafScale out{1, 1, 1};
    float longest = 0;
    for (const LoafSlice& s : one) longest = std::max(longest, starts_of(out, s).back());
    out.h = std::max(4.0f, std::min(width / wide, height / high));
    out.w = kFront * out.h;
    out.per_byte = longest > 0 ? kDepth * out.h / kLoafUp / longest : 0;
    return out;
}

}  // namespace

std::optional<PlanEdit> draw_whole(Ui& ui, Rect room, Scene& scene, const Loaf& loaf, const WholeLook& look) {
    Canvas& c = ui.canvas();
    const Rect all = room;
    const bool known = loaf.whole_known;
    const std::string holds = known
                                  ? (look.only_one ? "holds " : "would hold ") + memory_text(loaf.whole.total)
                                  : "",
                      has = holds + "; it has " + memory_text(scene.plan.cluster.gpu.hbm_bytes);
    constexpr float kLeastForWhole = 250;  // of the head that says all, with what it would hold
    ui.section(room.cut_top(20),
               look.only_one                             ? "THE GPU"
               : look.stages && room.w >= kLeastForWhole ? "WHOLE, ON ONE GPU"
                                                         : "ONE GPU",
               known && c.text_width(has, ui.style(11)) + (look.stages ? 160.0f : 90.0f) < room.w ? has
                                                                                                  : holds);
    if (!known) {
        put_paragraph(ui, room, "On one GPU this plan breaks a rule, so it has no figures.", ui.small(), 16);
        return std::nullopt;
    }
    const std::vector<Chip> chips = place_chips(ui, room, scene.plan);
    const Rect note = look.stages && room.h > 180 ? room.cut_bottom(18) : Rect{};
    Rect legend = room.cut_bottom(std::min(room.h * 0.45f, look.stages ? 50.0f : 82.0f));
    legend.w = std::min(legend.w, kWidestLegend);
    draw_whole_legend(ui, legend, scene, loaf, look.stages != nullptr);
    room.cut_bottom(6);
    const LoafSlice slice = drawn_whole(loaf);
    const std::span<const LoafSlice> one(&slice, 1);
    const bool names = room.w > 220 && room.h > 110;
    const Rect named = room;
    if (names) {
        room.cut_left(kSideName);
        room.cut_bottom(kEdgeName);
        if (look.stages) room.cut_right(12), room.cut_top(6);
    }
    const bool same = look.scale && has_room(one, *look.scale, room);
    const LoafScale scale = same          ? *look.scale
                            : look.stages ? scale_for(one, room.w, room.h)
                                          : scale_of_whole(one, room.w, room.h);
    if (look.stages && note.h >= 16) {
        const std::array<std::string, 2> notes{same ? "Volume is memory, one scale for all boxes."
                                                    : "Volume is memory; the whole has a scale of its own.",
                                               same ? "one scale for all boxes"
                                                    : "the whole has its own scale"};
        ui.label(note, wording(ui, note.w, notes, ui.small()), ui.small());
    }
    const Whole w{place_in(room, scale, one), starts_of(scale, slice), loaf.drawers_from,
                  std::min(loaf.samples, kMostSamples)};
    LoafLook loaf_look;
    loaf_look.bread = ui.theme().memory[3];
    loaf_look.drawers_from = loaf.drawers_from;
    if (scene.plan.model.moe)
        loaf_look.drawers = static_cast<int>(std::min<std::int64_t>(scene.plan.model.moe->experts, 8));
    loaf_look.layers = look.stages && !stripes_fit(*look.stages, loaf.layers) ? 1 : loaf.layers;
    loaf_look.samples = w.samples;
    draw_slice(c, ui.theme(), w.place, slice, loaf_look);
    if (names) name_edges(ui, named, scene.plan, loaf, w, look.stages == nullptr);
    if (look.stages) draw_seams(ui, w, look, loaf.layers, names);
    std::optional<PlanEdit> edit;
    for (const Chip& chip : chips)
        if (auto one_edit = draw_chip(ui, scene, chip, w, all, look.stages == nullptr))
            edit = std::move(one_edit);
    return edit;
}

void draw_rounds(Ui& ui, Rect row, std::int64_t at_once, std::int64_t all, Color color) {
    Canvas& c = ui.canvas();
    const std::string brief = thousands(at_once) + " of " + thousands(all);
    const std::array<std::string, 3> words{brief + " micro-batches at a time", brief + " at a time", brief};
    constexpr float kMark = 7, kStep = 10;
    const float marks = kStep * static_cast<float>(all);
    if (all <= 16 && marks + c.text_width(brief, ui.style(11)) + 4 <= row.w) {
        for (std::int64_t i = 0; i < all; ++i) {
            const Rect mark{row.x + kStep * static_cast<float>(i), row.center().y - kMark / 2, kMark, kMark};
            if (i < at_once)
                c.rect(mark, color);
            else
                c.frame(mark, ui.theme().secondary, 1);
        }
        row.cut_left(marks + 2);
    }
    c.text_in(row, wording(ui, row.w, words, ui.style(11, Tone::secondary)), ui.style(11, Tone::secondary));
}

}  // namespace pentamesh::ui
