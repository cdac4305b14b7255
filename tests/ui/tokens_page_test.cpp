#include "app/ui/views/shards/view.h"
#include "tests/ui/driver.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

// Opens the page of cp: its row of the price table, then its tokens.
void open_tokens(Driver& d) {
    d.press({Key::n3});
    REQUIRE(d.click("shards.scope", 2));
    REQUIRE(d.click("shards.strategy", static_cast<std::uint64_t>(Strategy::cp)));
    REQUIRE(d.click("shards.cp_shows", 0));
    d.settle();
}

const TokensPageState& state_of(Driver& d) {
    return d.shell.views().shards.tokens;
}

}  // namespace

TEST_CASE("the page of cp shows a sample in slices, its price stays a click away") {
    Driver d("llama-3-8b-fsdp", {1280, 720});
    open_tokens(d);
    CHECK_FALSE(d.drawn("shards.strategy", 0));
    for (std::uint64_t r = 0; r < 4; ++r) CHECK(d.drawn("shards.token_gpu", r));
    CHECK_FALSE(d.drawn("shards.token_gpu", 4));
    REQUIRE(d.click("shards.cp_ranks", 1));
    d.settle();
    CHECK(d.drawn("shards.token_gpu", 7));
    REQUIRE(d.click("shards.cp_shows", 1));
    d.settle();
    CHECK(d.drawn("shards.strategy", 0));
}

TEST_CASE("a click on a GPU picks its rows, the arrows and the buttons go through the hops") {
    Driver d("llama-3-8b-fsdp", {1280, 720});
    open_tokens(d);
    REQUIRE(d.click("shards.token_gpu", 2));
    CHECK(state_of(d).rank == 2);
    REQUIRE(d.click("shards.token_gpu", 2));
    CHECK(state_of(d).rank == -1);
    CHECK(state_of(d).round == -1);
    for (const std::int64_t round : {0, 1, 2, -1}) {
        d.press({Key::right});
        CHECK(state_of(d).round == round);
    }
    d.press({Key::left});
    CHECK(state_of(d).round == 2);
    REQUIRE(d.click("shards.hop", 1));
    CHECK(state_of(d).round == -1);
}

TEST_CASE("a click on a way to bring the keys makes it the plan's") {
    Driver d("llama-3.1-405b-131k", {1280, 720});
    open_tokens(d);
    REQUIRE(d.plan().layout.cp_comm == CpComm::allgather);
    REQUIRE(d.click("shards.way", 0));
    CHECK(d.plan().layout.cp_comm == CpComm::ring);
    d.settle();
    CHECK(state_of(d).shown->cut.comm == CpComm::ring);
}
