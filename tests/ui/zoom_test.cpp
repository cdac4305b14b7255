#include "app/ui/views/zoom/view.h"
#include "core/io/plan_json.h"
#include "tests/near.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <random>

using namespace pentamesh;
using namespace pentamesh::ui;
using pentamesh::test::near;

namespace {

constexpr Vec2 kZoomWindow{1600, 900};

// A flight takes a quarter of a second.
void arrive(Driver& d) {
    d.time_s += 0.5;
    d.settle();
}
void open_zoom(Driver& d) {
    d.press({.key = Key::n2, .shift = true});
    d.rest();
    REQUIRE(d.drawn("zoom.canvas"));
}
const ZoomViewState& zoom_of(const Driver& d) {
    return const_cast<Driver&>(d).shell.views().zoom;
}
void click_box(Driver& d, std::size_t column, std::int64_t i) {
    const ZoomColumn& c = zoom_of(d).columns.at(column);
    REQUIRE(c.grid.boxes > i);
    d.click_at(c.grid.box(i).center());
}

bool is_whole(double pixels) {
    return std::abs(pixels - std::round(pixels)) < 0.01;
}

// A drawn count is the count: the boxes lie on device pixels, in the column, each apart from its neighbours.
void check_grid(const ZoomColumn& c, std::int64_t count, float scale) {
    const ExactGrid& g = c.grid;
    CAPTURE(count);
    REQUIRE(g.boxes > 0);
    CHECK(g.count == count);
    CHECK(g.boxes * g.each >= count);
    CHECK((g.boxes - 1) * g.each < count);
    CHECK(g.cols * g.rows >= g.boxes);
    CHECK(g.gap >= 1);
    for (std::int64_t i = 0; i < g.boxes; ++i) {
        const Rect r = g.box(i);
        REQUIRE(is_whole(double{r.x} * scale));
        REQUIRE(is_whole(double{r.right()} * scale));
        REQUIRE(is_whole(double{r.y} * scale));
        REQUIRE(is_whole(double{r.bottom()} * scale));
        REQUIRE(r.w * scale > 0.99f);
        REQUIRE(r.h * scale > 0.99f);
        REQUIRE(r.x >= c.body.x - 0.01f);
        REQUIRE(r.right() <= c.body.right() + 0.01f);
        REQUIRE(r.bottom() <= c.body.bottom() + 0.01f);
        if (i % g.cols != 0) REQUIRE((r.x - g.box(i - 1).right()) * scale > 0.99f);
        if (i >= g.cols) REQUIRE((r.y - g.box(i - g.cols).bottom()) * scale > 0.99f);
        CHECK(g.at(r.center()) == i);
    }
}

void check_columns(Driver& d, float scale) {
    const ZoomViewState& s = zoom_of(d);
    const Nest& nest = *s.nest;
    REQUIRE(s.columns.size() == nest.levels.size() + kZoomInside);
    std::int64_t product = 1;
    for (std::size_t k = 0; k < nest.levels.size(); ++k) {
        product *= nest.levels[k].count;
        CHECK(nest.levels[k].count > 1);
        if (s.columns[k].shown && !s.columns[k].on_strip)
            check_grid(s.columns[k], nest.levels[k].count, scale);
    }
    CHECK(product == d.shell.evaluation().mesh.world);
    const ZoomColumn& layers = s.columns[nest.levels.size()];
    if (!layers.on_strip) check_grid(layers, s.layers->count, scale);
    // The columns stand next to each other, in the order of the way down.
    for (std::size_t k = 1; k < s.columns.size(); ++k)
        if (!s.columns[k].on_strip) CHECK(s.columns[k].place.x >= s.columns[k - 1].place.right());
    // The tensor's column and the engine say the same.
    const auto placements = list_placements(d.shell.document().plan(), d.shell.evaluation().mesh,
                                            TensorState::parameters, Moment::computing);
    REQUIRE(s.tensor >= 0);
    const Part part =
        part_of(d.shell.document().plan(), d.shell.evaluation().mesh, placements[s.tensor], s.rank);
    CHECK(part.held);
    CHECK(s.facts->piece.part.bytes == part.bytes);
    CHECK(says(d, ui::memory_text(part.bytes)));
}

}  // namespace

TEST_CASE("each column of the zoom draws as many boxes as it counts, for every plan and in every room") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const Presets::Entry& info : presets.list(PresetKind::plan)) {
        CAPTURE(info.id);
        for (const auto& [size, scale] :
             {std::pair{kZoomWindow, 1.0f}, {{1280, 720}, 1.0f}, {{853, 480}, 1.5f}}) {
            Driver d(info.id, size, scale);
            if (!d.shell.evaluation().valid) continue;
            open_zoom(d);
            check_columns(d, scale);
            if (!d.shell.evaluation().mesh.has_experts) continue;
            REQUIRE(d.click("zoom.fold", 1));
            check_columns(d, scale);
        }
    }
}

TEST_CASE("each column of the zoom draws as many boxes as it counts, for plans by chance") {
    std::mt19937 chance(7);
    const auto one_of = [&](std::initializer_list<std::int64_t> of) {
        return of.begin()[std::uniform_int_distribution<std::size_t>(0, of.size() - 1)(chance)];
    };
    Driver d("llama-3-8b-fsdp", kZoomWindow);
    const Plan shipped = d.shell.document().plan();
    int valid = 0;
    for (int i = 0; i < 24; ++i) {
        Plan plan = shipped;
        Layout& l = plan.layout;
        l.tp = one_of({1, 2, 4, 8}), l.pp = one_of({1, 2, 4, 8}), l.cp = one_of({1, 2, 3});
        l.dp_shard = one_of({1, 2, 5, 16, 127}), l.dp_replicate = one_of({1, 3, 8});
        l.zero = l.pp > 1 ? 1 : static_cast<int>(one_of({0, 1, 2, 3}));
        std::shuffle(l.order.begin(), l.order.end(), chance);
        plan.cluster.gpus = l.tp * l.pp * l.cp * l.dp_shard * *l.dp_replicate;
        plan.training.global_batch = l.dp_shard * *l.dp_replicate * 8;
        plan.training.sequence_length = 8 * 3 * 2048;
        CAPTURE(write_plan(plan));
        d.shell.open_text(write_plan(plan), "a plan");
        d.settle();
        if (!d.shell.evaluation().valid) continue;
        ++valid;
        open_zoom(d);
        check_columns(d, 1);
    }
    CHECK(valid >= 8);
}

TEST_CASE("the pixels of a column show its boxes, each apart from the next") {
    for (const char* preset : {"deepseek-v3-2048", "llama-3.1-405b-16k", "zoom-1024"}) {
        CAPTURE(preset);
        Driver d(preset, {1280, 720});
        open_zoom(d);
        d.move({3, 3});
        d.rest();
        const Image image = d.surface.read();
        const auto pixel = [&](std::int64_t x, std::int64_t y) {
            const auto at = static_cast<std::size_t>((y * image.width + x) * 4);
            return std::array{image.pixels[at], image.pixels[at + 1], image.pixels[at + 2]};
        };
        const ZoomViewState& s = zoom_of(d);
        for (std::size_t k = 0; k < s.nest->levels.size(); ++k) {
            const ExactGrid& g = s.columns[k].grid;
            if (g.boxes == 0) continue;
            // Along the middle of a row's upper edge there are no words.
            for (std::int64_t i = 0; i + 1 < g.boxes; ++i) {
                if (i % g.cols + 1 == g.cols) continue;
                const std::int64_t x = g.x + i % g.cols * (g.w + g.gap),
                                   y = g.y + i / g.cols * (g.h + g.gap) + 3;
                const auto box = pixel(x + g.w / 2, y);
                for (std::int64_t gap = 0; gap < g.gap; ++gap) REQUIRE(pixel(x + g.w + gap, y) != box);
                REQUIRE(pixel(x + g.w + g.gap, y) != pixel(x + g.w + g.gap - 1, y));
            }
        }
    }
}

TEST_CASE("where boxes have no room a box stands for several, and the column says for how many") {
    const Rect room{0, 0, 100, 60};
    const ExactGrid all = exact_grid(room, 1, 60, {});
    CHECK(all.each == 1);
    CHECK(all.boxes == 60);
    const ExactGrid coarse = exact_grid(room, 1, 1024, {});
    CHECK(coarse.each == 8);  // 160 boxes have room, and 8 divides 1,024
    CHECK(coarse.boxes == 128);
    const ExactGrid prime = exact_grid(room, 1, 1021, {});
    CHECK(prime.boxes * prime.each >= 1021);
    CHECK((prime.boxes - 1) * prime.each < 1021);
    CHECK(exact_grid({0, 0, 3, 3}, 1, 8, {}).boxes == 0);
    for (const std::int64_t count : {1, 2, 3, 7, 61, 128, 1000, 131072})
        for (const float scale : {1.0f, 1.25f, 1.5f, 2.0f}) {
            ZoomColumn c;
            c.body = {10.3f, 7.7f, 201.4f, 333.3f};
            c.grid = exact_grid(c.body, scale, count, {});
            check_grid(c, count, scale);
        }
}

TEST_CASE("the sentence over the columns says what a GPU keeps, and of how many") {
    const auto first = [](const char* preset) {
        Driver d(preset, kZoomWindow);
        open_zoom(d);
        return zoom_of(d).facts->sentence;
    };
    CHECK(first("llama-3.1-405b-16k")
          == "Rank 0 keeps 1 part in 8 of every matrix of 7 layers: 128 replicas × 16 stages × 8 tp = "
             "16,384 GPUs.");
    CHECK(first("single-gpu") == "Rank 0 keeps every matrix of 12 layers whole: 1 GPU.");
    CHECK(first("hsdp-64")
          == "Rank 0 keeps 1 part in 8 of every matrix of 32 layers: 8 replicas × 8 shards = 64 GPUs.");
    CHECK(first("mesh-8")
          == "Rank 0 keeps 1 part in 4 of every matrix of 32 layers: 2 replicas × 2 shards × 2 tp = 8 GPUs.");
    Driver d("mixtral-8x7b-ep", kZoomWindow);
    open_zoom(d);
    REQUIRE(d.click("zoom.fold", 1));
    CHECK(says(d, "Rank 0 keeps 1 of 8 experts in each of 32 layers: 8 edp × 8 ep = 64 GPUs."));
}

TEST_CASE("a click takes a box: the GPU, its stage, layer and tensor change in every view") {
    Driver d("zoom-1024", kZoomWindow);
    open_zoom(d);
    const ZoomViewState& s = zoom_of(d);
    click_box(d, 0, 5);
    CHECK(d.shell.selection().rank == 5 * 64);
    CHECK(d.shell.selection().group == GroupKind::dp_replicate);
    click_box(d, 1, 3);
    CHECK(d.shell.selection().rank == 5 * 64 + 3 * 8);
    CHECK(d.shell.selection().stage == 3);
    click_box(d, 2, 6);
    CHECK(d.shell.selection().rank == 5 * 64 + 3 * 8 + 6);
    CHECK(says(d, "Rank 350 keeps 1 part in 8"));
    click_box(d, 3, 4);
    CHECK(s.layers->items[s.item].label == "layer 34");
    const MatrixBox& matrix = s.columns[4].matrices.back();
    const int tensor = matrix.tensor;
    d.click_at({matrix.r.x + 3, matrix.r.y + 3});
    CHECK(s.tensor == tensor);
    CHECK(d.shell.selection().tensor == tensor);
    CHECK(says(d, "mlp.down"));
    CHECK(says(d, "The same on 16 GPUs: all of dp_replicate"));
    // A selection made elsewhere is followed.
    d.shell.selection().pick_rank(1000);
    d.settle();
    CHECK(s.rank == 1000);
}

TEST_CASE("a column's head fills the view with it, the way down stays at the left, Escape goes back") {
    Driver d("zoom-1024", kZoomWindow);
    open_zoom(d);
    const ZoomViewState& s = zoom_of(d);
    const float before = s.columns[3].place.w;
    REQUIRE(d.click("zoom.head", 3));
    arrive(d);
    CHECK(s.filled == 3);
    CHECK(s.columns[3].place.w > 3 * before);
    CHECK(d.drawn("zoom.way", 2));
    CHECK_FALSE(d.drawn("zoom.head", 4));
    REQUIRE(d.click("zoom.way", 1));
    arrive(d);
    CHECK(s.filled == 1);
    REQUIRE(d.click("zoom.head", 1));
    arrive(d);
    CHECK(s.filled == -1);
    d.press({Key::enter});
    arrive(d);
    CHECK(s.filled >= 0);
    d.press({Key::escape});
    arrive(d);
    CHECK(s.filled == -1);
    CHECK(d.drawn("zoom.canvas"));
    d.press({Key::escape});
    d.press({Key::escape});
    CHECK(d.drawn("memory.stage", 0));  // the dashboard
}

TEST_CASE("arrows walk the columns and the boxes of one, Enter goes deeper, Backspace back") {
    Driver d("zoom-1024", kZoomWindow);
    REQUIRE(d.click("mesh.which", 2));
    const ZoomViewState& s = zoom_of(d);
    d.press({Key::down});
    CHECK(d.shell.selection().rank == 0);
    d.press({Key::down});
    CHECK(d.shell.selection().rank == 64);  // the second replica
    CHECK(d.shell.selection().group == GroupKind::dp_replicate);
    d.press({Key::right});
    d.press({Key::down});
    CHECK(d.shell.selection().rank == 64 + 8);
    CHECK(d.shell.selection().stage == 1);
    d.press({Key::up});
    d.press({Key::up});
    CHECK(d.shell.selection().rank == 64);
    d.press({Key::left});
    CHECK(s.column == 0);
    for (int column = 0; column < 6; ++column) {
        d.press({Key::enter});
        arrive(d);
        CHECK(s.filled == column);
    }
    d.press({Key::backspace});
    arrive(d);
    CHECK(s.filled == 4);
    d.press({Key::home});
    arrive(d);
    CHECK(s.filled == -1);
}

TEST_CASE("a double click takes a box and goes on from it, the wheel fills the view and leaves it") {
    Driver d("zoom-1024", kZoomWindow);
    open_zoom(d);
    const ZoomViewState& s = zoom_of(d);
    const Vec2 at = s.columns[0].grid.box(9).center();
    d.move(at);
    for (int i = 0; i < 2; ++i) {
        d.input.down[0] = true;
        d.frame();
        d.input.down[0] = false;
        d.frame();
    }
    arrive(d);
    CHECK(d.shell.selection().rank == 9 * 64);
    CHECK(s.filled == 1);
    d.wheel(s.columns[1].grid.box(2).center(), -1);
    arrive(d);
    CHECK(s.filled == -1);
    d.wheel(s.columns[2].grid.box(2).center(), 1);
    arrive(d);
    CHECK(s.filled == 2);
    REQUIRE(d.click("zoom.out"));
    arrive(d);
    CHECK(s.filled == -1);
    d.move({2, 300});
    arrive(d);
    CHECK_FALSE(d.shell.wants_frame());
}

TEST_CASE("the experts' fold has a column for ep, keeps the GPU, and a click on a matrix chooses the fold") {
    Driver d("deepseek-v3-2048", kZoomWindow);
    open_zoom(d);
    const ZoomViewState& s = zoom_of(d);
    click_box(d, 0, 4);
    const std::int64_t rank = d.shell.selection().rank;
    REQUIRE(d.click("zoom.fold", 1));
    CHECK(d.shell.selection().expert());
    CHECK(s.rank == rank);
    CHECK(says(d, "4 of 256 experts"));
    std::vector<NestKind> kinds;
    for (const NestLevel& l : s.nest->levels) kinds.push_back(l.kind);
    CHECK(kinds == std::vector{NestKind::stage, NestKind::edp, NestKind::ep});
    CHECK(s.nest->tensors[s.tensor].expert);
    for (const MatrixBox& m : s.columns[s.nest->levels.size() + 1].matrices)
        if (s.nest->tensors[m.tensor].id == TensorId::attention_output) {
            d.click_at(m.r.center());
            break;
        }
    CHECK_FALSE(d.shell.selection().expert());
    CHECK(s.nest->tensors[s.tensor].id == TensorId::attention_output);
    CHECK(s.rank == rank);
    Driver dense("zoom-1024", kZoomWindow);
    open_zoom(dense);
    CHECK_FALSE(dense.drawn("zoom.fold", 0));
}

TEST_CASE("areas of a layer's matrices are in proportion to their bytes, and they do not overlap") {
    for (const char* preset : {"llama-3.1-405b-16k", "mixtral-8x7b-ep", "single-gpu", "deepseek-v3-2048"}) {
        CAPTURE(preset);
        Driver d(preset, kZoomWindow);
        open_zoom(d);
        const ZoomViewState& s = zoom_of(d);
        const ZoomColumn& c = s.columns[s.nest->levels.size() + 1];
        REQUIRE(c.matrices.size() >= 4);
        CHECK(c.matrices.size() + c.too_small.size() == s.layers->items[s.item].tensors.size());
        const auto weight = [&](const MatrixBox& m) {
            const Placement& p = s.nest->tensors[m.tensor];
            const double experts =
                p.expert ? static_cast<double>(piece_of(*s.nest, m.tensor, s.rank).part.box[0].size()) : 1;
            return experts * static_cast<double>(p.shape[1] * p.shape[2]);
        };
        double area = 0, bytes = 0;
        for (const MatrixBox& m : c.matrices) area += m.r.w * m.r.h, bytes += weight(m);
        for (const MatrixBox& m : c.matrices) {
            // Edges lie on pixels, and a stack has small gaps.
            CHECK(std::abs(m.r.w * m.r.h - area * weight(m) / bytes)
                  < 0.06 * area * weight(m) / bytes + 1.5f * (m.r.w + m.r.h));
            for (const MatrixBox& o : c.matrices) {
                if (&o == &m) continue;
                const bool apart = o.r.right() <= m.r.x + 0.01f || m.r.right() <= o.r.x + 0.01f
                                   || o.r.bottom() <= m.r.y + 0.01f || m.r.bottom() <= o.r.y + 0.01f;
                CHECK(apart);
            }
        }
    }
}

TEST_CASE("a small room keeps the sentence and the last columns, and the way to them as a strip") {
    Driver d("llama-3.1-405b-131k", {853, 480}, 1.5f);
    open_zoom(d);
    const ZoomViewState& s = zoom_of(d);
    CHECK(says(d, "Rank 0 keeps"));
    CHECK(s.columns.front().on_strip);
    for (std::size_t k = s.nest->levels.size(); k < s.columns.size(); ++k) CHECK_FALSE(s.columns[k].on_strip);
    CHECK(d.drawn("zoom.way", 0));
}

TEST_CASE("the zoom goes down to one part and back by itself; a hand takes it over; reduced motion has no "
          "flight") {
    Driver d("zoom-1024", kZoomWindow);
    open_zoom(d);
    const ZoomViewState& zoom = zoom_of(d);
    REQUIRE(d.click("zoom.fly"));
    REQUIRE(zoom.tours);
    int deepest = -1;
    const double began_s = d.time_s;
    for (int i = 0; i < 1800 && zoom.tours; ++i) {
        d.frame();
        deepest = std::max(deepest, zoom.filled);
    }
    CHECK_FALSE(zoom.tours);
    CHECK(deepest == 5);
    CHECK(zoom.filled == -1);
    CHECK(d.time_s - began_s > 6);
    CHECK(d.time_s - began_s < 14);
    CHECK(says(d, "The columns are yours"));
    REQUIRE(d.click("zoom.fly"));
    for (int i = 0; i < 150; ++i) d.frame();
    REQUIRE(zoom.tours);
    d.press({Key::escape});
    CHECK_FALSE(zoom.tours);
    Driver still("zoom-1024", kZoomWindow);
    still.shell.settings().reduced_motion = true;
    open_zoom(still);
    CHECK_FALSE(still.drawn("zoom.fly"));
}

TEST_CASE("the zoom stands on what is left of its way when the plan changes") {
    Driver d("zoom-1024", kZoomWindow);
    open_zoom(d);
    click_box(d, 2, 7);
    d.press({Key::backslash});
    REQUIRE(d.click("layout.tp.toggle"));
    d.press({Key::backslash});
    d.rest();
    REQUIRE(d.drawn("zoom.canvas"));
    check_columns(d, 1);
}
