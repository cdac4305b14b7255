// Reads flight-recorder dumps: pickles of a real job, JSON, what is hostile or cut off, names of files; and
// the layouts that groups' descriptions give. The real dumps: golden/runs/README.md.
#include "core/base/files.h"
#include "core/runs/hang.h"
#include "core/runs/run_file.h"
#include "tests/core/made_hang.h"
#include "tests/folder.h"
#include "tests/near.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::runs;
using pentamesh::test::blamed;

namespace {

std::string refusal(std::string_view bytes) {
    RunNames names;
    Values values;
    std::string unpacked;
    try {
        static_cast<void>(read_dump_bytes(bytes, names, values, unpacked));
    } catch (const Error& e) {
        return e.message();
    }
    return "";
}

// Returns a run in which each description has the groups of a regular grid.
struct Axes {
    std::string description;
    std::vector<std::vector<std::int64_t>> groups;
};
std::vector<std::vector<std::int64_t>> grid(std::int64_t world, std::int64_t size, std::int64_t stride) {
    std::vector<std::vector<std::int64_t>> out;
    for (std::int64_t r = 0; r < world; ++r) {
        if (r / stride % size != 0) continue;
        out.emplace_back();
        for (std::int64_t i = 0; i < size; ++i) out.back().push_back(r + i * stride);
    }
    return out;
}
RunLayout layout_of(const std::vector<Axes>& axes) {
    DumpFolder run;
    for (const Axes& a : axes)
        for (const std::vector<std::int64_t>& ranks : a.groups) {
            std::string text = "[";
            for (const std::int64_t r : ranks) text += (text.size() > 1 ? ", " : "") + std::to_string(r);
            REQUIRE(run.names->group(a.description, text + "]", 0) >= 0);
        }
    return find_layout(run);
}

const std::string kRealDumps = std::string(GOLDEN_DIR) + "/runs/";

}  // namespace

TEST_CASE("real hangs of 16 ranks: layout and injected ranks") {
    struct Case {
        std::string name;
        std::int64_t tp, pp, ep;
        std::vector<std::int64_t> faulty;
        FaultKind kind;
    };
    for (const Case& c : {Case{"gpu_error_1st", 2, 4, 4, {12, 14}, FaultKind::gpu},
                          Case{"lock_gil_1st", 4, 2, 8, {9, 14}, FaultKind::stopped},
                          Case{"lock_gil_2nd", 2, 4, 4, {10, 15}, FaultKind::stopped}}) {
        CAPTURE(c.name);
        const DumpFolder run = read_dump_folder(kRealDumps + c.name);
        CHECK(run.dumps.size() == 16);
        CHECK(run.versions == std::vector<std::string>{"2.9"});
        const Hang h = find_hang(run, 8);
        CHECK(h.verdict == RunVerdict::hang);
        CHECK(blamed(h) == c.faulty);
        for (const Culprit& culprit : h.culprits) {
            CHECK(culprit.kind == c.kind);
            CHECK(culprit.sure);
        }
        CHECK(h.layout.certain);
        CHECK(h.layout.factors[RunAxis::tp].size == c.tp);
        CHECK(h.layout.factors[RunAxis::pp].size == c.pp);
        CHECK(h.layout.factors[RunAxis::shard].size == 2);
        CHECK(h.layout.factors[RunAxis::ep].size == c.ep);
        CHECK(h.layout.order == std::vector{RunAxis::tp, RunAxis::shard, RunAxis::pp});
        CHECK(h.layout.expert_order == std::vector{RunAxis::ep, RunAxis::pp});
    }
}

TEST_CASE("a silent GPU is named with its first call that its peers have finished") {
    const DumpFolder run = read_dump_folder(kRealDumps + "gpu_error_1st");
    const Hang h = find_hang(run, 8);
    REQUIRE(h.culprits.size() == 2);
    const Culprit& c = h.culprits.front();
    CHECK(run.names->description(c.call.group) == "TENSOR_MODEL_PARALLEL_GROUP");
    CHECK(c.call.sequence == 42806);
    CHECK(run.names->text(c.call.collective) == "_all_gather_base");
    CHECK(c.why == "rank 13 and others finished 21 collectives that rank 12 still shows as running");
}

TEST_CASE("a pickle and the same dump in JSON are read alike") {
    test::MadeJob job{
        .tp = 4, .dp = 4, .kind = FaultKind::stopped, .faulty = {6}, .at = 4, .only_active = false};
    const DumpFolder plain = test::MadeHang(job).read();
    job.pickle = true;
    const DumpFolder pickle = test::MadeHang(job).read();
    REQUIRE(plain.dumps.size() == pickle.dumps.size());
    for (std::size_t i = 0; i < plain.dumps.size(); ++i) {
        REQUIRE(plain.dumps[i].entries.size() == pickle.dumps[i].entries.size());
        CHECK(plain.dumps[i].passed_over == 0);
        for (std::size_t k = 0; k < plain.dumps[i].entries.size(); ++k) {
            const DumpEntry &a = plain.dumps[i].entries[k], &b = pickle.dumps[i].entries[k];
            CHECK(a.sequence == b.sequence);
            CHECK(a.numbers_in == b.numbers_in);
            CHECK(a.open == b.open);
            CHECK(plain.names->text(a.collective) == pickle.names->text(b.collective));
        }
    }
    CHECK(blamed(find_hang(plain, 8)) == blamed(find_hang(pickle, 8)));
}

TEST_CASE("a pickle that calls code is refused with the opcode and its byte") {
    using namespace std::string_view_literals;
    CHECK(refusal("\x80\x02"sv
                  "cos\nsystem\n")
              .starts_with("opcode GLOBAL at byte 2: a pickle that calls code"));
    CHECK(refusal("\x80\x04\x8c\x02os\x8c\x06system\x93."sv).starts_with("opcode STACK_GLOBAL at byte 14"));
    CHECK(refusal("\x80\x02N)R."sv).starts_with("opcode REDUCE at byte 4"));
    CHECK(refusal("\x80\x02Nb."sv).starts_with("opcode BUILD at byte 3"));
    CHECK(refusal("\x80\x02\xff."sv).starts_with("opcode 255 at byte 2"));
}

TEST_CASE("a pickle cannot ask for more than its file holds") {
    using namespace std::string_view_literals;
    CHECK(refusal("\x80\x02X\xff\xff\xff\xff"sv
                  "a.")
              .starts_with("the file ends within a value"));
    CHECK(refusal("\x80\x02\x8b\xff\xff\xff\x7f."sv).starts_with("a whole number of more than 16 bytes"));
    CHECK(refusal("\x80\x02]q\x00h\x00"sv
                  "a.")
              .starts_with("a container holds itself"));
    CHECK(refusal("\x80\x02]q\x00]q\x01h\x00"sv
                  "aa.")
              .starts_with("a container is changed after"));
    CHECK(refusal("\x80\x02h\x05."sv).starts_with("a value is asked for that was not kept"));
    CHECK(refusal("\x80\x02Nr\xff\xff\xff\x7f."sv).starts_with("a kept value has a number out of turn"));
    CHECK(refusal("\x80\x02" + std::string(100, ']') + std::string(99, 'a') + ".")
              .starts_with("more than 64 levels"));
    CHECK(refusal("\x80\x02}(NNNu."sv).starts_with("a key without a value"));
    CHECK(refusal("\x80\x02(a."sv).starts_with("a value is missing"));
    CHECK(refusal("{\"a\":" + std::string(70, '[') + std::string(70, ']') + "}") == "more than 64 levels");
}

TEST_CASE("a dump that is cut off anywhere is refused, and harms no other") {
    const test::MadeJob job{
        .tp = 2, .dp = 2, .kind = FaultKind::stopped, .faulty = {1}, .at = 4, .pickle = true};
    const test::MadeHang made(job);
    const std::string whole = made.dump(0);
    CHECK(refusal(whole).empty());
    for (std::size_t n = 0; n < whole.size(); n += 7) {
        CAPTURE(n);
        CHECK_FALSE(refusal(std::string_view(whole).substr(0, n)).empty());
    }
    const std::string packed = read_file(kRealDumps + "lock_gil_2nd/_dump_3.gz");
    CHECK(refusal(packed).empty());
    for (std::size_t n = 2; n < packed.size(); n += 31)
        CHECK_FALSE(refusal(std::string_view(packed).substr(0, n)).empty());

    const test::Folder folder;
    for (std::int64_t r = 0; r < 4; ++r) folder.put("rank_" + std::to_string(r), made.dump(r));
    folder.put("rank_2", whole.substr(0, whole.size() / 2));
    folder.put("notes.txt", "a run of Tuesday");
    folder.put("rank_03.json", "{}");
    const DumpFolder run = read_dump_folder(folder.path);
    CHECK(run.dumps.size() == 3);
    REQUIRE(run.unreadable.size() == 3);
    CHECK(run.unreadable[0].why == "its name does not end in a rank");
    const Hang h = find_hang(run, 8);
    CHECK(h.missing == std::vector<std::int64_t>{2});
    for (const Culprit& c : h.culprits)  // a file that cannot be read says nothing of its rank
        if (c.rank == 2) CHECK_FALSE(c.sure);
}

TEST_CASE("versions other than 2 and other files are refused by what they are") {
    CHECK(refusal(R"({"version":"1.5","pg_config":{}})") == "a dump of version 1.5; versions 2.x are read");
    CHECK(refusal(R"({"traceEvents":[]})")
          == "a trace, no dump of a flight recorder: `pentamesh measured` reads it");
    CHECK(refusal("[model]\nlayers = 2\n") == "settings or text, no dump: import reads settings");
    CHECK(refusal("") == "is empty");
    CHECK(refusal(R"({"a":1})").starts_with("no dump of a flight recorder"));
    CHECK(refusal("{\"version\"").starts_with("no valid JSON"));
}

TEST_CASE("entries that make no sense are passed over and counted") {
    RunNames names;
    Values values;
    std::string unpacked;
    const Dump d = read_dump_bytes(
        R"({"version":"2.9","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"},
            "1":{"name":"1","desc":"x","ranks":"[0, 1048576]"},"2":{"name":"2","desc":"x","ranks":"[0, 0]"}},
            "entries":[{"record_id":1,"process_group":["0",""],"collective_seq_id":-4,"profiling_name":"nccl:a"},
            {"record_id":2,"process_group":["9",""],"collective_seq_id":4,"profiling_name":"nccl:a"},
            {"record_id":3,"process_group":["0",""],"collective_seq_id":4,"profiling_name":"nccl:a","duration_ms":-1},
            {"record_id":4,"process_group":["0",""],"collective_seq_id":4,"profiling_name":"nccl:a"}]})",
        names, values, unpacked);
    CHECK(d.entries.size() == 1);
    CHECK(d.groups.size() == 1);
    CHECK(d.passed_over == 5);
}

TEST_CASE("the rank stands at the end of a file's name") {
    CHECK(rank_in_name("_dump_12") == 12);
    CHECK(rank_in_name("nccl_trace_rank_3.json.gz") == 3);
    CHECK(rank_in_name("comm_lib_trace_rank_104.pkl") == 104);
    CHECK(rank_in_name("answers.json") == -1);
    CHECK(rank_in_name("_dump_1048576") == -1);
    CHECK(rank_in_name("_dump_99999999999999999999") == -1);
}

TEST_CASE("torchtitan's meshes: shards, replicas and experts that re-fold them") {
    // tp 4, dp_shard 2, dp_replicate 2, pp 2; ep 4.
    const RunLayout l = layout_of({{"mesh_tp", grid(32, 4, 1)},
                                   {"mesh_fsdp", grid(32, 2, 4)},
                                   {"mesh_dp_replicate", grid(32, 2, 8)},
                                   {"mesh_pp", grid(32, 2, 16)},
                                   {"mesh_loss_mesh", grid(32, 4, 4)},
                                   {"mesh_ep", grid(32, 4, 1)}});
    CHECK(l.certain);
    CHECK(l.order == std::vector{RunAxis::tp, RunAxis::shard, RunAxis::replicate, RunAxis::pp});
    CHECK(l.expert_order == std::vector{RunAxis::ep, RunAxis::edp, RunAxis::replicate, RunAxis::pp});
    CHECK(l.factors[RunAxis::edp].size == 2);
    CHECK(l.name_of(RunAxis::shard) == "dp_shard");
    CHECK(l.name_of(RunAxis::edp) == "efsdp");
}

TEST_CASE("Megatron's weight shards: next to tp, and part of the plan's dp") {
    // tp 2, gtp_remat 4, dp 2, pp 2; ep 4. DATA_PARALLEL_GROUP leaves the shards out.
    const RunLayout l = layout_of({{"TENSOR_MODEL_PARALLEL_GROUP", grid(32, 2, 1)},
                                   {"GTP_WEIGHT_REMAT_GROUP", grid(32, 4, 2)},
                                   {"DATA_PARALLEL_GROUP", grid(32, 2, 8)},
                                   {"DATA_PARALLEL_GROUP_WITH_GTP_REMAT", grid(32, 8, 2)},
                                   {"PIPELINE_MODEL_PARALLEL_GROUP", grid(32, 2, 16)},
                                   {"EXPERT_GTP_WEIGHT_REMAT_GROUP", grid(32, 1, 1)},
                                   {"EXPERT_MODEL_PARALLEL_GROUP", grid(32, 4, 2)}});
    CHECK(l.certain);
    CHECK(l.order == std::vector{RunAxis::tp, RunAxis::gtp, RunAxis::shard, RunAxis::pp});
    Plan base;
    base.model.moe = Moe{};
    const Plan p = plan_of(l, base, false);
    CHECK(p.layout.dp_shard == 8);
    CHECK(p.layout.weight_shards == 4);
    CHECK(differences(l, p).empty());
    CHECK(group_members(build_mesh(p), GroupKind::gtp_remat, 9) == std::vector<std::int64_t>{9, 11, 13, 15});
    Plan none = p;
    none.layout.weight_shards.reset();
    CHECK(std::ranges::count(differences(l, none), std::string("The run has gtp_remat 4, the plan 1.")) == 1);
}

TEST_CASE("weight shards that take all of data parallelism lie inside cp") {
    const RunLayout l = layout_of({{"TENSOR_MODEL_PARALLEL_GROUP", grid(16, 2, 1)},
                                   {"GTP_WEIGHT_REMAT_GROUP", grid(16, 4, 2)},
                                   {"CONTEXT_PARALLEL_GROUP", grid(16, 2, 8)}});
    CHECK(l.certain);
    const Plan p = plan_of(l, Plan{}, false);
    CHECK(p.layout.order == Layout{}.order);
    CHECK(p.layout.weight_shards == 4);
    CHECK(differences(l, p).empty());
}

TEST_CASE("experts' tensor parallelism follows from the stride of an expert group") {
    const RunLayout l = layout_of({{"TENSOR_MODEL_PARALLEL_GROUP", grid(64, 8, 1)},
                                   {"DATA_PARALLEL_GROUP_WITH_CP", grid(64, 8, 8)},
                                   {"EXPERT_MODEL_PARALLEL_GROUP", grid(64, 4, 8)}});
    CHECK(l.certain);
    CHECK(l.factors[RunAxis::etp].size == 8);
    CHECK(l.factors[RunAxis::edp].size == 2);
    CHECK(l.expert_order == std::vector{RunAxis::etp, RunAxis::ep, RunAxis::edp});
}

TEST_CASE("groups that do not fit the layout are listed, and it is not certain") {
    std::vector<std::vector<std::int64_t>> odd = grid(16, 4, 1);
    std::swap(odd[0][3], odd[1][0]);  // by hand, with Megatron's name
    const RunLayout l = layout_of({{"default_pg", grid(16, 16, 1)},
                                   {"CONTEXT_PARALLEL_GROUP", odd},
                                   {"TENSOR_MODEL_PARALLEL_GROUP", grid(16, 2, 1)}});
    CHECK_FALSE(l.certain);
    CHECK(l.unexplained.size() == 4);  // of context parallelism: two of them are of no mesh
}

TEST_CASE("without descriptions the calls tell: shards, pipelines, experts, and never for certain") {
    DumpFolder run;
    Values values;
    std::string unpacked;
    for (int r = 0; r < 8; ++r) {
        const std::string other = std::to_string((r + 4) % 8), low = std::to_string(r % 4),
                          me = std::to_string(r);
        const std::string text =
            R"({"version":"2.5","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1, 2, 3, 4, 5, 6, 7]"},
               "1":{"name":"1","desc":"undefined","ranks":"[)"
            + low + ", " + std::to_string(r % 4 + 4)
            + R"(]"}},"entries":[{"record_id":1,"process_group":["0",""],"collective_seq_id":1,"state":"completed",
               "profiling_name":"nccl:_all_gather_base"},{"record_id":2,"process_group":["1",""],"is_p2p":true,
               "collective_seq_id":1,"p2p_seq_id":1,"state":"completed","profiling_name":"nccl:send 0->1"}]})";
        run.dumps.push_back(read_dump_bytes(text, *run.names, values, unpacked));
        run.dumps.back().rank = r;
    }
    const RunLayout l = find_layout(run);
    CHECK(l.from == LayoutFrom::calls);
    CHECK_FALSE(l.certain);
    CHECK(l.factors[RunAxis::pp].size == 2);
    CHECK(l.factors[RunAxis::shard].size == 4);
    CHECK(l.name_of(RunAxis::shard) == "dp_shard");
}

TEST_CASE("two groups entered in different orders wait in a ring; a group where all are there is stuck") {
    const auto run_of = [](const std::vector<std::string>& entries) {
        DumpFolder run;
        Values values;
        std::string unpacked;
        for (std::size_t r = 0; r < entries.size(); ++r) {
            const std::string text =
                R"({"version":"2.5","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"},
                   "1":{"name":"1","desc":"TENSOR_MODEL_PARALLEL_GROUP","ranks":"[0, 1]"}},
                   "pg_status":{"0":{"last_enqueued_collective":)"
                + std::string(entries[r] == "0" || entries[r] == "both" ? "5" : "4")
                + R"(},"1":{"last_enqueued_collective":)"
                + std::string(entries[r] == "1" || entries[r] == "both" ? "5" : "4") + R"(}},"entries":[)"
                + R"({"record_id":1,"process_group":[")" + (entries[r] == "both" ? "0" : entries[r])
                + R"(",""],"collective_seq_id":5,"state":"started","profiling_name":"nccl:all_reduce"}]})";
            run.dumps.push_back(read_dump_bytes(text, *run.names, values, unpacked));
            run.dumps.back().rank = static_cast<std::int64_t>(r);
        }
        return find_hang(run, 8);
    };
    const Hang ring = run_of({"0", "1"});
    CHECK(ring.verdict == RunVerdict::hang);
    CHECK(ring.culprits.empty());
    CHECK(ring.order_cycle == std::vector<std::int64_t>{0, 1});
    const Hang stuck = run_of({"0", "0"});
    CHECK(stuck.culprits.empty());
    REQUIRE(stuck.groups_stuck.size() == 1);
    CHECK(stuck.groups_stuck.front().sequence == 5);
}

TEST_CASE("the reading of a folder or a file is counted, and ends where it is cancelled") {
    ReadWatch watch;
    CHECK(read_dump_folder(kRealDumps + "gpu_error_1st", &watch).dumps.size() == 16);
    CHECK(watch.bytes == watch.all_bytes);
    CHECK(watch.bytes > 10'000);
    ReadWatch cancelled;
    cancelled.cancelled = true;
    CHECK_THROWS_AS(static_cast<void>(read_dump_folder(kRealDumps + "gpu_error_1st", &cancelled)), Error);
    CHECK(cancelled.bytes == 0);
    const std::string log = "tests/golden/measured/run2602-01/train.log.gz";
    const PartOfGroup none = [](const RunGroup&, std::string_view, const RunFile&) {
        return RunPart::unnamed;
    };
    ReadWatch read;
    CHECK(read_run_file(log, none, &read).step_s
          == test::near(4.46525, 1e-6));  // golden/measured/answers.json
    CHECK(read.bytes == std::filesystem::file_size(log));
    CHECK_THROWS_AS(static_cast<void>(read_run_file(log, none, &cancelled)), Error);
    CHECK(cancelled.bytes == 0);
}

TEST_CASE("values are limited by the bytes that they take, in every form") {
    using namespace std::string_view_literals;
    constexpr std::size_t kMany = 30'000'000;
    const std::string head("\x80\x02", 2);
    const auto of = [](std::string_view begin, std::string_view part) {
        std::string out(begin);
        while (out.size() < kMany) out += part;
        return out;
    };
    CHECK(refusal(of(head, "}")).starts_with("its values take more than 224 MiB"));
    CHECK(refusal(of("{\"a\":[", "[],")).starts_with("its values take more than 224 MiB"));
    if (test::kSanitized) return;  // each form takes ten seconds there, on the same way through the reader
    for (const std::string_view part : {"("sv, "N"sv}) {
        CAPTURE(std::string(part));
        CHECK(refusal(of(head, part)).starts_with("its values take more than 224 MiB"));
    }
    CHECK(refusal(of(head + "N", "\x94")).starts_with("its values take more than 224 MiB"));
    CHECK(refusal(of("{\"a\":[", "1,")).starts_with("its values take more than 224 MiB"));
    // A dump that is read after it has its whole room.
    RunNames names;
    Values values;
    std::string unpacked;
    CHECK_THROWS_AS(static_cast<void>(read_dump_bytes(of(head, "}"), names, values, unpacked)), Error);
    const std::string good = R"({"version": "2.9", "pg_config": {}, "entries": []})";
    CHECK(read_dump_bytes(good, names, values, unpacked).version == "2.9");
}

TEST_CASE("a pickle that names one list of entries or of sizes any number of times is refused") {
    const auto text = [](const std::string& s) {
        std::string out = "X";
        for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(s.size() >> shift & 255U);
        return out + s;
    };
    const std::string begin = std::string("\x80\x02}(", 4) + text("version") + text("2.9") + text("pg_config")
                              + "}(" + text("0") + "}(" + text("desc") + text("d") + text("ranks")
                              + text("[0, 1]") + "uu" + text("entries") + "](";
    const auto entry = [&](const std::string& sizes) {
        return "}q" + std::string(1, '\0') + "(" + text("record_id") + "K\1" + text("collective_seq_id")
               + "K\1" + text("process_group") + "](" + text("0") + "e" + text("profiling_name")
               + text("nccl:x") + text("input_sizes") + sizes + "u";
    };
    const auto repeated = [](std::size_t n) {
        std::string out;
        for (std::size_t i = 0; i < n; ++i) out += std::string("h\0", 2);
        return out;
    };
    if (!test::kSanitized)  // it takes long there, and has nothing in it that the next ones have not
        CHECK(refusal(begin + entry("]") + repeated(1'000'100) + "eu.")
                  .starts_with("more than 1,000,000 entries"));
    std::string sizes = "](";
    for (int i = 0; i < 100'000; ++i) sizes += "]";
    CHECK(refusal(begin + entry(sizes + "e") + repeated(100'000) + "eu.")
          == "its entries name the same long values too often");
    CHECK(refusal(begin + entry("](](K\1K\2ee") + repeated(1000) + "eu.").empty());
}
