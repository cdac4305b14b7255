// Holds models, GPUs, clusters and plans that ship, and the user's own in addition, read on demand and kept.
#pragma once

#include "core/plan/plan.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh {

enum class PresetKind { gpu, cluster, model, plan };

class Presets {
  public:
    // `root` holds gpus/ clusters/ models/ plans/, each ID.json (plans: ID.plan.json).
    // `own` holds the user's gpus/ clusters/ models/; it may be empty or missing. A shipped preset cannot be
    // replaced from there: an own file with its id is listed as broken, and not used.
    explicit Presets(std::filesystem::path root, std::filesystem::path own = {});
    ~Presets();
    Presets(Presets&&) noexcept;
    Presets& operator=(Presets&&) noexcept;

    struct Entry {
        std::string id, name, source;
        std::string efficiency_source{};  // of a GPU that says apart where its efficiency comes from
        std::string broken{};             // why its file cannot be used; empty: it can
        bool own = false;                 // the user's
        std::filesystem::path file{};     // the file that holds it
    };
    // Returns a list sorted by id. It stays as it is after reread(), which makes a new one.
    [[nodiscard]] const std::vector<Entry>& list(PresetKind kind) const;
    // Throws Error naming the closest id where the id is unknown.
    [[nodiscard]] Gpu gpu(std::string_view id) const;
    [[nodiscard]] Cluster cluster(std::string_view id) const;
    [[nodiscard]] Model model(std::string_view id) const;
    [[nodiscard]] Plan plan(std::string_view id) const;
    [[nodiscard]] bool has(PresetKind kind, std::string_view id) const;
    [[nodiscard]] bool has_own(PresetKind kind, std::string_view id) const;
    [[nodiscard]] const std::filesystem::path& root() const;
    [[nodiscard]] const std::filesystem::path& own_root() const;  // empty: nothing can be kept
    // Says that files have changed: they are read again when they are asked for.
    void reread() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Finds the presets and assets: in the program's installation prefix, or in the source tree that the file
// pentamesh-source.txt next to it names. Returns where an installed tree has them if they are nowhere.
[[nodiscard]] std::filesystem::path find_data_folder(const std::filesystem::path& executable,
                                                     std::string_view name);

}  // namespace pentamesh
