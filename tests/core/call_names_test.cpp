// Tests the plain names of collectives: what is carried agrees with the exact words of every call of every
// preset, and an axis says each thing once.
#include "core/comm/call_names.h"
#include "core/evaluate.h"
#include "core/io/presets.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

using namespace pentamesh;

namespace {

bool says_word(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

}  // namespace

TEST_CASE("what a call carries agrees with its exact words, in every preset") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    std::set<std::string> seen;
    for (const Presets::Entry& entry : presets.list(PresetKind::plan)) {
        const std::string& id = entry.id;
        CAPTURE(id);
        const Evaluation e = evaluate(presets.plan(id));
        for (const Operation& o : e.comm.operations) {
            const std::string exact(words_of(o.what)), carried(carried_by(o));
            CAPTURE(exact);
            CAPTURE(carried);
            REQUIRE_FALSE(carried.empty());
            seen.insert(carried);
            const bool again = says_word(exact, "again for the weight gradient");
            CHECK(says_word(carried, "gradients") == (says_word(exact, "gradient") && !again));
            CHECK((carried == "parameters") == says_word(exact, "parameters"));
            if (carried == "tokens" || carried == "gradients of tokens")
                CHECK((o.group == GroupKind::ep || o.group == GroupKind::etp));
            if (says_word(carried, "keys and values")) CHECK(o.group == GroupKind::cp);
        }
    }
    for (const char* name : {"parameters", "gradients", "activations", "gradients of activations", "tokens",
                             "gradients of tokens", "keys and values", "the loss"})
        CHECK(seen.count(name) == 1);
}

TEST_CASE("an axis names its calls once each, by what they carry") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    const Evaluation e = evaluate(presets.plan("mesh-8"));  // ZeRO-3 in pairs, copies across
    CHECK(plain_names(e.comm, GroupKind::dp_shard)
          == "all-gather of parameters, reduce-scatter of gradients");
    CHECK(plain_names(e.comm, GroupKind::dp_replicate) == "all-reduce of gradients");
    CHECK(carried_over(e.comm, GroupKind::tp) == "activations, gradients of activations, the loss");
    CHECK(plain_names(e.comm, GroupKind::cp).empty());
}

TEST_CASE("what comes back through a layer as it went forward stands with it") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Plan plan = presets.plan("mesh-8");
    plan.layout.sequence_parallel = false;
    const Evaluation e = evaluate(plan);
    std::vector<const Operation*> calls;
    for (const Operation& o : e.comm.operations)
        if (o.group == GroupKind::tp) calls.push_back(&o);
    CHECK(plain_names(calls) == "all-reduce of activations and their gradients, all-reduce of the loss");
    // Without its forward what comes back stands for itself.
    std::erase_if(calls, [](const Operation* o) { return carried_by(*o) != "gradients of activations"; });
    CHECK(plain_names(calls) == "all-reduce of gradients of activations");
}
