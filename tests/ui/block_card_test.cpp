// A clicked block names its ranks, their memory at that moment, and its message.
#include "app/ui/kit/format.h"
#include "app/ui/panels/inspector.h"
#include "core/io/presets.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

std::string block_line(const std::vector<CardLine>& lines, std::string_view name) {
    for (const CardLine& l : lines)
        if (l.name == name) return l.value;
    return "";
}

}  // namespace

TEST_CASE("a block of a pipeline names its stage's ranks, the memory of that moment and what it sends") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const char* id : {"zoom-1024", "llama-3-70b-3d", "deepseek-v3-2048"}) {
        CAPTURE(id);
        const Plan plan = presets.plan(id);
        const Evaluation e = evaluate(plan);
        REQUIRE_FALSE(e.timeline.empty());
        const Timeline& t = e.timeline;
        for (const std::size_t i : {std::size_t{0}, t.order.begin[1], t.order.ops.size() / 2}) {
            const int device = device_of_op(t, i);
            const auto lines = block_lines(plan, e, t, i);
            // The first rank of the stage is found by its coordinate.
            std::int64_t first = 0;
            while (dense_coordinates(e.mesh, first)[static_cast<std::size_t>(Axis::pp)] != device) ++first;
            CHECK(block_line(lines, "on ranks").starts_with(ui::thousands(first)));
            const std::string holds = block_line(lines, "holds then");
            CHECK(holds.find("micro-batch") != std::string::npos);
        }
        // At the stage's peak it equals the memory view's figure; before its first block it is less.
        const StageMemory& stage = e.memory.stage[0];
        double most = 0;
        std::size_t peak = 0;
        for (std::size_t i = t.order.begin[0]; i < t.order.begin[1]; ++i) {
            double held = 0;
            for (const InFlightStep& s : in_flight(t, 0))
                if (s.time <= (t.start[i] + t.end[i]) / 2) held = s.held;
            if (held > most) most = held, peak = i;
        }
        const std::string whole = ui::memory_text(
            stage.total() - stage.layer_activations * (1 - std::min(1.0, most / stage.in_flight)));
        CHECK(block_line(block_lines(plan, e, t, peak), "holds then").starts_with(whole));
        // The first block sends on as many bytes as pp's row says.
        const auto op =
            std::find_if(e.comm.operations.begin(), e.comm.operations.end(), [](const Operation& o) {
                return o.group == GroupKind::pp && o.unit == Unit::boundary && o.phase == Phase::forward;
            });
        REQUIRE(op != e.comm.operations.end());
        CHECK(block_line(block_lines(plan, e, t, 0), "sends on")
                  .starts_with(ui::traffic_text(op->message_bytes)));
    }
}

TEST_CASE("without a pipeline a block runs on every GPU and sends nothing to another stage") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("mesh-8");
    const Evaluation e = evaluate(plan);
    const auto lines = block_lines(plan, e, e.timeline, 0);
    CHECK(block_line(lines, "on ranks") == "0 … 7");
    CHECK(block_line(lines, "sends") == "nothing to another stage");
}
