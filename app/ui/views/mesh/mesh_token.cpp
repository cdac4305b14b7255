#include "app/ui/views/mesh/mesh_token.h"

#include "app/tables/token_table.h"
#include "app/ui/kit/data_table.h"
#include "app/ui/kit/format.h"
#include "app/ui/kit/plot.h"
#include "app/ui/scene/colors.h"
#include "app/ui/views/mesh/mesh_experts.h"
#include "app/ui/views/shards/view.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

constexpr double kGrow_s = 0.6;         // lines grow after an answer
constexpr std::size_t kMostRows = 16;   // of larger groups a part is drawn
constexpr std::size_t kMostCopies = 4;  // rows of GPUs that keep the same experts, next to a question
constexpr float kLeastRow = 15, kRow = 50, kSmallRow = 24;
constexpr float kHeads = 20, kFoot = 18, kCardGap = 16, kNodeGap = 8;
constexpr float kLeastFoot = 290;       // height of a room that has it
constexpr float kLeastHatchWords = 13;  // height of a drawer that has words next to it
constexpr float kMostWide = 1900, kLeastWide = 300, kDrawer = 30, kStub = 12;
constexpr RichStyle kCosts{13, 20, 8, Tone::secondary};
constexpr double kScaleLoad = 1.5;  // a drawer of so many times the mean fills its place

// Returns whose token is shown: the rank that a question is about, or that is selected.
std::int64_t token_rank(const Scene& scene, const MeshViewState& state) {
    return std::max<std::int64_t>(0, state.plain && state.asked >= 0 ? state.asked : scene.selection.rank);
}

const TokenCosts& costs_of(const Scene& scene, MeshViewState& state) {
    auto& kept = state.token.costs;
    if (!kept || !(kept->plan == scene.plan))
        kept = std::make_shared<const KeptTokenCosts>(
            KeptTokenCosts{scene.plan, token_costs(scene.plan, scene.evaluation)});
    return kept->costs;
}

// Returns how far lines have grown, from 0 to 1.
float grown(Ui& ui, MeshViewState& state) {
    TokenPage& page = state.token;
    const bool at_once = ui.state().reduced_motion || ui.state().for_picture;
    if (page.hidden && !state.plain) page.grows_since_s = at_once ? -1 : ui.frame().time_s;
    page.hidden = state.plain;
    if (page.grows_since_s < 0) return 1;
    const double t = (ui.frame().time_s - page.grows_since_s) / kGrow_s;
    if (at_once || t >= 1 || t < 0) {
        page.grows_since_s = -1;
        return 1;
    }
    ui.state().wants_frame = true;
    return static_cast<float>(t);
}

Vec2 between(Vec2 a, Vec2 b, float t) {
    return a + (b - a) * t;
}

// Draws one page in one room.
class TokenView {
  public:
    TokenView(Ui& ui, Scene& scene, MeshViewState& state, const ShownLoads& loads, std::uint64_t revision)
        : ui_(ui), c_(ui.canvas()), theme_(ui.theme()), scene_(scene), state_(state),
          way_(token_way(scene.plan, scene.evaluation, token_rank(scene, state), loads.load)),
          costs_(costs_of(scene, state)), plain_(state.plain), grown_(grown(ui, state)),
          assumed_(loads.form == LoadForm::skewed), color_(color_of(ui.theme(), GroupKind::ep)) {
        if (plain_) state.token.copies_of = revision;
        // The rows of a question stay with its answer.
        copies_ = state.token.copies_of == revision && way_.size() <= kMostRows - kMostCopies
                  && !way_.copies.empty();
    }

    void draw(Rect room) {
        room.w = std::min(room.w, kMostWide);
        has_foot_ = room.h > kLeastFoot;
        sentence(room);
        if (room.w < kLeastWide || room.h < 3 * kLeastRow) return;
        place(room);
        press();
        grounds();
        if (!plain_) pairs();
        for (const Row& r : rows_) row(r);
        if (!plain_) token();
        for (const Row& r : rows_) over(r);
        words_below();
    }

  private:
    struct Row {
        std::size_t drawer = 0;
        std::int64_t rank = 0, node = 0;
        bool copy = false;  // of another group, which keeps the same experts
        Rect r{};
        [[nodiscard]] float y() const { return r.center().y; }
    };

    Ui& ui_;
    Canvas& c_;
    const Theme& theme_;
    Scene& scene_;
    MeshViewState& state_;
    TokenWay way_;
    const TokenCosts& costs_;
    bool plain_, copies_ = false;
    float grown_;
    bool assumed_;  // the plan says the load of the fullest drawer, not of the others
    Color color_;
    std::vector<Row> rows_;
    std::size_t left_out_ = 0;
    bool has_foot_ = false, in_a_line_ = false;  // the costs stand in a line, not in cards
    Rect heads_, panel_, more_, cards_, foot_;
    float line_ = 0;  // height of a row
    // Places across.
    float nodes_x_ = 0, nodes_w_ = 0, names_x_ = 0, names_w_ = 0, tokens_x_ = 0, router_x_ = 0, router_w_ = 0,
          from_ = 0, to_ = 0, drawer_x_ = 0, drawer_w_ = 0, back_ = 0, home_ = 0, home_x_ = 0, shared_x_ = 0,
          shared_w_ = 0, note_x_ = 0, note_w_ = 0, square_ = 16, pitch_ = 19;
    int tokens_ = 1;

    [[nodiscard]] bool sends() const { return way_.size() > 1; }
    [[nodiscard]] bool large() const { return rows_.size() > 8; }
    // Returns true if the drawers that one uneven GPU would make are outlined.
    [[nodiscard]] bool supposes() const {
        return !plain_ && sends() && way_.even && costs_.other_step_s && !scene_.asked;
    }
    [[nodiscard]] float unit() const {  // the length of a mean drawer
        return drawer_w_
               / static_cast<float>(sends() ? std::max(kScaleLoad, way_.drawers[way_.hot].load) : 1);
    }
    [[nodiscard]] float length(const Row& r) const {
        return r.copy || plain_ ? unit() : unit() * static_cast<float>(way_.drawers[r.drawer].load);
    }
    [[nodiscard]] float height() const { return std::min(sends() ? kDrawer : line_ - 12, line_ - 5); }
    [[nodiscard]] Rect drawer(const Row& r) const {
        return {drawer_x_, r.y() - height() / 2, length(r), height()};
    }
    [[nodiscard]] const Row* own() const {
        for (const Row& r : rows_)
            if (!r.copy && r.drawer == way_.own) return &r;
        return nullptr;
    }
    [[nodiscard]] bool may_reach(const Row& r) const {  // the token may come to its node
        if (plain_ || r.copy || way_.nodes <= 1) return !r.copy || plain_;
        if (way_.most_nodes <= 0 || way_.most_nodes >= way_.nodes) return true;
        return r.node == way_.drawers[way_.own].node
               || std::ranges::any_of(
                   way_.picks, [&](const TokenPick& p) { return way_.drawers[p.drawer].node == r.node; });
    }

    // ---- places ----

    void sentence(Rect& room) {
        const TextStyle bold = ui_.style(room.h > 300 ? 16.0f : 13.0f, Tone::text, Face::semibold),
                        quiet = ui_.style(13, Tone::secondary);
        std::string first = token_verdict(way_, scene_.plan.cluster);
        if (plain_)
            first = "A token of GPU " + thousands(way_.drawers[way_.own].rank) + " needs "
                    + thousands(way_.top_k) + " of the " + plural(way_.experts, "expert", "experts");
        else if (!has_foot_)  // the words below say that the choice is made up
            first.back() = ':', first += " an example.";
        const std::string second = token_facts(scene_, way_);
        Rect line = room.cut_top(std::max(22.0f, c_.paragraph_height(room.w, first, bold, 21)));
        const float w = c_.text_width(first, bold);
        if (w + 10 + c_.text_width(second, quiet) <= line.w) {
            write_left(ui_, line, first, bold, 10);
            c_.text_in(line, second, quiet);
        } else {
            c_.paragraph(line, first, bold, 21);
            const float h = c_.paragraph_height(room.w, second, quiet, 18);
            if (room.h > 200 && h <= 36) room.cut_top(c_.paragraph(room, second, quiet, 18));
        }
        room.cut_top(6);
    }

    [[nodiscard]] std::array<TokenCard, 3> cards() const {
        return {ways_card(scene_, way_, costs_), calls_card(way_, costs_),
                clock_card(way_, costs_, scene_.asked)};
    }

    [[nodiscard]] float cards_height(float width) const {
        const float w = (width - 2 * kCardGap) / 3 - 32;
        float h = 0;
        for (const TokenCard& card : cards())
            h = std::max(h, rich_text(ui_, {0, 0, w, 400}, card.words, {13, 20, 8, Tone::secondary}, false));
        return h + 22 + 24;
    }

    // Cuts the room from the foot up: what is said below goes first where rows are short of room.
    void place(Rect room) {
        const float whole = room.h;
        std::size_t count = std::min(way_.size(), kMostRows);
        if (copies_) count += kMostCopies;
        const float least = static_cast<float>(count) * (count <= 8 ? 28.0f : 21.0f) + kHeads + 20;
        if (has_foot_) foot_ = room.cut_bottom(kFoot + 8);
        foot_.h = std::min(foot_.h, kFoot);
        const float h = cards_height(room.w);
        if (plain_ && room.h - h - 12 < least)
            cards_ = {};  // next to an open question they say nothing that its rows need less
        else if (room.w >= 720 && room.h - h - 12 >= least)
            cards_ = room.cut_bottom(h), room.cut_bottom(12);
        else if (room.h > 190) {
            const std::string costs = costs_line(scene_, way_, costs_);
            in_a_line_ = true;
            cards_ =
                room.cut_bottom(std::max(22.0f, rich_text(ui_, {0, 0, room.w, 400}, costs, kCosts, false)));
            room.cut_bottom(12);
        }
        if (room.h > 150) heads_ = room.cut_top(kHeads);
        choose_rows(room.h - 12);
        const std::size_t lines = rows_.size() + (left_out_ > 0 ? 1 : 0);
        const float gaps = node_gaps(), free = room.h - 12 - gaps;
        float most = (lines <= 8    ? kRow
                      : lines <= 12 ? kRow - 14
                                    : kSmallRow)
                     * std::clamp(whole / 560, 1.0f, 1.8f);
        if (!sends())
            most = std::max(most, static_cast<float>(std::min<std::int64_t>(way_.experts, 16)) * 17);
        line_ = std::clamp(free / static_cast<float>(lines), kLeastRow, most);
        panel_ = room.cut_top(line_ * static_cast<float>(lines) + gaps + 12);
        if (cards_.h > 0) cards_.y = panel_.bottom() + 12;
        if (foot_.h > 0) foot_.y = std::max(panel_.bottom(), cards_.bottom()) + 8;
        Rect at = panel_.inset(0, 6);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (i > 0 && rows_[i].node != rows_[i - 1].node) at.cut_top(kNodeGap);
            rows_[i].r = at.cut_top(line_);
        }
        if (left_out_ > 0) more_ = at.cut_top(line_);
        place_columns();
    }

    [[nodiscard]] float node_gaps() const {
        float gaps = 0;
        for (std::size_t i = 1; i < rows_.size(); ++i)
            if (rows_[i].node != rows_[i - 1].node) gaps += kNodeGap;
        return gaps;
    }

    void choose_rows(float room) {
        const auto fits = static_cast<std::size_t>(std::max(2.0f, room / kLeastRow));
        std::size_t most = std::min(kMostRows, fits);
        if (way_.size() > most) most = std::max<std::size_t>(1, most - 1);  // a row says how many more
        for (const std::size_t i : drawers_to_draw(way_, most))
            rows_.push_back({i, way_.drawers[i].rank, way_.drawers[i].node, false});
        left_out_ = way_.size() - rows_.size();
        if (!copies_ || rows_.size() >= fits) return;
        const std::int64_t domain = node_size(scene_.evaluation.mesh, scene_.plan.cluster);
        const std::size_t copies = std::min({kMostCopies, way_.copies.size(), fits - rows_.size()});
        for (std::size_t i = 0; i < copies; ++i)
            rows_.push_back({i, way_.copies[i], way_.copies[i] / domain, true});
    }

    void place_columns() {
        const float w = panel_.w - 24;
        const TextStyle name = ui_.style(12, Tone::text, Face::semibold);
        names_w_ = nodes_w_ = 0;
        for (const Row& r : rows_) {
            names_w_ = std::max(names_w_, c_.text_width("GPU " + thousands(r.rank), name) + 10);
            nodes_w_ = std::max(nodes_w_, c_.text_width(node_name(r.node), ui_.style(11)) + 10);
        }
        if (!framed() || w < 540) nodes_w_ = 0;
        square_ = std::min(16.0f, line_ - 5), pitch_ = square_ + 3;
        tokens_ = w >= 1040 ? 6 : w >= 800 ? 4 : w >= 560 ? 2 : 1;
        tokens_ = static_cast<int>(std::min<double>(tokens_, std::max(1.0, way_.tokens)));
        const float squares = static_cast<float>(tokens_) * pitch_;
        router_w_ = w >= 880 ? 98.0f : w >= 640 ? 56.0f : 0.0f;
        shared_w_ = way_.shared > 0 && w >= 640 ? 56.0f : 0.0f;
        note_w_ = w >= 1000 ? 118.0f : 0.0f;
        const float router = router_w_ > 0 ? router_w_ + 16 : 0;
        const float fixed = nodes_w_ + names_w_ + 2 * squares + router + shared_w_ + note_w_ + 5 * kStub + 10;
        const float rest = w - fixed;
        drawer_w_ = std::clamp(rest * (sends() ? 0.4f : 0.6f), 84.0f, 460.0f);
        const float wires = std::max(20.0f, (rest - drawer_w_) / 2);
        nodes_x_ = panel_.x + 14;
        names_x_ = nodes_x_ + nodes_w_;
        tokens_x_ = names_x_ + names_w_;
        router_x_ = tokens_x_ + squares + 14;
        from_ = router_x_ + router + 6;
        to_ = from_ + wires;
        drawer_x_ = to_ + kStub;
        back_ = drawer_x_ + drawer_w_ + 2 * kStub;
        home_ = back_ + wires;
        home_x_ = home_ + kStub;
        shared_x_ = home_x_ + squares + 6;
        note_x_ = shared_x_ + shared_w_ + 4;
    }

    [[nodiscard]] bool framed() const {
        return std::ranges::any_of(rows_, [&](const Row& r) { return r.node != rows_.front().node; })
               || (way_.nodes > 1 && left_out_ > 0);
    }
    [[nodiscard]] std::string node_name(std::int64_t node) const {
        return std::string(domain_name(scene_.plan.cluster)) + " " + thousands(node);
    }

    // ---- hands ----

    void press() {
        for (const Row& r : rows_) {
            const Rect place = r.r.inset(6, 0);
            const Hit hit = ui_.area("mesh.token.row", place, static_cast<std::uint64_t>(r.rank));
            if (hit.hovered) {
                scene_.next_hover.rank = r.rank;
                if (!hit.held) ui_.tooltip(card_of(r), place);
            }
            if (hit.clicked) scene_.selection.pick_rank(r.rank);
            if (hit.hovered || scene_.hover.rank == r.rank) c_.rect(place, theme_.raised, 4);
            if (hit.focused) ui_.focus_ring(place, 4);
        }
        const ViewKeys& keys = scene_.keys;
        if (plain_ || ui_.state().focus_visible || scene_.selection.rank < 0) return;
        const int by = keys.pressed({Key::down}, true) ? 1 : keys.pressed({Key::up}, true) ? -1 : 0;
        const auto next = static_cast<std::ptrdiff_t>(way_.own) + by;
        if (by != 0 && next >= 0 && next < std::ssize(way_.drawers))
            scene_.selection.pick_rank(way_.drawers[static_cast<std::size_t>(next)].rank);
    }

    [[nodiscard]] std::string card_of(const Row& r) const {
        const std::string place = place_of(scene_.plan.cluster, r.rank);
        if (plain_) return "GPU " + thousands(r.rank) + "\n" + place;
        if (r.copy)
            return "GPU " + thousands(r.rank) + "\n" + place + "\nkeeps a copy of "
                   + experts_words(way_.drawers[r.drawer].experts)
                   + ", for the tokens of another group: it sums gradients with GPU "
                   + thousands(way_.drawers[r.drawer].rank);
        return drawer_tooltip(scene_, way_, r.drawer);
    }

    // ---- what stands behind ----

    void grounds() {
        c_.frame(panel_, theme_.hairline, 1, 8);
        for (std::size_t i = 1; i < rows_.size(); ++i)
            if (rows_[i].node == rows_[i - 1].node)
                c_.line({names_x_ - 4, rows_[i].r.y}, {panel_.right() - 10, rows_[i].r.y},
                        mix(theme_.window, theme_.hairline, 0.7f));
        frames();
        heads();
        if (left_out_ > 0) {
            const std::string words =
                "and " + thousands(static_cast<std::int64_t>(left_out_)) + " more GPUs of the group";
            c_.text_in({names_x_, more_.y, panel_.right() - names_x_ - 12, more_.h}, words,
                       ui_.style(12, Tone::secondary));
        }
    }

    void frames() {
        if (!framed()) return;
        for (std::size_t i = 0; i < rows_.size();) {
            std::size_t end = i + 1;
            while (end < rows_.size() && rows_[end].node == rows_[i].node) ++end;
            const Rect a = rows_[i].r, b = rows_[end - 1].r;
            const Rect frame = Rect{a.x + 6, a.y, a.w - 12, b.bottom() - a.y}.inset(0, -1);
            const bool on = plain_ || (may_reach(rows_[i]) && !rows_[i].copy);
            c_.frame(frame, mix(theme_.window, on ? theme_.secondary : theme_.hairline, on ? 0.6f : 1.0f), 1,
                     6);
            if (nodes_w_ > 0)
                c_.text_in({nodes_x_, frame.y, nodes_w_, frame.h}, node_name(rows_[i].node),
                           ui_.style(11, on ? Tone::secondary : Tone::faint));
            i = end;
        }
    }

    [[nodiscard]] std::int64_t gpus_drawn() const { return std::ssize(rows_); }

    void heads() {
        if (heads_.h <= 0) return;
        const TextStyle style = ui_.style(12, Tone::text, Face::semibold);
        if (const std::int64_t all = scene_.evaluation.mesh.world; gpus_drawn() < all) {
            const std::string share = thousands(gpus_drawn()) + " of " + thousands(all);
            const std::array wordings{share + " GPUs", share};
            const float x = panel_.x + 4;
            const Rect over{x, heads_.y, tokens_x_ - x, heads_.h};
            c_.text_in(over, wording(ui_, over.w, wordings, style), style);
        }
        const auto head = [&](float left, float right, std::string_view words) {
            const float w = c_.text_width(words, style), x = (left + right) / 2;
            if (w <= right - left + 24) c_.text_in({x - w / 2 - 1, heads_.y, w + 2, heads_.h}, words, style);
        };
        const float squares = static_cast<float>(tokens_) * pitch_;
        head(tokens_x_, tokens_x_ + squares, "tokens");
        if (router_w_ > 0) head(router_x_, router_x_ + router_w_, "router");
        if (sends() && !plain_) head(from_, to_, "dispatch"), head(back_, home_, "combine");
        head(drawer_x_, drawer_x_ + drawer_w_, drawer_w_ > 150 ? "experts, as drawers" : "experts");
        if (shared_w_ > 0 && !plain_) {
            head(home_x_, home_x_ + squares, squares > 70 ? "home again" : "home");
            head(shared_x_, shared_x_ + shared_w_ - 8, "shared");
        } else if (!plain_) {
            head(home_x_, home_x_ + squares, squares > 70 ? "home again" : "home");
        }
    }

    // ---- ways ----

    [[nodiscard]] Dash dash_of(std::int64_t a, std::int64_t b) const {
        const int tier = tier_between(scene_.plan.cluster, a, b);
        return mark_of_tier(theme_, scene_.plan.cluster, tier).dash;
    }

    // Draws the first `share` of a way between two points, level at both ends.
    void way(Vec2 a, Vec2 b, float share, Color color, float width, Dash dash) {
        if (share <= 0) return;
        const float half = (b.x - a.x) / 2;
        const Vec2 ca{a.x + half, a.y}, cb{b.x - half, b.y};
        const float t = std::min(share, 1.0f);
        const Vec2 ab = between(a, ca, t), bc = between(ca, cb, t), cd = between(cb, b, t);
        const Vec2 abc = between(ab, bc, t), bcd = between(bc, cd, t), end = between(abc, bcd, t);
        c_.curve(a, ab, abc, end, color, width, dash);
    }
    [[nodiscard]] float out() const { return std::clamp(grown_ * 2, 0.0f, 1.0f); }
    [[nodiscard]] float in() const { return std::clamp(grown_ * 2 - 1, 0.0f, 1.0f); }

    // Draws the ways of all tokens, heavier to fuller drawers.
    void pairs() {
        if (!sends()) return;
        const double most = way_.drawers[way_.hot].load;
        const float quiet = large() ? 0.36f : 0.42f;
        for (const Row& a : rows_)
            for (const Row& b : rows_) {
                if (a.copy || b.copy || a.drawer == b.drawer) continue;
                const auto load = static_cast<float>(way_.drawers[b.drawer].load / std::max(most, 1e-9));
                const float square = load * load;
                const Color color = color_.alpha(quiet * (way_.even ? 0.8f : 0.3f + square));
                const float width = 1.1f * (way_.even ? 1.0f : 0.4f + 1.1f * square);
                const Dash dash = dash_of(a.rank, b.rank);
                way({from_, a.y()}, {to_, b.y()}, out(), color, width, dash);
                way({back_, b.y()}, {home_, a.y()}, in(), color, width, dash);
            }
    }

    // Draws the token's own way over all others: casings, lines, then the dots at their ends.
    void token() {
        const Row* mine = own();
        if (mine == nullptr) return;
        const Color color = theme_.etp;
        const bool everywhere = sends() && way_.comm == EpComm::allgather;
        const auto ways_to_all = [&](bool casing) {
            for (const Row& r : rows_) {
                const bool picked = way_.reaches(r.drawer);
                if (r.copy || (!picked && !everywhere) || (casing && !picked)) continue;
                const float width = casing ? 6.8f : picked ? 2.8f : 1.3f;
                const Dash dash = casing ? Dash::solid : dash_of(mine->rank, r.rank);
                const Color ink = casing ? theme_.window : color;
                way({from_, mine->y()}, {to_, r.y()}, out(), ink, width, dash);
                if (picked) way({back_, r.y()}, {home_, mine->y()}, in(), ink, width, dash);
            }
        };
        ways_to_all(true);
        ways_to_all(false);
        for (const Row& r : rows_) {
            if (r.copy || !way_.reaches(r.drawer) || out() < 1) continue;
            c_.line({to_, r.y()}, {drawer_x_, r.y()}, color, 2.8f);
            c_.circle({to_, r.y()}, 4, color);
            if (in() <= 0) continue;
            c_.line({drawer_x_ + drawer_w_, r.y()}, {back_, r.y()}, color, 2.8f);
            c_.circle({back_, r.y()}, 4, color);
        }
        const float squares = static_cast<float>(tokens_) * pitch_, y = mine->y();
        const float token = tokens_x_ + own_square() * pitch_ + square_ / 2;
        c_.line({token, y}, {router_w_ > 0 ? router_x_ - 4 : tokens_x_ + squares, y}, color, 2.8f);
        c_.line({router_x_ + router_w_ + 4, y}, {from_, y}, color, 2.8f);
        c_.circle({from_, y}, 5, color);
        if (in() < 1) return;
        c_.line({home_, y}, {home_x_ - 2, y}, color, 2.8f);
        c_.circle({home_, y}, 5, color);
        weights(*mine);
    }

    [[nodiscard]] float own_square() const {
        const auto square = tokens_ * 2 / 3;  // a whole one
        return static_cast<float>(square);
    }

    [[nodiscard]] std::string weight_text(double w) const {
        const double parts = way_.top_k <= 3 ? 10 : 100;
        return trimmed(std::round(w * parts) / parts);
    }

    // Writes what each output counts for: at its drawer's way back, and at home.
    void weights(const Row& mine) {
        const TextStyle style = ui_.style(11).in(theme_.etp);
        if (way_.top_k < 2) return;
        for (const Row& r : rows_) {
            if (!sends() || r.copy || !way_.reaches(r.drawer) || home_ - back_ < 60 || line_ < 19) continue;
            double sum = 0;
            for (const TokenPick& p : way_.picks)
                if (p.drawer == r.drawer) sum += p.weight;
            const std::string words = "× " + weight_text(sum);
            const bool down = r.y() > mine.y();  // the way back goes up from here
            const float y = r.drawer == way_.own ? r.y() - 16 : down ? r.y() + 3 : r.y() - 17;
            write_plate(ui_, {back_ + 8, y, c_.text_width(words, style) + 4, 14}, words, style,
                        theme_.window.alpha(0.75f));
        }
        if (note_w_ <= 0) return;
        std::vector<std::string> lines;
        if (way_.top_k <= 3)
            for (const TokenPick& p : way_.picks)
                lines.push_back((lines.empty() ? "" : "+ ") + weight_text(p.weight) + " of expert "
                                + thousands(p.expert));
        else
            lines = {"the sum of " + thousands(way_.top_k), "weighed outputs"};
        if (way_.shared > 0) lines.emplace_back(way_.shared == 1 ? "+ the shared one" : "+ the shared ones");
        float y = mine.y() - static_cast<float>(lines.size()) * 7.5f;
        y = held_between(y, panel_.y + 2, panel_.bottom() - static_cast<float>(lines.size()) * 15 - 2);
        for (const std::string& l : lines) {
            write_plate(ui_, {note_x_, y, c_.text_width(l, style) + 4, 15}, l, style, theme_.window);
            y += 15;
        }
    }

    // ---- rows ----

    void row(const Row& r) {
        const bool mine = !r.copy && r.drawer == way_.own, on = may_reach(r);
        const TextStyle name =
            ui_.style(12, mine ? Tone::text : Tone::secondary, mine ? Face::semibold : Face::regular);
        c_.text_in({names_x_, r.r.y, names_w_, r.r.h}, "GPU " + thousands(r.rank),
                   on ? name : ui_.style(12, Tone::faint));
        const Color quiet = mix(theme_.window, color_, on ? 0.55f : 0.25f);
        const Color dot = mix(theme_.window, color_, on ? 1.0f : 0.35f);
        const float y = r.y(), squares = static_cast<float>(tokens_) * pitch_;
        tokens(tokens_x_, y, quiet, mine);
        if (router_w_ > 0) bars(r, mine);
        drawer_of(r, on);
        if (plain_ || r.copy) return;
        tokens(home_x_, y, quiet, mine && in() >= 1);
        if (shared_w_ > 0) {
            const float h = std::min(height(), 18.0f);
            const Rect box{shared_x_, y - h / 2, shared_w_ - 14, h};
            c_.rect(box, mix(theme_.window, color_, on ? 0.75f : 0.3f), 3);
        }
        if (!sends()) return;
        if (router_w_ > 0) c_.line({tokens_x_ + squares, y}, {router_x_ - 4, y}, dot.alpha(0.6f));
        c_.line({router_x_ + router_w_ + 4, y}, {from_, y}, dot.alpha(0.6f));
        c_.line({to_, y}, {drawer_x_, y}, dot.alpha(0.6f));
        c_.line({drawer_x_ + drawer_w_, y}, {back_, y}, dot.alpha(0.6f));
        c_.line({home_, y}, {home_x_ - 2, y}, dot.alpha(0.6f));
        for (const float x : {from_, to_, back_, home_}) c_.circle({x, y}, 3, dot);
    }

    void tokens(float x, float y, Color color, bool mine) {
        for (int i = 0; i < tokens_; ++i) {
            const Rect box{x + static_cast<float>(i) * pitch_, y - square_ / 2, square_, square_};
            c_.rect(box, color, 3);
            if (mine && static_cast<float>(i) == own_square()) c_.rect(box, theme_.etp, 3);
        }
    }

    // Draws the scores of one token of the row's GPU; of more experts than have room, the highest of each
    // neighbours.
    void bars(const Row& r, bool mine) {
        const float high = std::min(26.0f, line_ - 6), base = r.y() + high / 2;
        const auto n = std::min<std::int64_t>(way_.experts, static_cast<std::int64_t>(router_w_ / 6));
        const std::vector<double> scores =
            mine ? way_.scores : made_up_scores(way_.experts, static_cast<std::uint64_t>(r.rank));
        const double most = std::max(1e-9, *std::ranges::max_element(scores));
        const float step = router_w_ / static_cast<float>(n);
        const Color quiet = mix(theme_.window, theme_.secondary, may_reach(r) ? 0.45f : 0.2f);
        for (std::int64_t i = 0; i < n; ++i) {
            double top = 0;
            bool picked = false;
            for (std::int64_t e = i * way_.experts / n; e < (i + 1) * way_.experts / n; ++e) {
                top = std::max(top, scores[static_cast<std::size_t>(e)]);
                picked =
                    picked || std::ranges::any_of(way_.picks, [&](const auto& p) { return p.expert == e; });
            }
            const float h = std::max(1.0f, high * static_cast<float>(top / most));
            c_.rect({router_x_ + static_cast<float>(i) * step, base - h, std::max(1.0f, step - 3), h},
                    mine && picked && !plain_ ? theme_.etp : quiet);
        }
        c_.line({router_x_, base + 0.5f}, {router_x_ + router_w_ - 3, base + 0.5f}, theme_.hairline);
    }

    void drawer_of(const Row& r, bool on) {
        const Rect box = drawer(r);
        const TokenDrawer& d = way_.drawers[r.drawer];
        const bool hot = !way_.even && !r.copy && r.drawer == way_.hot && !plain_;
        Color fill = hot ? mix(color_, theme_.text, 0.3f) : color_;
        if (!on || r.copy) fill = mix(theme_.window, color_, plain_ ? 1.0f : 0.35f);
        c_.rect(box, fill, 4);
        const float end = drawer_x_ + unit() * static_cast<float>(way_.drawers[way_.hot].load);
        if (!plain_ && !r.copy && !way_.even && end - box.right() > 1)
            c_.pattern({box.right(), box.y, end - box.right(), box.h}, Pattern::hatched,
                       theme_.bad.alpha(0.6f));
        if (supposes() && !r.copy) suppose(r, box);
        const float named = each_named(d, box) ? 0 : name_drawer(r, box, fill, hot);
        strips(r, box, fill, named);
    }

    // Writes which experts it holds; returns the width that the words take.
    float name_drawer(const Row& r, Rect box, Color fill, bool hot) {
        if (box.h < 11) return 0;
        const TokenDrawer& d = way_.drawers[r.drawer];
        const Color ink = ink_on(fill);
        const TextStyle style{Face::semibold, box.h >= 16 ? 12.0f : 11.0f, ink, 0};
        std::string words = experts_words(d.experts);
        if (c_.text_width(words, style) > box.w - 26) words = words.substr(words.find(' ') + 1);
        Rect text = box.inset(9, 0);
        const float w = c_.text_width(words, style);
        if (w > text.w) return 0;
        c_.text_in(text.cut_left(w + 8), words, style);
        const TextStyle more = ui_.style(11).in(ink);
        const std::string said = r.copy && !plain_ ? "a copy" : hot ? "hot: " + times_words(d.load) : "";
        if (said.empty() || c_.text_width(said, more) > text.w - 8) return w + 14;
        c_.text_in(text, said, more);
        return w + 22 + c_.text_width(said, more);
    }

    // Returns true if each of several experts has room for its own name.
    [[nodiscard]] static bool each_named(const TokenDrawer& d, Rect box) {
        return d.experts.size() > 1 && box.h >= 13 * static_cast<float>(d.experts.size());
    }

    // Several experts of a GPU are stacked: a strip each, right of the first `named` pixels.
    void strips(const Row& r, Rect box, Color fill, float named) {
        const TokenDrawer& d = way_.drawers[r.drawer];
        const auto n = static_cast<float>(d.experts.size());
        const Color ink = ink_on(fill);
        if (n < 2) {
            if (box.h >= 14 && box.w > 40)
                c_.rect({box.right() - 9, box.center().y - 6, 3, 12}, ink.alpha(0.8f), 1);
            return;
        }
        const float step = box.h / n;
        if (step < 2.5f) return;
        for (std::int64_t i = 1; i < d.experts.size(); ++i) {
            const float y = box.y + static_cast<float>(i) * step;
            c_.line({box.x + named, y}, {box.right(), y}, theme_.window.alpha(0.55f));
        }
        if (!each_named(d, box)) return;
        for (std::int64_t i = 0; i < d.experts.size(); ++i)
            c_.text_in({box.x + 9, box.y + static_cast<float>(i) * step, box.w - 18, step},
                       (box.w > 112 ? "expert " : "") + thousands(d.experts.begin + i),
                       {Face::semibold, 11, ink, 0});
    }

    // Outlines what one GPU with more than its share would do: the others would wait for it.
    void suppose(const Row& r, Rect box) {
        const float end = drawer_x_ + unit() * static_cast<float>(costs_.other_imbalance);
        const Rect rest{box.right(), box.y, end - box.right(), box.h};
        if (r.drawer == way_.hot)
            c_.frame(rest.inset(0.5f), color_, 1.3f, 3, Dash::dashed);
        else
            c_.pattern(rest, Pattern::sparse, theme_.bad.alpha(0.35f));
    }

    // Draws what stands over the ways: the token in its drawers, words on the hatch, marks of a question.
    void over(const Row& r) {
        const Rect box = drawer(r);
        if (!plain_ && !r.copy && out() >= 1) {
            const TokenDrawer& d = way_.drawers[r.drawer];
            const auto n = std::max<std::int64_t>(1, d.experts.size());
            for (const TokenPick& p : way_.picks) {
                if (p.drawer != r.drawer) continue;
                const float step = box.h / static_cast<float>(n);
                const float size =
                    held_between(step - 2, std::min(9.0f, box.h - 4), std::min(14.0f, box.h - 4));
                const float y = box.y + step * (static_cast<float>(p.expert - d.experts.begin) + 0.5f);
                const float x = box.x + std::min(box.w * 0.64f, box.w - 34);
                c_.box({x, y - size / 2, size, size}, theme_.etp, ink_on(theme_.etp), 1, 2);
            }
        }
        if (!plain_ && !r.copy) hatch_words(r, box);
        if (shared_w_ > 0 && !plain_ && r.drawer == way_.own && !r.copy && in() >= 1) {
            const float h = std::max(6.0f, std::min(height(), 18.0f) - 8);
            c_.rect({shared_x_ + (shared_w_ - 14) / 2 - h / 2, r.y() - h / 2, h, h}, theme_.etp, 2);
        }
        const Rect place = r.r.inset(8, 1);
        // In a low row it would go through the name.
        if (plain_ && r.rank == state_.asked)
            c_.frame(place.inset(0, r.r.h < 20 ? -2.5f : 0.0f), theme_.text, 1.5f, 5, Dash::dashed);
        if (std::ranges::find(state_.outlined, r.rank) != state_.outlined.end())
            c_.frame(place, theme_.text, 2, 5);
    }

    // The first drawer that is idle says so.
    void hatch_words(const Row& r, Rect box) {
        const bool real = !way_.even;
        if (!real && !supposes()) return;
        const double load = real ? way_.drawers[way_.hot].load : costs_.other_imbalance;
        const float end = drawer_x_ + unit() * static_cast<float>(load);
        const float free = end - box.right();
        const TextStyle style = ui_.style(11).in(theme_.bad);
        const auto write = [&](std::string_view words, const TextStyle& in) {
            const float w = c_.text_width(words, in) + 6;
            if (w <= free - 4 && box.h >= kLeastHatchWords)
                write_plate(ui_, {box.right() + (free - w) / 2, r.y() - 7, w, 14}, words, in, theme_.window);
        };
        if (r.drawer == way_.hot && !real) return write("if × " + trimmed(load), ui_.style(11, Tone::text));
        for (const Row& first : rows_) {
            if (first.copy || first.drawer == way_.hot || way_.idle_share(first.drawer) < (real ? 0.05 : 0))
                continue;
            if (first.drawer == r.drawer) write(real ? "waits" : "waits then", style);
            return;
        }
    }

    // ---- words below ----

    void words_below() {
        if (foot_.h > 0) {
            TokenDrawn drawn{gpus_drawn(), scene_.evaluation.mesh.world, tokens_, !plain_, assumed_};
            std::array<std::string, 2> wordings{drawn_words(way_, drawn), ""};
            drawn.picks = false;
            wordings[1] = drawn_words(way_, drawn);
            if (supposes() && !rows_.empty() && drawer(rows_.front()).h < kLeastHatchWords) {
                const std::string hatch = "Hatched: if one GPU got " + times_words(costs_.other_imbalance)
                                          + ", the others would wait.";
                wordings = {wordings[1] + " " + hatch, hatch};
            }
            const TextStyle faint = ui_.style(11.5f, Tone::faint);
            c_.text_in(foot_, wording(ui_, foot_.w, wordings, faint), faint);
        }
        if (cards_.h <= 0 || plain_) return;
        if (in_a_line_) {
            rich_text(ui_, cards_, costs_line(scene_, way_, costs_), kCosts);
            return;
        }
        const std::array<TokenCard, 3> said = cards();
        const float w = (cards_.w - 2 * kCardGap) / 3;
        for (std::size_t i = 0; i < said.size(); ++i) {
            Rect card{cards_.x + static_cast<float>(i) * (w + kCardGap), cards_.y, w, cards_.h};
            c_.box(card, theme_.panel, theme_.hairline, 1, 8);
            card = card.inset(16, 10);
            c_.text_in(card.cut_top(20), said[i].title, ui_.style(14, Tone::text, Face::semibold));
            card.cut_top(2);
            rich_text(ui_, card, said[i].words, {13, 20, 8, Tone::secondary});
        }
    }
};

// Says what a plan without experts needs for this page.
void draw_no_experts(Ui& ui, Rect room, const Scene& scene) {
    const std::string name = scene.plan.model.name;
    ui.canvas().text_in(room.cut_top(24), "No experts here: every token stays on its GPU.",
                        ui.style(16, Tone::text, Face::semibold));
    ui.canvas().paragraph(
        room,
        (name.empty() ? "This model" : name)
            + " is dense: each token goes through the whole MLP of its layer, and no router "
              "picks. Open a plan with experts, such as Mixtral 8x7B (mixtral-8x7b-ep), and "
              "this page follows one of its tokens.",
        ui.style(13, Tone::secondary), 20);
}

}  // namespace

std::optional<PlanEdit> draw_token(Ui& ui, Rect head_row, Rect room, Scene& scene, MeshViewState& state,
                                   ExpertLoads& loads, std::uint64_t revision) {
    state.field = state.cells = state.second_cells = state.enlarged = state.still = {};
    state.ladder = {};
    draw_page_switch(ui, head_row, room, scene, state);
    std::optional<PlanEdit> edit;
    if (!scene.evaluation.valid) {
        draw_void(ui, room, scene);
        return edit;
    }
    if (!scene.plan.model.moe || !scene.evaluation.mesh.has_experts) {
        draw_no_experts(ui, room, scene);
        return edit;
    }
    const bool sets = !state.plain && !scene.in_lesson && !ui.state().for_picture && room.h > 420
                      && scene.evaluation.mesh.expert[Axis::ep].size > 1;
    const Rect row = sets ? room.cut_bottom(kLoadRow) : Rect{};
    TokenView(ui, scene, state, shown_loads(scene, loads), revision).draw(room);
    if (sets) edit = draw_load_row(ui, row, scene, state, loads);
    return edit;
}

Table token_data(const Scene& scene, const ExpertLoads& loads) {
    return token_table(token_way(scene.plan, scene.evaluation,
                                 std::max<std::int64_t>(0, scene.selection.rank),
                                 shown_loads(scene, loads).load));
}

void hover_token_row(Scene& scene, const Table::Row& row) {
    if (!row.empty()) scene.next_hover.rank = row[0].whole();
}

void pick_token_row(Scene& scene, const Table::Row& row) {
    if (!row.empty()) scene.selection.pick_rank(row[0].whole());
}

}  // namespace pentamesh::ui
