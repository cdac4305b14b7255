// Tests by which words people find things in the search of commands: the matching without a window, then what
// the rows do in one.
#include "app/ui/shell/palette.h"
#include "core/base/text.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

// Returns the commands of a window as the search lists them.
std::vector<PaletteCommand> commands_of(const Driver& d) {
    std::vector<PaletteCommand> out;
    for (const Command& c : d.shell.commands())
        if (!c.text().empty() && c.searched)
            out.push_back({.id = c.id,
                           .label = c.text(),
                           .menu = c.menu,
                           .chord = c.chord.key == Key::none ? "" : chord_text(c.chord),
                           .enabled = c.can_run()});
    return out;
}

std::vector<PaletteRow> found_by(const Driver& d, std::string_view typed) {
    return find_in_palette(
        {.plan = d.plan(), .presets = d.presets, .glossary = d.shell.glossary(), .commands = commands_of(d)},
        typed);
}

// Returns what a row does, as one word: the id of a command, a field, a field with its value.
std::string target_of(const Driver& d, const PaletteRow& row) {
    switch (row.does) {
    case PaletteRow::Does::command: return commands_of(d)[row.command].id;
    case PaletteRow::Does::typed: return "set " + row.value;
    case PaletteRow::Does::value: return row.field + "=" + row.value;
    case PaletteRow::Does::field: return row.field;
    case PaletteRow::Does::rank: return "rank " + std::to_string(row.rank);
    }
    return {};
}

struct Asked {
    const char *typed, *first;
};

// People type the first and mean the second.
constexpr Asked kAsked[] = {
    {"recompute", "/training/recompute"},
    {"remat", "/training/recompute"},
    {"activation checkpointing", "/training/recompute"},
    {"offload", "/training/offload/optimizer"},
    {"cpu offload", "/training/offload/optimizer"},
    {"imbalance", "/training/router_imbalance"},
    {"moe balance", "/training/router_imbalance"},
    {"who waits", "view.blame"},
    {"NVLink", "/cluster/tiers/0/bytes_per_s"},
    {"infiniband", "/cluster/tiers/1/bytes_per_s"},
    {"sensitivity", "page.step.sensitivity"},
    {"tornado", "page.step.sensitivity"},
    {"constants", "page.step.constants"},
    {"cost", "/cluster/price_per_gpu_hour"},
    {"price", "/cluster/price_per_gpu_hour"},
    {"watts", "/cluster/gpu_watts"},
    {"quiz", "lesson.20-tasks-fit"},
    {"rank 5", "rank 5"},
    {"gpu 5", "rank 5"},
    {"nodes 4", "set nodes 4"},
    {"4 nodes", "set 4 nodes"},
    {"nodes of 8", "set nodes of 8"},
    {"nodes of 4", "set nodes of 4"},
    {"8 per node", "set 8 per node"},
    {"8 gpus per node", "set 8 gpus per node"},
    {"64 nodes of 8", "set 64 nodes of 8"},
    {"nodes of", "gpus per node"},
    {"mbs 2", "set mbs 2"},
    {"price 3", "set price 3"},
    {"zero-3", "set zero 3"},
    {"recompute full", "set recompute full"},
    {"training.recompute=full", "set training.recompute=full"},
    {"show as data", "view.data"},
    {"table", "view.data"},
    {"svg", "export.picture"},
    {"png", "export.picture"},
    {"screenshot", "export.picture"},
    {"pdf", "file.review"},
    {"hang", "run.open"},
    {"dump", "run.open"},
    {"trace", "run.open"},
    {"log", "run.open"},
    {"deadlock", "run.open"},
    {"flight recorder", "run.open"},
    {"tp", "/layout/tp"},
    {"tensor parallel", "/layout/tp"},
    {"pp", "/layout/pp"},
    {"stages", "/layout/pp"},
    {"dp", "/layout/dp_shard"},
    {"zero", "/layout/zero"},
    {"fsdp", "/layout/zero"},
    {"vpp", "/layout/virtual_stages"},
    {"schedule", "/layout/schedule"},
    {"batch", "/training/global_batch"},
    {"gbs", "/training/global_batch"},
    {"mbs", "/training/micro_batch"},
    {"seq", "/training/sequence_length"},
    {"gpus", "/cluster/gpus"},
    {"nodes", "nodes"},
    {"precision", "/training/compute"},
    {"flash attention", "/training/attention"},
    {"selective", "/training/recompute=selective"},
    {"moe", "/model/moe"},
    {"mfu", "view.step"},
    {"throughput", "view.step"},
    {"oom", "view.memory"},
    {"gantt", "view.timeline"},
    {"all-reduce", "view.comm"},
    {"heat map", "page.comm.heat"},
    {"shortcuts", "help.keys"},
    {"undo", "edit.undo"},
    {"share", "edit.copy_link"},
    {"baseline", "edit.pin"},
    {"autotune", "view.search"},
    {"deepseek v3", "/model=deepseek-v3"},
    {"gb200", "/cluster=gb200-nvl72"},
    {"dark", "theme.dark"},
    {"thli", "theme.light"},
    {"titan", "order.to.torchtitan"},
    // Typed in a real window by somebody who did not know the table.
    {"checkpointing", "/training/recompute"},
    {"activation memory", "view.memory"},
    {"peak memory", "view.memory"},
    {"too big", "view.memory"},
    {"kv heads", "/model/kv_heads"},
    {"num layers", "/model/layers"},
    {"number of experts", "/model/moe"},
    {"top k", "/model/moe"},
    {"learning", "lesson.choose"},
    {"bandwidth", "edit.cluster"},
    {"fat tree", "edit.cluster"},
    {"how long", "view.step"},
    {"days", "view.step"},
    {"gpu hours", "view.step"},
    {"tokens per day", "view.step"},
    {"breakdown", "view.step"},
    {"cost per token", "view.search"},
    {"pareto", "view.search"},
    {"sweep", "view.scale"},
    {"fp8", "/training/compute"},
    {"zero3", "set zero 3"},
    {"tp4", "set tp 4"},
    {"hsdp", "/layout/dp_replicate"},
    {"export svg", "export.picture"},
    {"bigger text", "view.larger"},
    {"rank 12", "rank 12"},
    {"gpus 512", "set gpus 512"},
    {"seq 32k", "set seq 32k"},
    {"context 128k", "set context 128k"},
    {"batch 1024", "set batch 1024"},
    {"microbatch 2", "set microbatch 2"},
    {"microbatches", "word.microbatches"},
    {"gradient accumulation", "word.accumulation"},
    {"pipeline bubble", "view.timeline"},
    {"all to all", "view.comm"},
    {"overlap", "/training/overlap/dp"},
    {"print", "file.review"},
    {"title", "edit.title"},
    {"history", "edit.undo"},
    {"nemo", "export.to.bridge"},
    // The same, a second time: whole sentences.
    {"layout.sequence_parallel=false", "set layout.sequence_parallel=false"},
    {"open a plan", "file.open"},
    {"export to maxtext", "export.to.maxtext"},
    {"set tp to 4", "set tp 4"},
    {"tp 4 and pp 2", "set tp 4 pp 2"},
    {"set the micro batch size to 2", "set micro batch size 2"},
    {"dark mode", "theme.dark"},
    {"how much memory", "view.memory"},
    {"compare with another plan", "view.compare"},
    {"cheaper", "view.search"},
    {"faster", "view.search"},
    {"goodput", "/cluster/failures_per_gpu_day"},
    {"import from hugging face", "edit.paste"},
};

}  // namespace

TEST_CASE("the search finds by the words that people use, the right thing first") {
    Driver d("llama-3-70b-3d");
    for (const Asked& a : kAsked) {
        const std::vector<PaletteRow> rows = found_by(d, a.typed);
        CAPTURE(a.typed);
        CHECK((rows.empty() ? std::string() : target_of(d, rows.front())) == a.first);
    }
    CHECK(std::size(kAsked) >= 60);
}

TEST_CASE("every command is found by its own title, every field by its name, every page of a view") {
    Driver d("deepseek-v3-2048");
    const auto among = [&](std::string_view typed, std::string_view target) {
        const std::vector<PaletteRow> rows = found_by(d, typed);
        return std::ranges::any_of(rows, [&](const PaletteRow& r) { return target_of(d, r) == target; });
    };
    for (const PaletteCommand& c : commands_of(d)) {
        CAPTURE(c.id);
        CHECK(among(c.label, c.id));
    }
    for (const PlanField& f : list_plan_fields(d.plan(), d.presets)) {
        CAPTURE(f.pointer);
        if (!f.pointer.starts_with("/scene/")) CHECK(among(f.name, f.pointer));
    }
    for (const LessonView& v : lesson_views())
        for (const std::string_view page : v.pages) {
            CAPTURE(page);
            const std::vector<PaletteRow> rows =
                found_by(d, std::string(view_of(*view_named(v.name)).title) + " " + std::string(page));
            if (page != "measured") CHECK_FALSE(rows.empty());  // that one is of a real run
        }
}

TEST_CASE("the table of words names things that are there, and each word one thing") {
    Driver d("deepseek-v3-2048");
    std::set<std::string> targets{"/model", "/cluster", "/layout/zero", std::string(kNodes),
                                  std::string(kGpusPerNode)};
    for (const Command& c : d.shell.commands()) targets.insert(c.id);
    for (const PlanField& f : list_plan_fields(d.plan(), d.presets)) targets.insert(f.pointer);
    std::set<std::string, std::less<>> seen, words;
    for (const PaletteWords& w : palette_words()) {
        CAPTURE(w.target);
        CHECK(targets.contains(std::string(w.target)));
        CHECK(seen.insert(std::string(w.target)).second);
        if (!w.glossary.empty()) CHECK(d.shell.glossary().find(w.glossary) != nullptr);
        for (const std::string_view word : split_words(w.words, ",")) {
            CAPTURE(word);
            CHECK(words.insert(std::string(pentamesh::trimmed(word))).second);
        }
    }
}

TEST_CASE("a field without a value is followed by its values, and the one in force is marked") {
    Driver d("llama-3-70b-3d");
    std::vector<std::string> targets;
    for (const PaletteRow& r : found_by(d, "recompute")) targets.push_back(target_of(d, r));
    REQUIRE(targets.size() >= 4);
    CHECK(std::vector<std::string>(targets.begin(), targets.begin() + 4)
          == std::vector<std::string>{"/training/recompute", "/training/recompute=none",
                                      "/training/recompute=selective", "/training/recompute=full"});
    // The factors are those that divide what the other axes leave: 8 stages do, 3 do not.
    std::vector<std::string> factors;
    std::string marked;
    for (const PaletteRow& r : found_by(d, "pp"))
        if (r.field == "/layout/pp" && r.does == PaletteRow::Does::value) {
            factors.push_back(r.value);
            if (r.checked) marked = r.value;
        }
    CHECK(std::ranges::find(factors, "8") != factors.end());
    CHECK(std::ranges::find(factors, "3") == factors.end());
    CHECK(marked == "4");
    // Values are not said where a lesson hides the plan.
    for (const PaletteRow& r : find_in_palette({.plan = d.plan(),
                               .presets = d.presets,
                               .glossary = d.shell.glossary(),
                               .commands = {},
                               .shows_values = false},
                                               "pp")) {
        CHECK_FALSE(r.checked);
        CHECK(r.right.empty());
    }
}

TEST_CASE("letters match the beginnings of words: others are not listed beside them") {
    Driver d("llama-3-70b-3d");
    for (const PaletteRow& r : found_by(d, "cost")) {
        CAPTURE(r.label);
        CHECK(target_of(d, r) != "lesson.asked");  // "Count the votes": merely letters of it
    }
    CHECK(found_by(d, "qxz").empty());
    CHECK(found_by(d, "").size() == commands_of(d).size());
}

TEST_CASE("a typed schedule gets chunks that it can run") {
    Driver d("llama-3-70b-3d");
    REQUIRE(d.plan().layout.virtual_stages == 5);
    run_command(d, "schedule 1f1b");
    CHECK(d.plan().layout.schedule == Schedule::one_f_one_b);
    CHECK(d.plan().layout.virtual_stages == 1);
    CHECK(d.shell.evaluation().valid);
}

TEST_CASE("a rank, nodes, a price and a unit are taken as they are typed") {
    Driver d("llama-3-70b-3d");
    run_command(d, "rank 5");
    CHECK(d.shell.selection().rank == 5);
    run_command(d, "nodes 4");
    CHECK(d.plan().cluster.gpus == 32);
    run_command(d, "nodes 32, mbs 2, price 3");
    CHECK(d.plan().cluster.gpus == 256);
    CHECK(d.plan().training.micro_batch == 2);
    CHECK(d.plan().cluster.price_per_gpu_hour == 3);
    run_command(d, "nvlink 900 GB/s");
    CHECK(d.plan().cluster.tiers.front().bytes_per_s == 900e9);
    run_command(d, "gpus per node 4");
    CHECK(d.plan().cluster.tiers.front().domain == 4);
    const auto nodes_are = [&](const char* typed, std::int64_t nodes, std::int64_t each) {
        CAPTURE(typed);
        run_command(d, typed);
        CHECK(d.plan().cluster.gpus == nodes * each);
        CHECK(d.plan().cluster.tiers.front().domain == each);
    };
    nodes_are("nodes of 8", 32, 8);
    nodes_are("64 nodes of 4", 64, 4);
    nodes_are("8 per node", 32, 8);
    nodes_are("16 nodes", 16, 8);
    nodes_are("nodes 64, 4 gpus per node", 64, 4);
    const Plan before = d.plan();
    run_command(d, "rank 9999");  // it has 256
    CHECK(d.shell.selection().rank == 5);
    d.press({Key::escape});
    CHECK(d.plan() == before);
}

TEST_CASE("a field that is chosen opens the sheet with the keyboard in it") {
    Driver d("llama-3-70b-3d");
    run_command(d, "price");
    d.settle();
    REQUIRE(d.drawn("editor/cluster/price_per_gpu_hour"));
    d.type("2.5");
    d.press({Key::enter});
    CHECK(d.plan().cluster.price_per_gpu_hour == 2.5);
}

TEST_CASE("Enter in the same frame as the letters before it runs what they find") {
    Driver d("mesh-8");
    d.press({.key = Key::p, .ctrl = true});
    d.settle();
    d.input.keys_down = {Key::enter};
    d.input.text = "theme light";
    d.frame();
    d.input.keys_down.clear();
    d.settle();
    CHECK(d.shell.settings().theme == ThemeId::light);
}

TEST_CASE("pages, words and the table are opened by the search") {
    Driver d("llama-3-70b-3d");
    run_command(d, "constants");
    CHECK(d.shell.full_view() == ViewId::step);
    CHECK(d.shell.views().step.part == StepViewState::kConstants);
    run_command(d, "show as data");
    CHECK(d.shell.views().as_data[static_cast<std::size_t>(ViewId::step)]);
    run_command(d, "show as a picture");
    CHECK_FALSE(d.shell.views().as_data[static_cast<std::size_t>(ViewId::step)]);
    run_command(d, "word: bubble");
    CHECK(says(d, "pipeline bubble"));
}

TEST_CASE("one sheet stands once in the search, and rows follow the plan while it is open") {
    Driver d("llama-3-70b-3d");
    std::vector<std::string> reviews;
    for (const PaletteRow& r : found_by(d, "export review")) reviews.push_back(target_of(d, r));
    CHECK(std::ranges::count(reviews, "file.review") == 1);
    CHECK(std::ranges::count(reviews, "export.review") == 0);
    d.press({.key = Key::p, .ctrl = true});
    d.type("pp");
    d.settle();
    CHECK(says(d, "now 4"));
    Plan other = d.plan();
    other.layout.pp = 2, other.layout.dp_shard = 16;
    d.shell.edit_plan(other, "pp 2");
    d.settle();
    CHECK(says(d, "now 2"));
    CHECK_FALSE(says(d, "now 4"));
}
