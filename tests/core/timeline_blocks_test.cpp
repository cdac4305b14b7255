#include "core/pipeline/timeline.h"
#include "schedule_shapes.h"
#include "tests/near.h"

#include <doctest/doctest.h>

#include <random>

using namespace pentamesh;
using pentamesh::test::near;

namespace {

struct Indexed {
    Timeline t;
    WorkIndex index;
};

Indexed run(const ScheduleShape& shape, double send = 0.05) {
    Indexed r;
    run_timeline(shape, uniform_costs(shape, 1, 1.2, 0.8, send), r.t);
    build_work_index(r.t, r.index);
    return r;
}

}  // namespace

TEST_CASE("zoomed in, every visible op is a block of its own") {
    const Indexed r = run(shape_of(Schedule::zb_h1, 4, 8));
    std::vector<Block> blocks;
    visible_blocks(r.t, r.index, 1, 0, r.t.makespan, 2000, blocks);
    REQUIRE(blocks.size() == r.t.order.begin[2] - r.t.order.begin[1]);
    for (std::size_t k = 0; k < blocks.size(); ++k) {
        CHECK_FALSE(blocks[k].merged());
        CHECK(blocks[k].first == r.t.order.begin[1] + k);
        CHECK(blocks[k].density() == near(1));
    }
}

TEST_CASE("zoomed out, blocks are few, cover every visible op once and conserve the work") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> real(0, 1);
    for (const ScheduleShape& shape :
         {shape_of(Schedule::interleaved, 4, 400, 4), shape_of(Schedule::dualpipe, 4, 600),
          shape_of(Schedule::zb_v, 3, 500, 2), shape_of(Schedule::gpipe, 5, 300)}) {
        const Indexed r = run(shape);
        std::vector<Block> blocks;
        for (int k = 0; k < 400; ++k) {
            BlockLimits limits;
            if (k % 2 == 0) limits.most_px = 0;
            const double widest = k % 2 == 0 ? limits.least_px : limits.most_px;
            const double a = real(random) * r.t.makespan, b = real(random) * r.t.makespan;
            const double from = std::min(a, b), to = std::max(a, b), pixels = 20 + 500 * real(random);
            const int device = k % shape.devices;
            const auto d = static_cast<std::size_t>(device);
            visible_blocks(r.t, r.index, device, from, to, pixels, blocks, limits);
            CHECK(static_cast<double>(blocks.size()) <= 2 * pixels / 1.5 + 3);
            std::size_t expected = r.t.order.begin[d];
            while (expected < r.t.order.begin[d + 1] && r.t.end[expected] <= from) ++expected;
            bool covers = true, conserves = true, narrow = true;
            for (const Block& block : blocks) {
                covers = covers && block.first == expected;
                expected = block.last + 1;
                double work = 0;
                for (std::size_t i = block.first; i <= block.last; ++i) work += r.t.end[i] - r.t.start[i];
                conserves = conserves && block.work.all() == near(work, 1e-8);
                const double width = (block.to - block.from) / (to - from) * pixels;
                narrow = narrow && (!block.merged() || width <= widest + 1e-9);
            }
            CHECK(covers);
            CHECK(conserves);
            CHECK(narrow);
            CHECK((expected == r.t.order.begin[d + 1] || r.t.start[expected] >= to));
        }
    }
}

TEST_CASE("a steady phase of very many ops is a few blocks, and each is as dense as its quarters") {
    const Indexed r = run(shape_of(Schedule::interleaved, 16, 512, 4));
    std::vector<Block> blocks;
    std::size_t count = 0;
    for (int d = 0; d < 16; ++d) {
        visible_blocks(r.t, r.index, d, 0, r.t.makespan, 1600, blocks);
        count += blocks.size();
        for (const Block& b : blocks) {
            if ((b.to - b.from) / r.t.makespan * 1600 < 8) continue;
            const double quarter = (b.to - b.from) / 4;
            for (int q = 0; q < 4; ++q) {
                double busy = 0;
                for (std::size_t i = b.first; i <= b.last; ++i)
                    busy += std::max(0.0, std::min(r.t.end[i], b.from + (q + 1) * quarter)
                                              - std::max(r.t.start[i], b.from + q * quarter));
                CHECK(std::abs(busy / quarter - b.density()) < 0.13);
            }
        }
    }
    CHECK(count < 16 * 200);
}

TEST_CASE("nothing is visible in an empty span, on no pixels, or after the end") {
    const Indexed r = run(shape_of(Schedule::one_f_one_b, 2, 4));
    std::vector<Block> blocks;
    visible_blocks(r.t, r.index, 0, 1, 1, 100, blocks);
    CHECK(blocks.empty());
    visible_blocks(r.t, r.index, 0, 0, 1, 0, blocks);
    CHECK(blocks.empty());
    visible_blocks(r.t, r.index, 0, r.t.makespan + 1, r.t.makespan + 2, 100, blocks);
    CHECK(blocks.empty());
}

TEST_CASE("along the time axis the blocks stay what they are, cover what is in sight and no more") {
    const Indexed r = run(shape_of(Schedule::interleaved, 4, 400, 4));
    const double span = r.t.makespan / 9, step = span / 37;
    SeenBlocks seen;
    std::vector<Block> last;
    std::size_t kept = 0, all = 0;
    for (int k = 0; k < 300; ++k) {
        const double from = k * step, to = from + span;
        seen.look(1, from, to, 300, {});
        const auto now = seen.row(r.t, r.index, 2);
        REQUIRE(!now.empty());
        bool whole = true;
        for (std::size_t i = 1; i < now.size(); ++i) whole = whole && now[i].first == now[i - 1].last + 1;
        CHECK(whole);
        CHECK(now.front().to > from);
        CHECK(now.back().from < to);
        const std::size_t begin = r.t.order.begin[2], end = r.t.order.begin[3];
        CHECK((now.front().first == begin || r.t.end[now.front().first - 1] <= from
               || r.t.start[now.front().first] <= from));
        CHECK((now.back().last + 1 == end || r.t.start[now.back().last + 1] >= to));
        for (const Block& b : now)
            for (const Block& before : last)
                if (before.first <= b.first && b.first <= before.last && before.to > from) {
                    ++all;
                    kept += before.first == b.first && before.last == b.last ? 1 : 0;
                }
        last.assign(now.begin(), now.end());
    }
    CHECK(all > 1000);
    CHECK(static_cast<double>(kept) > 0.95 * static_cast<double>(all));
}

TEST_CASE("another zoom, other limits or another timeline are blocks of their own") {
    const Indexed a = run(shape_of(Schedule::gpipe, 2, 300)),
                  b = run(shape_of(Schedule::one_f_one_b, 2, 200));
    std::vector<Block> fresh;
    SeenBlocks seen;
    const auto same = [&](const Indexed& of, std::uint64_t version, double from, double to, double pixels,
                          const BlockLimits& limits) {
        seen.look(version, from, to, pixels, limits);
        const auto row = seen.row(of.t, of.index, 1);
        visible_blocks(of.t, of.index, 1, from, to, pixels, fresh, limits);
        return std::equal(
            row.begin(), row.end(), fresh.begin(), fresh.end(),
            [](const Block& x, const Block& y) { return x.first == y.first && x.last == y.last; });
    };
    const double end = a.t.makespan;
    CHECK(same(a, 1, 0, end, 200, {}));
    CHECK(same(a, 1, end / 3, end / 2, 200, {}));
    CHECK(same(a, 1, end / 3, end / 2, 200, {.least_px = 4}));
    CHECK(same(b, 2, 0, end / 2, 200, {.least_px = 4}));
    CHECK(same(a, 3, 0, end / 2, 200, {.least_px = 4}));
}
