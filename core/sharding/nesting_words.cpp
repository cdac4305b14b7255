#include "core/sharding/nesting_words.h"

#include "core/base/text.h"

namespace pentamesh {

namespace {

std::int64_t coordinate_on(const Nest& nest, const Placement& p, std::int64_t rank, Axis a) {
    const Coordinates c = p.expert ? expert_coordinates(nest.mesh, rank) : dense_coordinates(nest.mesh, rank);
    return c[a];
}

}  // namespace

std::string short_range(const Range& r) {
    return r.size() == 1 ? with_commas(r.begin) : with_commas(r.begin) + "–" + with_commas(r.end - 1);
}

std::vector<std::string> cut_sentences(const Nest& nest, std::span<const int> tensors, std::int64_t rank) {
    std::vector<std::string> out;
    for (const int i : tensors) {
        const Placement& p = nest.tensors[i];
        const Part part = part_of(nest.plan, nest.mesh, p, rank);
        std::string s(name_of(p.id));
        s += ", " + with_commas(p.shape[1]) + " × " + with_commas(p.shape[2]);
        if (p.dims[0] == Dim::experts && p.shape[0] > 1) {
            s += " in each of " + with_commas(p.shape[0]) + " experts";
            if (p.on(Axis::ep).spread == Spread::cut) s += ": experts " + short_range(part.box[0]);
        }
        const AxisPlacement& tp = p.on(Axis::tp);
        const std::string name = p.expert ? "etp" : "tp";
        if (tp.size > 1 && tp.spread == Spread::cut) {
            const bool rows = tp.dim == Dim::rows;
            s += std::string(rows ? ": rows " : ": columns ") + short_range(part.box[rows ? 1 : 2]) + ", "
                 + name + " " + with_commas(coordinate_on(nest, p, rank, Axis::tp)) + " of "
                 + with_commas(tp.size);
            if (tp.copies() > 1) s += ", shared by " + with_commas(tp.copies());
        } else if (tp.size > 1) {
            s += ": copied on all " + with_commas(tp.size) + " of " + name;
        } else if (!(p.dims[0] == Dim::experts && p.shape[0] > 1)) {
            s += ": whole on this GPU";
        }
        out.push_back(std::move(s));
    }
    return out;
}

}  // namespace pentamesh
