// Tests a real run in the window: dumps and measured files are dropped or opened, read in the background, and
// shown on the mesh and next to the predicted step. Real files: tests/golden/runs, tests/golden/measured.
#include "app/ui/shell/decider.h"
#include "app/ui/shell/picture.h"
#include "app/ui/views/mesh/mesh_run.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/plan/stand_in.h"
#include "core/runs/run_layout.h"
#include "tests/folder.h"
#include "tests/near.h"
#include "tests/stuck_job.h"
#include "tests/ui/driver.h"
#include "tests/ui/press.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;
using pentamesh::test::near;

namespace {

const std::filesystem::path kGolden = std::filesystem::path(SOURCE_DIR) / "tests" / "golden";

bool shows(Driver& d, std::string_view words) {
    d.surface.record_text(true);
    d.settle();
    const auto& runs = d.surface.text_runs();
    return std::any_of(runs.begin(), runs.end(),
                       [&](const TextRun& run) { return run.text.find(words) != std::string::npos; });
}

void open_and_wait(Driver& d, const std::filesystem::path& file) {
    d.shell.open_file(file);
    d.until([&] { return !d.shell.works_beside() && d.shell.screen().run != nullptr; });
    d.settle();
}

void open_plan_of(Driver& d, const std::filesystem::path& folder) {
    d.shell.open_plan(parse_plan(read_file(folder / "plan.json"), "plan.json", d.presets));
    d.settle();
}

// Returns the dumps of `world` ranks in groups of 8. Of one group rank 13 has not come; all other groups have
// ended their call and wait in one of all ranks.
runs::DumpFolder large_job(std::int64_t world) {
    runs::DumpFolder out;
    runs::Values values;
    std::string all, unpacked;
    for (std::int64_t r = 0; r < world; ++r) all += (r > 0 ? ", " : "") + std::to_string(r);
    for (std::int64_t r = 0; r < world; ++r) {
        const std::int64_t first = r / 8 * 8;
        std::string group, entry;
        for (std::int64_t k = first; k < first + 8; ++k) group += (k > first ? ", " : "") + std::to_string(k);
        const bool inside = first == 8;
        const std::string named = inside ? R"("1","TENSOR_MODEL_PARALLEL_GROUP")" : R"("0","default_pg")";
        if (r != 13)
            entry = R"({"record_id":9,"pg_id":1,"process_group":[)" + named
                    + R"(],"collective_seq_id":7,"p2p_seq_id":0,"profiling_name":"nccl:all_reduce",)"
                      R"("input_sizes":[[64]],"output_sizes":[[64]],"state":"started","is_p2p":false})";
        const std::string text =
            R"({"version":"2.7","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[)" + all
            + R"(]"},"1":{"name":"1","desc":"TENSOR_MODEL_PARALLEL_GROUP","ranks":"[)" + group
            + R"(]"}},"nccl_version":"2.27.3","pg_status":{},"entries":[)" + entry + "]}";
        out.dumps.push_back(read_dump_bytes(text, *out.names, values, unpacked));
        out.dumps.back().rank = r;
    }
    return out;
}

}  // namespace

TEST_CASE("a dropped folder of dumps opens the plan of its layout, and the mesh says who is to blame") {
    Driver d("llama-3-8b-fsdp");
    const std::string before = d.plan().name;
    d.shell.open_file(kGolden / "runs" / "gpu_error_1st");
    d.frame();  // no frame waits for the reading
    d.until([&] { return !d.shell.works_beside() && d.shell.screen().run != nullptr; });
    CHECK(d.plan().cluster.gpus == 16);
    CHECK(d.plan().layout.tp == 2);
    CHECK(d.plan().layout.pp == 4);
    CHECK(d.plan().layout.ep == 4);
    CHECK(d.shell.message().find("2 ranks are to blame") != std::string::npos);
    const runs::Hang& hang = d.shell.screen().run->hang->hang;
    REQUIRE(hang.culprits.size() == 2);
    CHECK(hang.culprits[0].rank == 12);
    CHECK(hang.culprits[1].rank == 14);
    CHECK(shows(d, "rank 12 gpu at tp 0"));
    // A click on a culprit selects its group in all views.
    REQUIRE(d.click("run.culprit", 1));
    CHECK(d.shell.selection().ranks == std::vector<std::int64_t>{14});
    CHECK(d.shell.selection().topic == Selection::Topic::ranks);
    REQUIRE(d.click("run.blame"));
    CHECK(d.shell.selection().ranks == std::vector<std::int64_t>{12, 14});
    d.shell.show_full(ViewId::mesh);  // its list has room for those that wait
    d.settle();
    REQUIRE(d.click("run.waiting", 0));
    const std::vector<std::int64_t> waiting = d.shell.selection().ranks;
    CHECK(waiting.size() > 1);
    CHECK(waiting != std::vector<std::int64_t>{12, 14});
    // The groups are a press away, and the old plan an undo.
    REQUIRE(d.click("mesh.run", 1));
    CHECK_FALSE(d.drawn("run.culprit", 0));
    run_command(d, "undo");
    CHECK(d.plan().name == before);
    CHECK_FALSE(d.drawn("mesh.run"));  // the plan has other ranks than the run
    run_command(d, "redo");
    REQUIRE(d.click("run.close"));
    CHECK(d.shell.screen().run == nullptr);
    CHECK_FALSE(d.drawn("mesh.run"));
}

TEST_CASE("a run without a plan shows what it says itself, and asks for its plan") {
    Driver d("llama-3-8b-fsdp", {1600, 900});
    open_and_wait(d, kGolden / "runs" / "gpu_error_1st");
    CHECK(is_stand_in(d.plan()));
    CHECK_FALSE(d.shell.evaluation().valid);
    CHECK(shows(d, "Hang: 2 ranks are to blame"));
    CHECK(shows(d, "not known"));
    CHECK(shows(d, "rank 12 gpu at tp 0"));
    for (const std::string_view invented : {"MFU", "Does not fit", "to mend", "DeepSeek", "H800", "NVLink",
                                            "InfiniBand", "node 0", "tokens/s"}) {
        CAPTURE(invented);
        CHECK_FALSE(shows(d, invented));
    }
    // Memory and the timeline ask; so does each view that is of the plan only.
    CHECK(d.drawn("plan.wanted.open", static_cast<std::uint64_t>(ViewId::memory)));
    REQUIRE(d.click("plan.wanted.open", static_cast<std::uint64_t>(ViewId::timeline)));
    CHECK(d.shell.dialog() == DialogKind::open);
    d.press({Key::escape});
    for (const ViewEntry& view : view_table()) {
        CAPTURE(view.name);
        d.shell.show_full(view.id);
        d.settle();
        CHECK(d.drawn("plan.wanted.open", static_cast<std::uint64_t>(view.id)) == (view.id != ViewId::mesh));
    }
    d.shell.show_full(std::nullopt);
    // The culprits' block has the layout only, and no door shows or saves a stand-in's values.
    d.shell.show_full(ViewId::mesh);
    d.settle();
    REQUIRE(d.click("run.blame"));
    d.shell.show_full(std::nullopt);
    CHECK(shows(d, "WHAT THEY SHARE"));
    CHECK(shows(d, "nodes, wires"));
    for (const std::string_view invented : {"GPU 0 of each", "over not known"}) {
        CAPTURE(invented);
        CHECK_FALSE(shows(d, invented));
    }
    for (const std::string_view page : {"edit.fields", "edit.cluster"}) {
        run_id(d, page);
        CHECK(shows(d, "not known"));
        CHECK_FALSE(d.drawn("editor/model/layers"));
        CHECK_FALSE(d.drawn("editor/cluster/gpus"));
        CHECK_FALSE(shows(d, "7168"));
        CHECK_FALSE(shows(d, "parameters ("));
        d.press({Key::escape});
        d.settle();
    }
    d.clipboard = "before";
    for (const std::string_view command : {"file.save", "file.save_as", "edit.copy", "edit.copy_link"}) {
        CAPTURE(command);
        run_id(d, command);
        CHECK(shows(d, "the run's model and its cluster are not known"));
        CHECK(d.shell.dialog() == DialogKind::none);
        CHECK(d.clipboard == "before");
    }
    CHECK(d.shell.document().unsaved().empty());
    // A model by itself is not enough; the run stays open.
    const runs::RunLayout layout = d.shell.screen().run->hang->hang.layout;
    Plan half = d.plan();
    half.model = d.presets.plan("deepseek-v3-2048").model;
    d.shell.edit_plan(half, "the model");
    d.settle();
    CHECK(is_stand_in(d.plan()));
    CHECK_FALSE(d.shell.evaluation().valid);
    // The plan of the run names the wires.
    d.shell.open_plan(runs::plan_of(layout, d.presets.plan("deepseek-v3-2048"), true));
    d.settle();
    REQUIRE(d.shell.screen().run != nullptr);
    CHECK(d.shell.evaluation().step.has_value());
    CHECK(shows(d, "MFU"));
    const std::shared_ptr<const runs::HangRun> hang = d.shell.screen().run->hang;
    const runs::RunCall call = hang->hang.culprits.at(0).call;
    CHECK(runs::wire_words(*hang, call, Hosts{}).empty());  // the run does not say it
    CHECK(runs::wire_words(*hang, call, Hosts{}, &d.plan().cluster) == "over NVLink");
    CHECK(shows(d, "NVLink"));
}

TEST_CASE("with its run a stand-in goes, and a trace beside one has its measured half only") {
    Driver d("llama-3-8b-fsdp");
    const Plan before = d.plan();
    d.shell.open_plan(stand_in_of(before));
    open_and_wait(d, kGolden / "measured" / "run2602-00" / "rank42.pt.trace.json.gz");
    d.until([&] { return d.shell.screen().run->measured != nullptr; });
    CHECK_FALSE(d.shell.screen().run->measured->predicted_s.has_value());
    CHECK(d.shell.screen().run->measured->measured_s.has_value());
    CHECK(shows(d, "A step takes"));
    CHECK(shows(d, "compute"));
    CHECK(d.drawn("plan.wanted.open", static_cast<std::uint64_t>(ViewId::mesh)));  // a trace tells no layout
    run_id(d, "run.close");
    CHECK(d.plan() == before);
}

TEST_CASE("a plan that is pasted where a run asks for it takes the stand-in's place") {
    Driver d("llama-3-8b-fsdp");
    d.clipboard = write_plan(d.plan());
    d.shell.open_plan(stand_in_of(d.plan()));
    open_and_wait(d, kGolden / "measured" / "run2602-00" / "rank42.pt.trace.json.gz");
    REQUIRE(d.click("plan.wanted.paste", static_cast<std::uint64_t>(ViewId::memory)));
    d.settle();
    CHECK_FALSE(is_stand_in(d.plan()));
    CHECK(d.shell.screen().run != nullptr);
}

TEST_CASE("one dump stands for all beside it, and a plan with the run's layout stays") {
    Driver d("llama-3-8b-fsdp");
    open_and_wait(d, kGolden / "runs" / "lock_gil_2nd" / "_dump_3.gz");
    const RealRun first = *d.shell.screen().run;
    REQUIRE(first.hang != nullptr);
    CHECK(first.hang->run.dumps.size() == 16);
    run_command(d, "rename the plan");
    const std::uint64_t revision = d.shell.document().revision();
    d.press({Key::escape});
    d.shell.open_file(kGolden / "runs" / "lock_gil_2nd");
    d.until([&] { return !d.shell.works_beside() && d.shell.screen().run->name == "lock_gil_2nd"; });
    CHECK(d.shell.document().revision() == revision);
    CHECK(d.shell.screen().run->hang->differences.empty());
}

TEST_CASE("traces and logs stand beside the predicted step, and follow the plan's edits") {
    Driver d("llama-3-8b-fsdp");
    const std::filesystem::path folder = kGolden / "measured" / "run2602-01";
    open_plan_of(d, folder);
    open_and_wait(d, folder / "train.log.gz");
    d.until([&] { return d.shell.screen().run->measured != nullptr; });
    const runs::Measured first = *d.shell.screen().run->measured;
    CHECK(*first.measured_s == near(4.46525, 1e-3));
    CHECK(*first.predicted_s == near(d.shell.evaluation().step->time_s, 1e-9));
    CHECK(shows(d, first.summary.substr(0, 12)));
    CHECK(shows(d, "predicted above"));
    Plan slower = d.plan();
    slower.cluster.gpu.efficiency.gemm *= 0.5;
    d.shell.edit_plan(slower, "half the rate of products");
    d.until([&] {
        return d.shell.screen().run->measured
               && *d.shell.screen().run->measured->predicted_s > *first.predicted_s;
    });
    CHECK(*d.shell.screen().run->measured->measured_s == near(*first.measured_s, 1e-9));
    CHECK(d.click("step.measured", 0));
    run_id(d, "run.close");
    CHECK(d.shell.screen().run == nullptr);
    CHECK_FALSE(shows(d, "predicted above"));
}

TEST_CASE("files that are dropped together are of one run; a folder of traces is read as one") {
    Driver d("llama-3-8b-fsdp");
    const std::filesystem::path folder = kGolden / "measured" / "run2602-03";
    open_plan_of(d, folder);
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".gz") d.shell.open_file(entry.path());
    d.until(
        [&] { return !d.shell.works_beside() && d.shell.screen().run && d.shell.screen().run->measured; });
    CHECK(d.shell.screen().run->files.size() == 4);
    CHECK(read_real_run({folder}, d.plan(), d.presets).files.size() == 4);
}

TEST_CASE("what is no run says what it is, and what is a run is not taken for settings") {
    const test::Folder folder;
    folder.put("train.sh", "torchrun pretrain_gpt.py --tensor-model-parallel-size 4 --num-layers 32\n");
    folder.put("empty/readme.txt", "nothing here");
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Plan plan = presets.plan("llama-3-8b-fsdp");
    const auto refusal = [&](const std::filesystem::path& path) {
        try {
            static_cast<void>(read_real_run({path}, plan, presets));
        } catch (const Error& e) {
            return e.message();
        }
        return std::string();
    };
    CHECK(refusal(folder.path / "train.sh").find("these are settings (megatron") != std::string::npos);
    CHECK(refusal(folder.path / "empty").find("no dumps") != std::string::npos);
    CHECK(is_run_place(folder.path));
    CHECK_FALSE(is_run_place(folder.path / "train.sh"));
    CHECK(is_run_place(kGolden / "runs" / "gpu_error_1st" / "_dump_3.gz"));
    // The dialog reads what it is given, and the window says why not.
    Driver d("llama-3-8b-fsdp", {1600, 900}, 1, folder.path / "config", folder.path);
    run_command(d, "open a run");
    REQUIRE(d.shell.dialog() == DialogKind::run);
    d.type((folder.path / "train.sh").string());
    REQUIRE(d.click("dialog.ok"));
    d.until([&] { return !d.shell.works_beside() && !d.shell.message().empty(); });
    CHECK(d.shell.message().find("these are settings") != std::string::npos);
    CHECK(d.shell.screen().run == nullptr);
}

TEST_CASE(
    "the folder of a run is opened by its path: Enter and the button do the same, with a / or without") {
    const test::Folder folder;
    for (const bool slash : {false, true})
        for (const bool button : {false, true}) {
            CAPTURE(slash);
            CAPTURE(button);
            Driver d("llama-3-8b-fsdp", {1600, 900}, 1, folder.path / "config", folder.path);
            run_command(d, "hang");
            REQUIRE(d.shell.dialog() == DialogKind::run);
            d.press({.key = Key::a, .ctrl = true});
            d.type((kGolden / "runs" / "gpu_error_1st").string() + (slash ? "/" : ""));
            if (button)
                REQUIRE(d.click("dialog.ok"));
            else
                d.press({Key::enter});
            d.until([&] { return !d.shell.works_beside() && d.shell.screen().run != nullptr; });
            CHECK(d.shell.dialog() == DialogKind::none);
            CHECK(d.shell.screen().run->name == "gpu_error_1st");
        }
    // The button says of a folder that only a file serves, if that is so.
    Driver d("llama-3-8b-fsdp", {1600, 900}, 1, folder.path / "config", folder.path);
    run_command(d, "open…");
    REQUIRE(d.shell.dialog() == DialogKind::open);
    REQUIRE(d.click("dialog.ok"));
    CHECK(d.shell.dialog_error().find("folder") != std::string::npos);
}

TEST_CASE("reading can be cancelled, and the window goes on") {
    const test::Folder folder;
    // A trace that takes a while: the events repeat.
    std::string text = R"({"distributedInfo":{"rank":0,"world_size":8},"traceEvents":[)";
    for (int i = 0; i < 400000; ++i)
        text += R"({"ph":"X","cat":"kernel","name":"gemm","ts":)" + std::to_string(i * 10) + R"(,"dur":5},)";
    text += R"({"ph":"X","cat":"kernel","name":"gemm","ts":1,"dur":1}]})";
    folder.put("rank0.json", text);
    Driver d("llama-3-8b-fsdp");
    d.shell.open_file(folder.path / "rank0.json");
    d.frame(), d.frame(), d.frame();
    REQUIRE(d.drawn("run.cancel"));
    d.click("run.cancel");
    CHECK(d.shell.message().find("not read to its end") != std::string::npos);
    d.until([&] { return !d.shell.works_beside(); });
    CHECK(d.shell.screen().run == nullptr);
    CHECK_FALSE(d.drawn("run.cancel"));
}

TEST_CASE("a trace has a row below the predicted timeline, and its calls stand beside the plan's") {
    Driver d("llama-3-8b-fsdp");
    const std::filesystem::path folder = kGolden / "measured" / "run2602-00";
    open_plan_of(d, folder);
    open_and_wait(d, folder / "rank42.pt.trace.json.gz");
    d.until([&] { return d.shell.screen().run->measured != nullptr; });
    const runs::RunFile& file = d.shell.screen().run->files.front();
    double busy = 0, end = 0;
    for (const runs::PartSpan& s : file.spans) {
        CHECK(s.begin_s >= end - 1e-9);
        busy += s.end_s - s.begin_s, end = s.end_s;
    }
    // Its steps are nearly the same: the first is busy for as long as all are in the mean.
    const double idle = file.parts[runs::RunPart::idle]->measured_s;
    CHECK(busy == near(file.step_s - idle, 0.05));
    d.shell.show_full(ViewId::timeline);
    CHECK(shows(d, "rank 42"));
    d.shell.show_full(ViewId::comm);
    CHECK(shows(d, "measured"));
    REQUIRE(d.click("comm.part", CommViewState::kParts - 1));
    CHECK(d.shell.views().comm.part == CommViewState::kMeasured);
    CHECK(shows(d, "assumed"));
    CHECK(d.click("comm.measured", 0));
}

TEST_CASE("the list of a hang scrolls where the window is low") {
    Driver d("llama-3-8b-fsdp", {1280, 600});
    open_and_wait(d, kGolden / "runs" / "gpu_error_1st");
    const auto thumb = d.shell.ui_state().rect_of("run.list.thumb");
    REQUIRE(thumb);
    d.drag(thumb->center(), thumb->center() + Vec2{0, 200});
    const ScrollState& list = d.shell.views().mesh.run_list;
    CHECK(list.at == list.most);  // the mouse went beyond the list's end
}

TEST_CASE("a log with settings opens as a run, and its settings are a press away") {
    const test::Folder folder;
    std::string log = "------------------------ arguments ------------------------\n"
                      "  tensor_model_parallel_size ...................... 8\n"
                      "  pipeline_model_parallel_size .................... 4\n"
                      "  num_layers ...................................... 80\n"
                      "  hidden_size ..................................... 8192\n"
                      "  num_attention_heads ............................. 64\n"
                      "  seq_length ...................................... 8192\n"
                      "  micro_batch_size ................................ 1\n"
                      "  global_batch_size ............................... 128\n"
                      "  world_size ...................................... 64\n"
                      "-------------------- end of arguments ---------------------\n";
    const std::string settings = log;
    for (int i = 1; i < 9; ++i)
        log += " iteration        " + std::to_string(i)
               + "/     100 | elapsed time per iteration (ms): 8125.0 | global batch size: 128 |\n";
    folder.put("train.log", log);
    // The steps of this one come later than what is looked at first.
    folder.put("late.log", settings + std::string(std::size_t{1} << 19U, '\n') + log.substr(settings.size()));
    Driver d("llama-3-8b-fsdp");
    open_and_wait(d, folder.path / "train.log");
    d.until([&] { return d.shell.screen().run->measured != nullptr; });
    CHECK(*d.shell.screen().run->measured->measured_s == near(8.125, 1e-6));
    REQUIRE(d.click("run.settings"));
    d.settle();
    REQUIRE(d.drawn("import.open"));
    REQUIRE(d.click("import.cancel"));
    run_id(d, "run.close");
    d.shell.open_file(folder.path / "late.log");
    d.settle();
    REQUIRE(d.drawn("import.open"));
    CHECK(shows(d, "It says the times of its steps too"));
    REQUIRE(d.click("import.steps"));
    d.until([&] { return !d.shell.works_beside() && d.shell.screen().run != nullptr; });
    CHECK(d.shell.screen().run->name == "late.log");
}

TEST_CASE("a part of the measured step is the same part of the predicted one, in Step and in the timeline") {
    Driver d("llama-3-8b-fsdp", {1600, 1000});
    const std::filesystem::path folder = kGolden / "measured" / "run2602-00";
    open_plan_of(d, folder);
    open_and_wait(d, folder / "rank42.pt.trace.json.gz");
    d.until([&] { return d.shell.screen().run->measured != nullptr; });
    d.shell.show_full(ViewId::step);
    d.settle();
    const std::vector<runs::PartRow> parts = d.shell.screen().run->measured->parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const runs::RunPart part = parts[i].part;
        if (part == runs::RunPart::memory || part == runs::RunPart::unnamed) continue;
        CAPTURE(pentamesh::name_of(part));
        REQUIRE(d.click("step.measured", static_cast<int>(i)));
        CHECK(d.shell.selection().topic == Selection::Topic::step);
        const auto& s = d.shell.selection();
        CHECK(run_part_of(*d.shell.screen().run, static_cast<StepPart>(s.step_part), s.group) == part);
    }
    // A press on the first kernel of the row below the timeline selects compute.
    d.shell.show_full(ViewId::timeline);
    d.settle();
    const auto row = d.shell.ui_state().rect_of("timeline.measured", 0);
    REQUIRE(row);
    const auto& spans = d.shell.screen().run->files.front().spans;
    const auto kernel = std::max_element(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
        return (a.part == runs::RunPart::compute ? a.end_s - a.begin_s : 0)
               < (b.part == runs::RunPart::compute ? b.end_s - b.begin_s : 0);
    });
    const double whole = std::max(d.shell.views().timeline.shown->whole_s(d.shell.evaluation()),
                                  d.shell.screen().run->files.front().step_s);
    const double at = (kernel->begin_s + kernel->end_s) / 2 / whole;
    d.click_at({row->x + row->w * static_cast<float>(at), row->center().y});
    CHECK(d.shell.selection().topic == Selection::Topic::step);
    CHECK(static_cast<StepPart>(d.shell.selection().step_part) == StepPart::compute);
}

TEST_CASE("a rank that is picked on the mesh brings its entry of the list into sight") {
    Driver d("llama-3-8b-fsdp", {1280, 600});
    open_and_wait(d, kGolden / "runs" / "gpu_error_1st");
    d.shell.show_full(ViewId::mesh);
    d.settle();
    const runs::Hang& hang = d.shell.screen().run->hang->hang;
    REQUIRE_FALSE(hang.waiting.empty());
    const auto calls = waiting_by_call(hang);
    const std::int64_t rank = calls.back().who.front();
    const auto has = [&](const runs::WaitingCall& w) {
        return std::ranges::find(w.who, rank) != w.who.end()
               || std::ranges::find(w.whom, rank) != w.whom.end();
    };
    const auto entry = static_cast<std::uint64_t>(std::ranges::find_if(calls, has) - calls.begin());
    d.shell.selection().pick_rank(rank);
    d.settle();
    const auto place = d.shell.ui_state().rect_of("run.waiting", entry);
    REQUIRE(place);
    CHECK(place->y >= 0);
    CHECK(place->bottom() <= 600);
}

TEST_CASE("a review from the window has the open run beside its estimate") {
    const test::Folder folder;
    Driver d("llama-3-8b-fsdp", {1600, 900}, 1, {}, folder.path);
    const std::filesystem::path run = kGolden / "measured" / "run2602-00";
    open_plan_of(d, run);
    open_and_wait(d, run / "rank42.pt.trace.json.gz");
    d.until([&] { return d.shell.screen().run->measured != nullptr; });
    run_command(d, "export review");
    d.settle();
    REQUIRE(d.click("review.file"));
    d.settle();
    REQUIRE(d.click("dialog.ok"));
    d.settle();
    REQUIRE(d.reviews.size() == 1);
    REQUIRE(d.reviews.back().first.run != nullptr);
    CHECK(d.reviews.back().first.run->measured_s == d.shell.screen().run->measured->measured_s);
}

TEST_CASE("a group that stands still with all its ranks is marked on the mesh, and a press selects them") {
    const test::Folder folder;
    for (int r = 0; r < 8; ++r) folder.put("_dump_" + std::to_string(r), test::stuck_dump(r));
    Driver d("llama-3-8b-fsdp");
    open_and_wait(d, folder.path);
    CHECK(shows(d, "Stuck: all are there and nothing moves"));
    CHECK(shows(d, "stuck"));
    REQUIRE(d.click("run.stuck"));
    CHECK(d.shell.selection().ranks == std::vector<std::int64_t>{0, 2, 4, 6});
    const HangShown& shown = *d.shell.views().mesh.hang;
    for (std::size_t r = 0; r < 8; ++r)
        CHECK(shown.role[r] == (r % 2 == 0 ? RunRole::stuck : RunRole::waits));
    CHECK(shown.has_arrows == std::vector<bool>{true});
}

TEST_CASE("of few that wait all have arrows, and a call is selected by its ranks") {
    Driver d("llama-3-8b-fsdp");
    open_and_wait(d, kGolden / "runs" / "gpu_error_1st");
    const HangShown shown = *d.shell.views().mesh.hang;
    CHECK(shown.has_arrows == std::vector<bool>(shown.calls.size(), true));
    Selection selection;
    CHECK(picked_call(shown, selection) == nullptr);
    selection.topic = Selection::Topic::ranks;
    selection.ranks = ranks_of(shown.calls.back());
    const runs::WaitingCall* const picked = picked_call(shown, selection);
    REQUIRE(picked != nullptr);
    CHECK(ranks_of(*picked) == selection.ranks);
}

TEST_CASE("of thousands that wait those have arrows who wait for the one to blame") {
    Driver d("llama-3-8b-fsdp");
    auto run = std::make_shared<RealRun>();
    run->hang = std::make_shared<const runs::HangRun>(runs::hang_of(large_job(2048), nullptr, d.presets));
    d.shell.open_plan(run->hang->plan);
    Screen screen = d.shell.screen();
    screen.run = run;
    d.shell.show(screen);
    d.settle();
    REQUIRE(d.shell.views().mesh.hang != nullptr);
    const HangShown& shown = *d.shell.views().mesh.hang;
    REQUIRE(shown.calls.size() == 2);
    CHECK(shown.calls[0].whom == std::vector<std::int64_t>{13});
    CHECK(shown.calls[1].who.size() == 2040);
    CHECK(shown.has_arrows == std::vector<bool>{true, false});
    CHECK(shows(d, "Those with a line have arrows"));
    CHECK(shown.role[13] == RunRole::blamed);
}
