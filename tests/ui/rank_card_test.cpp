// Tests the inspector's text about one GPU.
#include "app/ui/panels/inspector.h"
#include "core/sharding/sharding.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

std::string line_of(const std::vector<CardLine>& lines, std::string_view name) {
    for (const CardLine& l : lines)
        if (l.name == name) return l.value;
    return "";
}

}  // namespace

TEST_CASE("a GPU's card has a row for each of its groups, those of the experts too, with who is in them") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan p = presets.plan("mixtral-8x7b-ep");
    p.layout.tp = 4, p.layout.etp = 2, p.layout.ep = 4, p.layout.pp = 1, p.layout.cp = 1;
    p.layout.dp_shard = p.cluster.gpus / 4, p.layout.dp_replicate = 1;
    const Evaluation e = evaluate(p);
    REQUIRE(e.mesh.has_experts);
    const std::int64_t rank = 5;
    const auto lines = rank_lines(p, e, rank);
    for (const GroupKind kind :
         {GroupKind::tp, GroupKind::dp_shard, GroupKind::ep, GroupKind::etp, GroupKind::edp}) {
        const std::vector<std::int64_t> members = group_members(e.mesh, kind, rank);
        REQUIRE(members.size() > 1);
        const auto at = std::find(members.begin(), members.end(), rank) - members.begin();
        const std::string text = line_of(lines, name_of(kind));
        CAPTURE(name_of(kind));
        CHECK(text.starts_with(std::to_string(at) + " of " + std::to_string(members.size()) + ", with "));
    }
    CHECK(line_of(lines, "etp") == "1 of 2, with 4");
    CHECK(line_of(lines, "tp") == "1 of 4, with 4 … 7");
}

TEST_CASE("a GPU's card says which GPUs keep the same parameters, a long list folded") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan p = presets.plan("hsdp-64");
    p.layout.tp = p.layout.cp = p.layout.pp = 1;
    p.layout.dp_shard = 32, p.layout.dp_replicate = 2, p.layout.zero = 3;
    CHECK(line_of(rank_lines(p, evaluate(p), 3), "same weights") == "1 other GPU: 35");
    p.layout.zero = 1;
    CHECK(line_of(rank_lines(p, evaluate(p), 3), "same weights") == "63 other GPUs: 0 … 63");
    p.layout.dp_shard = 64, p.layout.dp_replicate = 1, p.layout.zero = 3;
    CHECK(line_of(rank_lines(p, evaluate(p), 3), "same weights") == "no other GPU");
}

TEST_CASE("the card of a selected GPU stands in the inspector") {
    Driver d("deepseek-v3-2048", {1600, 1300});
    REQUIRE(d.drawn("mesh.cells"));
    const Rect cells = *d.shell.ui_state().rect_of("mesh.cells");
    for (float at = 0.1f; at < 0.9f && d.shell.selection().rank < 0; at += 0.07f)
        d.click_at({cells.x + cells.w * at, cells.y + cells.h * at});
    REQUIRE(d.shell.selection().rank >= 0);
    for (const char* name : {"edp", "same weights", "same experts"}) {
        CAPTURE(std::string(name));
        CHECK(says(d, name));
    }
}
