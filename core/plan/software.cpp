#include "core/plan/software.h"

#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/plan/names.h"
#include "core/plan/plan_fields.h"

#include <set>

namespace pentamesh {
namespace {

using Json = nlohmann::json;

struct SoftwareText {
    std::string_view id, text;
};
// These are written at configure time from presets/software/ID.json.
constexpr SoftwareText kTexts[] = {
#include "software_texts.inc"
};

class FactReader {
  public:
    FactReader(const Json& root, const std::string& path) : root_(root), path_(path) {
        if (!root.is_object()) fail("", "an object is wanted");
    }
    std::vector<SoftwareFacts::Figure> figures;  // read so far

    const Json& value(const std::string& key) {
        known_.insert(key);
        if (!root_.contains(key)) fail(key, "is missing");
        const Json& fact = root_[key];
        if (!fact.is_object() || !fact.contains("value")) fail(key, "has no value");
        if (!fact.contains("source") || !fact["source"].is_string()
            || fact["source"].get<std::string>().empty())
            fail(key, "has no source");
        using From = SoftwareFacts::Figure::From;
        const Json fitted = fact.value("fitted_to", Json());
        if (!fitted.is_null() && fitted != "own_runs" && fitted != "gpu")
            fail(key, "fitted_to is neither own_runs nor gpu");
        const From from = fitted == "own_runs" ? From::own_runs : fitted == "gpu" ? From::gpu : From::source;
        figures.push_back({key, fact["value"].dump(), fact["source"].get<std::string>(), from});
        return fact["value"];
    }
    void read(const std::string& key, double& out) {
        const Json& v = value(key);
        if (!v.is_number() || v.get<double>() < 0) fail(key, "is no number from 0");
        out = v.get<double>();
    }
    void read(const std::string& key, std::int64_t& out) {
        const Json& v = value(key);
        if (!v.is_number_integer() || v.get<std::int64_t>() < 1 || v.get<std::int64_t>() > kMostDegree)
            fail(key, "is no whole number from 1");
        out = v.get<std::int64_t>();
    }
    void read(const std::string& key, bool& out) {
        const Json& v = value(key);
        if (!v.is_boolean()) fail(key, "is neither true nor false");
        out = v.get<bool>();
    }
    void read(const std::string& key, EpComm& out) {
        const Json& v = value(key);
        const auto read = v.is_string() ? parse_name<EpComm>(v.get<std::string>()) : std::nullopt;
        if (!read) fail(key, "is no way to exchange tokens");
        out = *read;
    }
    void read(const std::string& key, std::vector<TensorId>& out) {
        const Json& v = value(key);
        if (!v.is_array()) fail(key, "is no list of names");
        for (const Json& name : v) {
            if (!name.is_string()) fail(key, "is no list of names");
            const std::string word = name.get<std::string>();
            const auto id = tensor_called(word);
            if (!id) fail(key, "names no tensor: \"" + shown_text(word) + "\"");
            out.push_back(*id);
        }
    }
    void read(const std::string& key, MeasuredRange& out) {
        const Json& v = value(key);
        if (!v.is_array() || v.size() != 3) fail(key, "is no [low, middle, high]");
        for (const Json& n : v)
            if (!n.is_number() || n.get<double>() < 0) fail(key, "is no [low, middle, high]");
        out = {v[0].get<double>(), v[1].get<double>(), v[2].get<double>()};
        if (out.low > out.mid || out.mid > out.high) fail(key, "does not ascend");
    }
    std::string name() {
        known_.insert("name");
        if (!root_.contains("name") || !root_["name"].is_string()) fail("name", "is missing");
        return root_["name"].get<std::string>();
    }
    void finish() const {
        for (const auto& [key, fact] : root_.items())
            if (!known_.contains(key)) fail(key, "is no figure that is read");
    }

  private:
    [[noreturn]] void fail(const std::string& key, const std::string& why) const {
        throw Error(ErrorKind::invalid, path_, "/" + key, why);
    }

    const Json& root_;
    const std::string& path_;
    std::set<std::string> known_;
};

EnumArray<Software, SoftwareFacts> read_all() {
    EnumArray<Software, SoftwareFacts> all;
    for (const Software s : all_of<Software>())
        for (const SoftwareText& text : kTexts)
            if (text.id == name_of(s))
                all[s] = read_software(text.text, "presets/software/" + std::string(text.id) + ".json");
    return all;
}

}  // namespace

SoftwareFacts read_software(std::string_view text, const std::string& path) {
    const Json root = parse_json(text, path);
    FactReader r(root, path);
    SoftwareFacts f;
    f.name = r.name();
    r.read("loss_bytes", f.loss_bytes);
    r.read("loss_bytes_cut", f.loss_bytes_cut);
    r.read("loss_bytes_other", f.loss_bytes_other);
    r.read("vocab_multiple", f.vocab_multiple);
    r.read("inputs_whole", f.inputs_whole);
    r.read("attention_copies", f.attention_copies);
    r.read("activation_apart", f.activation_apart);
    r.read("selective_keeps", f.selective_keeps);
    r.read("gradient_copy_bytes", f.gradient_copy_bytes);
    r.read("working_hidden", f.working_hidden);
    r.read("reserved", f.reserved);
    r.read("reserved_bytes", f.reserved_bytes);
    r.read("context_bytes", f.context_bytes);
    r.read("backward_layer", f.backward_layer);
    r.read("products", f.products);
    r.read("grouped", f.grouped);
    r.read("attention", f.attention);
    r.read("element_wise", f.element_wise);
    r.read("launches", f.launches);
    r.read("routing_syncs", f.routing_syncs);
    r.read("new_gpu_products", f.new_gpu_products);
    r.read("graphs_layers", f.graphs_layers);
    r.read("graphs_step", f.graphs_step);
    r.read("fp8_rowwise", f.fp8_rowwise);
    r.read("fp8_blockwise", f.fp8_blockwise);
    r.read("fp8_mxfp8", f.fp8_mxfp8);
    r.read("tp_hidden", f.tp_hidden);
    r.read("cp_hidden", f.cp_hidden);
    r.read("dp_hidden", f.dp_hidden);
    r.read("gathers_ahead", f.gathers_ahead);
    r.read("bucket_numbers", f.bucket_numbers);
    r.read("bucket_numbers_of_rank", f.bucket_numbers_of_rank);
    r.read("step_s", f.step_s);
    r.read("ep_comm", f.ep_comm);
    r.read("selective_share", f.selective_share);
    r.finish();
    f.figures = std::move(r.figures);
    return f;
}

namespace {

EnumArray<Software, SoftwareFacts>& shipped_facts() {
    static EnumArray<Software, SoftwareFacts> all = read_all();
    return all;
}

}  // namespace

const SoftwareFacts& facts_of(Software software) {
    return shipped_facts()[software];
}

void set_facts(Software software, const SoftwareFacts& facts) {
    shipped_facts()[software] = facts;
}

LossBytes loss_bytes_of(const Training& training, bool cut) {
    const auto of = [&](Software software) {
        const SoftwareFacts& f = facts_of(software);
        return LossBytes{cut ? f.loss_bytes_cut : f.loss_bytes, f.loss_bytes_other};
    };
    const auto named = [&](Software software) { return LossBytes{of(software).all, 0}; };
    switch (training.loss_kernel) {
    case LossKernel::by_software: break;
    case LossKernel::eager: return named(Software::torchtitan_2024);
    case LossKernel::fp32: return named(Software::megatron);
    case LossKernel::in_place: return named(Software::fsdp);
    case LossKernel::chunked: return named(Software::torchtitan);
    }
    return of(training.software);
}

}  // namespace pentamesh
