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
