// A title never stands over a plan that differs from it.
#include "shipped.h"

#include "core/io/plan_json.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::test;

namespace {

std::string name_after(const Plan& before, Plan after) {
    return with_true_title(before, std::move(after)).name;
}

}  // namespace

TEST_CASE("a plan without a title of its own is called by its model, its GPUs and its factors") {
    Plan p = presets().plan("llama-3-70b-3d");
    p.name.clear();
    CHECK(title_of(p) == p.model.name + ", 256 H100, tp 8 pp 4");
    p = with_cluster(with_gpus(p, 16384), presets().cluster("h200-sxm-ib"), "h200-sxm-ib");
    CHECK(title_of(p) == p.model.name + ", 16,384 H200, tp 8 pp 4");
    p.name = "Ours";
    CHECK(title_of(p) == "Ours");
}

TEST_CASE("a preset's model with other fields is said to be edited, one with a name of its own is not") {
    Plan p = presets().plan("llama-3-70b-3d");
    const std::string name = p.model.name;
    CHECK(model_name_of(p) == name);
    p = with_field(p, "/model/layers", "96", presets());
    CHECK(model_name_of(p) == name + ", edited");
    p.name.clear();
    CHECK(title_of(p).starts_with(name + ", edited, "));
    p = with_field(p, "/model/name", "Ours 96", presets());
    CHECK(model_name_of(p) == "Ours 96");
}

TEST_CASE("every GPU that ships has a short name") {
    for (const Presets::Entry& e : presets().list(PresetKind::cluster)) {
        CAPTURE(e.id);
        const std::string name = short_name(presets().cluster(e.id).gpu);
        CHECK(name.find(' ') == std::string::npos);
        CHECK(name.size() >= 3);  // "v6e"
        CHECK(name.size() <= 6);
    }
}

TEST_CASE("another model is another job: the title goes, and the notes of a shipped plan; the same model "
          "leaves both") {
    for (const Presets::Entry& e : presets().list(PresetKind::plan)) {
        CAPTURE(e.id);
        const Plan p = presets().plan(e.id);
        CHECK(with_true_title(p, p) == p);
        const char* other = p.model_source.preset == "llama-3-8b" ? "gpt-22b" : "llama-3-8b";
        const Plan changed = with_true_words(p, with_model(p, presets().model(other), other), presets());
        CHECK(changed.name.empty());
        CHECK(changed.notes.empty());
        CHECK(with_true_words(p, p, presets()) == p);
    }
}

TEST_CASE("a title that names what was changed goes, one that does not stays") {
    const Plan llama = presets().plan("llama-3-70b-3d");  // "Llama 3 70B, tp 8 x pp 4 x dp 8 on 256 H100"
    CHECK(name_after(llama, with_gpus(llama, 512)).empty());
    CHECK(name_after(llama, with_factor(llama, Axis::tp, 4, true)).empty());
    CHECK(name_after(llama, with_factor(llama, Axis::pp, 8, true)).empty());
    CHECK(name_after(llama, with_cluster(llama, presets().cluster("h200-sxm-ib"), "h200-sxm-ib")).empty());
    Plan more = llama;
    more.training.global_batch *= 2;
    CHECK(name_after(llama, more) == llama.name);

    const Plan nodes = presets().plan("mesh-8");  // "Two nodes of four"
    CHECK(name_after(nodes, with_gpus(nodes, 16)).empty());
    CHECK(name_after(nodes, with_factor(nodes, Axis::tp, 4, true)) == nodes.name);
    CHECK(name_after(nodes, with_gpus_per_node(nodes, 8)).empty());  // it is one of eight
    CHECK(name_after(nodes, with_cluster(nodes, presets().cluster("h200-sxm-ib"), "h200-sxm-ib")).empty());

    const Plan context = presets().plan("llama-3.1-405b-8k");  // "..., 8K context"
    Plan longer = context;
    longer.training.sequence_length *= 2;
    CHECK(name_after(context, longer).empty());

    Plan own = llama;
    own.name = "The run of spring";
    own.notes = "Ask before you change it.";
    const Plan other =
        with_true_words(own, with_model(own, presets().model("llama-3-8b"), "llama-3-8b"), presets());
    CHECK(other.name.empty());
    CHECK(other.notes == own.notes);  // the user's own
    CHECK(lost_words_text(own, other) == "The title \"The run of spring\" no longer holds and is gone");
    const Plan larger = with_true_words(own, with_gpus(own, 512), presets());
    CHECK(larger.name == own.name);
    CHECK(larger.notes == own.notes);
    CHECK(lost_words_text(own, larger).empty());
    Plan renamed = with_gpus(own, 512);
    renamed.name = "512 H100";
    CHECK(name_after(own, renamed) == "512 H100");
}

TEST_CASE("the notes of a shipped plan go where they name what changed, though its title stays") {
    Plan mesh = presets().plan("mesh-8");  // "The smallest mesh with three axes: tp 2, ..."
    REQUIRE(mesh.notes.find("tp 2") != std::string::npos);
    const Plan cut = with_true_words(mesh, with_factor(mesh, Axis::tp, 4, true), presets());
    CHECK(cut.name == mesh.name);
    CHECK(cut.notes.empty());
    CHECK(lost_words_text(mesh, cut).empty());  // the plan that ships has them
    const Plan hsdp =
        presets().plan("hsdp-64");  // "FSDP inside each node of 8, plain replicas across 8 nodes"
    CHECK(with_true_words(hsdp, with_factor(hsdp, Axis::dp_shard, 16, true), presets()).notes.empty());
    Plan batch = mesh;
    batch.training.global_batch *= 2;
    CHECK(with_true_words(mesh, batch, presets()) == batch);
    mesh.notes += " Tried on Monday.";
    CHECK(with_true_words(mesh, with_factor(mesh, Axis::tp, 4, true), presets()).notes == mesh.notes);
    const Plan larger = with_true_words(presets().plan("mesh-8"), with_gpus(mesh, 16), presets());
    CHECK(larger.notes == mesh.notes);  // the edit itself wrote them
}

TEST_CASE("a constant of one's own leaves the title, for it is the same GPU") {
    const Plan p = presets().plan("llama-3-70b-3d");
    Plan slower = p;
    slower.cluster.gpu.efficiency.gemm *= 0.9;
    slower.cluster.tiers[1].bytes_per_s *= 0.5;
    CHECK(name_after(p, slower) == p.name);
}
