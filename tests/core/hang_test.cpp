// Finds who is to blame in made jobs: layouts, kinds of faults, dumps of several forms.
#include "core/mesh/mesh.h"
#include "core/runs/hang.h"
#include "core/runs/run_layout.h"
#include "tests/core/made_hang.h"
#include "tests/core/shipped.h"
#include "tests/folder.h"
#include "tests/stuck_job.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::runs;
using pentamesh::test::blamed;
using pentamesh::test::MadeHang;
using pentamesh::test::MadeJob;

namespace {

constexpr std::int64_t kNode = 8;

std::string said(const Hang& h) {
    std::string out = verdict_words(h);
    for (const Culprit& c : h.culprits)
        out += "\n" + std::to_string(c.rank) + " " + std::string(name_of(c.kind)) + ": " + c.why;
    return out;
}

void check_layout(const MadeJob& job, const RunLayout& l) {
    CHECK(l.factors[RunAxis::tp].size == job.tp);
    CHECK(l.factors[RunAxis::cp].size == job.cp);
    CHECK(l.factors[RunAxis::pp].size == job.pp);
    CHECK(l.factors[RunAxis::shard].size == job.dp);
    CHECK(l.has_experts == (job.ep > 1));
    if (job.ep > 1) CHECK(l.factors[RunAxis::ep].size == job.ep);
    if (job.pp > 1 && job.dp > 1)
        CHECK((l.factors[RunAxis::pp].stride < l.factors[RunAxis::shard].stride) == job.pipeline_inside);
    CHECK(l.certain);
}

DumpFolder stuck_job(std::int64_t absent) {
    DumpFolder out;
    Values values;
    std::string unpacked;
    for (std::int64_t r = 0; r < 8; ++r) {
        out.dumps.push_back(read_dump_bytes(test::stuck_dump(r, r != absent), *out.names, values, unpacked));
        out.dumps.back().rank = r;
    }
    return out;
}

// Returns layouts of 64 and 128 ranks.
std::vector<MadeJob> layouts() {
    return {{.tp = 8, .dp = 8},
            {.tp = 4, .dp = 4, .pp = 4, .ep = 8},
            {.tp = 2, .cp = 2, .dp = 8, .pp = 4},
            {.tp = 4, .dp = 4, .pp = 4, .ep = 4, .pipeline_inside = true},
            {.tp = 8, .cp = 2, .dp = 4, .pp = 2, .ep = 16}};
}

}  // namespace

TEST_CASE("a hang's culprit, its kind and the job's layout are found") {
    unsigned seed = 1;
    for (const FaultKind kind :
         {FaultKind::stopped, FaultKind::dead, FaultKind::gpu, FaultKind::mismatch, FaultKind::size})
        for (MadeJob job : layouts()) {
            std::mt19937 random(++seed);
            const std::int64_t world = job.tp * job.cp * job.dp * job.pp;
            job.kind = kind, job.seed = seed;
            job.faulty = {static_cast<std::int64_t>(random() % static_cast<unsigned>(world))};
            job.at = 9 + random() % 12;
            // If two differ, neither is in the minority: their later calls have to say who is right.
            const bool pairs = kind == FaultKind::mismatch || kind == FaultKind::size;
            job.waits_each = kind != FaultKind::gpu && !pairs && seed % 2 == 0;
            job.only_active = seed % 6 != 0, job.hashed = seed % 5 == 0, job.pickle = seed % 4 == 1;
            const Hang h = find_hang(MadeHang(job).read(), kNode);
            CAPTURE(seed);
            CAPTURE(said(h));
            check_layout(job, h.layout);
            CHECK(h.verdict == RunVerdict::hang);
            REQUIRE(blamed(h) == job.faulty);
            CHECK(h.culprits.front().kind == kind);
            CHECK(h.culprits.front().sure);
        }
}

TEST_CASE("512 ranks: the one that stopped is named among all that wait") {
    const MadeJob job{
        .tp = 8, .dp = 8, .pp = 8, .kind = FaultKind::stopped, .faulty = {333}, .at = 7, .pickle = true};
    const Hang h = find_hang(MadeHang(job).read(), kNode);
    check_layout(job, h.layout);
    CHECK(blamed(h) == job.faulty);
    CHECK(h.waiting.size() + h.held_up.size() == 511);
}

TEST_CASE("two ranks that stop are both to blame") {
    for (const FaultKind kind : {FaultKind::stopped, FaultKind::gpu}) {
        MadeJob job{.tp = 4, .dp = 8, .pp = 2, .kind = kind, .faulty = {5, 26}, .at = 14};
        CHECK(blamed(find_hang(MadeHang(job).read(), kNode)) == job.faulty);
    }
}

TEST_CASE("ranks without a dump are blamed surely only if they share a node") {
    MadeJob job{.tp = 4, .dp = 8, .kind = FaultKind::dead, .faulty = {8, 9}, .at = 7};
    for (const Culprit& c : find_hang(MadeHang(job).read(), kNode).culprits) CHECK(c.sure);
    job.faulty = {8, 17};
    const Hang apart = find_hang(MadeHang(job).read(), kNode);
    CHECK(blamed(apart) == job.faulty);
    for (const Culprit& c : apart.culprits) CHECK_FALSE(c.sure);
    CHECK(apart.missing == job.faulty);
}

TEST_CASE("the call that is named is the one that the rank would have joined next") {
    for (const bool waits_each : {false, true})
        for (std::size_t at = 0; at < 12; ++at) {
            MadeJob job{.tp = 2, .dp = 4, .pp = 4, .ep = 2, .kind = FaultKind::stopped, .faulty = {21}};
            job.at = at, job.waits_each = waits_each;
            const MadeHang made(job);
            const DumpFolder run = made.read();
            const Hang h = find_hang(run, kNode);
            CAPTURE(at);
            REQUIRE(blamed(h) == job.faulty);
            CHECK(run.names->description(h.culprits[0].call.group) == made.group_of_call(21, at));
        }
}

TEST_CASE("a slow rank spends the least time in communication; of a healthy run nobody is blamed") {
    const std::vector<MadeJob> all = layouts();
    for (MadeJob job : {all[0], all[2]}) {
        job.kind = FaultKind::slow, job.only_active = false, job.timed = true;
        const Hang healthy = find_hang(MadeHang(job).read(), kNode);
        CHECK(healthy.verdict == RunVerdict::clean);
        CHECK(healthy.culprits.empty());
        job.faulty = {37};
        const Hang slow = find_hang(MadeHang(job).read(), kNode);
        CHECK(slow.verdict == RunVerdict::slow);
        CHECK(blamed(slow) == job.faulty);
    }
}

TEST_CASE("the rank that waits is listed with whom it waits for, and its call with the axis") {
    const MadeJob job{.tp = 4, .dp = 4, .kind = FaultKind::stopped, .faulty = {6}, .at = 4};
    const DumpFolder run = MadeHang(job).read();
    const Hang h = find_hang(run, kNode);
    REQUIRE(h.culprits.size() == 1);
    CHECK(run.names->description(h.culprits[0].call.group) == "TENSOR_MODEL_PARALLEL_GROUP");
    CHECK(run.names->ranks(h.culprits[0].call.group) == std::vector<std::int64_t>{4, 5, 6, 7});
    CHECK(h.layout.axes_of(*run.names, h.culprits[0].call.group) == std::vector<std::string_view>{"tp"});
    const auto waits =
        std::find_if(h.waiting.begin(), h.waiting.end(), [](const WaitingRank& w) { return w.rank == 5; });
    REQUIRE(waits != h.waiting.end());
    CHECK(waits->whom == std::vector<std::int64_t>{6});
    CHECK(waits->call == h.culprits[0].call);
}

TEST_CASE("a run's layout becomes a plan with the same groups, and is compared with another plan") {
    for (const MadeJob& job : layouts()) {
        const DumpFolder run = MadeHang(job).read();
        const RunLayout l = find_layout(run);
        const Plan base = test::presets().plan(job.ep > 1 ? "deepseek-v3-2048" : "llama-3-70b-3d");
        const Plan plan = plan_of(l, base, true);
        CHECK(differences(l, plan) == std::vector<std::string>{});
        const Mesh mesh = build_mesh(plan);
        REQUIRE(mesh.world == l.world);
        for (std::size_t g = 0; g < run.names->groups().size(); ++g)
            if (run.names->description(static_cast<int>(g)) == "EXPERT_MODEL_PARALLEL_GROUP") {
                const auto& ranks = run.names->ranks(static_cast<int>(g));
                CHECK(group_members(mesh, GroupKind::ep, ranks.front()) == ranks);
            }
        Plan other = plan;
        other.layout.tp *= 2;
        other.layout.dp_shard /= 2;
        CHECK(differences(l, other).front()
              == "The run has tp " + std::to_string(job.tp) + ", the plan " + std::to_string(2 * job.tp)
                     + ".");
    }
}

TEST_CASE("of few dumps nobody is blamed surely") {
    const MadeJob job{.tp = 4, .dp = 4, .kind = FaultKind::stopped, .faulty = {6}, .at = 4};
    DumpFolder run = MadeHang(job).read();
    std::erase_if(run.dumps, [](const Dump& d) { return d.rank > 4; });
    const Hang h = find_hang(run, kNode);
    CHECK(h.verdict == RunVerdict::unclear);
    for (const Culprit& c : h.culprits) CHECK_FALSE(c.sure);
}

TEST_CASE("a group that all have come to is stuck by itself, though others wait for its ranks") {
    const DumpFolder run = stuck_job(-1);
    const Hang h = find_hang(run, kNode);
    CAPTURE(said(h));
    CHECK(h.verdict == RunVerdict::hang);
    CHECK(h.culprits.empty());
    REQUIRE(h.groups_stuck.size() == 1);
    CHECK(run.names->ranks(h.groups_stuck[0].group) == std::vector<std::int64_t>{0, 2, 4, 6});
    CHECK(h.waiting.size() == 4);
    CHECK(h.held_up.empty());
    CHECK(said(h).find("everybody has come to 1 group") != std::string::npos);
    CHECK(next_words(h).find("nccl-tests") != std::string::npos);
    // One that has not come is to blame, and nothing is stuck.
    const Hang one = find_hang(stuck_job(4), kNode);
    CHECK(blamed(one) == std::vector<std::int64_t>{4});
    CHECK(one.culprits.front().sure);
    CHECK(one.groups_stuck.empty());
}

TEST_CASE("a rank that did not come and one that is at odds in the same call are both to blame") {
    for (const bool size : {true, false}) {
        CAPTURE(size);
        const test::Folder folder;
        for (int r = 0; r < 8; ++r) {
            const bool stopped = r == 5, odd = r == 2;
            const std::string numbers = odd && size ? "[[8192]]" : "[[4096]]";
            const std::string entry =
                R"({"record_id": 11, "process_group": ["0", "default_pg"], "collective_seq_id": 11, "op_id": 11,
                    "profiling_name": "nccl:)"
                + std::string(odd && !size ? "broadcast" : "all_reduce") + R"(", "input_sizes": )" + numbers
                + R"(, "output_sizes": )" + numbers
                + R"(, "input_dtypes": ["Float"], "output_dtypes": ["Float"], "state": "scheduled",
                    "retired": false})";
            folder.put(
                "rank_" + std::to_string(r),
                R"({"version": "2.5", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks":
                           "[0, 1, 2, 3, 4, 5, 6, 7]"}}, "pg_status": {"0": {"last_enqueued_collective": )"
                    + std::string(stopped ? "10" : "11")
                    + R"(, "last_started_collective": -1, "last_completed_collective": 10}}, "entries": [)"
                    + (stopped ? "" : entry) + "]}");
        }
        const Hang h = find_hang(read_dump_folder(folder.path), kNode);
        CAPTURE(said(h));
        REQUIRE(blamed(h) == std::vector<std::int64_t>{2, 5});
        CHECK(h.culprits[0].kind == (size ? FaultKind::size : FaultKind::mismatch));
        CHECK(h.culprits[1].kind == FaultKind::stopped);
        for (const Culprit& c : h.culprits) CHECK(c.sure);
        REQUIRE(h.waiting.size() == 6);
        for (const WaitingRank& w : h.waiting) CHECK(w.whom == std::vector<std::int64_t>{2, 5});
    }
}
