// The page of the mesh that folds the ranks as a ribbon.
#include "app/ui/shell/lesson_sheet.h"
#include "tests/ui/press.h"

#include "core/base/text.h"
#include "core/evaluate.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

void open_fold(Driver& d) {
    d.press({.key = Key::n2});
    REQUIRE(d.click("mesh.which", d.shell.evaluation().mesh.has_experts ? 3 : 1));
    d.rest();
    REQUIRE(d.shell.views().mesh.folds);
}

}  // namespace

TEST_CASE("the ranks are a ribbon that each factor folds, with what its wires send and wait") {
    Driver d("mesh-8", {1440, 900});
    open_fold(d);
    CHECK(says(d, "the ribbon: 8 ranks"));
    CHECK(says_just(d, "fold every 2"));
    CHECK(says_just(d, "again every 2"));
    CHECK(says_just(d, "what is left"));
    const Evaluation& e = d.shell.evaluation();
    CHECK(says_just(d, bytes_text(e.comm.by_axis[GroupKind::tp].sent_bytes_per_rank, Zeros::kept)));
    CHECK(says_just(d, time_text(e.comm.by_axis[GroupKind::tp].time_s, Zeros::kept)));
    CHECK(says_just(d, time_text(e.step->time_s, Zeros::kept)));
    CHECK(says(d, "hatched: a copy"));  // dp_replicate
    CHECK_FALSE(says(d, "was "));
    REQUIRE(d.click("mesh.which", 0));
    CHECK_FALSE(d.shell.views().mesh.folds);
    CHECK(d.drawn("mesh.cells"));
}

TEST_CASE("beside a pinned plan of another order each piece says where it lay") {
    Driver d("mesh-8", {1600, 900});
    run_id(d, "edit.pin");
    Plan p = d.plan();
    p.layout.order = {Axis::dp_shard, Axis::dp_replicate, Axis::cp, Axis::ep, Axis::pp, Axis::tp};
    d.shell.edit_plan(p, "order");
    d.rest();
    open_fold(d);
    CHECK(says(d, "A, before"));
    // Rank 1 has now what rank 2 had: the second share of dp_shard, the first of tp.
    CHECK(says_just(d, "was 2"));
    CHECK(says_just(d, "was 5"));
    CHECK_FALSE(says_just(d, "was 0"));
    CHECK_FALSE(says_just(d, "was 7"));
    CHECK(says_just(d, time_text(d.shell.evaluation().step->time_s, Zeros::kept)));
}

TEST_CASE("after an edit the fold says for two seconds what was, and its pieces come from where they lay") {
    for (const bool reduced : {false, true}) {
        CAPTURE(reduced);
        Driver d("mesh-8", {1600, 900});
        if (reduced) run_id(d, "view.reduced_motion");
        open_fold(d);
        d.press({Key::backslash});
        REQUIRE(d.click("layout.tp.plus"));  // tp 2 to 4 takes dp_shard's two
        REQUIRE(d.plan().layout.tp == 4);
        CHECK(says_just(d, "was 2"));
        CHECK(says(d, "dp_shard was 2"));
        d.time_s += 2.5;
        d.settle();
        CHECK(says_just(d, "was 2") == reduced);  // with reduced motion it stays four seconds
        d.time_s += 2;
        d.settle();
        CHECK_FALSE(says_just(d, "was 2"));
        CHECK_FALSE(says(d, "dp_shard was"));
    }
    Driver d("mesh-8", {1600, 900});
    open_fold(d);
    Plan p = d.plan();
    p.layout.order = {Axis::dp_shard, Axis::dp_replicate, Axis::cp, Axis::ep, Axis::pp, Axis::tp};
    d.shell.edit_plan(p, "order");
    d.settle();
    CHECK(says_just(d, "was 5"));
    CHECK_FALSE(says_just(d, "was 7"));  // the last rank keeps its piece
    d.time_s += 3;
    d.settle();
    CHECK_FALSE(says_just(d, "was 5"));
}

TEST_CASE("the handout's folds before and after say each word whole") {
    const std::filesystem::path tree(SOURCE_DIR);
    const Presets presets(tree / "presets");
    const Lesson lesson = read_lesson(tree / "assets" / "lessons" / "00-five-cuts.md").lesson;
    const auto at = std::ranges::find(lesson.steps, "The fold", &LessonStep::title);
    REQUIRE(at != lesson.steps.end());
    const StepSheet sheet = sheet_of(lesson, static_cast<std::size_t>(at - lesson.steps.begin()),
                                     presets.plan("mesh-8"), presets);
    const StepPictures pictures = pictures_of(sheet, presets);
    REQUIRE(pictures.answered.size() == 1);  // the fold has both
    PictureRequest request = pictures.answered[0].request;
    std::vector<TextRun> runs;
    request.text_runs = &runs;
    (void)make_picture(presets, pictures.answered[0].plan, request, "png", find_fonts(tree / "assets"));
    int again = 0;
    for (const TextRun& run : runs) {
        CHECK_MESSAGE(!run.text.ends_with("…"), run.text);
        again += run.text == "again every 2";
    }
    CHECK(again == 2);  // before, and after
    const auto says_it = [&](std::string_view words) {
        return std::ranges::any_of(runs, [&](const TextRun& run) { return run.text == words; });
    };
    CHECK(says_it("was 2"));  // rank 1 has what rank 2 had
    CHECK(says_it("was 5"));
}

TEST_CASE("expert parallelism folds the same ranks anew, and the two folds stand side by side") {
    Driver d("mixtral-8x7b-ep", {1600, 900});
    open_fold(d);
    CHECK(says_just(d, "the dense layers"));
    CHECK(says_just(d, "the same ranks, for the experts"));
    CHECK(says(d, "ep " + std::to_string(d.shell.evaluation().groups[GroupKind::ep].degree)));
    Driver many("llama-3.1-405b-16k", {1440, 900});
    open_fold(many);
    CHECK(says(many, "A GROUP OF EACH AXIS, OF RANK 0"));
    CHECK(says_just(many, "8"));       // the second stage's first GPU
    CHECK(says_just(many, "16,256"));  // dp_shard's last
    CHECK(says(many, "more"));
}
