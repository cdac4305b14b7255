// Draws the bands that join the columns of the traffic.
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/comm/view.h"
#include "core/comm/comm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace pentamesh::ui {
namespace {

// A band's edge at a share of its way: level at both ends.
float eased(float from, float to, float k) {
    return from + (to - from) * k * k * (3 - 2 * k);
}

// Says where a ribbon's edges are at a place of its way.
struct Edges {
    const Ribbon& r;
    [[nodiscard]] float top(float x) const { return eased(r.from.y, r.to.y, share(x)); }
    [[nodiscard]] float bottom(float x) const { return eased(r.from.bottom(), r.to.bottom(), share(x)); }
    [[nodiscard]] float share(float x) const {
        return std::clamp((x - r.from.right()) / std::max(1.0f, r.to.x - r.from.right()), 0.0f, 1.0f);
    }
};

}  // namespace

void fill_ribbon(Canvas& c, const Ribbon& r, Color color) {
    const Edges edges{r};
    const float x0 = r.from.right(), x1 = r.to.x;
    const bool level = r.from.y == r.to.y && r.from.h == r.to.h;
    if (level) {
        c.rect({x0, r.from.y, x1 - x0, r.from.h}, color);
        return;
    }
    constexpr int kSlices = 48;
    for (int i = 0; i < kSlices; ++i) {
        const float a = x0 + (x1 - x0) * static_cast<float>(i) / kSlices,
                    b = x0 + (x1 - x0) * static_cast<float>(i + 1) / kSlices + 1;
        c.polygon({{a, edges.top(a)}, {b, edges.top(b)}, {b, edges.bottom(b)}, {a, edges.bottom(a)}}, color);
    }
}

void hatch_ribbon(Canvas& c, const Ribbon& r, Color color) {
    constexpr float kEvery = 7, kStride = 2;
    const Edges edges{r};
    const float x0 = r.from.right(), x1 = r.to.x;
    const float low = std::max(r.from.bottom(), r.to.bottom()), high = std::min(r.from.y, r.to.y);
    for (float foot = x0 - (low - high); foot < x1; foot += kEvery) {
        // The line is y = low - (x - foot).
        float begin = 0;
        bool inside = false;
        for (float x = std::max(x0, foot); x <= x1 + kStride; x += kStride) {
            const float y = low - (x - foot);
            const bool now = x <= x1 && y >= edges.top(x) && y <= edges.bottom(x);
            if (now && !inside) begin = x;
            if (!now && inside) c.line({begin, low - (begin - foot)}, {x - kStride, y + kStride}, color, 1);
            inside = now;
            if (y < high) break;
        }
    }
    constexpr int kSlices = 32;
    std::array<Vec2, kSlices + 1> upper, lower;
    for (int i = 0; i <= kSlices; ++i) {
        const float x = x0 + (x1 - x0) * static_cast<float>(i) / kSlices;
        upper[static_cast<std::size_t>(i)] = {x, edges.top(x)};
        lower[static_cast<std::size_t>(i)] = {x, edges.bottom(x)};
    }
    c.polyline(upper, color, 1);
    c.polyline(lower, color, 1);
}

namespace {

constexpr float kBar = 14, kGap = 18, kSmallGap = 10, kLeastBand = 3;
constexpr float kBesideName = 10;               // between an axis' name and its bar
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

std::string name_of(const Scene& scene, const AxisEntry& axis) {
    return axis_label(axis.kind) + " " + thousands(scene.evaluation.groups[axis.kind].degree);
}
TextStyle name_style(Ui& ui, bool compact) {
    return ui.style(compact ? 12.0f : 14.0f, Tone::text, Face::semibold);
}

Flow flow_of(Ui& ui, Rect room, const Scene& scene, FlowWidth width) {
    const Comm& comm = scene.evaluation.comm;
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
    float names = f.compact ? 74.0f : 140.0f;
    for (const AxisEntry& a : f.axes)
        names = std::max(names,
                         std::ceil(ui.canvas().text_width(name_of(scene, a), name_style(ui, f.compact))) + 1);
    f.left.x = room.x + names + kBesideName;
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
    const std::string name = name_of(scene, axis);
    if (hit.hovered) ui.tooltip(traffic_words(name, axis.traffic));
    if (hit.focused) ui.focus_ring(all, 3);
    if (hit.clicked) scene.selection.choose(axis.kind);
    const bool selected = scene.selection.group == axis.kind;
    c.rect({f.left.x, n.y, kBar, n.h}, color);
    if (selected) c.frame({f.left.x - 1, n.y - 1, kBar + 2, n.h + 2}, ui.theme().text, 1.5f);
    const Rect names{room.x, 0, f.left.x - room.x - kBesideName, 0};
    const float middle = places[a];
    names_axis(ui, axis.kind, {names.x, middle - 18, names.w, 36}, "click to select it",
               ui.id("comm.axis", static_cast<std::uint64_t>(axis.kind)));
    const bool room_below =
        (a + 1 >= places.size() || places[a + 1] - middle >= 36) && (a == 0 || middle - places[a - 1] >= 36);
    const bool whole = !f.compact && room_below;
    c.text_in({names.x, middle - (whole ? 17 : 9), names.w, 18}, name, name_style(ui, f.compact),
              Align::right);
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

// Draws a tier: its bar in its line style, its name next to it.
void draw_tier(Ui& ui, const Scene& scene, const Flow& f, std::size_t i) {
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
    Flow f = flow_of(ui, room, scene, width);
    Rect note;
    if (f.thin) {
        note = room.cut_bottom(16);
        f = flow_of(ui, room, scene, width);
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
    for (std::size_t i = 0; i < f.tiers.size(); ++i) draw_tier(ui, scene, f, i);
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

namespace {

constexpr int kMostBlocks = 128;
constexpr const char* kDirection = "Row sends to column, ranks 0 … ";

const AxisTraffic& traffic(const Scene& scene, GroupKind kind) {
    return scene.evaluation.comm.by_axis[kind];
}

std::string ranks_text(const TrafficMatrix& m, int block) {
    const std::int64_t first = block * m.block;
    if (m.block == 1) return "rank " + thousands(first);
    return "ranks " + thousands(first) + " – " + thousands(first + m.block - 1);
}

HeatMap heat_map(const Scene& scene, GroupKind group) {
    HeatMap out;
    out.group = group;
    out.matrix = traffic_matrix(scene.plan, scene.evaluation, group, kMostBlocks);
    const TrafficMatrix& m = out.matrix;
    for (int i = 0; i < m.blocks; ++i)
        for (int j = 0; j < m.blocks; ++j) {
            const double bytes = m.at(i, j);
            if (bytes <= 0) continue;
            const bool more = !out.runs.empty() && out.runs.back().row == i
                              && out.runs.back().first + out.runs.back().count == j
                              && std::abs(out.runs.back().bytes - bytes) < 1e-9 * bytes;
            if (more)
                ++out.runs.back().count;
            else
                out.runs.push_back({i, j, 1, bytes});
        }
    return out;
}

// Returns the slowest tier that a message between two blocks may cross.
int tier_of(const Cluster& cluster, const TrafficMatrix& m, int from, int to) {
    const int low = std::min(from, to), high = std::max(from, to);
    return tier_between(cluster, low * m.block, (high + 1) * m.block - 1);
}

// Returns true if boxes of this tier's domains are large enough to be drawn, and more than one.
bool has_boxes(const Cluster& cluster, std::size_t tier, const TrafficMatrix& m, float side) {
    const std::int64_t domain = cluster.tiers[tier].domain;
    const float box = side * static_cast<float>(domain) / static_cast<float>(m.world);
    return tier + 1 < cluster.tiers.size() && box >= 5 && domain < m.world;
}

// Draws boxes of the tiers' domains on the diagonal: traffic within one crosses no slower tier.
void draw_domains(Ui& ui, Rect square, const Scene& scene, const TrafficMatrix& m) {
    Canvas& c = ui.canvas();
    const Cluster& cluster = scene.plan.cluster;
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t) {
        if (!has_boxes(cluster, t, m, square.w)) continue;
        const float side =
            square.w * static_cast<float>(cluster.tiers[t].domain) / static_cast<float>(m.world);
        for (float at = 0; at < square.w - 0.5f; at += side) {
            const float w = std::min(side, square.w - at);
            c.frame({square.x + at, square.y + at, w, w}, ui.theme().secondary.alpha(0.6f), 1, 0,
                    mark_of_tier(ui.theme(), cluster, static_cast<int>(t)).dash);
        }
    }
}

// Names the boxes that are drawn: "Boxes on the diagonal: RoCE domains of 3,072 GPUs (dashed)."
std::string boxes_text(const Theme& theme, const Cluster& cluster, const TrafficMatrix& m, float side) {
    std::string s;
    for (std::size_t t = 0; t < cluster.tiers.size(); ++t)
        if (has_boxes(cluster, t, m, side))
            s += (s.empty() ? "Boxes on the diagonal: " : ", ") + cluster.tiers[t].name + " domains of "
                 + thousands(cluster.tiers[t].domain) + " GPUs ("
                 + std::string(words_of(mark_of_tier(theme, cluster, static_cast<int>(t)).dash)) + ")";
    return s.empty() ? s : s + ". ";
}

void draw_cells(Ui& ui, Rect square, const CommHeatState& state) {
    Canvas& c = ui.canvas();
    const TrafficMatrix& m = state.map->matrix;
    const float cell = square.w / static_cast<float>(m.blocks);
    const Color full = color_of(ui.theme(), state.map->group), ground = ui.theme().raised;
    for (const HeatMap::Run& r : state.map->runs) {
        const auto share = static_cast<float>(std::sqrt(r.bytes / m.most));
        c.rect({square.x + static_cast<float>(r.first) * cell, square.y + static_cast<float>(r.row) * cell,
                std::max(1.0f, static_cast<float>(r.count) * cell), std::max(1.0f, cell)},
               mix(ground, full, 0.25f + 0.75f * share));
    }
}

// Marks row and column of the selected rank.
void draw_selected(Ui& ui, Rect square, const Scene& scene, const TrafficMatrix& m) {
    const std::int64_t rank = scene.selection.rank;
    if (rank < 0 || rank >= m.world) return;
    const float cell = square.w / static_cast<float>(m.blocks);
    const std::int64_t block = rank / m.block;
    const float at = static_cast<float>(block) * cell;
    const Color mark = ui.theme().text;
    ui.canvas().frame({square.x, square.y + at, square.w, std::max(cell, 2.0f)}, mark, 1);
    ui.canvas().frame({square.x + at, square.y, std::max(cell, 2.0f), square.h}, mark, 1);
}

void hover_cell(Ui& ui, Rect square, Scene& scene, const CommHeatState& state) {
    const TrafficMatrix& m = state.map->matrix;
    const Hit hit = ui.area("comm.heat", square);
    if (hit.focused) ui.focus_ring(square, 2);
    if (!hit.hovered) return;
    const float cell = square.w / static_cast<float>(m.blocks);
    const auto index = [&](float d) { return std::clamp(static_cast<int>(d / cell), 0, m.blocks - 1); };
    const int from = index(ui.frame().mouse.y - square.y), to = index(ui.frame().mouse.x - square.x);
    const double bytes = m.at(from, to);
    std::string s = ranks_text(m, from) + " to " + ranks_text(m, to);
    if (from == to && m.block > 1) s = ranks_text(m, from) + " to each other";
    s += bytes > 0 ? "\n" + traffic_text(bytes) + " a step on " + axis_label(state.map->group)
                   : "\nnothing on " + axis_label(state.map->group);
    if (bytes > 0) {
        if (m.block > 1) s += ", " + traffic_text(bytes / static_cast<double>(m.block)) + " of each sender";
        s += "\nover " + tier_label(scene.plan.cluster, tier_of(scene.plan.cluster, m, from, to))
             + (m.block > 1 ? " at most" : "");
    }
    ui.tooltip(s);
    ui.canvas().frame({square.x + static_cast<float>(to) * cell, square.y + static_cast<float>(from) * cell,
                       std::max(cell, 3.0f), std::max(cell, 3.0f)},
                      ui.theme().text, 1);
    scene.next_hover.rank = from * m.block;
    if (hit.clicked) scene.selection.pick_rank(from * m.block);
}

void draw_words(Ui& ui, Rect room, const Scene& scene, const CommHeatState& state, float side,
                bool directions) {
    const TrafficMatrix& m = state.map->matrix;
    Canvas& c = ui.canvas();
    const GroupSummary& g = scene.evaluation.groups[state.map->group];
    std::string words;
    if (directions) words = kDirection + thousands(m.world - 1) + ". ";
    if (m.block > 1) words += "A cell is " + thousands(m.block) + " GPUs to " + thousands(m.block) + ". ";
    words += boxes_text(ui.theme(), scene.plan.cluster, m, side);
    words += "Slowest link of " + axis_label(state.map->group) + ": "
             + tier_label(scene.plan.cluster, g.slowest_tier) + ". Brightest cell: " + traffic_text(m.most)
             + " a step, if every GPU sends as much as " + rows_device_text(scene.evaluation.comm) + ".";
    c.paragraph(room, words, ui.small(), 18);
}

}  // namespace

GroupKind shown_group(const Scene& scene) {
    if (traffic(scene, scene.selection.group).count > 0) return scene.selection.group;
    const auto kinds = all_of<GroupKind>();
    return *std::ranges::max_element(
        kinds, {}, [&](GroupKind kind) { return traffic(scene, kind).sent_bytes_per_rank; });
}

void axis_switch(Ui& ui, std::string_view name, Rect row, Scene& scene) {
    std::vector<std::string> labels;
    std::vector<GroupKind> kinds;
    int selected = 0;
    float w = 0;
    for (const GroupKind kind : all_of<GroupKind>()) {
        if (traffic(scene, kind).count <= 0) continue;
        if (kind == shown_group(scene)) selected = static_cast<int>(kinds.size());
        kinds.push_back(kind);
        labels.push_back(axis_label(kind));
        w += ui.canvas().text_width(labels.back(), ui.small()) + 24;
    }
    if (kinds.empty()) return;
    const std::vector<std::string_view> views(labels.begin(), labels.end());
    const int picked = ui.segments(name, {row.x, row.y, std::min(w, row.w), row.h}, views, selected,
                                   color_of(ui.theme(), kinds[selected]));
    if (picked != selected) scene.selection.choose(kinds[picked]);
}

void draw_heat(Ui& ui, Rect room, Scene& scene, CommHeatState& state, std::uint64_t revision) {
    const GroupKind group = shown_group(scene);
    state.map.update({revision, group}, [&] { return heat_map(scene, group); });
    const TrafficMatrix& m = state.map->matrix;
    Canvas& c = ui.canvas();
    const bool beside = room.w > room.h * 1.6f;  // words stand right of the square, else below it
    if (!beside) {
        axis_switch(ui, "comm.heat.axis", room.cut_top(24), scene);
        room.cut_top(8);
    }
    if (m.blocks == 0) {
        c.text_in(room, "Nobody sends on this axis.", ui.small(), Align::center);
        return;
    }
    constexpr float kWords = 76;
    const float margin = beside ? 0 : 18;
    const float side = std::floor(std::min(beside ? room.h - margin : room.h - margin - kWords, room.w));
    if (side < 40) return;
    const Rect square{room.x, room.y + margin, side, side};
    if (!beside)
        c.text_in({square.x, room.y, room.w, margin}, kDirection + thousands(m.world - 1), ui.small());
    c.rect(square, ui.theme().panel);
    draw_cells(ui, square, state);
    draw_domains(ui, square, scene, m);
    c.frame(square, ui.theme().hairline);
    draw_selected(ui, square, scene, m);
    hover_cell(ui, square, scene, state);
    if (beside) {
        Rect right = room;
        right.cut_left(side + 24);
        axis_switch(ui, "comm.heat.axis", right.cut_top(24), scene);
        right.cut_top(8);
        draw_words(ui, right, scene, state, side, true);
    } else {
        draw_words(ui, {room.x, square.bottom() + 6, room.w, kWords}, scene, state, side, false);
    }
}

}  // namespace pentamesh::ui
