#include "core/io/field_reader.h"
#include "core/mesh/mesh.h"
#include "core/mesh/torus.h"

namespace pentamesh {
namespace {

using nlohmann::json;

void read_tiers(const json& value, const DocumentPlace& place, Cluster& cluster) {
    if (!value.is_array() || value.empty() || value.size() > kMaxTiers)
        place.fail("found " + shown_json(value) + ", must be a list of 1 to " + std::to_string(kMaxTiers)
                   + " tiers, fastest first");
    cluster.tiers.clear();
    for (std::size_t i = 0; i < value.size(); ++i) {
        Tier tier;
        FieldReader reader(value[i], place.at(std::to_string(i)), false);
        tier_fields(tier, reader);
        reader.finish();
        if (tier.nics > 0 && i != 1)
            place.at(std::to_string(i))
                .at("nics")
                .fail("found " + std::to_string(tier.nics)
                      + ", but NICs lead from the first tier to the second: only the second says how many");
        if (!tier.torus.empty() && (i != 0 || !torus_sizes(tier.torus)))
            place.at(std::to_string(i))
                .at("torus")
                .fail("found \"" + tier.torus
                      + "\", must be the sizes of the first tier's torus, two or three of them: \"16x16\"");
        if (tier.name.empty()) tier.name = name_of(tier.kind);
        cluster.tiers.push_back(std::move(tier));
    }
}

// The last tier spans the cluster; the ones before it span more and more GPUs.
void settle_domains(Cluster& cluster, const DocumentPlace& place) {
    const auto domain = [&](std::size_t i) { return place.at("tiers").at(std::to_string(i)).at("domain"); };
    const std::size_t last = cluster.tiers.size() - 1;
    for (std::size_t i = 0; i < last; ++i) {
        const std::int64_t spans = cluster.tiers[i].domain;
        if (spans == 0)
            domain(i).fail(
                "is missing, must be the GPUs that the tier spans (only the last tier may leave it out)");
        if (i > 0 && spans <= cluster.tiers[i - 1].domain)
            domain(i).fail("found " + std::to_string(spans) + ", must be more than the "
                           + std::to_string(cluster.tiers[i - 1].domain) + " of the faster tier before it");
    }
    Tier& outer = cluster.tiers[last];
    if (outer.domain != 0 && outer.domain < cluster.gpus)
        domain(last).fail("found " + std::to_string(outer.domain) + ", but the last tier spans all "
                          + std::to_string(cluster.gpus) + " GPUs: leave its domain out");
    outer.domain = 0;
    const std::string& torus = cluster.tiers.front().torus;
    if (torus.empty()) return;
    if (const std::int64_t gpus = torus_sizes(torus)->gpus(); gpus != domain_of(cluster, 0))
        place.at("tiers").at("0").at("torus").fail(
            "found \"" + torus + "\", which joins " + std::to_string(gpus) + " GPUs, but the tier spans "
            + std::to_string(domain_of(cluster, 0)) + ": state the torus of so many");
}

// A GPU of one's own is as efficient as the preset that `efficiency_of` names. Where neither that nor an
// efficiency is stated, it is as the preset of its name, anything else as kEfficiencyOf.
Efficiency efficiency_preset(const json& gpu, const DocumentPlace& place, const Presets& presets) {
    if (const auto of = gpu.find("efficiency_of"); of != gpu.end())
        return preset_named(*of, place.at("efficiency_of"),
                            [&](const std::string& id) { return presets.gpu(id); })
            .efficiency;
    const auto name = gpu.find("name");
    if (name != gpu.end() && name->is_string() && !gpu.contains("efficiency"))
        for (const Presets::Entry& e : presets.list(PresetKind::gpu))
            if (e.name == name->get_ref<const std::string&>() && e.broken.empty())
                return presets.gpu(e.id).efficiency;
    return presets.gpu(kEfficiencyOf).efficiency;
}

}  // namespace

Gpu gpu_from_json(const json& value, const DocumentPlace& place, const Presets& presets, Source& source) {
    const auto get = [&](const std::string& id) { return presets.gpu(id); };
    source.overrides.emplace_back("/gpu");
    if (value.is_string()) return preset_named(value, place, get);
    if (!value.is_object())
        place.fail("found " + shown_json(value) + ", must be a GPU preset's id or an object");
    Gpu gpu;
    const auto preset = value.find("preset");
    const bool based = preset != value.end();
    if (based)
        gpu = preset_named(*preset, place.at("preset"), get);
    else if (place.path != (presets.root() / "gpus" / (std::string(kEfficiencyOf) + ".json")).string())
        gpu.efficiency = efficiency_preset(value, place, presets);
    FieldReader reader(value, place, based, based ? &source.overrides : nullptr, "/gpu");
    static_cast<void>(reader.peek("preset"));
    static_cast<void>(reader.peek("source"));
    static_cast<void>(reader.peek("efficiency_source"));
    static_cast<void>(reader.peek("efficiency_of"));
    gpu_fields(gpu, reader);
    reader.finish();
    return gpu;
}

Cluster cluster_from_json(const json& value, const DocumentPlace& place, const Presets& presets,
                          Source& source) {
    auto [c, whole, based] = begin_preset(value, place, source, "a cluster",
                                          [&](const std::string& id) { return presets.cluster(id); });
    if (whole) return c;
    FieldReader reader(value, place, based, based ? &source.overrides : nullptr);
    static_cast<void>(reader.peek("preset"));
    static_cast<void>(reader.peek("source"));
    reader.text("name", c.name);
    reader.integer("gpus", c.gpus, kDegree, Presence::required);
    Source gpu_source;
    if (const json* gpu = reader.peek("gpu"))
        c.gpu = gpu_from_json(*gpu, place.at("gpu"), presets, gpu_source);
    else if (!based)
        place.at("gpu").fail("is missing, must be a GPU preset's id or an object");
    source.overrides.insert(source.overrides.end(), gpu_source.overrides.begin(), gpu_source.overrides.end());
    if (const json* tiers = reader.find("tiers"))
        read_tiers(*tiers, place.at("tiers"), c);
    else if (!based)
        place.at("tiers").fail("is missing, must be a list of tiers, fastest first");
    std::int64_t fast = 0, node = 0;
    reader.integer("fast_domain", fast, kDegree, Presence::sparse);
    reader.integer("gpus_per_node", node, kDegree, Presence::sparse);
    cost_fields(c, reader);
    reader.any_text("currency", c.currency);
    reader.maybe_group("calibration", c.calibration, [](auto& s, auto& w) { calibration_fields(s, w); });
    reader.finish();
    if (fast != 0 && node != 0 && fast != node)
        place.at("gpus_per_node")
            .fail("found " + std::to_string(node) + ", but fast_domain, which is the same, is "
                  + std::to_string(fast) + ": state one of the two");
    const char* const stated = fast == 0 ? "gpus_per_node" : "fast_domain";
    if (fast == 0) fast = node;
    if (fast != 0 && c.tiers.size() < 2)
        place.at(stated).fail("found " + std::to_string(fast)
                              + ", but the only tier spans the whole cluster");
    if (fast != 0) c.tiers.front().domain = fast;
    settle_domains(c, place);
    return c;
}

}  // namespace pentamesh
