// Tests careless or hostile files and failing disks: each is refused soon, with the place, and nothing is
// lost.
#include "core/base/files.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/evaluate.h"
#include "core/io/plan_json.h"
#include "core/io/presets.h"
#include "core/plan/plan_fields.h"
#include "tests/core/shipped.h"
#include "tests/folder.h"

#include <cmath>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

using namespace pentamesh;
namespace fs = std::filesystem;

namespace {

using test::presets;

struct HostileAnswer {
    std::string pointer, message, whole;
    ErrorKind kind = ErrorKind::usage;
};
template <typename F>
HostileAnswer refusal(F&& f) {
    try {
        f();
    } catch (const Error& e) {
        return {e.pointer(), e.message(), e.what(), e.kind()};
    }
    return {"", "nothing was refused", "", ErrorKind::usage};
}
HostileAnswer of_text(const std::string& text) {
    return refusal([&] { (void)parse_plan(text, "p.json", presets()); });
}
HostileAnswer of_set(const std::string& set) {
    static const std::string plan =
        R"({"model": "llama-3-8b", "cluster": {"preset": "h100-sxm-ib", "gpus": 64}})";
    return refusal([&] { (void)parse_plan(plan, "p.json", presets(), {set}); });
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

bool is_utf8(const std::string& text) {
    try {
        (void)nlohmann::json(text).dump();
    } catch (const nlohmann::json::exception&) {
        return false;
    }
    return true;
}

std::string repeated(const std::string& part, std::size_t n) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i) out += part;
    return out;
}

using test::Folder;

}  // namespace

TEST_CASE("nesting is read to 64 levels and refused beyond, however deep the text goes on") {
    const auto nested = [](std::size_t n) { return repeated("[", n) + repeated("]", n); };
    CHECK(has(of_text(nested(64)).message, "must be an object"));
    CHECK(has(of_text(nested(65)).message, "64 levels"));
    CHECK(has(of_text(repeated("[", 5'000'000)).message, "64 levels"));
    CHECK(has(of_text(repeated("{\"a\":", 100'000)).message, "64 levels"));
}

TEST_CASE("text beyond 64 MiB is refused unread") {
    CHECK(has(of_text(std::string((std::size_t{64} << 20) + 1, ' ')).message, "64 MiB"));
}

TEST_CASE("an object of very many keys takes time in proportion") {
    std::string text = "{";
    for (int i = 0; i < 200'000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
    text.back() = '}';
    CHECK(has(of_text(text).message, "unknown key"));
}

TEST_CASE("every message is valid UTF-8, whatever bytes were found") {
    for (const std::string& text :
         {std::string("\xff\xfe"), std::string("\0\xff", 2), std::string("{\"\xff\": 1}"),
          std::string("{\"name\": \"\xed\xa0\x80\"}"), std::string("{\"name\": \"\xc0\xaf\"}"),
          std::string("{\"name\": \"\\ud800\"}"), std::string("{\"layout\": {\"\\u0000\\u202e\": 1}}"),
          std::string("{\"model\": \"\\u0000") + repeated("\xf0\x9f\x98\x80", 500) + "\"}"}) {
        const HostileAnswer r = of_text(text);
        CAPTURE(r.message);
        CHECK(r.kind == ErrorKind::invalid);
        CHECK(is_utf8(r.whole));
        CHECK(r.whole.size() < 2000);
    }
}

TEST_CASE("numbers that no plan can mean are refused where they stand") {
    for (const char* value : {"NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0x10", "01", "1.", ".5",
                              "+1", "1e", "--1", "1_000"}) {
        CAPTURE(value);
        const HostileAnswer r = of_text(std::string(R"({"layout": {"tp": )") + value + "}}");
        CHECK(r.kind == ErrorKind::invalid);
        CHECK(r.pointer == "/layout/tp");
    }
    for (const char* value : {"0", "-1", "-9223372036854775808", "1048577", "9223372036854775807",
                              "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e18",
                              "-0.0", "1e-320", "[1]", "{}", "true", "null", "\"8\""}) {
        CAPTURE(value);
        for (const char* field : {"tp", "pp", "dp_shard", "virtual_stages"}) {
            const HostileAnswer r = of_set(std::string("layout.") + field + "=" + value);
            CHECK(r.kind == ErrorKind::invalid);
            CHECK(r.pointer == std::string("/layout/") + field);
        }
    }
    for (const char* value : {"-1", "0.99", "1e300", "null", "\"1\"", "true", "[1]"})
        CHECK(of_set(std::string("training.router_imbalance=") + value).pointer
              == "/training/router_imbalance");
}

TEST_CASE("figures that no type holds are refused with the place and the limit") {
    const auto refused = [](const Plan& p, std::string_view pointer, std::string_view limit) {
        const Evaluation e = evaluate(p);
        CHECK_FALSE(e.valid);
        CHECK_FALSE(e.step);
        CHECK(e.memory.stage.empty());
        REQUIRE(e.problems.size() == 1);
        CHECK(e.problems[0].code == ProblemCode::number_too_large);
        CHECK(e.problems[0].pointer == pointer);
        CAPTURE(e.problems[0].message);
        CHECK(has(e.problems[0].message, std::string(limit)));
        const Evaluation quick = evaluate(p, {.timeline = false, .messages = false, .report = false});
        CHECK_FALSE(quick.valid);
        REQUIRE(quick.problems.size() == 1);
        CHECK(quick.problems[0].code == ProblemCode::number_too_large);
    };
    constexpr std::string_view kParameters = "9,223,372,036,854,775,807 parameters",
                               kBytes = "9,000,000,000,000,000,000 bytes";
    Plan p = presets().plan("llama-3-8b-fsdp");
    p.model.layers = kMostLayers;
    p.model.hidden = p.model.heads = p.model.kv_heads = p.model.head_dim = p.model.ffn = p.model.vocab =
        kMostSize;
    refused(p, "/model", kParameters);
    Plan shared = p;  // so thin a share that each GPU's numbers can be counted
    shared.cluster.gpus = shared.layout.tp = shared.training.global_batch = kMostDegree;
    shared.layout.dp_shard = 1;
    shared.layout.zero = 0;
    shared.training.sequence_length = kMostDegree;
    shared.model.head_dim = shared.model.layers = 1;
    shared.model.hidden = shared.model.ffn = kMostSize / 2;
    refused(shared, "/model", kParameters);
    Plan state = shared;  // countable parameters, of which one GPU holds more bytes than are counted
    state.cluster.gpus = state.layout.tp = state.training.global_batch = 1;
    state.training.sequence_length = 1;
    state.model.hidden = state.model.heads = state.model.kv_heads = kMostSize / 4;
    state.model.ffn = kMostSize / 4;
    state.model.vocab = 1;
    refused(state, "/model", kBytes);
    Plan tokens = presets().plan("llama-3-8b-fsdp");
    tokens.training.sequence_length = kMostSize;
    tokens.training.micro_batch = kMostDegree;
    tokens.training.global_batch = kMostDegree * tokens.cluster.gpus;
    refused(tokens, "/training/sequence_length", kBytes);
    Plan held = tokens;  // all that can be asked of it is counted
    held.training.micro_batch = 1;
    const Evaluation e = evaluate(held);
    REQUIRE(e.step);
    CHECK(std::isfinite(e.step->model_flops_per_gpu));
    CHECK(e.step->model_flops_per_gpu > 1e24);
}

TEST_CASE("a preset's id never reaches the file system") {
    for (const char* id : {"../models/llama-3-8b", "/etc/passwd", "..", ".", "", "llama-3-8b.json",
                           "llama-3-8b/", "llama-3-8b\\u0000", "LLAMA-3-8B"}) {
        CAPTURE(id);
        const HostileAnswer r = of_text(std::string(R"({"cluster": "h100-sxm-ib", "model": ")") + id + "\"}");
        CHECK(r.pointer == "/model");
        CHECK(has(r.message, "no such model preset"));
    }
}

TEST_CASE("a set cannot climb out of the plan") {
    for (const char* set :
         {"/=1", "//=1", "layout..tp=1", "layout.tp.0=1", "name.x.y=1", "cluster.tiers.-1.domain=8",
          "cluster.tiers.-.domain=8", "cluster.tiers.99999999999999999999.domain=8", "model.moe.x=1", "~=1",
          "/~2=1", "layout.order.0=qq"}) {
        CAPTURE(set);
        CHECK(of_set(set).kind == ErrorKind::invalid);
    }
    CHECK(of_set("=1").kind == ErrorKind::usage);
    CHECK(of_set("layout.tp").kind == ErrorKind::usage);
    CHECK(of_set("").kind == ErrorKind::usage);
    CHECK(is_utf8(of_set("\xff=\xff").whole));
    CHECK(of_set("name=\xff").kind != ErrorKind::io);
}

TEST_CASE("a file of 1 GB is refused without being read") {
    const Folder folder;
    std::ofstream(folder.file("big.json")) << "{}";
    fs::resize_file(folder.file("big.json"), std::uintmax_t{1} << 30);  // takes no room on the disk
    const HostileAnswer r = refusal([&] { (void)read_file(folder.file("big.json")); });
    CHECK(r.kind == ErrorKind::io);
    CHECK(has(r.message, "64 MiB"));
}

TEST_CASE("what cannot be read says why and is of kind io") {
    const Folder folder;
    CHECK(has(refusal([&] { (void)read_file(folder.path.string()); }).whole, folder.path.string()));
    CHECK(refusal([&] { (void)read_file(folder.path.string()); }).kind == ErrorKind::io);
    CHECK(refusal([&] { (void)read_file(folder.file("none")); }).kind == ErrorKind::io);
    CHECK(refusal([&] { (void)read_file(""); }).kind == ErrorKind::io);
    fs::create_symlink("itself", folder.path / "itself");
    CHECK(refusal([&] { (void)read_file(folder.file("itself")); }).kind == ErrorKind::io);
    std::ofstream(folder.file("closed")) << "{}";
    fs::permissions(folder.file("closed"), fs::perms::none);
    if (!std::ifstream(folder.file("closed"))) {  // root reads all the same
        const HostileAnswer r = refusal([&] { (void)read_file(folder.file("closed")); });
        CHECK(r.kind == ErrorKind::io);
        CHECK(has(r.message, "ermission"));
    }
    if (fs::exists("/dev/zero")) CHECK(has(refusal([] { (void)read_file("/dev/zero"); }).message, "64 MiB"));
}

TEST_CASE("a write that fails leaves the old file as it was, and nothing beside it") {
    const Folder folder;
    const std::string file = folder.file("plan.json");
    write_file(file, "old");
    CHECK(read_file(file) == "old");
    write_file(file, "new");
    CHECK(read_file(file) == "new");
    CHECK(folder.entries() == 1);
    CHECK(refusal([&] { write_file(folder.file("none/plan.json"), "x"); }).kind == ErrorKind::io);
    CHECK(refusal([&] { write_file(folder.path.string(), "x"); }).kind == ErrorKind::io);
    CHECK(refusal([&] { write_file("", "x"); }).kind == ErrorKind::io);
    CHECK(folder.entries() == 1);
    if (fs::exists("/dev/full"))  // a full disk
        CHECK(refusal([] { write_file("/dev/full", std::string(100'000, 'x')); }).kind == ErrorKind::io);
}

TEST_CASE("a file is replaced through a link, with the permissions that it had") {
    const Folder folder;
    const std::string file = folder.file("plan.json");
    write_file(file, "old");
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink("plan.json", folder.path / "link");
    write_file(folder.file("link"), "new");
    CHECK(fs::is_symlink(folder.path / "link"));
    CHECK(read_file(file) == "new");
    CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("what a terminal would obey is named, in JSON by an escape") {
    using namespace std::string_view_literals;
    const std::string_view hostile =
        "a\x1b[31m\x07\r\x7f\xc2\x9b\xe2\x80\xae\0b\tc\nd\r\n\xff\xed\xa0\x80 \xc2\xa0\xc3\xa9"sv;
    CHECK(printable(hostile)
          == "a<U+001B>[31m<U+0007><U+000D><U+007F><U+009B><U+202E><U+0000>"
             "b\tc\nd\r\n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
             "\xef\xbf\xbd \xc2\xa0\xc3\xa9");
    CHECK(printable("plain text, \xe2\x88\x9e, \xe6\xbc\xa2") == "plain text, \xe2\x88\x9e, \xe6\xbc\xa2");
    const nlohmann::json value{{"name", "a\x1b\x7f\xc2\x9b\xe2\x80\xae"}};
    const std::string written = printable_json(value.dump());
    CHECK(written == "{\"name\":\"a\\u001b\\u007F\\u009B\\u202E\"}");
    CHECK(nlohmann::json::parse(written) == value);
}

TEST_CASE("numbers between 0 and the least figure are refused, with the limit") {
    for (const char* field :
         {"cluster.tiers.0.bytes_per_s", "cluster.gpu.hbm_bytes_per_s", "cluster.gpu.flops.bf16",
          "cluster.gpu.efficiency.gemm", "cluster.gpu.efficiency.hbm", "training.straggler_cv"}) {
        CAPTURE(field);
        for (const char* tiny : {"1e-320", "4.9e-324", "9e-31"}) {
            const HostileAnswer r = of_set(std::string(field) + "=" + tiny);
            CHECK(r.kind == ErrorKind::invalid);
            CHECK(has(r.message, "at least 1e-30"));
        }
    }
    Plan p = presets().plan("llama-3-8b-fsdp");
    p.cluster.tiers.front().bytes_per_s = 1e-30;
    p.cluster.gpu.efficiency.fast_link = 1e-30;
    p.cluster.gpu.efficiency.gemm = p.cluster.gpu.efficiency.hbm = 1e-30;
    p.cluster.gpu.flops.bf16 = p.cluster.gpu.hbm_bytes_per_s = 1e-30;
    const Evaluation e = evaluate(p);
    REQUIRE(e.step);
    CHECK(std::isfinite(e.step->time_s));
}
