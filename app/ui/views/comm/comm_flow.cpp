#include "app/ui/views/comm/view.h"

#include "app/ui/kit/format.h"
#include "app/ui/scene/axis_name.h"
#include "core/comm/comm_count.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace pentamesh::ui {
namespace {

constexpr float kBar = 14, kGap = 18, kSmallGap = 10, kLeastBand = 3;
constexpr float kTwoLines = 32, kOneLine = 15;  // least heights of a band with words in it

// A part of a column: its place there, and how much of it is used by bands so far, on either side.
struct Node {
    float y = 0, h = 0, in = 0, out = 0;
};

struct Band {
    const TrafficFlow* flow = nullptr;
    std::size_t axis = 0, link = 0;  // places in the columns
    float h = 0, waits = 0;          // pixels: whole, and the part that the step waits for
    Rect words{};                    // where its words have room; drawn after all bands
};

struct Column {
    std::vector<Node> node;
    float x = 0;
};

struct AxisEntry {
    GroupKind kind = GroupKind::tp;
    AxisTraffic traffic;
    bool partly_inside = false;  // its groups cross a tier, and have neighbours in one fast domain
};

// The whole drawing, in pixels.
struct Flow {
    std::vector<TrafficFlow> flows;
    std::vector<AxisEntry> axes;  // the longest first
    std::vector<int> tiers;       // fast ones first
    std::vector<Band> bands;
    Column left, middle, right;  // right: each axis' waiting part, then each axis' hidden part
    double waits_s = 0, all_s = 0;
    bool compact = false, thin = false;  // thin: a band is drawn wider than it is
};

double measure(const AxisTraffic& t, FlowWidth width) {
    return width == FlowWidth::time ? t.time_s : t.sent_bytes_per_rank;
}
double waiting_share(const AxisTraffic& t) {
    return t.time_s > 0 ? std::clamp(t.exposed_s / t.time_s, 0.0, 1.0) : 0;
}

// Sets nodes below one another, with a gap, centred in the room.
void stack(Column& column, Rect room, float gap) {
    float sum = -gap;
    for (const Node& n : column.node) sum += n.h + gap;
    float y = room.y + std::max(0.0f, (room.h - sum) / 2);
    for (Node& n : column.node) {
        n.y = y;
        y += n.h + gap;
    }
}

void find_axes_and_tiers(const Comm& comm, Flow& f) {
    for (const TrafficFlow& flow : f.flows) {
        if (f.axes.empty() || f.axes.back().kind != flow.group)
            f.axes.push_back({flow.group, comm.by_axis[flow.group]});
        f.all_s += flow.traffic.time_s;
        f.waits_s += flow.traffic.exposed_s;
        if (std::find(f.tiers.begin(), f.tiers.end(), flow.tier) == f.tiers.end())
            f.tiers.push_back(flow.tier);
    }
    std::stable_sort(f.axes.begin(), f.axes.end(), [](const AxisEntry& a, const AxisEntry& b) {
        return a.traffic.time_s > b.traffic.time_s;
    });
}

// Orders the links as their axes stand, so that bands cross little.
void order_tiers(Flow& f) {
    const auto mean_place = [&](int tier) {
        double sum = 0, weight = 0;
        for (const TrafficFlow& flow : f.flows) {
            if (flow.tier != tier) continue;
            const auto at = std::find_if(f.axes.begin(), f.axes.end(),
                                         [&](const AxisEntry& a) { return a.kind == flow.group; });
            sum += static_cast<double>(at - f.axes.begin()) * flow.traffic.time_s;
            weight += flow.traffic.time_s;
        }
        return weight > 0 ? sum / weight : 0;
    };
    std::stable_sort(f.tiers.begin(), f.tiers.end(),
                     [&](int a, int b) { return mean_place(a) < mean_place(b); });
}

// Finds the bands' heights: all of them and the gaps fill the room.
void size_bands(Flow& f, Rect room, FlowWidth width) {
    const float gap = f.compact ? kSmallGap : kGap;
    double all = 0;
    for (const TrafficFlow& flow : f.flows) all += measure(flow.traffic, width);
    // The right column has one gap more where something waits and something is hidden.
    const float free = room.h - gap * static_cast<float>(std::max(f.axes.size(), f.tiers.size()))
                       - kLeastBand * static_cast<float>(f.flows.size());
    const double scale = all > 0 ? std::max(free, 10.0f) / all : 0;
    for (std::size_t a = 0; a < f.axes.size(); ++a)
        for (const TrafficFlow& flow : f.flows) {
            if (flow.group != f.axes[a].kind) continue;
            Band b;
            b.flow = &flow;
            b.axis = a;
            b.link = static_cast<std::size_t>(std::find(f.tiers.begin(), f.tiers.end(), flow.tier)
                                              - f.tiers.begin());
            const auto true_h = static_cast<float>(measure(flow.traffic, width) * scale);
            b.h = std::max(true_h, kLeastBand);
            f.thin = f.thin || true_h < kLeastBand;
            b.waits = b.h * static_cast<float>(waiting_share(flow.traffic));
            f.bands.push_back(b);
            f.left.node[a].h += b.h;
            f.middle.node[b.link].h += b.h;
            f.right.node[a].h += b.waits;
            f.right.node[f.axes.size() + a].h += b.h - b.waits;
        }
}

// The waiting parts stand together at the top, the hidden parts together at the bottom.
void place_ends(Flow& f, Rect room) {
    const std::size_t n = f.axes.size();
    float y = f.left.node.empty() ? room.y : f.left.node.front().y;
    float hidden = 0;
    for (std::size_t i = n; i < 2 * n; ++i) hidden += f.right.node[i].h;
    const float bottom = f.left.node.empty() ? room.bottom() : f.left.node.back().y + f.left.node.back().h;
    for (std::size_t i = 0; i < 2 * n; ++i) {
        if (i == n) y = std::max(y + kSmallGap, bottom - hidden);
        f.right.node[i].y = y;
        y += f.right.node[i].h;
    }
}

Flow flow_of(const Comm& comm, Rect room, FlowWidth width) {
    Flow f;
    f.flows = traffic_flows(comm);
    f.compact = room.h < 220 || room.w < 760;
    find_axes_and_tiers(comm, f);
    order_tiers(f);
    f.left.node.resize(f.axes.size());
    f.middle.node.resize(f.tiers.size());
    f.right.node.resize(2 * f.axes.size());
    size_bands(f, room, width);
    const float gap = f.compact ? kSmallGap : kGap;
    stack(f.left, room, gap);
    stack(f.middle, room, gap);
    place_ends(f, room);
    std::size_t longest = 8;
    for (const AxisEntry& a : f.axes) longest = std::max(longest, axis_label(a.kind).size());
    f.left.x = room.x + (f.compact ? 84.0f + 7 * static_cast<float>(longest - 8) : 150.0f);
    f.right.x = room.right() - (f.compact ? 108.0f : 230.0f) - kBar;
    f.middle.x = (f.left.x + f.right.x) / 2;
    return f;
}

std::string calls_text(const AxisTraffic& t) {
    return plural(std::llround(t.count), "call", "calls");
}
std::string amount_text(const AxisTraffic& t) {
    return time_text(t.time_s)
           + (t.time_s > 0 ? " at " + bandwidth_text(t.sent_bytes_per_rank / t.time_s) : "");
}

// Returns the heights at which the axes' names stand: at their bars' middles, but no two closer than a line.
std::vector<float> name_places(Rect room, const Flow& f) {
    constexpr float kLine = 18;
    std::vector<float> y;
    for (const Node& n : f.left.node)
        y.push_back(std::max(n.y + n.h / 2, y.empty() ? room.y : y.back() + kLine));
    for (std::size_t i = y.size(); i-- > 0;)
        y[i] = std::min(y[i], i + 1 < y.size() ? y[i + 1] - kLine : room.bottom() - kLine / 2);
    return y;
}

// Returns what an axis' traffic is, in lines.
std::string traffic_words(const std::string& name, const AxisTraffic& t) {
    return name + "\n" + calls_text(t) + " a step\n" + traffic_text(t.payload_bytes) + " of buffers, "
           + traffic_text(t.sent_bytes_per_rank) + " leave the GPU\n" + time_text(t.time_s)
           + " on the wire: " + time_text(t.exposed_s)
           + " that the step waits for (filled), the rest hidden behind compute (hatched)";
}

// Draws an axis: its name, its bar, and the band to its links with the bytes in it.
void draw_axis(Ui& ui, Rect room, Scene& scene, const Flow& f, std::size_t a,
               const std::vector<float>& places) {
    Canvas& c = ui.canvas();
    const AxisEntry& axis = f.axes[a];
    const Node& n = f.left.node[a];
    const Color color = color_of(ui.theme(), axis.kind);
    const Rect all{room.x, n.y - 2, f.middle.x - room.x, std::max(n.h + 4, 20.0f)};
    const Hit hit = ui.area("comm.axis", all, static_cast<std::uint64_t>(axis.kind));
    const std::string name =
        axis_label(axis.kind) + " " + thousands(scene.evaluation.groups[axis.kind].degree);
    if (hit.hovered) ui.tooltip(traffic_words(name, axis.traffic));
    if (hit.focused) ui.focus_ring(all, 3);
    if (hit.clicked) scene.selection.choose(axis.kind);
    const bool selected = scene.selection.group == axis.kind;
    c.rect({f.left.x, n.y, kBar, n.h}, color);
    if (selected) c.frame({f.left.x - 1, n.y - 1, kBar + 2, n.h + 2}, ui.theme().text, 1.5f);
    const Rect names{room.x, 0, f.left.x - room.x - 10, 0};
    const float middle = places[a];
    names_axis(ui, axis.kind, {names.x, middle - 18, names.w, 36}, "click to select it",
               ui.id("comm.axis", static_cast<std::uint64_t>(axis.kind)));
    const TextStyle strong = ui.style(f.compact ? 12.0f : 14.0f, Tone::text, Face::semibold);
    const bool room_below =
        (a + 1 >= places.size() || places[a + 1] - middle >= 36) && (a == 0 || middle - places[a - 1] >= 36);
    const bool whole = !f.compact && room_below;
    c.text_in({names.x, middle - (whole ? 17 : 9), names.w, 18}, name, strong, Align::right);
    if (!whole) return;
    const std::string below = n.h < kOneLine ? traffic_text(axis.traffic.sent_bytes_per_rank) + ", "
                                                   + time_text(axis.traffic.time_s)
                                             : calls_text(axis.traffic);
    c.text_in({names.x, middle + 1, names.w, 16}, below, ui.small(), Align::right);
}

// Writes what a band carries, where it has room.
void band_words(Ui& ui, Rect at, const AxisEntry& axis) {
    Canvas& c = ui.canvas();
    const std::string bytes = traffic_text(axis.traffic.sent_bytes_per_rank),
                      amount = amount_text(axis.traffic),
                      more = axis.partly_inside ? ", with what stays inside nodes" : "";
    const TextStyle strong = ui.style(14, Tone::text, Face::semibold), plain = ui.small(Tone::text);
    if (at.h >= kTwoLines + 8 && c.text_width(amount, plain) < at.w - 12) {
        const float y = at.center().y - 18;
        c.text_in({at.x, y, at.w, 18}, bytes, strong, Align::center);
        const bool whole = c.text_width(amount + more, plain) < at.w - 12;
        c.text_in({at.x, y + 19, at.w, 16}, whole ? amount + more : amount, plain, Align::center);
    } else if (at.h >= kOneLine) {
        const std::string line = bytes + "  " + amount;
        const std::string& words = c.text_width(line, plain) < at.w - 12 ? line : bytes;
        if (c.text_width(words, plain) < at.w - 8) c.text_in(at, words, plain, Align::center);
    }
}

void draw_band(Ui& ui, Flow& f, Band& b) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const Color axis = color_of(theme, b.flow->group);
    Node &from = f.left.node[b.axis], &link = f.middle.node[b.link], &waits = f.right.node[b.axis],
         &hidden = f.right.node[f.axes.size() + b.axis];
    const Rect start{f.left.x, from.y + from.out, kBar, b.h},
        through{f.middle.x, link.y + link.in, kBar, b.h};
    fill_ribbon(c, {start, through}, mix(theme.window, axis, theme.id == ThemeId::light ? 0.3f : 0.42f));
    const float level = std::min(through.y - start.y, b.h);
    if (std::abs(level) < b.h / 2)
        b.words = {start.right(), std::max(start.y, through.y), through.x - start.right(),
                   b.h - std::abs(through.y - start.y)};
    from.out += b.h;
    link.in += b.h;
    const float hidden_h = b.h - b.waits;
    if (hidden_h > 0.5f) {
        const Rect a{f.middle.x, through.y + b.waits, kBar, hidden_h},
            z{f.right.x, hidden.y + hidden.in, kBar, hidden_h};
        hatch_ribbon(c, {a, z}, axis);
        c.frame(z, axis, 1);
        hidden.in += hidden_h;
    }
    if (b.waits > 0.5f) {
        const Rect a{f.middle.x, through.y, kBar, b.waits}, z{f.right.x, waits.y + waits.in, kBar, b.waits};
        fill_ribbon(c, {a, z}, mix(theme.window, axis, theme.id == ThemeId::light ? 0.45f : 0.6f));
        c.rect(z, axis);
        waits.in += b.waits;
    }
}

// Writes a part's time at the right end of its bands, where it has room; on a ground of its own if hatched.
void end_words(Ui& ui, const Flow& f, const Node& n, double time_s, bool hatched) {
    if (n.h < kOneLine) return;
    Canvas& c = ui.canvas();
    const TextStyle style = ui.style(12, Tone::text, Face::semibold);
    const std::string words = time_text(time_s);
    const float w = c.text_width(words, style), y = n.y + n.h / 2;
    const Rect at{f.right.x - w - 14, y - 8, w + 8, 16};
    if (hatched) c.rect(at, ui.theme().window, 2);
    c.text_in(at, words, style, Align::center);
}

// Draws a link: its bar in the tier's line style, its name next to it.
void draw_link(Ui& ui, const Scene& scene, const Flow& f, std::size_t i) {
    Canvas& c = ui.canvas();
    const Node& n = f.middle.node[i];
    const TierMark mark = mark_of_tier(ui.theme(), scene.plan.cluster, f.tiers[i]);
    const Rect bar{f.middle.x, n.y, kBar, n.h};
    c.rect(bar, ui.theme().window);
    c.frame(bar, ui.theme().text, n.h < 8 ? 1.0f : 1.5f, 0, mark.dash);
    const std::string name = tier_label(scene.plan.cluster, f.tiers[i]);
    const TextStyle strong = ui.style(12, Tone::text, Face::semibold);
    const float room = f.right.x - bar.right() - 70;
    const bool inside = n.h >= kOneLine;
    const float y = inside ? n.y + std::min(3.0f, (n.h - 14) / 2) : n.y + n.h + 1;
    const Rect at{bar.right() + 8, y, std::max(0.0f, room), 16};
    const float w = c.text_width(name, strong);
    if (w > at.w) return;
    const bool two = !f.compact && n.h >= kTwoLines + 4;
    if (inside) c.rect({at.x - 4, y, w + 8, two ? 32.0f : 16.0f}, ui.theme().window.alpha(0.7f), 3);
    c.text_in(at, name, strong);
    if (two)
        c.text_in({at.x, y + 16, at.w, 14}, words_of(mark.dash), ui.small(Tone::text));
    else if (!f.compact && at.w > w + 60)
        c.text_in({at.x + w + 8, y, at.w - w - 8, 16}, words_of(mark.dash), ui.small(Tone::text));
}

// Lists the axes that have some of it: "tp 11.2 %, dp_shard 6.5 %".
std::string shares_text(const Flow& f, double step_s) {
    std::string s;
    for (const AxisEntry& a : f.axes)
        if (a.traffic.exposed_s > 0)
            s += (s.empty() ? "" : ", ") + axis_label(a.kind) + " " + percent(a.traffic.exposed_s / step_s);
    return s;
}

// Writes what the two ends are, and how much they are.
void draw_ends(Ui& ui, Rect room, const Scene& scene, const Flow& f) {
    Canvas& c = ui.canvas();
    const std::size_t n = f.axes.size();
    const double hidden_s = f.all_s - f.waits_s;
    const Rect at{f.right.x + kBar + 10, 0, room.right() - f.right.x - kBar - 10, 0};
    const TextStyle strong = ui.style(f.compact ? 12.0f : 14.0f, Tone::text, Face::semibold);
    const auto middle_of = [&](std::size_t from, std::size_t to) {
        return (f.right.node[from].y + f.right.node[to - 1].y + f.right.node[to - 1].h) / 2;
    };
    const float lines = f.compact ? 17.0f : 27.0f;
    float bottom = room.y;
    if (f.waits_s > 0) {
        const float y = std::max(room.y, middle_of(0, n) - lines);
        c.text_in({at.x, y, at.w, 18}, f.compact ? "the step waits" : "exposed: the step waits", strong);
        std::string share = time_text(f.waits_s);
        const double step_s = scene.evaluation.step ? scene.evaluation.step->time_s : 0;
        if (step_s > 0 && !f.compact)
            share += " of " + time_text(step_s) + ", " + percent(f.waits_s / step_s) + " of the step";
        c.text_in({at.x, y + 19, at.w, 16}, share, ui.small(Tone::text));
        if (step_s > 0 && !f.compact)
            c.paragraph({at.x, y + 36, at.w, 34}, shares_text(f, step_s), ui.small(), 16);
        bottom = y + lines * 2 + (f.compact ? 0.0f : 14.0f);
    }
    if (hidden_s > 1e-12) {
        const float y = std::min(std::max(bottom + 4, middle_of(n, 2 * n) - 17), room.bottom() - 36);
        c.text_in({at.x, y, at.w, 18}, f.compact ? "hidden" : "hidden behind compute", strong);
        c.text_in({at.x, y + 19, at.w, 16}, time_text(hidden_s), ui.small(Tone::text));
    }
}

}  // namespace

void draw_comm_flow(Ui& ui, Rect room, Scene& scene, FlowWidth width) {
    if (room.h < 40 || room.w < 260) return;
    Canvas& c = ui.canvas();
    const bool heads = room.h >= 220 && room.w >= 760;
    Rect head = heads ? room.cut_top(24) : Rect{};
    Flow f = flow_of(scene.evaluation.comm, room, width);
    Rect note;
    if (f.thin) {
        note = room.cut_bottom(16);
        f = flow_of(scene.evaluation.comm, room, width);
    }
    for (AxisEntry& a : f.axes)
        if (const GroupSummary& g = scene.evaluation.groups[a.kind]; g.slowest_tier > 0)
            a.partly_inside = g.per_fast_domain > 1;
    if (heads) {
        head.h = 16;
        ui.section({f.left.x, head.y, 200, 16}, "AXIS");
        ui.section({f.middle.x, head.y, 200, 16}, "SLOWEST LINK");
        ui.section({f.right.x, head.y, room.right() - f.right.x, 16}, "DOES THE STEP WAIT?");
    }
    // Hidden parts are drawn before waiting ones, which then lie over them.
    for (Band& b : f.bands) draw_band(ui, f, b);
    for (const Band& b : f.bands)  // over the bands that cross theirs
        if (b.words.w > 0)
            band_words(ui, b.words, {b.flow->group, b.flow->traffic, f.axes[b.axis].partly_inside});
    const std::vector<float> places = name_places(room, f);
    for (std::size_t a = 0; a < f.axes.size(); ++a) draw_axis(ui, room, scene, f, a, places);
    for (std::size_t i = 0; i < f.tiers.size(); ++i) draw_link(ui, scene, f, i);
    for (std::size_t a = 0; a < f.axes.size(); ++a) {
        const AxisTraffic& t = f.axes[a].traffic;
        end_words(ui, f, f.right.node[a], t.exposed_s, false);
        end_words(ui, f, f.right.node[f.axes.size() + a], t.time_s - t.exposed_s, true);
    }
    draw_ends(ui, room, scene, f);
    if (f.thin)
        c.text_in({f.left.x, note.y, f.middle.x - f.left.x, note.h},
                  "bands of " + trimmed(kLeastBand) + " px are not to scale", ui.style(11, Tone::secondary));
}

}  // namespace pentamesh::ui
