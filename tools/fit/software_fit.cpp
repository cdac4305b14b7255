#include "tools/fit/software_fit.h"

#include "core/base/files.h"
#include "core/base/number.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pentamesh {

std::vector<SoftwareParameter> fitted_of(const SoftwareFacts& facts) {
    // The bounds are those that tests/core/measured_test.cpp holds the files to.
    static const std::vector<SoftwareParameter> kAll{
        {"products", &SoftwareFacts::products, 1, 0.3, 0.3, 1.5},
        {"grouped", &SoftwareFacts::grouped, 1, 0.3, 0.3, 1.5},
        {"attention", &SoftwareFacts::attention, 0.7, 0.5, 0.21, 1.5},
        {"element_wise", &SoftwareFacts::element_wise, 1.5, 0.5, 1, 6},
        {"launches", &SoftwareFacts::launches, 1.2, 0.5, 1, 4},
        {"graphs_layers", &SoftwareFacts::graphs_layers, 0.6, 0.5, 0.05, 1},
        {"graphs_step", &SoftwareFacts::graphs_step, 0.6, 0.5, 0.05, 1},
        {"fp8_rowwise", &SoftwareFacts::fp8_rowwise, 0.85, 0.2, 0.3, 1.2},
        {"fp8_mxfp8", &SoftwareFacts::fp8_mxfp8, 0.95, 0.2, 0.3, 1.2},
        {"tp_hidden", &SoftwareFacts::tp_hidden, 0.6, 0.5, 0.05, 1},
        {"dp_hidden", &SoftwareFacts::dp_hidden, 0.8, 0.5, 0.05, 1},
    };
    std::vector<SoftwareParameter> out;
    for (SoftwareParameter p : kAll)
        for (const SoftwareFacts::Figure& f : facts.figures)
            if (f.key == p.key && f.from == SoftwareFacts::Figure::From::own_runs) {
                p.value = p.expected = std::clamp(facts.*p.member, p.least, p.most);
                out.push_back(p);
            }
    return out;
}

SoftwareFacts with_values(SoftwareFacts facts, const std::vector<SoftwareParameter>& parameters) {
    for (const SoftwareParameter& p : parameters) facts.*p.member = p.value;
    return facts;
}

void write_software(const std::string& root, std::string_view id,
                    const std::vector<SoftwareParameter>& parameters) {
    const std::string path = root + "/presets/software/" + std::string(id) + ".json";
    auto facts = nlohmann::ordered_json::parse(read_file(path));
    for (const SoftwareParameter& p : parameters)
        facts[std::string(p.key)]["value"] = nlohmann::ordered_json::parse(general_text(p.value, 4));
    write_file(path, facts.dump(2) + "\n");
}

}  // namespace pentamesh
