#include "app/tables/move_tables.h"

#include "core/base/text.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

namespace pentamesh {

namespace {

// Returns "0–19", "0–3, 8–11".
std::string layer_ranges(const std::vector<std::int64_t>& layers) {
    std::string out;
    for (std::size_t i = 0; i < layers.size();) {
        std::size_t end = i + 1;
        while (end < layers.size() && layers[end] == layers[end - 1] + 1) ++end;
        out += (out.empty() ? "" : ", ") + std::to_string(layers[i]);
        if (end - i > 1) out += "–" + std::to_string(layers[end - 1]);
        i = end;
    }
    return out.empty() ? "—" : out;
}

}  // namespace

std::int64_t size_of_cause(const MoveEnd& end, MoveCause cause) {
    switch (cause) {
    case MoveCause::new_gpu: return 0;
    case MoveCause::stage: return end.mesh.dense[Axis::pp].size;
    case MoveCause::experts: return axis_size(end.mesh, Axis::ep);
    case MoveCause::width: return end.mesh.dense[Axis::tp].size;
    case MoveCause::shard:
        return end.mesh.dense[Axis::dp_shard].size * end.mesh.dense[Axis::dp_replicate].size
               * end.mesh.dense[Axis::cp].size;
    }
    return 0;
}

std::string wire_words(const std::vector<Tier>& tiers, int tier) {
    if (tier < 0) return "stays";
    return static_cast<std::size_t>(tier) < tiers.size() ? tiers[static_cast<std::size_t>(tier)].name
                                                         : "the network";
}

Table move_wires_table(const Move& move, const std::vector<Tier>& tiers) {
    Table t{{{"wire", Shown::words, "tier"},
             {"in all", Shown::memory, "bytes"},
             {"a GPU, mean", Shown::memory, "per_rank_bytes"},
             {"at least", Shown::seconds, "at_least_s"}},
            {}};
    const MoveBytes mean = move.mean();
    t.rows.push_back({"stays", whole_cell(move.all.stays), whole_cell(mean.stays), Cell(0.0)});
    for (std::size_t i = 0; i < tiers.size() && i < mean.over.size(); ++i)
        t.rows.push_back({tiers[i].name, whole_cell(move.all.over[i]), whole_cell(mean.over[i]),
                          Cell(move.at_least_s[i])});
    t.rows.push_back({"needed", whole_cell(move.all.needed), whole_cell(mean.needed), Cell(move.bound_s)});
    return t;
}

Table move_causes_table(const Move& move, const MoveEnd& a, const MoveEnd& b) {
    Table t{{{"axis", Shown::words, "axis"},
             {"A", Shown::count, "from"},
             {"B", Shown::count, "to"},
             {"moves", Shown::memory, "moved_bytes"},
             {"because", Shown::words, "because"}},
            {}};
    for (const MoveCause c : all_of<MoveCause>()) {
        const bool is_new = c == MoveCause::new_gpu;
        if (is_new && move.by_cause[c] == 0) continue;
        t.rows.push_back({std::string(is_new ? "new GPUs" : name_of(c)),
                          is_new ? move.gpus_a : size_of_cause(a, c),
                          is_new ? move.gpus_b : size_of_cause(b, c), whole_cell(move.by_cause[c]),
                          std::string(words_of(c))});
    }
    return t;
}

Table move_tensors_table(const Move& move, const std::vector<Tier>& tiers) {
    Table t{{{"tensor", Shown::words, "tensor"},
             {"state", Shown::words, "kind"},
             {"layers", Shown::count, "layers"},
             {"needed", Shown::memory, "needed_bytes"},
             {"stays", Shown::memory, "stays_bytes"}},
            {}};
    for (const Tier& tier : tiers) t.columns.push_back({tier.name, Shown::memory, tier.name});
    for (const MoveOfTensor& m : move.tensors) {
        Table::Row row{std::string(name_of(m.id)), std::string(name_of(m.state)), m.layers,
                       whole_cell(m.bytes.needed), whole_cell(m.bytes.stays)};
        for (std::size_t i = 0; i < tiers.size() && i < m.bytes.over.size(); ++i)
            row.push_back(whole_cell(m.bytes.over[i]));
        t.rows.push_back(std::move(row));
    }
    return t;
}

Table move_pieces_table(std::span<const MovePiece> pieces, const std::vector<Tier>& tiers) {
    Table t{{{"tensor", Shown::words, "tensor"},
             {"state", Shown::words, "kind"},
             {"layers", Shown::words, "layers"},
             {"from rank", Shown::count, "from_rank"},
             {"of", Shown::words, "of"},
             {"over", Shown::words, "tier"},
             {"bytes", Shown::memory, "bytes"}},
            {}};
    // Slices of one tensor and run of layers that come from one sender are one row.
    std::map<std::tuple<TensorId, TensorState, std::vector<std::int64_t>, std::int64_t, bool, int>,
             std::size_t>
        row_of;
    std::vector<double> bytes;
    for (const MovePiece& p : pieces) {
        const auto [at, is_new] =
            row_of.try_emplace({p.id, p.state, p.layers, p.from, p.handed_on, p.tier}, t.rows.size());
        if (is_new) {
            t.rows.push_back({std::string(name_of(p.id)), std::string(name_of(p.state)),
                              layer_ranges(p.layers), p.from, p.handed_on ? "B, hands it on" : "A",
                              wire_words(tiers, p.tier), Cell()});
            bytes.push_back(0);
        }
        bytes[at->second] += p.bytes;
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) t.rows[i].back() = whole_cell(bytes[i]);
    return t;
}

}  // namespace pentamesh
