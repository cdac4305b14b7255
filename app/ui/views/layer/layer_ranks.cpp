// Draws the tensors of the current step on the ranks of one group, side by side: solid where cut, hatched
// where copied, dotted where summands wait. A collective's pieces move between them.
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/kit/row_chart.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/layer/view.h"
#include "app/ui/views/mesh/mesh_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace pentamesh::ui {
namespace {

constexpr float kHead = 52, kColumnGap = 44, kMostRow = 56, kFewRows = 4, kMostFewRow = 120;

// Says whose ranks are shown: the collective's, or those of the axis that cuts the current tensors.
struct Group {
    GroupKind axis = GroupKind::tp;
    std::int64_t size = 1;
    std::vector<std::int64_t> ranks;  // the first of them
};

Group group_of(const ShownLayer& shown, const Scene& scene, const LayerStep& s) {
    const Evaluation& e = shown.evaluation_of(scene);
    if (is_collective(s.op)) return {s.group, s.group_size, s.ranks};
    const bool weights_alone = s.block == LayerBlock::weights;
    constexpr std::array kOrder{GroupKind::tp,  GroupKind::cp,       GroupKind::ep,
                                GroupKind::etp, GroupKind::dp_shard, GroupKind::dp};
    const auto uses = [&](GroupKind axis) {
        const auto of = [&](const LayerTensor& t) { return t.cut_by(axis) || t.partial_over(axis); };
        return std::any_of(s.in.begin(), s.in.end(), of) || std::any_of(s.out.begin(), s.out.end(), of);
    };
    GroupKind axis = GroupKind::tp;
    bool found = false;
    for (const GroupKind a : kOrder)
        if (!found && !weights_alone && e.groups[a].degree > 1 && uses(a)) axis = a, found = true;
    for (const GroupKind a : kOrder)
        if (!found && a != GroupKind::ep && a != GroupKind::etp && e.groups[a].degree > 1)
            axis = a, found = true;
    for (const LayerStep& other : shown.list.steps)
        if (is_collective(other.op) && other.group == axis) return {axis, other.group_size, other.ranks};
    Group g{axis, e.groups[axis].degree, {}};
    if (g.size <= 1) return {axis, 1, {shown.list.rank}};
    const MeshAxis of{.kind = axis, .factors = group_factors(e.mesh, axis)};
    const std::int64_t first = of.first_of(shown.list.rank);
    for (std::int64_t i = 0; i < std::min(g.size, kMostRanks); ++i) g.ranks.push_back(of.member(first, i));
    return g;
}

// Says how one tensor lies over the group's axis.
struct GroupSpread {
    enum { whole, own, copied, cut, partial } how = whole;  // own: other data of the same shape
    std::int64_t parts = 1;
    bool stripes = false;  // cut along what a weight's drawing has from top to bottom: lying
    std::string along;
};

std::string_view dim_words(DimName name) {
    switch (name) {
    case DimName::sequence: return "sequence";
    case DimName::batch: return "batch";
    case DimName::tokens: return "token";
    case DimName::heads:
    case DimName::kv_heads:
    case DimName::queries:
    case DimName::keys: return "head";
    case DimName::experts: return "expert";
    case DimName::numbers: return "number";
    case DimName::hidden:
    case DimName::head:
    case DimName::inner:
    case DimName::latent:
    case DimName::ffn:
    case DimName::experts_latent: break;
    }
    return "width";
}

// A weight is drawn as its notation has it: outputs down, inputs across; in JAX the other way.
bool is_lying(const LayerTensor& t, std::size_t dim, Notation notation) {
    if (!t.weight || t.dims.size() < 2) return false;
    const std::size_t down = notation == Notation::jax ? t.dims.size() - 1 : t.dims.size() - 2;
    return dim == down;
}

GroupSpread spread_of(const LayerTensor& t, const Group& g, Notation notation) {
    GroupSpread s;
    if (g.size <= 1) return s;
    if (t.partial_over(g.axis)) return {GroupSpread::partial, g.size, false, ""};
    for (std::size_t i = 0; i < t.dims.size(); ++i)
        for (const LayerCut& c : t.dims[i].cuts)
            if (c.group == g.axis)
                return {GroupSpread::cut, c.parts, is_lying(t, i, notation),
                        std::string(dim_words(t.dims[i].name))};
    // Replicas have a micro-batch each, and so have the ranks that deal experts.
    constexpr std::array kData{GroupKind::dp,        GroupKind::dp_shard,     GroupKind::dp_replicate,
                               GroupKind::fsdp,      GroupKind::ep,           GroupKind::edp,
                               GroupKind::edp_shard, GroupKind::edp_replicate};
    if (!t.weight && std::find(kData.begin(), kData.end(), g.axis) != kData.end())
        return {GroupSpread::own, g.size, false, ""};
    return {GroupSpread::copied, g.size, false, ""};
}

std::string group_words(const LayerTensor& t, const GroupSpread& s, LayerOp op) {
    if (s.how == GroupSpread::partial) return "every rank has all of it, none has the sum";
    if (s.how == GroupSpread::copied)
        return op == LayerOp::ring_send ? "each sees all of it, block by block" : "each has all of it";
    if (s.how == GroupSpread::own) return "each has its own tokens";
    if (s.how == GroupSpread::whole) return shape_text(t);
    for (const LayerDim& d : t.dims)
        if (dim_words(d.name) == s.along && d.local < d.size)
            return "cut by " + s.along + ": " + thousands(std::llround(d.local)) + " of "
                   + thousands(std::llround(d.size));
    return "cut by " + s.along;
}

class RankPainter {
  public:
    RankPainter(Ui& ui, Rect room, Scene& scene, LayerViewState& state, const LayerStep& step)
        : ui_(ui), c_(ui.canvas()), theme_(ui.theme()), scene_(scene), state_(state), step_(step),
          group_(group_of(*state.shown, scene, step)), base_(color_of(theme_, group_.axis)), room_(room) {}

    void run() {
        std::vector<const LayerTensor*> in, out;
        for (const LayerTensor& t : step_.in) in.push_back(&t);
        for (const LayerTensor& t : step_.out) out.push_back(&t);
        const std::size_t most = room_.w > 760 ? 4 : room_.w > 460 ? 3 : 2;
        const bool collective = is_collective(step_.op);
        const std::size_t outs = std::min<std::size_t>(
            out.size(),
            collective ? 1 : std::max<std::size_t>(1, most - std::min<std::size_t>(in.size(), most - 1)));
        const std::size_t ins = std::min(in.size(), collective ? 1 : most - outs);
        for (std::size_t i = ins; i < in.size(); ++i)
            left_out_ += (left_out_.empty() ? "" : ", ") + in[i]->name;
        for (std::size_t i = outs; i < out.size(); ++i)
            left_out_ += (left_out_.empty() ? "" : ", ") + out[i]->name;
        out.resize(outs);
        in.resize(ins);
        lay_rows();
        if (row_h_ < 6 || in.size() + out.size() == 0) return;
        Rect cells = room_;
        cells.cut_left(label_w_);
        const auto columns = static_cast<float>(in.size() + out.size());
        const float least_gap = collective ? std::min(120.0f, cells.w * 0.2f) : kColumnGap;
        const float w =
            std::min((cells.w - least_gap * (columns - 1)) / columns,
                     std::max(collective ? 340.0f : 280.0f, cells.w * (collective ? 0.38f : 0.27f)));
        const float gap =
            collective
                ? std::min(std::max(least_gap, (cells.w - w * columns) / std::max(columns - 1, 1.0f)), 220.0f)
                : kColumnGap;
        float x = cells.x;
        std::vector<Rect> columns_at;
        for (std::size_t i = 0; i < in.size() + out.size(); ++i) {
            columns_at.push_back({x, room_.y, w, room_.h});
            x += w + gap;
        }
        out_from_ = columns_at[in.size()].x - 1;
        for (std::size_t i = 0; i < columns_at.size(); ++i) {
            const bool result = i >= in.size();
            const LayerTensor& t = result ? *out[i - in.size()] : *in[i];
            column(columns_at[i], t, result, i);
        }
        labels();
        if (collective && !in.empty()) moves(columns_at[in.size() - 1], columns_at[in.size()], *out[0]);
        foot();
    }

  private:
    void lay_rows() {
        const auto n = static_cast<float>(std::max<std::size_t>(group_.ranks.size(), 1));
        const bool foot = group_.size > static_cast<std::int64_t>(group_.ranks.size()) || !left_out_.empty();
        const float below = foot ? 20.0f : 6.0f;
        const float most = n < kFewRows ? kMostFewRow : std::max(kMostRow, room_.h / 9.5f);
        row_h_ = std::min((room_.h - kHead - below) / n, most);
        std::string longest;
        for (const std::int64_t r : group_.ranks)
            longest = std::max(longest, thousands(r),
                               [](const auto& a, const auto& b) { return a.size() < b.size(); });
        label_w_ = c_.text_width(longest, ui_.style(12, Tone::text, Face::semibold)) + 22;
        for (std::size_t i = 0; i < group_.ranks.size(); ++i)
            if (group_.ranks[i] == state_.shown->list.rank) own_ = i;
    }
    [[nodiscard]] Rect row(const Rect& column, std::size_t i) const {
        return {column.x, room_.y + kHead + static_cast<float>(i) * row_h_ + 2, column.w,
                row_h_ - std::min(10.0f, row_h_ * 0.25f)};
    }
    [[nodiscard]] Color shade(std::size_t i) const {
        const auto n = static_cast<float>(std::max<std::size_t>(group_.ranks.size(), 2) - 1);
        const float k = static_cast<float>(i) / n;  // from dark to light, as the holders come
        return k < 0.5f ? mix(mix(base_, theme_.window, 0.45f), base_, k * 2)
                        : mix(base_, theme_.id == ThemeId::light ? rgb(0x3a2a00) : rgb(0xffffff),
                              (k - 0.5f) * (theme_.id == ThemeId::light ? 1.1f : 1.4f));
    }

    // Writes a tensor in the chosen notation; a lesson has none, and says its bytes.
    [[nodiscard]] std::string tensor_text(const LayerTensor& t) const {
        return scene_.in_lesson ? memory_text(t.bytes()) + " on each"
                                : text_of(t, state_.choice.notation, state_.shown->dp);
    }

    void column(Rect at, const LayerTensor& t, bool result, std::size_t i) {
        const std::string sign = i == 0     ? ""
                                 : result   ? is_collective(step_.op) ? "→ " : "= "
                                 : t.weight ? "× "
                                            : "  ";
        Rect head{at.x, at.y, std::min(at.w + kColumnGap - 8, room_.right() - at.x), kHead};
        ui_.label(head.cut_top(17), sign + t.name, ui_.title());
        const TextStyle mono =
            ui_.mono().in(theme_.id == ThemeId::light ? mix(base_, theme_.text, 0.35f) : base_);
        ui_.label(head.cut_top(16), tensor_text(t), scene_.in_lesson ? ui_.small() : mono);
        const GroupSpread s = spread_of(t, group_, state_.choice.notation);
        ui_.label(head.cut_top(16), group_words(t, s, step_.op) + exchange_words(s, result), ui_.small());
        const bool moving = result && is_collective(step_.op) && state_.part < 1;
        for (std::size_t r = 0; r < group_.ranks.size(); ++r) {
            const Rect body = row(at, r);
            cell(body, t, s, r, moving);
            if (ui_.hovers(body))
                ui_.tooltip(sentence("rank ", group_.ranks[r], ": ", t.name) + "\n"
                            + (scene_.in_lesson ? "" : tensor_text(t) + "\n") + shape_text(t) + "\n"
                            + memory_text(t.bytes()));
        }
    }

    void cell(Rect body, const LayerTensor& t, const GroupSpread& s, std::size_t r, bool moving) {
        const Color dark = mix(theme_.window, theme_.secondary, 0.14f);
        const float seen = moving ? state_.part * 0.5f : 1;
        const Color own = mix(dark, shade(r), seen);
        switch (s.how) {
        case GroupSpread::whole:
            c_.rect(body, mix(theme_.window, t.weight ? theme_.secondary : theme_.forward, 0.5f));
            return;
        case GroupSpread::own: c_.rect(body, own, 2); return;
        case GroupSpread::copied:
            c_.rect(body, mix(theme_.window, base_, 0.12f));
            if (exchanges() || gathers(t))
                pieces(body, r, moving);
            else
                c_.pattern(body, Pattern::hatched, base_.alpha(seen));
            return;
        case GroupSpread::partial:
            c_.rect(body, mix(theme_.window, base_, 0.08f));
            c_.pattern(body, Pattern::dotted, shade(r));
            return;
        case GroupSpread::cut: break;
        }
        if (exchanges() && !t.weight) {
            pieces(body, r, moving);
            return;
        }
        const auto parts = static_cast<float>(s.parts);
        const auto part = [&](float k, bool own_part) {
            Rect p = s.stripes ? Rect{body.x, body.y + body.h * k / parts, body.w, body.h / parts}
                               : Rect{body.x + body.w * k / parts, body.y, body.w / parts, body.h};
            float& length = s.stripes ? p.h : p.w;
            const float gap = length > 4 ? 2.0f : length > 3 ? 1.0f : 0.0f;
            length = std::max(length - (s.stripes ? gap / 2 : gap), own_part ? 2.0f : 0.5f);
            return p;
        };
        const bool fine = s.stripes ? body.h / parts < 1.5f : body.w / parts < 3;
        const float radius = !s.stripes && body.w / parts > 8 ? 2.0f : 0.0f;
        if (fine)
            c_.rect(body, dark);
        else
            for (std::int64_t i = 0; i < s.parts; ++i)
                c_.rect(part(static_cast<float>(i), false), dark, radius);
        const std::int64_t which =
            static_cast<std::int64_t>(r) * s.parts / std::max<std::int64_t>(group_.size, 1);
        c_.rect(part(static_cast<float>(which), true), own, radius);
    }

    // There a row is not a whole tensor of which a rank has a cell: it is the rank's own part.
    [[nodiscard]] std::string exchange_words(const GroupSpread& s, bool result) const {
        if (!exchanges() || (s.how != GroupSpread::cut && s.how != GroupSpread::copied)) return "";
        return result ? "; a row: its own, by who sent it" : "; a row: its own, by who gets it";
    }
    [[nodiscard]] bool exchanges() const { return step_.op == LayerOp::all_to_all; }
    // All pieces come together: each keeps the shade of the rank that had it.
    [[nodiscard]] bool gathers(const LayerTensor& t) const {
        return step_.op == LayerOp::all_gather && !step_.out.empty() && &t == &step_.out[0];
    }
    // Draws pieces in the shades of the ranks that have, or get, them.
    void pieces(Rect body, std::size_t r, bool moving) {
        const std::size_t n = group_.ranks.size();
        Rect all = body;
        if (group_.size > static_cast<std::int64_t>(n)) {  // the others' pieces
            const Rect rest = all.cut_right(all.w * 0.25f);
            c_.rect(rest, mix(theme_.window, base_, 0.3f), 2);
            c_.text_in(rest, "…", ui_.small(Tone::text), Align::center);
        }
        for (std::size_t i = 0; i < n; ++i) {
            const float w = all.w / static_cast<float>(n);
            const Rect p{all.x + w * static_cast<float>(i), all.y, std::max(w - 2, 1.0f), all.h};
            const bool before = exchanges() && !is_out(body);
            const Color full = exchanges() ? shade(before ? i : r) : shade(i);
            const bool here = !moving || (gathers_now() && i == r) || (exchanges() && i == r);
            c_.rect(p,
                    here ? full : mix(mix(theme_.window, theme_.secondary, 0.14f), full, state_.part * 0.4f),
                    2);
        }
    }
    [[nodiscard]] bool gathers_now() const { return step_.op == LayerOp::all_gather; }
    [[nodiscard]] bool is_out(const Rect& body) const { return body.x > out_from_; }

    void labels() {
        for (std::size_t r = 0; r < group_.ranks.size(); ++r) {
            const Rect all{room_.x, row({room_.x, 0, room_.w, 0}, r).y, room_.w, row_h_ - 4};
            const Hit hit = ui_.area("layer.rank", {room_.x, all.y, label_w_, all.h}, r);
            if (hit.clicked && !state_.shown->alone) scene_.selection.pick_rank(group_.ranks[r]);
            if (hit.hovered) ui_.tooltip(sentence("rank ", group_.ranks[r]) + "\nclick: follow this GPU");
            if (hit.focused) ui_.focus_ring({room_.x, all.y, label_w_, all.h}, 3);
            const bool own = r == own_;
            // Names of low rows would stand in each other: the current one and the ends have theirs.
            constexpr float kLeastRow = 14;
            const auto far = static_cast<float>(r > own_ ? r - own_ : own_ - r) * row_h_;
            const bool end = r == 0 || r + 1 == group_.ranks.size();
            if (row_h_ >= kLeastRow || own || (end && far >= kLeastRow))
                c_.text_in(
                    {room_.x + 6, all.y, label_w_ - 10, all.h - 4}, thousands(group_.ranks[r]),
                    ui_.style(12, own ? Tone::text : Tone::secondary, own ? Face::semibold : Face::regular));
            if (own && group_.ranks.size() > 1)  // its name stands left of the frame
                c_.frame({room_.x + label_w_ - 5, all.y - 3, room_.w - label_w_ + 5, all.h + 3}, theme_.text,
                         1.5f, 4);
        }
    }

    // Draws moves from each rank's tensor before to the current rank's after: the pieces it gets.
    void moves(Rect from, Rect to, const LayerTensor& after) {
        const std::size_t n = group_.ranks.size();
        if (n < 2) return;
        const GroupSpread a = spread_of(after, group_, state_.choice.notation);
        const auto piece = [&](Rect body, const GroupSpread& s, std::size_t i) {
            if (s.how != GroupSpread::cut && !exchanges() && !gathers_now()) return body.center();
            const float w = body.w / static_cast<float>(n);
            return Vec2{body.x + w * (static_cast<float>(i) + 0.5f), body.center().y};
        };
        const bool ring = step_.op == LayerOp::ring_send;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t j = ring ? (i + 1) % n : own_;
            const Rect source = row(from, i), goal = row(to, j);
            const Vec2 start{source.right() + 2, source.center().y};
            Vec2 end = exchanges()     ? piece(goal, a, i)
                       : gathers_now() ? piece(goal, a, i)
                                       : piece(goal, a, j);
            if (ring || a.how == GroupSpread::partial || step_.op == LayerOp::all_reduce)
                end = {goal.x - 2, goal.center().y};
            else
                end = {std::min(end.x, goal.right()), end.y};
            const float bend = (to.x - from.right()) * 0.55f;
            const Color ink = shade(i);
            const Vec2 stop{std::max(to.x - 3, start.x + 8), end.y};
            c_.curve(start, {start.x + bend, start.y}, {stop.x - bend, stop.y}, stop, ink, 1.5f);
            if (state_.part >= 1) continue;
            const float k = state_.part, m = 1 - k;
            const auto along = [&](float p0, float p1, float p2, float p3) {
                return m * m * m * p0 + 3 * m * m * k * p1 + 3 * m * k * k * p2 + k * k * k * p3;
            };
            const Vec2 at{along(start.x, start.x + bend, stop.x - bend, stop.x),
                          along(start.y, start.y, stop.y, stop.y)};
            c_.box({at.x - 5, at.y - 5, 10, 10}, ink, theme_.window, 1, 2);
        }
    }

    void foot() {
        const auto shown = static_cast<std::int64_t>(group_.ranks.size());
        std::string words;
        if (group_.size > shown)
            words = sentence(shown, " of ", group_.size, " ranks of ", std::string(name_of(group_.axis)));
        if (!left_out_.empty()) words += (words.empty() ? "" : " · ") + ("not drawn: " + left_out_);
        const float y = row({0, 0, 0, 0}, group_.ranks.size()).y;
        if (!words.empty()) ui_.label({room_.x, y, room_.w, 18}, words, ui_.small());
    }

    Ui& ui_;
    Canvas& c_;
    const Theme& theme_;
    Scene& scene_;
    LayerViewState& state_;
    const LayerStep& step_;
    Group group_;
    Color base_;
    Rect room_;
    float row_h_ = 0, label_w_ = 0, out_from_ = 1e9f;
    std::size_t own_ = 0;
    std::string left_out_;  // tensors for which there is no column
};

}  // namespace

void draw_ranks(Ui& ui, Rect room, Scene& scene, LayerViewState& state) {
    const LayerStep& step = state.shown->list.steps[static_cast<std::size_t>(state.at)];
    RankPainter(ui, room, scene, state, step).run();
}

// Draws the steps as boxes: forward from left to right, backward below and back; and the play head.

Color color_of_step(const Theme& theme, const LayerStep& s) {
    if (is_collective(s.op)) return color_of(theme, s.group);
    if (s.op == LayerOp::matmul || s.op == LayerOp::attention || s.op == LayerOp::router) {
        if (s.phase == LayerPass::forward || s.recomputed) return theme.forward;
        return !s.out.empty() && s.out[0].weight ? theme.weight_grad : theme.backward;
    }
    return theme.raised;
}

std::string collective_words(const LayerStep& s) {
    return std::string(s.op == LayerOp::ring_send ? "ring" : words_of(collective_of(s.op))) + " over "
           + std::string(name_of(s.group));
}

namespace {

constexpr float kBox = 34, kGap = 6;
constexpr float kLeastPitch = 30;  // of a box with a brief name
constexpr float kLines = 6;        // between two lines of boxes

std::string step_tooltip(const LayerStep& s, const std::string& line) {
    std::string t = std::string(words_of(s.what)) + "\n" + line;
    if (is_collective(s.op))
        t += "\n" + collective_words(s) + ", " + plural(s.group_size, "rank", "ranks") + ", "
             + traffic_text(s.sent_bytes) + " sent by each";
    if (s.flops > 0) t += "\n" + three_digits(s.flops / 1e9) + " GFLOP";
    if (s.bytes_moved > 0) t += "\n" + traffic_text(s.bytes_moved) + " moved in memory";
    t += "\n" + time_text(s.time_s);
    if (s.recomputed) t += "\nagain: the forward did not keep it";
    if (s.per_step) t += s.per_run ? "\nonce after each run of micro-batches" : "\nonce in a training step";
    for (const KeptTensor& k : s.kept) t += "\nkeeps " + k.name + ", " + memory_text(k.bytes);
    for (const KeptTensor& k : s.freed) t += "\nlets go of " + k.name;
    return t;
}

// Returns a short name for a box where the whole name has no room.
std::string_view brief_name(const LayerStep& s) {
    switch (s.op) {
    case LayerOp::matmul:
        if (s.phase == LayerPass::forward || s.recomputed) return "×";
        return !s.out.empty() && s.out[0].weight ? "dW" : "dx";
    case LayerOp::norm: return "n";
    case LayerOp::rotary: return "rot";
    case LayerOp::attention: return "att";
    case LayerOp::activation: return "act";
    case LayerOp::router: return "r";
    case LayerOp::permute: return "srt";
    case LayerOp::residual: return "+";
    case LayerOp::dropout: return "dr";
    case LayerOp::all_gather: return "AG";
    case LayerOp::reduce_scatter: return "RS";
    case LayerOp::all_reduce: return "AR";
    case LayerOp::all_to_all: return "A2A";
    case LayerOp::ring_send: return "ring";
    }
    return {};
}

void draw_box(Ui& ui, Rect box, const LayerStep& s, int index, const std::string& line,
              LayerViewState& state) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const Hit hit = ui.area("layer.step", box, static_cast<std::uint64_t>(index));
    if (hit.hovered) ui.tooltip(step_tooltip(s, line));
    if (hit.clicked) state.at = index, state.part = 1, state.playing = false;
    const bool now = index == state.at, done = index <= state.at || ui.state().for_picture;
    const Color full = color_of_step(theme, s);
    const Color ground = done ? full : mix(theme.window, full, theme.id == ThemeId::light ? 0.45f : 0.35f);
    c.rect(box, ground, 4);
    if (s.recomputed) c.pattern(box.inset(1), Pattern::hatched, mix(ground, ink_on(ground), 0.22f));
    if (now || hit.hovered) c.frame(box, theme.text, now ? 2 : 1, 4);
    if (full == theme.raised && !now) c.frame(box, theme.hairline, 1, 4);
    if (hit.focused) ui.focus_ring(box, 4);
    const std::string label = short_name(s);
    const TextStyle style = [&] {
        const TextStyle t = ui.style(11, Tone::text, now ? Face::semibold : Face::regular)
                                .in(full == theme.raised ? (done ? theme.text : theme.secondary)
                                    : done               ? ink_on(ground)
                                                         : mix(ground, ink_on(ground), 0.8f));
        return t;
    }();
    const std::string_view brief = brief_name(s);
    if (c.text_width(label, style) <= box.w - 6)
        c.text_in(box, label, style, Align::center);
    else if (c.text_width(brief, style) <= box.w - 1)
        c.text_in(box, brief, style, Align::center);
    if (!now) return;
    const float x = box.center().x, y = box.bottom() + 3;
    c.polygon({{x, y}, {x - 5, y + 7}, {x + 5, y + 7}}, theme.text);
}

// Places the boxes of a pass in lines, all of them where they have room; else one line has those about the
// current step.
struct StepRow {
    Rect room;
    std::size_t steps = 0;
    std::size_t lines = 1, each = 0;
    float pitch = 0, gone = 0;  // `gone`: what lies left of the room
    [[nodiscard]] float height() const {
        return static_cast<float>(lines) * kBox + static_cast<float>(lines - 1) * kLines;
    }
};
StepRow step_row(Rect room, const std::vector<int>& steps, bool reversed, int at) {
    StepRow out{room, steps.size(), 1, steps.size()};
    if (steps.empty()) return out;
    const auto fit = static_cast<std::size_t>(std::max(1.0f, room.w / kLeastPitch));
    const std::size_t lines = (steps.size() + fit - 1) / fit;
    if (static_cast<float>(lines) * (kBox + kLines) <= room.h) {
        out.lines = lines;
        out.each = (steps.size() + lines - 1) / lines;
    }
    const auto n = static_cast<float>(out.each);
    out.pitch = std::clamp(room.w / n, kLeastPitch, std::max(76.0f, room.w / 24));
    if (out.lines > 1) return out;
    const auto before = static_cast<float>(std::ranges::lower_bound(steps, at) - steps.begin());
    const float here = (reversed ? n - before : before) * out.pitch;
    out.gone = held_between(here - room.w / 2, 0.0f, n * out.pitch - room.w);
    return out;
}

// Shades at the ends say that there is more.
void draw_ends(Ui& ui, const StepRow& row) {
    if (row.lines > 1) return;
    const float more = static_cast<float>(row.steps) * row.pitch - row.gone - row.room.w;
    const Color shade = ui.theme().window.alpha(0.75f);
    if (row.gone > 1) ui.canvas().rect({row.room.x, row.room.y, 14, kBox}, shade);
    if (more > 1) ui.canvas().rect({row.room.right() - 14, row.room.y, 14, kBox}, shade);
}

void draw_row(Ui& ui, const StepRow& row, const std::vector<int>& steps, bool reversed,
              LayerViewState& state) {
    if (steps.empty()) return;
    Canvas& c = ui.canvas();
    const float gap = row.pitch > 34 ? kGap : 3.0f;
    const Canvas::Clip clip = c.clip({row.room.x - 2, row.room.y - 2, row.room.w + 4, row.height() + 14});
    for (std::size_t line = 0; line < row.lines; ++line) {
        const std::size_t begin = line * row.each, end = std::min(begin + row.each, steps.size());
        const float top = row.room.y + static_cast<float>(line) * (kBox + kLines);
        // A pass that goes back begins each line at its right end.
        const auto slots = static_cast<float>(row.lines > 1 ? row.each : steps.size());
        const auto x_of = [&](std::size_t i) {
            const auto at = static_cast<float>(i - begin);
            return row.room.x + (reversed ? slots - 1 - at : at) * row.pitch - row.gone;
        };
        const float y = top + kBox / 2, ends[] = {x_of(begin), x_of(end - 1)};
        c.line({std::max(row.room.x, std::min(ends[0], ends[1])), y},
               {std::min(row.room.right(), std::max(ends[0], ends[1]) + row.pitch - gap), y},
               ui.theme().hairline);
        for (std::size_t i = begin; i < end; ++i) {
            const Rect box{x_of(i), top, row.pitch - gap, kBox};
            if (box.right() < row.room.x + 4 || box.x > row.room.right() - 4) continue;
            const auto index = static_cast<std::size_t>(steps[i]);
            draw_box(ui, box, state.shown->list.steps[index], steps[i], state.shown->lines[index], state);
        }
    }
    draw_ends(ui, row);
}

// Heads the section of a pass: its time, and calls made once a step instead of for each micro-batch.
std::string pass_words(double time_s, const LayerList& list, bool forward) {
    double once_s = 0;
    for (const LayerStep& s : list.steps)
        if (s.per_step && (s.phase == LayerPass::forward) == forward) once_s += s.time_s;
    return time_text(time_s)
           + (once_s > 0 ? " a micro-batch, and " + time_text(once_s) + " once a step" : "");
}

}  // namespace

namespace {

// Names the colours of the boxes and the brief names that stand in them: what is drawn, and nothing else.
// Returns how many lines it takes; with `draw` false they are only counted.
int graph_legend(Ui& ui, Rect room, const ShownLayer& shown, bool draw) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const Ink ink = ink_of(ui);
    LegendLines lines{.ink = ink, .room = room, .apart = 14, .draw = draw};
    std::vector<GroupKind> axes;
    bool forward = false, backward = false, weights = false, again = false;
    for (const LayerStep& s : shown.list.steps) {
        again = again || s.recomputed;
        if (is_collective(s.op)) {
            if (std::ranges::find(axes, s.group) == axes.end()) axes.push_back(s.group);
            continue;
        }
        const Color color = color_of_step(theme, s);
        forward = forward || color == theme.forward, backward = backward || color == theme.backward;
        weights = weights || color == theme.weight_grad;
    }
    const auto plain = [&](bool any, std::string_view name, Color color) {
        if (any) lines.item(name, [&](Rect box) { c.rect(box, color, 2); });
    };
    for (const GroupKind axis : axes) plain(true, "talks over " + axis_label(axis), color_of(theme, axis));
    plain(forward, "products, attention", theme.forward);
    plain(backward, "gradients of inputs", theme.backward);
    plain(weights, "gradients of weights (dW)", theme.weight_grad);
    if (again)
        lines.item("once more: not kept", [&](Rect box) {
            c.rect(box, theme.forward, 2);
            c.pattern(box, Pattern::hatched, mix(theme.forward, ink_on(theme.forward), 0.4f));
        });
    if (!axes.empty()) lines.item("AG gather, RS reduce-scatter, AR all-reduce, A2A all-to-all", [](Rect) {});
    return lines.lines;
}

}  // namespace

float draw_graph(Ui& ui, Rect room, LayerViewState& state) {
    constexpr float kHeads = 18, kBetween = 12, kLegendLine = 18;
    const float top = room.y;
    const LayerTotals& t = state.shown->list.totals;
    const ShownLayer& shown = *state.shown;
    // Both passes share the height that is left for boxes; a long one takes several lines.
    const float legend =
        kLegendLine * static_cast<float>(graph_legend(ui, {0, 0, room.w, 0}, shown, false)) + 6;
    const bool named = room.h >= kGraphHeight + legend;
    const float boxes = room.h - 2 * kHeads - 2 * kBetween - (named ? legend : 0);
    ui.section(room.cut_top(kHeads), "FORWARD", pass_words(t.time_forward_s, state.shown->list, true));
    const StepRow forward = step_row({room.x, room.y, room.w, boxes - kBox}, shown.forward, false, state.at);
    draw_row(ui, forward, shown.forward, false, state);
    room.cut_top(std::min(forward.height(), room.h));
    room.cut_top(kBetween);
    if (room.h < kHeads + kBetween) return room.y - top;
    ui.section(room.cut_top(kHeads), "BACKWARD, FROM RIGHT TO LEFT",
               pass_words(t.time_backward_s, state.shown->list, false));
    const StepRow backward =
        step_row({room.x, room.y, room.w, boxes - forward.height()}, shown.backward, true, state.at);
    draw_row(ui, backward, shown.backward, true, state);
    room.cut_top(std::min(backward.height() + kBetween, room.h));
    if (named) (void)graph_legend(ui, room.cut_top(legend), shown, true);
    return room.y - top;
}

void draw_play_head(Ui& ui, Rect room, LayerViewState& state) {
    Canvas& c = ui.canvas();
    const Theme& theme = ui.theme();
    const std::vector<int> all = state.shown->steps();
    const auto n = static_cast<float>(all.size());
    Rect track = room.cut_top(20);
    const Hit hit = ui.area("layer.scrub", track, 0, true, false);
    const auto at = static_cast<float>(std::lower_bound(all.begin(), all.end(), state.at) - all.begin());
    if (hit.held) {
        const float share = std::clamp((ui.frame().mouse.x - track.x) / track.w, 0.0f, 0.9999f);
        state.at = all[static_cast<std::size_t>(share * n)];
        state.part = 1;
        state.playing = false;
    }
    const LayerStep& s = state.shown->list.steps[static_cast<std::size_t>(state.at)];
    const float y = track.center().y, x = track.x + track.w * (at + state.part) / n;
    const Color ink = is_collective(s.op) ? color_of_step(theme, s) : theme.forward;
    c.rect({track.x, y - 1.5f, track.w, 3}, theme.hairline, 1.5f);
    c.rect({track.x, y - 1.5f, x - track.x, 3}, ink, 1.5f);
    const auto turn = static_cast<float>(state.shown->forward.size());
    const float middle = track.x + track.w * turn / n;
    c.line({middle, y - 5}, {middle, y + 5}, theme.secondary);
    c.circle({x, y}, 6, theme.text);
    if (hit.hovered) ui.tooltip("drag the head\nleft of the mark the forward, right of it the backward");
    Rect row = room.cut_top(24);
    const bool player = !ui.state().for_picture;
    if (player) {
        const PlayerClick clicked = player_buttons(ui, row, "layer", state.playing,
                                                   {"back one step  (,)", "Space", "on one step  (.)"});
        if (clicked == PlayerClick::play) play_or_pause(state);
        if (clicked == PlayerClick::back || clicked == PlayerClick::forward)
            step_layer(state, clicked == PlayerClick::back ? -1 : 1);
        row.cut_left(12);
    }
    const std::string words = std::to_string(static_cast<int>(at) + 1) + " of " + std::to_string(all.size())
                              + ": " + (is_collective(s.op) ? collective_words(s) + ", " : "")
                              + std::string(words_of(s.what));
    const float keys = player && row.w > 520 ? 220.0f : 0;
    const Rect right = row.cut_right(keys);
    ui.label(row, words, ui.style(13));
    if (keys > 0)
        c.text_in(right, "Space plays, . and , step, drag the head", ui.style(11, Tone::secondary),
                  Align::right);
}

}  // namespace pentamesh::ui
