// Draws who cuts a tensor: rulers at its edges, and the same in a line of words.
#include "app/ui/views/shards/shards_sheets.h"
#include "core/sharding/placement_words.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace pentamesh::ui {

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
                   && std::any_of(s.lit.begin(), s.lit.end(), [&](const IndexBox& b) {
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
            for (const IndexBox& b : s.lit) {
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
