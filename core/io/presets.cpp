#include "core/io/presets.h"

#include "core/base/files.h"
#include "core/io/field_reader.h"
#include "core/io/plan_json.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

namespace pentamesh {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Kind {
    std::string_view folder, ending, word;
};
constexpr std::array<Kind, 4> kKinds{{{"gpus", ".json", "GPU"},
                                      {"clusters", ".json", "cluster"},
                                      {"models", ".json", "model"},
                                      {"plans", ".plan.json", "plan"}}};

const Kind& kind_of(PresetKind kind) {
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

}  // namespace pentamesh
