#include "app/ui/scene/colors.h"
#include "render/page.h"
#include "tests/near.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <vector>

using namespace pentamesh;
using pentamesh::test::near;
using namespace pentamesh::ui;

namespace {

struct Lab {
    double l = 0, a = 0, b = 0;
};

// Returns CIE 1976 L*a*b* of an sRGB colour, D65 (IEC 61966-2-1, ISO 11664-4).
Lab lab_of(Color c) {
    const auto linear = [](std::uint8_t v) {
        const double x = v / 255.0;
        return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
    };
    const double r = linear(c.r), g = linear(c.g), b = linear(c.b);
    const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
    const double x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047),
                 y = f(0.2126729 * r + 0.7151522 * g + 0.0721750 * b),
                 z = f((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

// Returns CIEDE2000 (ISO/CIE 11664-6), with the weights all 1.
double far_apart(Lab p, Lab q) {
    constexpr double kTurn = 6.283185307179586, kDegree = kTurn / 360;
    const auto power7 = [](double c) { return std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + 6103515625.0)); };
    const double g = 0.5 * (1 - power7((std::hypot(p.a, p.b) + std::hypot(q.a, q.b)) / 2));
    p.a *= 1 + g, q.a *= 1 + g;
    const double cp = std::hypot(p.a, p.b), cq = std::hypot(q.a, q.b), c = (cp + cq) / 2, l = (p.l + q.l) / 2;
    const auto hue = [&](const Lab& x) {
        const double h = std::atan2(x.b, x.a);
        return h < 0 ? h + kTurn : h;
    };
    double hp = hue(p), hq = hue(q), turn = hq - hp;
    if (turn > kTurn / 2) turn -= kTurn;
    if (turn < -kTurn / 2) turn += kTurn;
    const double h = hp + turn / 2, dl = q.l - p.l, dc = cq - cp,
                 dh = 2 * std::sqrt(cp * cq) * std::sin(turn / 2);
    const double t = 1 - 0.17 * std::cos(h - 30 * kDegree) + 0.24 * std::cos(2 * h)
                     + 0.32 * std::cos(3 * h + 6 * kDegree) - 0.2 * std::cos(4 * h - 63 * kDegree);
    const double sl = 1 + 0.015 * (l - 50) * (l - 50) / std::sqrt(20 + (l - 50) * (l - 50)),
                 sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t;
    const double bend = (h / kDegree - 275) / 25;
    const double rt = -std::sin(60 * kDegree * std::exp(-bend * bend)) * 2 * power7(c);
    return std::sqrt(dl / sl * (dl / sl) + dc / sc * (dc / sc) + dh / sh * (dh / sh)
                     + rt * dc / sc * dh / sh);
}

}  // namespace

TEST_CASE("distances of colours are those of CIEDE2000's own test data") {
    // Sharma, Wu, Dalal 2005, table 1, pairs 1, 7, 17 and 25.
    CHECK(far_apart({50, 2.6772, -79.7751}, {50, 0, -82.7485}) == near(2.0425, 1e-4));
    CHECK(far_apart({50, 0, 0}, {50, -1, 2}) == near(2.3669, 1e-4));
    CHECK(far_apart({50, 2.5, 0}, {73, 25, -18}) == near(27.1492, 1e-4));
    CHECK(far_apart({60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}) == near(1.2644, 1e-4));
}

TEST_CASE("the four colours of memory are far apart, on a screen and printed in grey, in every theme") {
    for (int i = 0; i < kThemeCount; ++i) {
        const Theme& t = theme_of(static_cast<ThemeId>(i));
        CAPTURE(name_of(t.id));
        for (std::size_t a = 0; a < t.memory.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                CAPTURE(a);
                CAPTURE(b);
                const Lab one = lab_of(t.memory[a]), other = lab_of(t.memory[b]);
                CHECK(far_apart(one, other) >= 12);
                CHECK(std::abs(one.l - other.l) >= 13);  // lightness, which grey keeps
            }
        const std::array<double, 3> work{lab_of(t.forward).l, lab_of(t.backward).l, lab_of(t.weight_grad).l};
        for (std::size_t k = 0; k + 1 < work.size(); ++k) CHECK(std::abs(work[k] - work[k + 1]) >= 12);
    }
}

// Returns the distance of CIE 1976.
double distance(Color a, Color b) {
    const Lab p = lab_of(a), q = lab_of(b);
    return std::hypot(p.l - q.l, p.a - q.a, p.b - q.b);
}

TEST_CASE("colours that stand beside each other are told apart, in every theme") {
    CHECK(distance(rgb(0xffffff), rgb(0x000000)) == near(100, 1e-4));
    for (int i = 0; i < kThemeCount; ++i) {
        const Theme& t = theme_of(static_cast<ThemeId>(i));
        CAPTURE(name_of(t.id));
        std::vector<Color> axes(t.axis.begin(), t.axis.end());
        axes.push_back(t.etp);
        const std::array verdicts{t.good, t.amber, t.bad};
        for (std::size_t a = 0; a < axes.size(); ++a) {
            CAPTURE(a);
            for (std::size_t b = 0; b < a; ++b) CHECK(distance(axes[a], axes[b]) >= 20);
            for (const Color verdict : verdicts) CHECK(distance(axes[a], verdict) >= 20);
            // Parts of a step and of its timeline.
            for (const Color work : {t.forward, t.backward, t.weight_grad, t.secondary})
                CHECK(distance(axes[a], work) >= 20);
        }
        CHECK(distance(t.good, t.amber) >= 20);
        CHECK(distance(t.amber, t.bad) >= 20);
        CHECK(distance(t.good, t.bad) >= 20);
        for (const Color work : {t.forward, t.backward, t.weight_grad}) CHECK(distance(t.bad, work) >= 20);
        for (std::size_t k = 0; k < t.memory.size(); ++k) {
            CHECK(distance(t.memory[k], t.bad) >= 20);
            if (k > 0) CHECK(distance(t.memory[k], t.memory[k - 1]) >= 20);
            CHECK(contrast(t.memory[k], t.window) >= 2.8);  // an area, and with its figure in it
        }
    }
}

TEST_CASE("forward, backward and weight gradients are drawn in the colours that are told apart") {
    for (int i = 0; i < kThemeCount; ++i) {
        const Theme& t = theme_of(static_cast<ThemeId>(i));
        CHECK(color_of(t, OpKind::F) == t.forward);
        CHECK(color_of(t, OpKind::B) == t.backward);
        CHECK(color_of(t, OpKind::I) == t.backward);
        CHECK(color_of(t, OpKind::W) == t.weight_grad);
    }
}

TEST_CASE("what is to be read stands out from its ground by 4.5 to 1 in every theme") {
    for (int i = 0; i < kThemeCount; ++i) {
        const Theme& t = theme_of(static_cast<ThemeId>(i));
        CAPTURE(name_of(t.id));
        for (const Color ground : {t.window, t.panel, t.raised}) {
            CHECK(contrast(t.text, ground) >= 7);
            CHECK(contrast(t.secondary, ground) >= 4.5);
            for (const Color said : {t.good, t.amber, t.bad}) CHECK(contrast(said, ground) >= 4.5);
            CHECK(contrast(t.faint, ground) >= 3.5);
        }
    }
}

TEST_CASE("a number on a cell or a block reads on every shade of every axis") {
    for (int i = 0; i < kThemeCount; ++i) {
        const Theme& t = theme_of(static_cast<ThemeId>(i));
        CAPTURE(name_of(t.id));
        for (int k = 0; k < kGroupKindCount; ++k)
            for (const Color shade : shades(t, color_of(t, static_cast<GroupKind>(k))))
                CHECK(contrast(ink_on(shade), shade) >= 4.5);
        for (const OpKind op : {OpKind::F, OpKind::B, OpKind::I, OpKind::W})
            CHECK(contrast(ink_on(color_of(t, op)), color_of(t, op)) >= 4.5);
    }
}

TEST_CASE("the axes of a mesh have marks that differ without colour") {
    const FontFiles fonts = find_fonts(std::filesystem::path(SOURCE_DIR) / "assets");
    const auto drawn = [&](GroupKind kind) {
        Page page(PageFormat::svg, {20, 20}, fonts, "", "");
        {
            Canvas canvas(nullptr, 1, &page);
            draw_axis_mark(canvas, {10, 10}, 4, kind, Color{});
        }
        return page.finish();
    };
    using Kinds = std::vector<GroupKind>;
    for (const Kinds& mesh :
         {Kinds{GroupKind::tp, GroupKind::cp, GroupKind::dp_shard, GroupKind::dp_replicate, GroupKind::pp},
          Kinds{GroupKind::etp, GroupKind::ep, GroupKind::edp, GroupKind::pp},
          Kinds{GroupKind::etp, GroupKind::ep, GroupKind::edp_shard, GroupKind::edp_replicate,
                GroupKind::pp}})
        for (std::size_t i = 0; i < mesh.size(); ++i)
            for (std::size_t k = 0; k < i; ++k) CHECK(drawn(mesh[i]) != drawn(mesh[k]));
    CHECK(drawn(GroupKind::tp) == drawn(GroupKind::etp));  // no mesh has both
}
