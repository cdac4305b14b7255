#include "app/ui/views/shards/shards_sheets.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr float kLine = 17;              // a row of text
constexpr float kGap = 14, kBelow = 10;  // between slots: to the right, below
constexpr float kTight = 3;              // the same where nothing is written
constexpr float kSmallWidth = 40, kSmallHeight = 8;
constexpr float kLeastBody = 10;  // a side of a body: less goes to the small ones
constexpr float kLeastUnnamed = 4;
constexpr double kMostMoved = 0.1;           // of the bytes, at once
constexpr float kMostSmall = 0.5f;           // of the room's height: the rest needs as much
constexpr float kNumbered = 14, kPlain = 5;  // widths of rulers: with numbers, without
constexpr std::int64_t kMostNumbered = 16;
constexpr std::size_t kAllSplits = 4;  // so many tensors are split in every way; more, near the middle

// Holds the distances from the body to the edges of its slot, and the width of its name.
struct Around {
    float left = 0, top = 0, right = 0, bottom = 0, name = 0;
};

// A slot is an item, or is split in two.
struct Node {
    int item = -1, first = -1, second = -1;
    bool across = false;  // side by side
    double weight = 0;
};

Rect body_of(Rect slot, const Around& a) {
    return {slot.x + a.left, slot.y + a.top, std::max(0.0f, slot.w - a.left - a.right),
            std::max(0.0f, slot.h - a.top - a.bottom)};
}

// Finds a tree of splits in which tensors are about as long and wide as they are.
class Splitter {
  public:
    Splitter(const std::vector<double>& weight, const std::vector<double>& area,
             const std::vector<double>& aspect, const std::vector<int>& group,
             const std::vector<Around>& around)
        : weight_(weight), area_(area), aspect_(aspect), group_(group), around_(around) {}

    double split(std::size_t begin, std::size_t end, double w, double h, std::vector<Node>& out) const {
        out.clear();
        Node node;
        node.weight = sum(begin, end);
        if (end - begin == 1) {
            node.item = static_cast<int>(begin);
            out.push_back(node);
            return cost(begin, w, h);
        }
        double best = 1e300;
        std::vector<Node> first, second;
        for (const std::size_t middle : splits(begin, end))
            for (const bool across : {true, false}) {
                const double share = sum(begin, middle) / node.weight;
                double price = split(begin, middle, across ? w * share : w, across ? h : h * share, first);
                if (price >= best) continue;
                price +=
                    split(middle, end, across ? w * (1 - share) : w, across ? h : h * (1 - share), second);
                if (price >= best) continue;
                best = price;
                node.across = across;
                join(node, first, second, out);
            }
        return best;
    }

  private:
    [[nodiscard]] double sum(std::size_t begin, std::size_t end) const {
        double s = 0;
        for (std::size_t i = begin; i < end; ++i) s += weight_[i];
        return s;
    }
    // Attention and the MLP stay apart: a range that has both is split between them.
    [[nodiscard]] std::vector<std::size_t> splits(std::size_t begin, std::size_t end) const {
        std::vector<std::size_t> all;
        for (std::size_t i = begin + 1; i < end; ++i)
            if (group_[i] != group_[i - 1]) all.push_back(i);
        if (!all.empty()) return all;
        const double half = sum(begin, end) / 2;
        std::vector<std::pair<double, std::size_t>> near;
        double before = 0;
        for (std::size_t i = begin + 1; i < end; ++i) {
            before += weight_[i - 1];
            near.emplace_back(std::abs(before - half), i);
        }
        if (end - begin > kAllSplits) {
            std::sort(near.begin(), near.end());
            near.resize(3);
        }
        for (const auto& [off, i] : near) all.push_back(i);
        return all;
    }
    // The body keeps its area: of a wide slot the width holds and the height follows, of a high one the
    // other way round.
    [[nodiscard]] double cost(std::size_t i, double w, double h) const {
        const Around& a = around_[i];
        double x = std::max(1.0, w - a.left - a.right), y = std::max(1.0, h - a.top - a.bottom);
        if (w > h)
            y = area_[i] / x;
        else
            x = area_[i] / y;
        double price = std::abs(std::log(x / y / aspect_[i]));
        const double over = w > h ? (y + a.top + a.bottom) / h : (x + a.left + a.right) / w;
        price += 4 * std::max(0.0, over - 1.1);  // it takes from its neighbours
        const double name = a.name + a.right;
        if (w < name) price += 8 + 4 * (name / w - 1);  // it would not be drawn to scale
        if (std::min(x, y) < 2.0 * kLeastBody) price += 2;
        return price;
    }
    static void join(Node node, const std::vector<Node>& first, const std::vector<Node>& second,
                     std::vector<Node>& out) {
        out.clear();
        node.first = 1;
        node.second = 1 + static_cast<int>(first.size());
        out.push_back(node);
        const auto add = [&](const std::vector<Node>& part, int by) {
            for (Node n : part) {
                if (n.item < 0) n.first += by, n.second += by;
                out.push_back(n);
            }
        };
        add(first, node.first);
        add(second, node.second);
    }

    const std::vector<double>& weight_;
    const std::vector<double>& area_;  // of bodies
    const std::vector<double>& aspect_;
    const std::vector<int>& group_;
    const std::vector<Around>& around_;
};

double weigh(std::vector<Node>& tree, int at, const std::vector<double>& weight) {
    Node& n = tree[static_cast<std::size_t>(at)];
    n.weight = n.item >= 0 ? weight[static_cast<std::size_t>(n.item)]
                           : weigh(tree, n.first, weight) + weigh(tree, n.second, weight);
    return n.weight;
}

void divide(const std::vector<Node>& tree, int at, Rect r, std::vector<Rect>& out) {
    const Node& n = tree[static_cast<std::size_t>(at)];
    if (n.item >= 0) {
        out[static_cast<std::size_t>(n.item)] = r;
        return;
    }
    const auto share = static_cast<float>(tree[static_cast<std::size_t>(n.first)].weight / n.weight);
    divide(tree, n.first, n.across ? r.cut_left(r.w * share) : r.cut_top(r.h * share), out);
    divide(tree, n.second, r, out);
}

// Returns slots whose bodies are as large as the bytes.
std::vector<Rect> slots_of(const std::vector<double>& bytes, const std::vector<double>& aspect,
                           const std::vector<int>& group, const std::vector<Around>& around, Rect room) {
    const std::size_t n = bytes.size();
    const double area = static_cast<double>(room.w) * room.h;
    const double all = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    // At first every slot is as if square.
    std::vector<double> weight(n), body_area(n);
    double left = area;
    for (std::size_t i = 0; i < n; ++i) {
        const double side = std::sqrt(bytes[i] / all * area);
        const Around& a = around[i];
        weight[i] = side * (a.left + a.right + a.top + a.bottom) * 0.7;
        left -= weight[i];
    }
    for (std::size_t i = 0; i < n; ++i) {
        body_area[i] = bytes[i] / all * std::max(left, area / 4);
        weight[i] += body_area[i];
    }
    std::vector<Node> tree;
    Splitter(weight, body_area, aspect, group, around).split(0, n, room.w, room.h, tree);
    std::vector<Rect> slot(n);
    constexpr int kRounds = 60;
    for (int round = 0; round < kRounds; ++round) {
        weigh(tree, 0, weight);
        divide(tree, 0, room, slot);
        double beside = 0;
        std::vector<double> lost(n);
        for (std::size_t i = 0; i < n; ++i) {
            const Rect body = body_of(slot[i], around[i]);
            lost[i] = static_cast<double>(slot[i].w) * slot[i].h - static_cast<double>(body.w) * body.h;
            beside += lost[i];
        }
        const double scale = std::max(area - beside, area * 0.05) / all;
        double apart = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double next = (weight[i] + scale * bytes[i] + lost[i]) / 2;  // halfway: it settles
            apart = std::max(apart, std::abs(next / weight[i] - 1));
            weight[i] = next;
        }
        if (apart < 1e-4) break;
    }
    return slot;
}

int group_of(const Sheet& s) {
    if (s.placement.state == TensorState::activations) return 0;
    switch (s.placement.kind) {
    case TensorKind::attention:
    case TensorKind::mixer: return 0;
    default: return s.placement.expert ? 2 : 1;
    }
}

// Places the small ones in rows, from the corner; returns the height.
float place_small(const std::vector<int>& small, float width, const PackedWords& words, PackedSheets& out) {
    if (small.empty()) return 0;
    const bool named = !words.name.empty();
    float x = 0, y = 0;
    const float row = named ? kLine : kSmallHeight + kTight;
    if (named) {
        out.said = {0, 0, std::min(words.said, width), kLine};
        x = out.said.w + kGap;
    }
    for (const int i : small) {
        const float name = named ? words.name[static_cast<std::size_t>(i)] : 0;
        const float w = named ? name + 8 + kSmallWidth : 16;
        if (x > 0 && x + w > width) x = 0, y += row;
        SheetPlace& p = out.place[static_cast<std::size_t>(i)];
        p.to_scale = false;
        p.slot = {x, y, w, row};
        p.label = {x, y, name, named ? row : 0};
        p.body = named ? Rect{x + name + 8, y + (kLine - kSmallHeight) / 2, kSmallWidth, kSmallHeight}
                       : Rect{x, y, w, kSmallHeight};
        x += w + (named ? kGap : kTight);
    }
    return y + row;
}

void move_down(Rect& r, float by) {
    r.y += by;
}

}  // namespace

double drawn_bytes(const Sheet& s) {
    const Placement& p = s.placement;
    const bool one_of = p.dims[0] == Dim::experts && p.shape[0] > 1;
    return one_of ? p.bytes_whole / static_cast<double>(p.shape[0]) : p.bytes_whole;
}

std::vector<SheetRuler> rulers_of(const Sheet& s) {
    std::vector<SheetRuler> out;
    for (int i = 0; i < s.cuts.count; ++i) {
        const Axis axis = s.cuts.axis[static_cast<std::size_t>(i)];
        const AxisPlacement& x = s.placement.on(axis);
        const bool columns = x.dim == Dim::columns || x.dim == Dim::width;
        out.push_back({axis, !columns, x.parts <= kMostNumbered ? kNumbered : kPlain});
    }
    return out;
}

namespace {

// Holds what large sheets are laid out by, each at its place in the list of large ones.
struct LargeSheets {
    std::vector<double> bytes, aspect;
    std::vector<int> group;
    std::vector<Around> around;
};

LargeSheets large_sheets(const std::vector<Sheet>& sheets, const std::vector<int>& large,
                         const PackedWords& words) {
    const bool named = !words.name.empty();
    LargeSheets out;
    for (const int i : large) {
        const auto at = static_cast<std::size_t>(i);
        const Sheet& s = sheets[at];
        out.bytes.push_back(drawn_bytes(s));
        const double rows = static_cast<double>(s.placement.shape[s.lying ? 2 : 1]),
                     columns = static_cast<double>(s.placement.shape[s.lying ? 1 : 2]);
        out.aspect.push_back(std::clamp(columns / std::max(rows, 1.0), 0.5, 2.5));
        out.group.push_back(group_of(s));
        Around a{0, 0, kTight, kTight, 0};
        if (named) {
            a = {0, words.second_line ? 2 * kLine : kLine, kGap, kBelow, words.name[at]};
            for (const SheetRuler& r : rulers_of(s)) (r.rows != s.lying ? a.left : a.top) += r.width;
        }
        out.around.push_back(a);
    }
    return out;
}

// Places the large sheets in `rest`; returns which of them is the smallest that cannot be seen, or -1.
int place_large(const LargeSheets& l, const std::vector<int>& large, Rect rest, bool small_below,
                const PackedWords& words, PackedSheets& out) {
    const bool named = !words.name.empty();
    const float least = named ? kLeastBody : kLeastUnnamed;
    // The last slots' gaps lie outside the room.
    const float gap = named ? kGap : kTight, below = small_below ? 0 : named ? kBelow : kTight;
    const std::vector<Rect> slot =
        slots_of(l.bytes, l.aspect, l.group, l.around, {0, 0, rest.w + gap, rest.h + below});
    int thin = -1;
    for (std::size_t k = 0; k < large.size(); ++k) {
        const Around& a = l.around[k];
        const Rect body = body_of(slot[k], a);
        const bool hidden = std::min(body.w, body.h) < least || (named && slot[k].w < a.name + a.right);
        if (hidden && (thin < 0 || l.bytes[k] < l.bytes[static_cast<std::size_t>(thin)]))
            thin = static_cast<int>(k);
        SheetPlace& p = out.place[static_cast<std::size_t>(large[k])];
        p.body = body;
        p.slot = {slot[k].x, slot[k].y, slot[k].w - a.right, slot[k].h - a.bottom};
        p.label = {p.slot.x, p.slot.y, p.slot.w, named ? (words.second_line ? 2 * kLine : kLine) : 0};
    }
    return thin;
}

// Counts a sheet as small. Tensors of one size stay together, as long as that leaves nearly everything to
// scale.
void make_small(const std::vector<double>& bytes, std::size_t thin, double all, std::vector<int>& large,
                std::vector<int>& small) {
    const double most = bytes[thin];
    double as_small = 0;
    for (const double b : bytes)
        if (b <= most) as_small += b;
    const bool together = as_small < all * kMostMoved;
    std::vector<int> kept;
    for (std::size_t k = 0; k < large.size(); ++k)
        (k == thin || (together && bytes[k] <= most) ? small : kept).push_back(large[k]);
    large = std::move(kept);
}

}  // namespace

PackedSheets pack_sheets(const std::vector<Sheet>& sheets, Vec2 room, const PackedWords& words) {
    PackedSheets out;
    if (sheets.empty() || room.x < 40 || room.y < 40) return out;
    const bool named = !words.name.empty();
    double all = 0;
    for (const Sheet& s : sheets) all += drawn_bytes(s);
    if (all <= 0) return out;
    std::vector<int> large, small;
    const double least = named ? kLeastBody : kLeastUnnamed;
    for (std::size_t i = 0; i < sheets.size(); ++i) {
        const double area = drawn_bytes(sheets[i]) / all * room.x * room.y;
        (area < least * least * (named ? 4 : 1) ? small : large).push_back(static_cast<int>(i));
    }
    while (true) {
        out = {};
        out.place.resize(sheets.size());
        std::sort(small.begin(), small.end());
        const float height = place_small(small, room.x, words, out);
        if (height > room.y * kMostSmall) return {};
        if (large.empty()) return out;
        const Rect rest{0, 0, room.x, room.y - height};
        const LargeSheets l = large_sheets(sheets, large, words);
        const int thin = place_large(l, large, rest, height > 0, words, out);
        if (thin < 0) {
            for (const int i : small) {
                SheetPlace& p = out.place[static_cast<std::size_t>(i)];
                for (Rect* r : {&p.slot, &p.label, &p.body}) move_down(*r, rest.h);
            }
            move_down(out.said, rest.h);
            return out;
        }
        make_small(l.bytes, static_cast<std::size_t>(thin), all, large, small);
    }
}

}  // namespace pentamesh::ui
