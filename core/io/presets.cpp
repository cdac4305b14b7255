#include "core/io/presets.h"

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/io/field_reader.h"
#include "core/io/plan_json.h"
#include "core/mesh/mesh.h"
#include "core/mesh/places.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

namespace pentamesh {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct KindOfPreset {
    std::string_view folder, ending, word;
};
constexpr std::array<KindOfPreset, 4> kKinds{{{"gpus", ".json", "GPU"},
                                              {"clusters", ".json", "cluster"},
                                              {"models", ".json", "model"},
                                              {"plans", ".plan.json", "plan"}}};

const KindOfPreset& kind_of(PresetKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

// The build writes this next to a program that is not installed: the source folder's path, seen from there.
constexpr const char* kSourceFolderFile = "pentamesh-source.txt";

// Ids are file names without the ending. No other part of a plan gets near the file system.
std::vector<std::string> ids_in(const fs::path& folder, std::string_view ending) {
    std::vector<std::string> ids;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string file = it->path().filename().string();
        if (file.size() > ending.size()
            && std::string_view(file).substr(file.size() - ending.size()) == ending)
            ids.push_back(file.substr(0, file.size() - ending.size()));
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

}  // namespace

struct Presets::Impl {
    struct Ids {
        std::vector<std::string> all;     // sorted
        std::vector<std::string> own;     // those of them that are the user's
        std::vector<std::string> hidden;  // own files with the id of a preset that ships
    };
    fs::path root, own_root;
    mutable std::recursive_mutex mutex;  // a plan's preset reads those of its model, cluster and GPU
    mutable std::array<std::optional<Ids>, 4> ids;
    mutable std::array<std::shared_ptr<const std::vector<Entry>>, 4> entries;
    mutable std::vector<std::shared_ptr<const std::vector<Entry>>> older;  // lists that somebody may hold
    mutable std::map<std::string, Gpu, std::less<>> gpus;
    mutable std::map<std::string, Cluster, std::less<>> clusters;
    mutable std::map<std::string, Model, std::less<>> models;
    mutable std::map<std::string, Plan, std::less<>> plans;
    mutable std::vector<std::string> reading;  // files begun and not done

    const Ids& ids_of(PresetKind kind) const {
        auto& slot = ids[static_cast<std::size_t>(kind)];
        if (slot) return *slot;
        Ids found{ids_in(root / kind_of(kind).folder, kind_of(kind).ending), {}, {}};
        std::vector<std::string> own;
        if (!own_root.empty() && kind != PresetKind::plan)  // a plan of one's own is a file like any other
            own = ids_in(own_root / kind_of(kind).folder, kind_of(kind).ending);
        for (std::string& id : own)
            (std::binary_search(found.all.begin(), found.all.end(), id) ? found.hidden : found.own)
                .push_back(std::move(id));
        found.all.insert(found.all.end(), found.own.begin(), found.own.end());
        std::sort(found.all.begin(), found.all.end());
        return slot.emplace(std::move(found));
    }
    [[nodiscard]] bool is_own(PresetKind kind, std::string_view id) const {
        const std::vector<std::string>& own = ids_of(kind).own;
        return std::binary_search(own.begin(), own.end(), id);
    }
    [[nodiscard]] fs::path file_in(const fs::path& folder, PresetKind kind, std::string_view id) const {
        return folder / kind_of(kind).folder / (std::string(id) + std::string(kind_of(kind).ending));
    }
    [[nodiscard]] std::string file(PresetKind kind, std::string_view id) const {
        return file_in(is_own(kind, id) ? own_root : root, kind, id).string();
    }
    // Returns the file of an id. Throws Error without a path: the caller adds the place.
    [[nodiscard]] std::string known_file(PresetKind kind, std::string_view id) const {
        const std::vector<std::string>& all = ids_of(kind).all;
        if (std::binary_search(all.begin(), all.end(), id)) return file(kind, id);
        const std::string word(kind_of(kind).word);
        std::string text = "found \"" + shown_text(id) + "\", there is no such " + word + " preset";
        const std::vector<std::string_view> known(all.begin(), all.end());
        if (known.empty())
            text += "; " + (root / kind_of(kind).folder).string() + " holds none";
        else
            text += "; the closest is \"" + std::string(nearest(id, known)) + "\"";
        throw Error(ErrorKind::invalid, "", "", text);
    }
    // Reads once, keeps, and returns a copy.
    template <typename T, typename F>
    T kept(std::map<std::string, T, std::less<>>& map, PresetKind kind, std::string_view id, F&& read) const {
        const std::scoped_lock lock(mutex);
        const auto it = map.find(id);
        if (it != map.end()) return it->second;
        const std::string path = known_file(kind, id);
        if (std::find(reading.begin(), reading.end(), path) != reading.end())
            throw Error(ErrorKind::invalid, path, "", "is built on itself");
        reading.push_back(path);
        try {
            T value = read(read_file(path), path);
            reading.pop_back();
            return map.emplace(id, std::move(value)).first->second;
        } catch (...) {
            reading.pop_back();
            throw;
        }
    }
    // Returns a name and its source. For a shipped preset only that is read; an own one was made by hand: it
    // is read as a plan would.
    [[nodiscard]] Entry entry(const Presets& presets, PresetKind kind, const std::string& id,
                              const fs::path& path, bool own) const {
        Entry e{.id = id, .name = id, .source = "", .own = own, .file = path};
        try {
            const json value = parse_json(read_file(path), path.string());
            const auto text = [&](const char* key) {
                const auto it = value.is_object() ? value.find(key) : value.end();
                return it != value.end() && it->is_string() ? it->template get<std::string>() : std::string();
            };
            if (const std::string name = text("name"); !name.empty()) e.name = name;
            e.source = text(kind == PresetKind::plan ? "notes" : "source");
            if (kind == PresetKind::gpu) e.efficiency_source = text("efficiency_source");
            if (own && kind == PresetKind::gpu) static_cast<void>(presets.gpu(id));
            if (own && kind == PresetKind::cluster) static_cast<void>(presets.cluster(id));
            if (own && kind == PresetKind::model) static_cast<void>(presets.model(id));
        } catch (const Error& error) {
            e.broken = error.what();
        }
        return e;
    }
};

Presets::Presets(fs::path root, fs::path own) : impl_(std::make_unique<Impl>()) {
    impl_->root = std::move(root);
    impl_->own_root = std::move(own);
}
Presets::~Presets() = default;
Presets::Presets(Presets&&) noexcept = default;
Presets& Presets::operator=(Presets&&) noexcept = default;

const fs::path& Presets::root() const {
    return impl_->root;
}

const fs::path& Presets::own_root() const {
    return impl_->own_root;
}

bool Presets::has(PresetKind kind, std::string_view id) const {
    const std::scoped_lock lock(impl_->mutex);
    const std::vector<std::string>& all = impl_->ids_of(kind).all;
    return std::binary_search(all.begin(), all.end(), id);
}

bool Presets::has_own(PresetKind kind, std::string_view id) const {
    const std::scoped_lock lock(impl_->mutex);
    return impl_->is_own(kind, id);
}

void Presets::reread() const {
    const std::scoped_lock lock(impl_->mutex);
    impl_->ids = {};
    for (auto& list : impl_->entries)
        if (list) impl_->older.push_back(std::move(list));
    impl_->entries = {};
    impl_->gpus.clear();
    impl_->clusters.clear();
    impl_->models.clear();
    impl_->plans.clear();
}

const std::vector<Presets::Entry>& Presets::list(PresetKind kind) const {
    const std::scoped_lock lock(impl_->mutex);
    auto& slot = impl_->entries[static_cast<std::size_t>(kind)];
    if (slot) return *slot;
    std::vector<Entry> entries;
    const Impl::Ids& ids = impl_->ids_of(kind);
    for (const std::string& id : ids.all)
        entries.push_back(impl_->entry(*this, kind, id, impl_->file(kind, id), impl_->is_own(kind, id)));
    for (const std::string& id : ids.hidden)
        entries.push_back(
            {.id = id,
             .name = id,
             .source = "",
             .broken = "a preset that ships has the id \"" + id + "\", and is used: rename the file",
             .own = true,
             .file = impl_->file_in(impl_->own_root, kind, id)});
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.id < b.id; });
    slot = std::make_shared<const std::vector<Entry>>(std::move(entries));
    return *slot;
}

Gpu Presets::gpu(std::string_view id) const {
    return impl_->kept(impl_->gpus, PresetKind::gpu, id,
                       [&](const std::string& text, const std::string& path) {
                           Source ignored;
                           Gpu gpu = gpu_from_json(parse_json(text, path), {path, ""}, *this, ignored);
                           gpu.id = id;
                           return gpu;
                       });
}

Cluster Presets::cluster(std::string_view id) const {
    return impl_->kept(impl_->clusters, PresetKind::cluster, id,
                       [&](const std::string& text, const std::string& path) {
                           Source ignored;
                           Cluster c = cluster_from_json(parse_json(text, path), {path, ""}, *this, ignored);
                           // A GPU that is changed here is this cluster's own, so that plans write it out.
                           if (!c.gpu.id.empty() && !(c.gpu == gpu(c.gpu.id))) c.gpu.id.clear();
                           return c;
                       });
}

Model Presets::model(std::string_view id) const {
    return impl_->kept(impl_->models, PresetKind::model, id,
                       [&](const std::string& text, const std::string& path) {
                           Source ignored;
                           return model_from_json(parse_json(text, path), {path, ""}, *this, ignored);
                       });
}

Plan Presets::plan(std::string_view id) const {
    return impl_->kept(
        impl_->plans, PresetKind::plan, id,
        [&](const std::string& text, const std::string& path) { return parse_plan(text, path, *this); });
}

fs::path find_data_folder(const fs::path& executable, std::string_view name) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(executable, error);
    const fs::path folder = (error ? executable : real).parent_path();
    fs::path installed = folder.parent_path() / "share" / "pentamesh" / name;
    if (fs::is_directory(installed, error)) return installed;
    const std::optional<std::string> source = try_read_file(folder / kSourceFolderFile);
    if (!source) return installed;
    return (folder / source->substr(0, source->find_first_of("\r\n"))).lexically_normal() / name;
}

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kLongestPresetName = 60;

std::string_view folder_of(PresetKind kind) {
    if (kind == PresetKind::gpu) return "gpus";
    return kind == PresetKind::cluster ? "clusters" : "models";
}

// Windows keeps these names for devices, with any ending.
bool is_device_name(std::string_view id) {
    const std::string_view stem = id.substr(0, id.find('.'));
    constexpr std::array<std::string_view, 4> kDevices{"con", "prn", "aux", "nul"};
    if (std::find(kDevices.begin(), kDevices.end(), stem) != kDevices.end()) return true;
    return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && is_digit(stem[3]);
}

// Returns "made by hand, from llama-3-8b".
std::string source_text(const std::string& preset) {
    return preset.empty() ? "made by hand" : "made by hand, from " + preset;
}

ordered_json document_of(PresetKind kind, const std::string& name, const Plan& plan) {
    ordered_json out;
    std::string from;
    if (kind == PresetKind::model) {
        out = model_to_json(plan.model);
        from = plan.model_source.preset;
    } else if (kind == PresetKind::gpu) {
        out = gpu_to_json(plan.cluster.gpu);
        from = plan.cluster.gpu.id;
    } else {
        out = cluster_to_json(plan.cluster, {});
        from = plan.cluster_source.preset;
    }
    out["name"] = name;
    out["source"] = source_text(from);
    return out;
}

// Returns the plan that its own text gives, and nothing else.
Plan as_read(const Plan& plan, const Presets& presets) {
    return plan_from_json(nlohmann::json(plan_to_json(plan)), "", presets);
}

void own_gpu(Plan& plan) {
    plan.cluster.gpu.id.clear();
    std::vector<std::string>& stated = plan.cluster_source.overrides;
    std::erase_if(stated, [](const std::string& o) { return o == "/gpu" || o.starts_with("/gpu/"); });
    stated.emplace_back("/gpu");
}

void own_cluster(Plan& plan) {
    std::vector<std::string>& stated = plan.cluster_source.overrides;
    plan.cluster_source.preset.clear();
    std::erase_if(stated, [](const std::string& o) { return o != "/gpu" && !o.starts_with("/gpu/"); });
    if (stated.empty()) stated.emplace_back("/gpu");
}

bool is_own(const Presets& presets, PresetKind kind, const std::string& id) {
    return !id.empty() && (!presets.has(kind, id) || presets.has_own(kind, id));
}

Plan detached(const Plan& plan, const Presets& presets) {
    Plan p = plan;
    if (is_own(presets, PresetKind::model, p.model_source.preset)) p.model_source = {};
    if (is_own(presets, PresetKind::gpu, p.cluster.gpu.id)) own_gpu(p);
    if (is_own(presets, PresetKind::cluster, p.cluster_source.preset)) own_cluster(p);
    return p;
}

}  // namespace

std::string preset_id_of(std::string_view name) {
    std::string id;
    for (const char c : name) {
        const bool capital = c >= 'A' && c <= 'Z';
        if (capital || (c >= 'a' && c <= 'z') || is_digit(c) || c == '.' || c == '_')
            id += capital ? static_cast<char>(c - 'A' + 'a') : c;
        else if (!id.empty() && id.back() != '-')
            id += '-';
    }
    while (!id.empty() && (id.back() == '-' || id.back() == '.')) id.pop_back();
    id.erase(0, id.find_first_not_of("-._"));
    return id;
}

std::string refused_preset_name(const Presets& presets, PresetKind kind, std::string_view name) {
    if (presets.own_root().empty()) return "there is no folder for settings, so none can be kept";
    if (trimmed(name).empty()) return "a preset needs a name";
    if (name.size() > kLongestPresetName)
        return "a name has at most " + std::to_string(kLongestPresetName) + " letters";
    const std::string id = preset_id_of(name);
    if (id.empty()) return "a name needs a letter from a to z or a digit: its id is made of them";
    if (is_device_name(id)) return "\"" + id + "\" is a name that Windows keeps for itself";
    if (presets.has(kind, id) && !presets.has_own(kind, id))
        return "\"" + id + "\" is a preset that ships: take another name";
    return {};
}

fs::path own_preset_file(const Presets& presets, PresetKind kind, std::string_view id) {
    return presets.own_root() / folder_of(kind) / (std::string(id) + ".json");
}

Plan save_own_preset(const Presets& presets, PresetKind kind, const std::string& name, const Plan& plan) {
    const std::string refused = refused_preset_name(presets, kind, name);
    if (!refused.empty()) throw Error(ErrorKind::usage, "", "", refused);
    const std::string id = preset_id_of(name);
    const fs::path file = own_preset_file(presets, kind, id);
    // A GPU that is changed over its preset, or that this file replaces, is written out.
    Plan whole = plan;
    const std::string& gpu = whole.cluster.gpu.id;
    const bool same = presets.has(PresetKind::gpu, gpu) && presets.gpu(gpu) == whole.cluster.gpu;
    if (kind == PresetKind::cluster && !same) whole.cluster.gpu.id.clear();
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error)
        throw Error(ErrorKind::io, file.parent_path().string(), "", "cannot be made: " + error.message());
    write_file(file, pretty(document_of(kind, std::string(trimmed(name)), whole)));
    presets.reread();
    if (kind == PresetKind::model) {
        Plan p = plan;
        p.model = presets.model(id);
        p.model_source = {id, {}};
        return p;
    }
    if (kind == PresetKind::cluster) return with_cluster(plan, presets.cluster(id), id);
    nlohmann::json document = plan_to_json(plan);
    set_in_plan(document, "/cluster/gpu", id, presets);
    return plan_from_json(document, "", presets);
}

void remove_own_preset(const Presets& presets, const Presets::Entry& entry) {
    std::error_code error;
    if (!entry.own) throw Error(ErrorKind::usage, entry.file.string(), "", "ships with Pentamesh and stays");
    fs::remove(entry.file, error);
    if (error) throw Error(ErrorKind::io, entry.file.string(), "", "cannot be removed: " + error.message());
    presets.reread();
}

Plan without_own_presets(const Plan& plan, const Presets& presets) {
    const Plan p = detached(plan, presets);
    return p == plan ? p : as_read(p, presets);
}

Plan with_true_words(const Plan& before, Plan after, const Presets& presets) {
    after = with_true_title(before, std::move(after));
    if (before.notes.empty() || after.notes != before.notes) return after;
    const bool title_goes = !before.name.empty() && after.name.empty();
    if (!title_goes && !name_what_changed(before.notes, before, after)) return after;
    const std::vector<Presets::Entry>& plans = presets.list(PresetKind::plan);
    const bool shipped = std::any_of(plans.begin(), plans.end(), [&](const Presets::Entry& e) {
        return e.broken.empty() && presets.plan(e.id).notes == before.notes;
    });
    if (shipped) after.notes.clear();
    return after;
}

Plan with_same_meaning(const Plan& plan, const Presets& presets) {
    Plan p = detached(plan, presets);
    if (p == plan) return p;
    try {
        if (as_read(plan, presets) == plan) return plan;
    } catch (const Error&) {  // a preset that it names is gone
    }
    return as_read(p, presets);
}

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
