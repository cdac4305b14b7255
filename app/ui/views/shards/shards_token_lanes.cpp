#include "app/ui/views/shards/shards_tokens.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/memory/view.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pentamesh::ui {

Rect token_panel(Ui& ui, Rect box, std::string_view title, std::string_view sub) {
    ui.canvas().box(box, ui.theme().panel, ui.theme().hairline, 1, 8);
    Rect in = box.inset(box.w < 260 ? 10 : 14, box.h < 240 ? 7 : 10);
    ui.label(in.cut_top(20), title, ui.style(14, Tone::text, Face::semibold));
    if (in.h > 130) ui.label(in.cut_top(18), sub, ui.small());
    in.cut_top(box.h < 240 ? 3 : 8);
    return in;
}

namespace {

constexpr std::size_t kActivations = static_cast<std::size_t>(MemoryCategory::activations);

class TokenMemory {
  public:
    TokenMemory(Ui& ui, const Scene& scene, const TokenSlices& slices)
        : ui_(ui), c_(ui.canvas()), theme_(ui.theme()), scene_(scene), s_(slices), cut_(slices.cut) {}

    void draw_memory(Rect box) {
        const std::string name = scene_.in_lesson ? "bread (activations)" : "activations";
        const auto state = [](const StageMemory& m) { return m.parameters + m.gradients + m.optimizer; };
        // With ZeRO the ranks of cp share out the state: it falls where they are more than before.
        const bool shares = state(s_.held) < 0.98 * state(s_.whole);
        std::string sub = cut_.ranks <= 1    ? name + ": " + percent(s_.held.activations / s_.held.total())
                          : shares           ? "activations are cut, more ranks share the state"
                          : scene_.in_lesson ? "the bread is cut, the crust is not"
                                             : "activations are cut, weights are not";
        if (c_.text_width(sub, ui_.small()) > box.w - 28) sub = "activations are cut";
        Rect in = token_panel(ui_, box, box.w < 190 ? "Memory" : "Memory of one GPU", sub);
        const bool both = cut_.ranks > 1 && s_.whole_refused.empty();
        const double own = std::max(s_.held.total(), s_.whole.total());
        const double top = ui_.kept_scale("tokens.memory", memory_axis(own, scene_.axes.bytes, s_.hbm, in.h));
        const std::string legend = s_.whole_refused.empty() || cut_.ranks <= 1
                                       ? "hatched: buffers; on top: " + name
                                       : "Without cp: " + s_.whole_refused;
        const float foot =
            in.h > 200 ? std::min(c_.paragraph_height(in.w, legend, ui_.small(), 17), 51.0f) : 0;
        if (foot > 0) c_.paragraph(in.cut_bottom(foot), legend, ui_.small(), 17);
        const Rect names = in.cut_bottom(20);
        in.cut_top(20);
        const double px = in.h / top;
        const float w = std::clamp(in.w * 0.26f, 26.0f, 76.0f);
        std::vector<float> centers{in.center().x};
        if (both) centers = {in.x + in.w * 0.28f, in.x + in.w * 0.72f};
        std::size_t i = 0;
        if (both) draw_bar(in, names, centers[i++], w, s_.whole, px, "whole");
        draw_bar(in, names, centers[i], w, s_.held, px,
                 cut_.ranks > 1 ? "cp " + thousands(cut_.ranks) : "whole");
        const float y = in.bottom() - static_cast<float>(s_.hbm * px);
        c_.line({in.x, y}, {in.right(), y}, theme_.bad, 1.3f, Dash::dashed);
        c_.text_in({in.right() - 64, y - 16, 64, 15}, gib(s_.hbm), ui_.style(11).in(theme_.bad),
                   Align::right);
        c_.line({in.x, in.bottom()}, {in.right(), in.bottom()}, theme_.secondary);
    }

  private:
    Ui& ui_;
    Canvas& c_;
    const Theme& theme_;
    const Scene& scene_;
    const TokenSlices& s_;
    const TokenCut& cut_;

    void draw_bar(Rect plot, Rect names, float x, float w, const StageMemory& m, double px,
                  std::string_view name) {
        float y = plot.bottom();
        const float line_y = plot.bottom() - static_cast<float>(s_.hbm * px);
        for (const std::size_t k : {kBuffers, std::size_t{0}, std::size_t{1}, std::size_t{2}, kActivations}) {
            const auto h = static_cast<float>(
                ui_.glide("tokens.bytes", bytes_at(m, k), k + (name == "whole" ? 0 : kCategoryCount)) * px);
            if (h <= 0) continue;
            y -= h;
            const Rect part{x - w / 2, y, w, h};
            fill_memory(c_, theme_, part, static_cast<MemoryCategory>(k));
            if (h > 3) c_.line({part.x, y}, {part.right(), y}, theme_.panel, 1);
            Rect seen = part;  // of it what the line of the GPU's memory does not go through
            if (part.y < line_y && line_y < part.bottom()) {
                const bool upper = line_y - part.y >= part.bottom() - line_y;
                if (!upper) seen.y = line_y;
                seen.h = upper ? line_y - part.y : part.bottom() - line_y;
            }
            if (seen.h < 18) continue;
            const TextStyle style = ui_.style(12, Tone::text, Face::semibold);
            if (k == kBuffers)
                write_plate(ui_, {seen.x + 6, seen.center().y - 8, seen.w - 12, 16}, gib(bytes_at(m, k)),
                            style, theme_.panel);
            else
                c_.text_in(seen, gib(bytes_at(m, k)), style.in(ink_on(theme_.memory[k])), Align::center);
        }
        TextStyle bold = ui_.style(14, Tone::text, Face::semibold);
        if (m.total() > s_.hbm) bold.color = theme_.bad;
        c_.text_in({x - 60, std::max(y - 21, plot.y - 20), 120, 19}, memory_text(m.total()), bold,
                   Align::center);
        c_.text_in({x - 60, names.y + 1, 120, 18}, name, ui_.small(), Align::center);
        const Rect bar{x - w / 2, y, w, plot.bottom() - y};
        if (!ui_.hovers(bar)) return;
        std::string words = std::string(name) + "\nthe fullest GPU: " + memory_text(m.total());
        for (std::size_t k = kCategoryCount; k-- > 0;)
            words += "\n" + std::string(category_name(k)) + "  " + memory_text(bytes_at(m, k));
        ui_.tooltip(words);
    }
};

class TokenLanes {
  public:
    TokenLanes(Ui& ui, const Scene& scene, const TokenSlices& slices)
        : ui_(ui), c_(ui.canvas()), theme_(ui.theme()), scene_(scene), s_(slices), cut_(slices.cut),
          axis_(color_of(ui.theme(), GroupKind::cp)) {}

    std::optional<CpComm> draw_lanes(Rect box, bool roomy) {
        const auto n = static_cast<std::int64_t>(s_.ways.size());
        Rect in;
        const std::string title = n == 1 ? "What waits?"
                                         : (n == 2   ? "Two"
                                            : n == 3 ? "Three"
                                                     : "Four")
                                               + std::string(" ways to bring the keys: what waits?");
        const std::string sub = "one layer, forward, one GPU, one micro-batch; all to one scale of time";
        c_.box(box, theme_.panel, theme_.hairline, 1, 8);
        in = box.inset(14, roomy ? 10.0f : 7.0f);
        Rect head = in.cut_top(roomy ? 20.0f : 22.0f);
        write_left(ui_, head, title, ui_.style(14, Tone::text, Face::semibold), 12);
        write_whole(ui_, head, sub, ui_.small());
        in.cut_top(roomy ? 8.0f : 2.0f);
        double longest = 0;
        for (const KeysWay& w : s_.ways) longest = std::max(longest, w.all_s());
        std::optional<CpComm> clicked;
        for (std::size_t i = 0; i < s_.ways.size(); ++i) {
            const KeysWay& way = s_.ways[i];
            Rect row = in.cut_top(roomy ? 48.0f : 26.0f);
            const bool may = s_.source == TokenSource::own && !way.own && !scene_.asked;
            const Hit hit = ui_.area("shards.way", row.inset(-6, 1), i, may);
            row_ground(ui_, row.inset(-6, 1), hit, false);
            if (hit.clicked) clicked = way.comm;
            if (ui_.hovers(row)) ui_.tooltip(way_tooltip(way, may));
            draw_way(row, way, longest, roomy);
        }
        if (in.h <= 15) return clicked;
        std::string foot =
            "Norms, MLP and all products look at one token at a time: no wire there. cp copies the weights";
        if (zero_in_force(s_.plan) == 3) foot += "; here ZeRO-3 shares them out";
        ui_.label(in.cut_top(std::min(in.h, 18.0f)), foot + ".", ui_.small());
        return clicked;
    }

  private:
    Ui& ui_;
    Canvas& c_;
    const Theme& theme_;
    const Scene& scene_;
    const TokenSlices& s_;
    const TokenCut& cut_;
    Color axis_;

    [[nodiscard]] std::string way_tooltip(const KeysWay& w, bool may) const {
        std::string out = "cp by " + std::string(name_of(w.comm))
                          + (w.own ? ", as here"
                             : may ? ", click to set"
                                   : "");
        out += "\nattention " + time_text(w.attention_s);
        if (w.slowed_s > 0) out += ", slowed by " + time_text(w.slowed_s);
        out += "\non the wire " + time_text(w.wire_s) + ", waited for " + time_text(w.waits_s);
        for (const WayCall& call : w.calls)
            out += "\n" + std::string(words_of(call.what)) + ": "
                   + (call.times > 1 ? trimmed(call.times) + " × " : "") + traffic_text(call.message_bytes)
                   + ", " + time_text(call.call_s);
        if (w.step_s > 0)
            out += "\na step takes " + time_text(w.step_s) + ", of which it waits "
                   + time_text(w.step_waits_s) + " for cp; the fullest GPU holds "
                   + memory_text(w.held_bytes);
        return w.lacks.empty() ? out : out + "\n" + w.lacks;
    }

    void draw_way(Rect row, const KeysWay& way, double longest, bool roomy) {
        Rect name = row.cut_left(96);
        const TextStyle bold = ui_.style(12, Tone::text, way.own ? Face::semibold : Face::regular);
        const float lane = roomy ? 20.0f : 12.0f, wire = roomy ? 11.0f : 6.0f;
        c_.text_in({name.x, row.y + (roomy ? 4.0f : 3.0f), name.w - 10, lane}, way_name(way.comm), bold,
                   Align::right);
        if (roomy && way.own)
            c_.text_in({name.x, row.y + 24, name.w - 10, 14},
                       s_.source == TokenSource::own ? "this plan" : "drawn above",
                       ui_.style(11, Tone::secondary), Align::right);
        Rect text = row.cut_right(std::clamp(row.w * 0.40f, 150.0f, 460.0f));
        text.cut_left(14);
        draw_way_words(text, way, roomy);
        const Rect compute{row.x, row.y + (roomy ? 4.0f : 3.0f), row.w, lane};
        const Rect below{row.x, compute.bottom() + (roomy ? 3.0f : 1.0f), row.w, wire};
        const double px = longest > 0 ? static_cast<double>(row.w) / longest : 0;
        if (way.hop() != nullptr && cut_.comm != CpComm::ulysses_ring && way.comm == CpComm::ring)
            draw_ring_lane(compute, below, way, px);
        else
            draw_call_lane(compute, below, way, px);
    }

    // Returns "101 MB leave each GPU a layer; the step waits 0 s of 10 s", in fewer words for less room: what
    // the step waits for stays.
    [[nodiscard]] std::string way_price(const KeysWay& way, float width) const {
        const std::string sent = traffic_text(way.sent_bytes), waits = time_text(way.step_waits_s),
                          step = time_text(way.step_s);
        if (way.step_s <= 0) return sent + " leave each GPU a layer.";
        const std::array<std::string, 5> words{
            sent + " leave each GPU a layer; the step waits " + waits + " of " + step + ".",
            sent + " a layer; the step waits " + waits + " of " + step + ".",
            sent + " a layer; the step waits " + waits + ".",
            "The step waits " + waits + " of " + step + ".",
            "The step waits " + waits + ".",
        };
        const std::string_view fits = wording(ui_, width, words, ui_.small());
        return fits.empty() ? words.back() : std::string(fits);
    }

    void draw_way_words(Rect text, const KeysWay& way, bool roomy) {
        constexpr double kNothing = 0.002;  // of attention
        const bool waits = way.waits_s > kNothing * way.attention_s;
        const TextStyle bold = ui_.style(12, Tone::text, Face::semibold);
        Rect first = text.cut_top(roomy ? 22.0f : 26.0f);
        write_left(ui_, first, waits ? time_text(way.waits_s) + "." : "Nothing.", bold, 5);
        std::string why, brief;  // the second where the first has no room
        const WayCall* hop = way.hop();
        if (way.comm == CpComm::ring && hop != nullptr) {
            const std::string each = time_text(hop->call_s);
            const std::string block =
                time_text(way.attention_s / static_cast<double>(cut_.ranks)) + " of attention.";
            why = "Each hop takes " + each;
            if (!waits)
                why += " and hides behind " + block, brief = each + " a hop, hidden.";
            else if (way.waits_s > 0.999 * way.wire_s)
                why += "; none of it hides behind " + block, brief = each + " a hop, not hidden.";
            else
                why += "; " + time_text(way.waits_s / hop->times) + " of it waits, the rest hides behind "
                       + block,
                    brief = each + " a hop, partly hidden.";
        } else if (way.comm == CpComm::allgather) {
            why = "All keys and values come before the first product.";
            brief = "All of them first.";
        } else {
            why = "Two all-to-alls, there and back; each GPU needs whole heads.";
            brief = "There and back.";
        }
        if (c_.text_width(why, ui_.small()) > first.w) why = brief;
        ui_.label(first, why, ui_.small());
        if (!roomy) return;
        const Rect second = text.cut_top(17);
        if (way.lacks.empty())
            ui_.label(second, way_price(way, second.w), ui_.small());
        else
            ui_.label(second, way.lacks, ui_.small().in(theme_.amber));
    }

    void fill_compute(Rect r, std::string_view words) {
        const Color fill = mix(theme_.panel, theme_.text, 0.72f);
        c_.rect(r, fill, 0);
        if (!words.empty())
            write_whole(ui_, r.inset(2, 0), words, ui_.style(11).in(ink_on(fill)), Align::center);
    }
    void fill_wait(Rect r) {
        if (r.w >= 1) c_.pattern(r, Pattern::hatched, theme_.bad, theme_.bad.alpha(0.12f));
    }
    // A bar of the wire is filled while compute waits for it, outlined while it runs.
    void fill_wire(Rect r, float waits) {
        r.w = std::max(r.w, 1.5f);
        waits = std::min(waits, r.w);
        c_.rect(r, mix(theme_.panel, axis_, 0.14f));
        if (waits > 0) c_.rect({r.right() - waits, r.y, waits, r.h}, axis_);
        c_.frame(r, axis_, 1.3f);
    }

    void draw_ring_lane(Rect compute, Rect below, const KeysWay& way, double px) {
        const WayCall& hop = *way.hop();
        const auto n = static_cast<double>(cut_.ranks);
        const double block = way.attention_s / n, slowed = way.slowed_s / (n - 1),
                     waits = way.waits_s / (n - 1);
        const bool each = block * px > 5;
        double at = 0;
        float words_from = below.x;
        for (std::int64_t k = 0; k < cut_.ranks; ++k) {
            const bool last = k + 1 == cut_.ranks;
            const double end = at + block + (last ? 0 : slowed);
            const auto x = [&](double s) { return compute.x + static_cast<float>(s * px); };
            fill_compute(
                {x(at), compute.y, std::max(x(end) - x(at) - (each && !last ? 1.5f : 0.0f), 0.5f), compute.h},
                k == 0 ? "own keys" : "keys of hop " + thousands(k));
            if (last) break;
            fill_wait({x(end), compute.y, x(end + waits) - x(end), compute.h});
            const double from = waits > 0 ? std::max(end + waits - hop.call_s, at) : at;
            const Rect bar{x(from), below.y, static_cast<float>(hop.call_s * px), below.h};
            fill_wire(bar, static_cast<float>(waits * px));
            const std::string words = "hop " + thousands(k + 1);
            const float room = x(end + waits) - bar.right() - 6;
            if (below.h > 9 && bar.x >= words_from && room > c_.text_width(words, ui_.style(11)))
                c_.text_in({bar.right() + 5, below.y - 2, room, below.h + 4}, words,
                           ui_.style(11, Tone::secondary));
            at = end + waits;
        }
    }

    void draw_call_lane(Rect compute, Rect below, const KeysWay& way, double px) {
        double before = 0, after = 0;
        for (const WayCall& c : way.calls) (c.after ? after : before) += c.call_s * c.times;
        // A mixed way hides its ring: no more than what waits is drawn.
        before = std::min(before, way.waits_s - std::min(after, way.waits_s));
        const auto x = [&](double s) { return compute.x + static_cast<float>(s * px); };
        const double core = way.attention_s + way.slowed_s;
        fill_wait({x(0), compute.y, x(before) - x(0), compute.h});
        fill_compute({x(before), compute.y, x(before + core) - x(before), compute.h},
                     way.comm == CpComm::allgather ? "attention over all keys at once"
                                                   : "attention over all tokens, own heads");
        fill_wait({x(before + core), compute.y, x(before + core + after) - x(before + core), compute.h});
        const Rect in{x(0), below.y, x(before) - x(0), below.h};
        fill_wire(in, in.w);
        const Rect out{x(before + core), below.y, x(before + core + after) - x(before + core), below.h};
        if (after > 0) fill_wire(out, out.w);
        if (below.h > 9)
            write_whole(ui_,
                        {in.right() + 5, below.y - 2, std::max(out.x - in.right() - 12, 0.0f), below.h + 4},
                        way.comm == CpComm::allgather ? "keys, then values"
                                                      : "queries, keys, values; behind it the output",
                        ui_.style(11, Tone::secondary));
    }
};

}  // namespace

void draw_token_memory(Ui& ui, Rect box, const Scene& scene, const TokenSlices& slices) {
    TokenMemory(ui, scene, slices).draw_memory(box);
}

float token_lanes_height(const TokenSlices& slices, bool roomy) {
    const auto n = static_cast<float>(slices.ways.size());
    return roomy ? 66 + n * 48 : 36 + n * 26;
}

std::optional<CpComm> draw_token_lanes(Ui& ui, Rect box, const Scene& scene, const TokenSlices& slices,
                                       bool roomy) {
    return TokenLanes(ui, scene, slices).draw_lanes(box, roomy);
}

}  // namespace pentamesh::ui
