// Holds the hosts that the plan's ranks run on, as the user typed them or an imported job names them.
#pragma once

#include "core/evaluate.h"
#include "core/mesh/rank_list.h"

#include <cstdint>
#include <string>
#include <tuple>

namespace pentamesh::ui {

class HostNames {
  public:
    // Holds a node list of SLURM, "gpu[001-064]"; empty where there are no names.
    std::string list;

    // Returns the hosts of these GPUs; no hosts where the list does not fit them: error() says why.
    [[nodiscard]] const Hosts& of(const Plan& plan, const Mesh& mesh);
    [[nodiscard]] const std::string& error() const { return error_; }

  private:
    std::tuple<std::string, std::int64_t, std::int64_t> known_;  // list, GPUs, GPUs of a node
    Hosts hosts_;
    std::string error_;
};

}  // namespace pentamesh::ui
