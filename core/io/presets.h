// Models, GPUs, clusters and plans that ship, read from the presets folder on demand and kept.
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
    explicit Presets(std::filesystem::path root);
    ~Presets();
    Presets(Presets&&) noexcept;
    Presets& operator=(Presets&&) noexcept;

    struct Entry {
        std::string id, name, source;
        std::string broken{};  // why its file cannot be read; empty: it can
    };
    [[nodiscard]] const std::vector<Entry>& list(PresetKind kind) const;  // sorted by id
    // Error naming the closest id where there is none.
    [[nodiscard]] Gpu gpu(std::string_view id) const;
    [[nodiscard]] Cluster cluster(std::string_view id) const;
    [[nodiscard]] Model model(std::string_view id) const;
    [[nodiscard]] Plan plan(std::string_view id) const;
    [[nodiscard]] bool has(PresetKind kind, std::string_view id) const;
    [[nodiscard]] const std::filesystem::path& root() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Where presets and assets lie: beside the binary's installation prefix, or the source tree it was built
// from.
[[nodiscard]] std::filesystem::path find_data_folder(const std::filesystem::path& executable,
                                                     std::string_view name);

}  // namespace pentamesh
