// Tests design reviews: the content of the pages.
#include "app/tables/decide_tables.h"
#include "app/tables/plan_tables.h"
#include "app/tables/review.h"
#include "app/ui/kit/format.h"
#include "app/ui/review/pages.h"
#include "app/ui/review/review.h"
#include "app/ui/views/search/search_found.h"
#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/decide/choose.h"
#include "core/decide/compare.h"
#include "core/decide/decision.h"
#include "core/decide/search.h"
#include "core/decide/why_not.h"
#include "core/io/plan_json.h"
#include "core/memory/memory_costs.h"
#include "core/plan/names.h"
#include "core/rules/software_runs.h"
#include "render/page.h"
#include "render/png.h"
#include "tests/random_plans.h"
#include "tests/sanitized.h"
#include "tests/ui/review_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <regex>
#include <set>

namespace pentamesh::ui {

namespace {

// A cut text ends with the mark at once; a list that goes on has a blank before it: "layers 0, 31–32, …".
bool has_cut_text(const std::string& text) {
    return std::regex_search(text, std::regex("[^ ]…"));
}

}  // namespace

TEST_CASE("the pages of a review have every cell of the window's tables, and cut none") {
    const Plan plan = shipped().plan("llama-3-70b-3d");
    const Evaluation e = assess(plan);
    REQUIRE(e.step);
    for (const PaperKind paper : {PaperKind::slide, PaperKind::a4, PaperKind::letter}) {
        CAPTURE(name_of(paper));
        ReviewRequest request;
        request.paper = paper;
        const std::string text = joined(text_of({plan}, request));
        for (const Table& t : {columns_of(memory_table(e.memory), {"parameters", "gradients", "optimizer",
                                                                   "activations", "buffers", "total"}),
                               columns_of(headroom_table(e.memory), {"free", "free_share"}),
                               axes_traffic_table(e), links_traffic_table(plan, e)})
            for (const auto& row : worded(t).rows)
                for (const Cell& cell : row) {
                    CAPTURE(cell.text());
                    CHECK(has(text, cell.text()));
                }
        for (const StepSlice& s : waterfall(*e.step))
            CHECK(has(text, time_text(s.time_s, Zeros::kept) + "  " + percent(s.time_s / e.step->time_s)));
        CHECK_FALSE(has_cut_text(text));
    }
}

TEST_CASE(
    "numbers that come about in the same way are one entry, and what they have in common is said once") {
    ReviewRequest request;
    request.pages = {ReviewPage::assumptions};
    const std::string text = joined(text_of(plans_of({"llama-3-70b-3d"}), request));
    CHECK(has(text, "tp sends, activations before attention; activations"));
    CHECK_FALSE(has(text, "; tp sends"));
}

TEST_CASE("a table that goes on has its head on each page, and each page its number, version and checksum") {
    const std::vector<Plan> plans = plans_of({"gpt-1t-a100"});  // 64 stages
    ReviewRequest request;
    request.pages = {ReviewPage::memory};
    const std::vector<TextRun> runs = text_of(plans, request);
    const std::string sum = sha256_of(write_plan(plans[0])).substr(0, 12);
    std::size_t heads = 0, stages = 0, pages = 0;
    for (const TextRun& r : runs) {
        heads += r.text == "parameters" ? 1 : 0;
        stages += r.text == "stage" ? 1 : 0;
        pages += has(r.text, PENTAMESH_VERSION) && has(r.text, sum) ? 1 : 0;
    }
    CHECK(pages >= 5);
    CHECK(heads >= 4);  // the legend's, and the table's on each of its pages
    CHECK(stages + 1 >= heads);
    for (std::size_t p = 1; p <= pages; ++p) {
        const bool numbered = std::any_of(runs.begin(), runs.end(), [&](const TextRun& r) {
            return r.text == std::to_string(p);  // the count of pages is not known yet in this pass
        });
        CHECK(numbered);
    }
}

TEST_CASE(
    "a slide has all that was tried, what waits of each axis, and a mark for each of the experts' axes") {
    const std::vector<Plan> plans = plans_of({"deepseek-v3-2048"});
    ReviewRequest request;
    request.pages = {ReviewPage::summary, ReviewPage::communication};
    const std::vector<TextRun> runs = text_of(plans, request);
    const std::string text = joined(runs);
    const std::vector<SearchResult> tried =
        best_of_each_edit(plans[0], {.headroom = kept_free(evaluate(plans[0]).memory)});
    CHECK(tried.size() > 5);  // more than the first page has room for
    for (const SearchResult& r : tried) {
        CAPTURE(change_words(plans[0], r.choice));
        CHECK(has(text, pentamesh::memory_text(r.memory_bytes, Zeros::kept)));
    }
    const Evaluation e = assess(plans[0]);
    const AxisTraffic& ep = e.comm.by_axis[GroupKind::ep];
    const auto times = [&](const std::string& words) {
        return std::ranges::count_if(runs, [&](const TextRun& r) { return r.text == words; });
    };
    // The end of the band that hides, and the table of axes with what waits.
    CHECK(times(time_text(ep.time_s - ep.exposed_s, Zeros::kept)) >= 1);
    CHECK(times(time_text(ep.exposed_s, Zeros::kept)) >= 1);
    // The strip, its legend, the names next to the mesh, and the traffic.
    for (const char* name : {"ep 64", "edp 2"}) CHECK(times(name) == 4);
}

TEST_CASE("with one figure or table on a page each heading is a page's title, and nothing is left out") {
    const std::vector<Plan> plans = plans_of({"llama-3-70b-3d", "hsdp-64"});
    ReviewRequest request;
    request.pages = review_pages_named("all");
    const std::vector<TextRun> dense = text_of(plans, request);
    request.one_a_page = true;
    const std::vector<TextRun> apart = text_of(plans, request);
    const auto pages = [](const std::vector<TextRun>& runs) {
        return std::ranges::count_if(runs,
                                     [](const TextRun& r) { return has(r.text, "sha256 of the plans"); });
    };
    CHECK(pages(apart) >= pages(dense) + 3);
    const float top = request.page().margin + 1.5f * request.page().title;
    for (const char* head :
         {"By stage and category", "What leaves the headroom", "Groups by link, and the loss of a node",
          "The pipeline in one step", "Every collective", "Why"}) {
        CAPTURE(head);
        CHECK(std::ranges::any_of(apart, [&](const TextRun& r) { return r.text == head && r.at.y < top; }));
    }
    const std::string text = flat(joined(apart));
    // Figures have other labels at another size; the tables have each cell.
    const Evaluation e = assess(plans[0]);
    for (const Table& t : {columns_of(memory_table(e.memory), {"parameters", "gradients", "optimizer",
                                                               "activations", "buffers", "total"}),
                           columns_of(headroom_table(e.memory), {"free", "free_share"}),
                           axes_traffic_table(e), links_traffic_table(plans[0], e)})
        for (const auto& row : worded(t).rows)
            for (const Cell& cell : row) {
                CAPTURE(cell.text());
                CHECK(has(text, cell.text()));
            }
    CHECK_FALSE(has_cut_text(text));
}

TEST_CASE("a figure of a report stands whole on its one page, for one stage and for 600") {
    Plan many = shipped().plan("gpt-1t-a100");
    many.model.layers = 600, many.layout.pp = 600, many.layout.virtual_stages = 1;
    many.layout.schedule = Schedule::one_f_one_b;
    many.cluster.gpus = 600 * many.layout.tp;
    many.layout.dp_shard = 1, many.layout.dp_replicate = 1;
    std::vector<Plan> plans = plans_of({"llama-3-8b-fsdp", "mesh-8", "gpt-1t-a100"});
    plans.push_back(many);
    for (const Plan& plan : plans) {
        const Evaluation e = assess(plan);
        CAPTURE(e.memory.stage.size());
        REQUIRE(e.valid);
        const std::string svg = report_figure(shipped(), plan, e, ReportFigure::memory, review_fonts());
        CHECK_FALSE(has(svg, "continued"));
        const auto first = svg.find(">parameters<");
        CHECK(first != std::string::npos);
        CHECK(svg.find(">parameters<", first + 1) == std::string::npos);
    }
}

TEST_CASE("type of a slide is 2 % of its height, the least of a view 1.7, and nothing is beyond its edges") {
    for (const char* name : {"mesh-8", "deepseek-v3-2048", "gpt-1t-a100", "llama-3.1-405b-16k"}) {
        CAPTURE(name);
        const std::vector<Plan> plans = plans_of({name});
        const std::string page = make_review(shipped(), plans, {}, ReviewForm::html, review_fonts())[0].bytes;
        // A view stands in a group that is moved and enlarged.
        const std::regex text(
            R"re(<text x="(-?[0-9.]+)" y="(-?[0-9.]+)" font-size="([0-9.]+)"[^>]*?(?: textLength="([0-9.]+)")?[^>]*>|<g transform="translate\(([0-9.]+) ([0-9.]+)\) scale\(([0-9.]+)\)">|(</g>))re");
        std::size_t seen = 0, views = 0;
        double x = 0, y = 0, scale = 1;
        for (std::sregex_iterator it(page.begin(), page.end(), text), end; it != end; ++it) {
            const auto number = [&](std::size_t i) { return parse_double((*it)[i].str()).value_or(0); };
            if ((*it)[8].matched) {
                x = y = 0, scale = 1;
            } else if ((*it)[7].matched) {
                x = number(5), y = number(6), scale = number(7);
                ++views;
            } else {
                const double least = scale == 1 ? 14.4 : 14.4 * 11.0 / 13;
                CHECK(number(3) * scale >= least - 0.01);
                CHECK(x + number(1) * scale >= 0);
                CHECK(x + (number(1) + number(4)) * scale <= 1280);
                CHECK(y + number(2) * scale <= 720);
                ++seen;
            }
        }
        CHECK(seen > 200);
        CHECK(views >= 2);
    }
}

TEST_CASE("an impossible plan has a review that says so on each page, and no figures") {
    Plan plan = shipped().plan("llama-3-70b-3d");
    plan.layout.tp = 7;
    const std::regex figure(R"(\d (s|ms|GiB|MiB|tokens/s)( |,|\.|$))");
    ReviewRequest request;
    request.pages = {ReviewPage::placement, ReviewPage::memory, ReviewPage::time, ReviewPage::communication};
    const std::vector<TextRun> runs = text_of({plan}, request);
    std::size_t pages = 0, banners = 0;
    for (const TextRun& r : runs) {
        CAPTURE(r.text);
        CHECK_FALSE(std::regex_search(r.text, figure));
        pages += has(r.text, "sha256 of the plan") ? 1 : 0;
        banners += has(r.text, "This plan is impossible") ? 1 : 0;
    }
    CHECK(pages >= 4);
    CHECK(banners == pages);
    // The first page says what mends it, and what it would be then: figures of that plan's own report.
    const std::optional<MendedPlan> mended = mended_plan(plan);
    REQUIRE(mended);
    const Evaluation then = assess(mended->plan);
    REQUIRE(then.step);
    const std::string text = joined(text_of({plan}));
    CHECK(has(text, "It cannot be built as it is. With tp = "));
    CHECK(has(text, time_text(then.step->time_s, Zeros::kept)));
    CHECK_FALSE(has(text, "Assumptions"));  // none bears on a figure of it
}

TEST_CASE("parts of bars have hatches and are named in a legend; no page says that there is nothing") {
    ReviewRequest request;
    request.pages = {ReviewPage::scale};
    const Plan plan = shipped().plan("llama-3.1-405b-16k");
    const std::string page =
        make_review(shipped(), std::vector{plan}, request, ReviewForm::html, review_fonts())[0].bytes;
    for (const char* part : {">compute<", ">tp<", ">cp<", ">dp_shard<", ">pp<", ">the bubble<"}) {
        CAPTURE(part);
        CHECK(has(page, part));
    }
    const std::string small = joined(text_of(plans_of({"mesh-8"})));
    REQUIRE(assess(shipped().plan("mesh-8")).problems.empty());
    CHECK_FALSE(has(small, "Problems and advice"));  // its slide had "None." and no more
}

TEST_CASE("a second plan is compared first: the way from A to B adds up, and each bar has its cause") {
    const std::vector<Plan> plans = plans_of({"llama-3.1-405b-8k", "llama-3.1-405b-16k"});
    ReviewRequest request;
    request.pages = {ReviewPage::comparison};
    const std::string text = joined(text_of(plans, request));
    CHECK(has(text, "dp_shard"));
    CHECK_FALSE(has(text, "/layout/"));  // a reader's names, not the file's
    // The comparison is the first page, and says first what does not fit.
    const std::vector<TextRun> whole = text_of(plans);
    const std::string first = flat(joined(whole));
    CHECK(first.find("A does not fit. Take B: it fits ") < first.find("Why a step of B is shorter"));
    // Which plan is which stands under the title; a step of twice the GPUs is not called faster.
    CHECK(first.find("A: Llama 3.1 405B, 8,192 H100, 8K context") < first.find("Why a step of B"));
    CHECK(has(first, "A has 8,192 GPUs, B 16,384"));
    CHECK_FALSE(has(first, "Why B is faster"));
    double sum = 0;
    std::vector<Evaluation> e{assess(plans[0]), assess(plans[1])};
    for (const PartRow& r : why_steps_differ(plans, e)) sum += r.delta_s[1];
    CHECK(sum == e[1].step->time_s - e[0].step->time_s);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(has(text, (i == 0 ? "A  " : "B  ") + time_text(e[i].step->time_s, Zeros::kept)));
        CHECK(has(text, memory_text(e[i].memory.hbm, Zeros::kept)));
    }
    CHECK(has(flat(text), "601 GB → 301 GB"));
    CHECK_THROWS_AS(text_of({plans[0]}, request), Error);
}

TEST_CASE("on paper an arrow is an arrow and a minus a minus; an only edit is no way of its own") {
    Plan lean = shipped().plan("llama-3-70b-3d");
    lean.layout.tp = 4, lean.layout.dp_replicate = 2;
    const std::string one = joined(text_of({shipped().plan("llama-3-70b-3d"), lean}));
    CHECK_FALSE(has(one, "From A to B, each time"));
    ReviewRequest whole;
    whole.pages = review_pages_named("all");
    const std::string many = joined(text_of(plans_of({"llama-3.1-405b-8k", "llama-3.1-405b-131k"}), whole));
    CHECK(has(many, "From A to B, each time"));
    for (const std::string& text : {one, many}) {
        CHECK(has(text, "→"));
        CHECK(has(text, "−"));
        CHECK_FALSE(std::regex_search(text, std::regex("->|(^|\n| |\\()-[0-9]")));
    }
}

TEST_CASE("what leaves the headroom is a table where it has room, else a picture with the same figures") {
    const Plan plan = shipped().plan("llama-3.1-405b-16k");
    const Evaluation e = assess(plan);
    for (const PaperKind paper : {PaperKind::slide, PaperKind::a4}) {
        ReviewRequest request;
        request.paper = paper;
        request.pages = {ReviewPage::memory};
        const std::string text = flat(joined(text_of({plan}, request)));
        CHECK_FALSE(has(text, "logarithmic"));
        for (const SavingStep& s : savings(plan, e.memory)) {
            CHECK(has(text, label_of(s)));
            CHECK(has(text, memory_text(s.fullest.total(), Zeros::kept)));
        }
    }
}

TEST_CASE("a pipeline of many micro-batches is in three windows, with its blocks numbered") {
    ReviewRequest request;
    request.pages = {ReviewPage::time};
    const std::string text = joined(text_of(plans_of({"deepseek-v3-2048"}), request));
    for (const char* window : {"fill\n", "period", "drain", "idle\n"}) CHECK(has(text, window));
    CHECK_FALSE(has(joined(text_of(plans_of({"mesh-8"}), request)), "period"));
}

TEST_CASE("a run that is attached stands beside the estimate, on the first page and part by part") {
    const Plan plan = shipped().plan("llama-3-70b-3d");
    const Evaluation e = assess(plan);
    auto run = std::make_shared<runs::Measured>();
    run->measured_s = 1.5 * e.step->time_s;
    run->predicted_s = e.step->time_s;
    run->summary = "A step takes half as long again.";
    run->parts.resize(1);
    run->parts[0].time.measured_s = *run->measured_s;
    run->parts[0].predicted_s = e.step->time_s;
    ReviewRequest request;
    request.run = run;
    const std::string text = joined(text_of({plan}, request));
    const std::string first = text.substr(0, text.find("The plan\n"));
    CHECK(has(first, "run: " + time_text(*run->measured_s, Zeros::kept)));
    CHECK(has(flat(first), "beyond the range of"));
    CHECK(has(flat(first), "Do not decide by this estimate: its run takes"));
    CHECK(has(flat(first), "By the estimate: "));
    CHECK(has(text, "What was measured"));
    CHECK(has(flat(text), run->summary));
    run->measured_s = e.step->time_s;
    const std::string near = flat(joined(text_of({plan}, request)));
    CHECK_FALSE(has(near, "beyond the range of"));
    CHECK_FALSE(has(near, "Do not decide by this estimate"));
    run->possible = false;
    run->problems.push_back({"impossible-run", "It would be 166 % of the peak."});
    const std::string impossible = flat(joined(text_of({plan}, request)));
    CHECK(has(impossible, "This run is not of this plan"));
    CHECK(has(impossible, "166 % of the peak"));
}

TEST_CASE("of more than two plans the first page has all in a table, with the plan under review marked") {
    const std::vector<Plan> plans =
        plans_of({"llama-3.1-405b-16k", "llama-3.1-405b-8k", "llama-3.1-405b-131k"});
    const std::string text = joined(text_of(plans));
    const std::string first = text.substr(0, text.find("The plans"));
    CHECK(has(first, "A is the plan under review"));
    std::map<MemoryFit, int> fit;
    for (const Plan& p : plans) {
        const Evaluation e = assess(p);
        REQUIRE(e.step);
        CHECK(has(first, time_text(e.step->time_s, Zeros::kept) + "  ·  MFU "));
        ++fit[e.memory.fit()];
    }
    REQUIRE(fit[MemoryFit::tight] > 0);
    for (const auto& [how, plans_so] : fit) {
        const std::string words = "·  " + std::string(name_of(how)) + (how == MemoryFit::tight ? "*" : "\n");
        int said = 0;
        for (std::size_t at = first.find(words); at != std::string::npos; at = first.find(words, at + 1))
            ++said;
        CHECK_MESSAGE(said == plans_so, words);
    }
    CHECK(has(first, "it fits by the sum; with the largest buffers"));
    CHECK(has(text, "sha256 of the plans "));
    // The parts of the bars are named, and a slide too has what is open and room for a decision.
    const std::string slide =
        joined(text_of(plans_of({"llama-3.1-405b-16k", "llama-3.1-405b-8k", "llama-3.1-405b-131k"})));
    const std::string page = slide.substr(0, slide.find("The plans"));
    for (const char* words : {"below the peak\n", "bubble\n", "Open questions\n", "Decision\n"}) {
        CAPTURE(words);
        CHECK(has(page, words));
    }
}

TEST_CASE("the first page names the open risk of what it proposes, and the proposal is in its table") {
    ReviewRequest request;
    request.pages = {ReviewPage::summary};
    request.first_page_only = true;
    int open = 0, proposals = 0;
    for (const char* name :
         {"llama-3-8b-fsdp", "llama-3-70b-3d", "mixtral-8x7b-ep", "zoom-1024", "hsdp-64"}) {
        CAPTURE(std::string(name));
        Plan plan = shipped().plan(name);
        for (const double share : {1.0, 0.8}) {
            plan.cluster.gpu.hbm_bytes *= share;
            const std::optional<PlanDecision> decision = decide(plan, evaluate(plan));
            REQUIRE(decision);
            if (!decision->proposal) continue;
            const Plan& then = decision->proposal->plan;
            const std::string change = change_words(plan, decision->proposal->choice);
            const std::vector<TextRun> runs = text_of({plan}, request);
            const std::string text = flat(joined(runs));
            const bool tight = evaluate(then).memory.fit() == MemoryFit::tight;
            CHECK(has(text, "Does it fit with " + change + "?") == tight);
            if (tight) CHECK_FALSE(has(text, change + ": it then fits"));
            CHECK_FALSE(has(text, "fits by the sum"));
            // Its row has its step.
            const std::string step = time_text(decision->proposal->step_s, Zeros::kept);
            CHECK(std::ranges::any_of(runs, [&](const TextRun& r) { return r.text == step; }));
            ++proposals;
            open += tight ? 1 : 0;
        }
    }
    CHECK(proposals > 0);
    CHECK(open > 0);
}

namespace {

// Checks the first page's words of a plan against the search and the comparison of the same plan.
void check_first_page(const Plan& plan) {
    ReviewRequest request;
    request.pages = {ReviewPage::summary};
    const ReviewContent content = review_content_of(shipped(), std::array{plan}, request);
    const Evaluation& e = content.evaluations[0];
    if (!e.step) return;
    REQUIRE(content.decision);
    const PlanDecision& d = *content.decision;
    const SearchResult* proposed = proposal_of(content);
    const std::string head = decision_of(content, proposed), reason = reason_of(content, proposed);
    CAPTURE(head);
    CAPTURE(reason);
    CHECK(has(reason, scope_of(d)));
    CHECK(has(head, "if that measures faster") == (d.ruling == Ruling::measure));
    CHECK((head.find("Run it as it is") == 0) == (d.ruling == Ruling::keep));
    SpaceRequest usual;
    for (const Varied v : held_at_first(plan, false)) usual.hold.emplace_back(name_of(v));
    std::optional<SpaceError> error;
    const SearchSpace space = search_space(plan, usual, error);
    if (has(reason, "not searched")) {
        CHECK(d.layouts == 0);
        return;
    }
    const SearchReport report = search(plan, space, {.threads = 2});
    CHECK(d.layouts == report.counts.layouts);
    const SearchStanding stands = standing_of(e, report);
    CAPTURE(stands.sentence);
    if (stands.standing == PlanStanding::faster) {
        CHECK(head.find("Run it with ") == 0);
        CHECK_FALSE(has(head, "if that measures faster"));
    }
    if (stands.standing == PlanStanding::fits) CHECK(has(head, "Run it with "));
    if (stands.standing == PlanStanding::slower && proposed != nullptr) CHECK_FALSE(d.searched);
    // The comparison with what is proposed takes it.
    if (proposed == nullptr) return;
    const Evaluation then = evaluate(proposed->plan);
    const PlanChoice choice =
        choose_among(std::array{JudgedPlan{&plan, &e}, JudgedPlan{&proposed->plan, &then}});
    CAPTURE(choice.words());
    CHECK(choice.take == 1);
    CHECK(choice.sure == (d.ruling == Ruling::change));
}

}  // namespace

TEST_CASE("the first page, the search and the comparison of a plan do not contradict each other") {
    for (const char* name :
         {"single-gpu", "mesh-8", "hsdp-64", "llama-3-8b-fsdp", "llama-3-70b-3d", "mixtral-8x7b-ep",
          "zoom-1024", "llama-3.1-405b-16k", "llama-3.1-405b-8k", "llama-3.1-405b-131k", "gpt-175b-a100",
          "broken-pp-zero3", "broken-tp-over-ib"}) {
        CAPTURE(std::string(name));
        check_first_page(shipped().plan(name));
    }
#ifdef PENTAMESH_SANITIZED
    constexpr int kPlans = 10;
#else
    constexpr int kPlans = 100;  // tests/core/decision_test.cpp has more, without the words
#endif
    test::RandomPlans plans(62, shipped().plan("mesh-8"));
    for (int i = 0; i < kPlans; ++i) {
        CAPTURE(i);
        check_first_page(plans.next());
    }
}

TEST_CASE("the first page takes the search's layout where that is sure and two changes are not") {
    const Plan plan = shipped().plan("zoom-1024");
    const Evaluation e = evaluate(plan);
    const std::optional<PlanDecision> near_by = decide_by_two_edits(plan, e), whole = decide(plan, e);
    REQUIRE(near_by);
    REQUIRE(whole);
    CHECK(near_by->ruling == Ruling::measure);
    CHECK(whole->ruling == Ruling::change);
    CHECK(whole->searched);
    ReviewRequest request;
    request.pages = {ReviewPage::summary};
    request.first_page_only = true;
    const std::string text = flat(joined(text_of({plan}, request)));
    CHECK(has(text, "Run it with " + change_words(plan, whole->proposal->choice) + ": "));
    CHECK_FALSE(has(text, "if that measures faster"));
}

TEST_CASE("the first page decides: what to do, by how much, and what else was tried") {
    ReviewRequest request;
    request.pages = {ReviewPage::summary};
    request.first_page_only = true;
    const Plan full = shipped().plan("llama-3.1-405b-8k");
    const std::vector<SearchResult> tried = best_of_each_edit(full, {.headroom = 0.05});
    REQUIRE_FALSE(tried.empty());
    for (const SearchResult& r : tried) {  // each is another plan that fits, with the figures of its report
        const Evaluation e = evaluate(r.plan);
        REQUIRE(e.step);
        CHECK(e.memory.fits());
        CHECK(r.step_s == e.step->time_s);
        CHECK_FALSE(lack_that_came(full, r.plan));
    }
    const std::string text = joined(text_of({full}, request));
    const std::optional<PlanDecision> decision = decide(full, evaluate(full));
    REQUIRE(decision);
    REQUIRE(decision->ground == Ground::fits);
    const std::string change = change_words(full, decision->proposal->choice);
    CHECK(has(flat(text), "Do not run it as it is. Run it with " + change + ": it then "
                              + std::string(name_of(decision->proposal->fit))));
    CHECK(has(text, "published run: 43.5 %"));
    CHECK(has(flat(text), "A published run has this plan: how does it fit?"));
    CHECK(has(text, "then " + time_text(decision->proposal->step_s, Zeros::kept)));
    CHECK(decision->proposal->step_s <= tried.front().step_s);  // two changes are no worse than one
    CHECK(has(text, " GPU-hours a billion tokens"));
    // A layout that is faster and does not fit is listed with that reason.
    Plan slow = shipped().plan("llama-3-70b-3d");
    std::vector<SearchResult> any = best_of_each_edit(slow, {.headroom = -1e3});
    const auto over = std::find_if(any.begin(), any.end(), [](const SearchResult& r) {
        return r.choice.tp == 2 && !evaluate(r.plan).memory.fits();
    });
    REQUIRE(over != any.end());
    const std::string refused = flat(joined(text_of({slow}, request)));
    CHECK(has(refused, "tp 2: " + std::string(name_of(over->fit))));
    CHECK(has(refused, time_text(over->step_s, Zeros::kept)));
    // Nothing is better by a hundredth where the program says so.
    const Plan good = shipped().plan("llama-3.1-405b-16k");
    CHECK(has(flat(joined(text_of({good}, request))), "no one or two changes that fit gain 1 %."));
    const double own = evaluate(good).step->time_s;
    for (const SearchResult& r : best_of_each_edit(good, {.headroom = kept_free(evaluate(good).memory)}))
        CHECK(r.step_s > 0.99 * own);
    // A gain below the estimate's own range is said with a condition.
    const Plan near = slow;
    const std::optional<PlanDecision> maybe = decide(near, evaluate(near));
    REQUIRE(maybe);
    REQUIRE(maybe->ruling == Ruling::measure);
    CHECK(maybe->gain < maybe->range);
    CHECK(has(flat(joined(text_of({near}, request))),
              "Run it with " + change_words(near, maybe->proposal->choice) + " if that measures faster: "));
    // The author's words win.
    Plan said = good;
    said.review = {.decision = "We buy no GPUs this year.",
                   .alternatives = "- rent them",
                   .owner = "Ada",
                   .risks = "prices\nheat",
                   .open_questions = "Who pays?"};
    const std::string own_words = joined(text_of({said}, request));
    for (const char* words : {"We buy no GPUs this year.", "By the figures: Run it as it is", "rent them",
                              "Owner: Ada", "prices", "heat", "Who pays?"}) {
        CAPTURE(words);
        CHECK(has(own_words, words));
    }
    CHECK_FALSE(has(own_words, "Is the batch of"));  // the program's own question
    // Those of the request stand in the place of the plan's.
    request.words = AuthorWords{"We do.", {}, {}, {}, {}};
    const std::string asked = joined(text_of({said}, request));
    CHECK(has(asked, "We do."));
    CHECK_FALSE(has(asked, "Who pays?"));
}

namespace {

// Returns how many pages a review of these has.
std::int64_t pages_of(const std::vector<Plan>& plans, ReviewRequest request = {}) {
    return std::ranges::count_if(text_of(plans, std::move(request)),
                                 [](const TextRun& r) { return has(r.text, "sha256 of the plan"); });
}

}  // namespace

TEST_CASE("a review has some twelve pages, and all pages by choice") {
    constexpr std::int64_t kMost = 13;  // a pipeline of experts, and a pair, have one more
    for (const char* name :
         {"mesh-8", "llama-3-70b-3d", "llama-3.1-405b-16k", "deepseek-v3-2048", "gpt-1t-a100"}) {
        CAPTURE(name);
        const std::vector<Plan> plans = plans_of({name});
        ReviewRequest all;
        all.pages = review_pages_named("all");
        CHECK(all.pages.size() == kReviewPageCount);
        const std::int64_t brief = pages_of(plans), whole = pages_of(plans, all);
        CHECK(brief >= 5);
        CHECK(brief <= kMost);
        CHECK(whole > brief);
    }
    Plan lean = shipped().plan("llama-3-70b-3d");
    lean.layout.tp = 4, lean.layout.dp_shard = 16;
    CHECK(pages_of({shipped().plan("llama-3-70b-3d"), lean}) <= kMost);
}

TEST_CASE("of a pair the plan to take is shown in detail: its figures, not the other's") {
    const std::vector<Plan> plans = plans_of({"llama-3.1-405b-8k", "llama-3.1-405b-16k"});  // take B
    const std::vector<Evaluation> e{assess(plans[0]), assess(plans[1])};
    const auto largest = [](const Step& s) {
        const std::vector<StepSlice> parts = waterfall(s);
        const StepSlice& most =
            *std::ranges::max_element(parts, {}, [](const StepSlice& p) { return p.time_s; });
        return time_text(most.time_s, Zeros::kept) + "  " + percent(most.time_s / s.time_s);
    };
    REQUIRE(largest(*e[0].step) != largest(*e[1].step));
    const std::string text = joined(text_of(plans));
    CHECK(has(text, "B: " + title_of(plans[1])));
    CHECK(has(text, largest(*e[1].step)));
    CHECK_FALSE(has(text, largest(*e[0].step)));
    // The other way round it is A.
    const std::string turned = joined(text_of({plans[1], plans[0]}));
    CHECK(has(turned, largest(*e[1].step)));
    CHECK_FALSE(has(turned, largest(*e[0].step)));
}

TEST_CASE(
    "what was tried has a reason each, and the checklist what turns the decision or that nothing does") {
    ReviewRequest request;
    request.pages = {ReviewPage::tried, ReviewPage::risk};
    const Plan plan = shipped().plan("llama-3-70b-3d");
    const Evaluation e = assess(plan);
    const std::string text = flat(joined(text_of({plan}, request)));
    const std::optional<PlanDecision> decision = decide(plan, e);
    REQUIRE(decision);
    for (const SearchResult& r : best_of_each_edit(plan, {.headroom = kept_free(e.memory)})) {
        const WhyNot why = why_not(e, decision, r);
        CAPTURE(why.sentence);
        CHECK(has(text, why.sentence.substr(0, why.sentence.find(' '))));
        if (!fits(r.fit)) CHECK(why.brief == std::string(name_of(r.fit)));
    }
    CHECK(has(text, "What does not turn it"));
    CHECK(has(text, "no value turns it in"));
    CHECK(has(text, "the framework's buffers on the fullest GPU"));
}

TEST_CASE("the author's words are never cut: what has no room on the first page stands on the next") {
    Plan plan = shipped().plan("llama-3.1-405b-16k");
    std::vector<std::string> risks;
    for (int i = 0; i < 80; ++i) {
        risks.push_back("risk number " + std::to_string(i));
        plan.review.risks += risks.back() + "\n";
    }
    ReviewRequest request;
    request.pages = {ReviewPage::summary};
    for (const PaperKind paper : {PaperKind::slide, PaperKind::a4}) {
        request.paper = paper;
        const std::string text = joined(text_of({plan}, request));
        CHECK(has(text, "more on the next page"));
        for (const std::string& r : risks) CHECK(has(text, r));
        CHECK(has(flat(text), "Do the framework's buffers stay under"));  // asked by the program
    }
}

TEST_CASE(
    "the assumptions stand in columns: few pages, every constant that a figure rests on with its source") {
    const Plan plan = shipped().plan("llama-3-70b-3d");
    ReviewRequest request;
    request.pages = {ReviewPage::assumptions};
    const std::vector<TextRun> runs = text_of({plan}, request);
    const std::string text = joined(runs);
    int pages = 0;
    for (const TextRun& r : runs)
        if (has(r.text, PENTAMESH_VERSION) && has(r.text, "sha256")) ++pages;
    CHECK(pages > 2);
    CHECK(pages < 8);  // as tables, one under the other, they were ten
    for (const char* words : {"16-bit peak: 989 TFLOP/s",
                              "attention core: ", "InfiniBand latency: ", "bear on no figure", "Sources"})
        CHECK(has(text, words));
    for (const char* words : {"fp8 products", "fp4 products", "grouped products"})  // bf16, no experts
        CHECK_FALSE(has(text, words));
}

}  // namespace pentamesh::ui
