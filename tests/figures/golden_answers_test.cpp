// Holds what the engine reads and writes (settings of trainers, measured links, runs), and the answers of
// lessons, against tests/golden/figures.
#include "core/base/files.h"
#include "core/evaluate.h"
#include "core/interop/export.h"
#include "core/interop/fabric_text.h"
#include "core/interop/import.h"
#include "core/io/hf_families.h"
#include "core/io/plan_json.h"
#include "core/runs/calibrate.h"
#include "core/runs/hang.h"
#include "core/runs/measured.h"
#include "core/runs/run_layout.h"
#include "core/teach/hand_in.h"
#include "core/teach/lesson.h"
#include "tests/asked.h"
#include "tests/core/shipped_lessons.h"
#include "tests/figures/figures.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::test;
namespace fs = std::filesystem;

namespace {

// A refusal is an answer, too.
template <typename Ask>
void put_or_refusal(Figures& f, const Ask& ask) {
    try {
        ask();
    } catch (const std::exception& e) {
        f.put("refused", std::string_view(e.what()));
    }
}

// Names of settings; where one goes, and why not.
std::string listed(const std::vector<interop::Listed>& list) {
    std::string out;
    for (const interop::Listed& l : list) {
        if (!out.empty()) out += "; ";
        out += std::to_string(l.line) + " " + l.setting + "=" + l.value;
        if (!l.path.empty()) out += " " + l.path;
        if (!l.why.empty()) out += " (" + l.why + ")";
    }
    return out;
}

void put_settings(Figures& f, const interop::SettingLists& s) {
    f.put("mapped", listed(s.mapped)), f.put("unmapped", listed(s.unmapped));
    f.put("ignored", listed(s.ignored)), f.put("not known", listed(s.not_known));
}

void put_import(Figures& f, const interop::ImportRequest& r) {
    f.about(r.path);
    put_or_refusal(f, [&] {
        const interop::Import made = interop::import_settings(r, presets());
        f.put("kind", made.kind);
        if (made.plan) f.put("plan", *made.plan);
        put_settings(f, made.settings);
        f.put("problems", made.problems), f.put("hosts", made.hosts), f.put("recipes", made.recipes);
    });
}

}  // namespace

TEST_CASE("golden figures of imports") {
    Figures f("imports");
    const nlohmann::json golden = nlohmann::json::parse(read_file(GOLDEN_DIR "/interop.json"));
    for (const nlohmann::json& c : golden["cases"]) {
        interop::ImportRequest r;
        r.text = c["text"], r.path = c["id"];
        if (c.contains("gpus") && c["gpus"].is_number()) r.gpus = c["gpus"];
        if (c.contains("model") && c["model"].is_string()) r.model = c["model"];
        put_import(f, r);
    }
    for (const fs::path& file : files_in("tests/fuzz/seeds/import")) {
        interop::ImportRequest r;
        r.text = read_file(file.string()), r.path = file.filename().string();
        put_import(f, r);
    }
    CHECK(f.differing() == 0);
}

TEST_CASE("golden figures of exports") {
    Figures f("exports");
    const nlohmann::json golden = nlohmann::json::parse(read_file(GOLDEN_DIR "/interop.json"));
    for (const auto& item : golden["plans"].items()) {
        const Plan p = parse_plan(item.value().dump(), item.key(), presets());
        f.about(item.key());
        put_or_refusal(f, [&] {
            for (const interop::Tool* tool : interop::written_tools()) {
                const interop::Export made = interop::export_plan(p, tool->name, presets());
                const std::string label(tool->name);
                f.put_text(label, made.text);
                f.put(label + ", lost", made.lost), f.put(label + ", refused", made.refused);
                f.put(label + ", notes", made.notes);
            }
        });
    }
    CHECK(f.differing() == 0);
}

TEST_CASE("golden figures of configs and fabrics") {
    Figures f("files");
    for (const fs::path& file : files_in(GOLDEN_DIR "/hf_configs")) {
        f.about(file.stem().string());
        put_or_refusal(f, [&] {
            Plan p;
            const std::string text = read_file(file.string());
            p.model = model_from_hf(std::string_view(text), file.filename().string());
            f.put("model", p);
            f.put("parameters", count_parameters(p.model));
        });
    }
    const Cluster cluster = presets().cluster("h100-sxm-ib");
    for (const fs::path& file : files_in("tests/fuzz/seeds/fabric")) {
        const std::string text = read_file(file.string());
        const auto tool = interop::fabric_tool(text);
        REQUIRE(tool);
        const interop::FabricReading reading = interop::read_fabric(*tool, text, "-", cluster);
        f.about(file.stem().string());
        f.put("edits", reading.edits), put_settings(f, reading.settings);
        f.put("problems", reading.problems), f.put("summary", reading.summary);
    }
    CHECK(f.differing() == 0);
}

TEST_CASE("golden figures of lessons") {
    Figures f("lessons");
    for (const fs::path& file : files_in("assets/lessons")) {
        if (file.extension() != ".md" || file.parent_path().filename() == "courses") continue;
        const Lesson lesson = parse_shipped(file).lesson;
        f.about(file.stem().string());
        for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
            const LessonStep& step = lesson.steps[i];
            const Plan p = plan_shown(lesson, i, presets().plan("mesh-8"), presets());
            const Evaluation e = evaluate(p);
            const std::string label = "step " + std::to_string(i + 1);
            if (step.words.find("{{") != std::string::npos) f.put(label, expand(step.words, p, e, presets()));
            if (step.task) f.put(label + ", task", judge_task(*step.task, p, p, e, presets()));
            if (!step.question) continue;
            const Solution s = solve(*step.question, p, e, presets());
            f.put(label + ", solution", s);
            f.put(label + ", answer", answer_words(*step.question, s));
            f.put(label + ", hidden", hide_answer(step, s, step.words, p, e, presets()));
        }
    }
    CHECK(f.differing() == 0);
}

TEST_CASE("golden figures of runs") {
    Figures f("runs");
    const Plan plan = presets().plan("llama-3-8b-fsdp");
    const Mesh mesh = build_mesh(plan);
    for (const fs::path& file : files_in("tests/fuzz/seeds/run_file")) {
        f.about(file.filename().string());
        put_or_refusal(f, [&] {
            std::vector<runs::RunFile> files{runs::read_run_file(file, runs::parts_by(&mesh))};
            f.put("file", files.front());
            const runs::Measured m = runs::measure(files, &plan, presets());
            f.put("predicted", m.predicted_s), f.put("measured", m.measured_s), f.put("parts", m.parts);
            f.put("collectives", m.collectives), f.put("links", m.links), f.put("problems", m.problems);
            f.put("summary", m.summary);
        });
    }
    for (const char* folder : {"gpu_error_1st", "lock_gil_1st", "lock_gil_2nd"}) {
        const runs::HangRun r = runs::read_hang(fs::path(GOLDEN_DIR "/runs") / folder, nullptr, presets());
        f.about(folder);
        // The numbers of groups are given as threads meet them, so they are no answer.
        f.put("plan", r.plan), f.put("verdict", r.hang.verdict), f.put("missing", r.hang.missing);
        f.put("held up", r.hang.held_up), f.put("warnings", r.hang.warnings);
        std::vector<std::string> culprits, waiting;
        for (const runs::Culprit& c : r.hang.culprits) culprits.push_back(runs::culprit_words(r, c, Hosts{}));
        for (const runs::WaitingCall& w : runs::waiting_by_call(r.hang))
            waiting.push_back(runs::waiting_words(r, w));
        f.put("culprits", culprits), f.put("waiting", waiting);
    }
    std::vector<MeasuredRun> all = read_measured_file("presets/published_runs.json", presets());
    std::erase_if(all,
                  [](const MeasuredRun& r) { return r.plan.cluster.gpu.id != "h100-sxm" || !r.has_time(); });
    all.resize(4);
    const Calibrated made = calibrate(all, {}, all.front().plan.cluster, "these");
    f.about("calibration");
    f.put("constants", made.constants), f.put("runs", made.runs), f.put("links", made.links);
    f.put("before", made.before), f.put("after", made.after), f.put("left out", made.left_out);
    CHECK(f.differing() == 0);
}
