// Reads settings that a dialect has named as the plan's fields do.
#include "core/base/number.h"
#include "core/interop/dialect.h"
#include "core/interop/readers.h"
#include "core/interop/words.h"

#include <algorithm>
#include <cmath>

namespace pentamesh::interop {
namespace {

using nlohmann::json;

class FieldReader {
  public:
    FieldReader(Sheet& sheet, Draft& draft, const json& dialect) : s_(sheet), d_(draft), dialect_(dialect) {}

    void read(const Presets& presets, const Launch* launch) {
        model(presets);
        take();
        if (d_.model.contains("hidden") && !d_.model.contains("vocab")) ask_for_vocab(s_, d_.model, "");
        world(launch);
        if (s_.failed()) return;
        split(presets);
        batch();
        if (dialect_.contains("software")) d_.training["software"] = dialect_["software"];
    }

  private:
    // Returns a whole number of a part of the plan. Another value is refused where the plan is read.
    static std::int64_t whole_of(const json& part, const char* key, std::int64_t otherwise) {
        const auto it = part.find(key);
        return it != part.end() && it->is_number_integer()
                   ? std::clamp<std::int64_t>(it->get<std::int64_t>(), -kMost * kMost, kMost * kMost)
                   : otherwise;
    }

    void model(const Presets& presets) {
        if (d_.model_preset.empty()) take_model(s_, d_, presets, "model");
    }

    // Returns the least of a number that counts something: -1 and 0 are what is left, pp 0 is no pipeline.
    [[nodiscard]] static std::optional<std::int64_t> least_of(std::string_view key) {
        const auto row = words("field_least").find(key);
        return row == words("field_least").end() ? std::nullopt : std::optional<std::int64_t>(*row);
    }

    void take() {
        for (const std::string& key : s_.open_keys()) {
            if (!key.starts_with("/")) continue;
            const auto least = least_of(key);
            if (least && s_.value_of(key) != "auto" && !s_.integer(key, key, *least)) continue;
            const auto text = s_.text(key, key);
            if (!text || *text == "auto") continue;
            const auto n = parse_integer(*text);
            const auto x = parse_double(*text);
            const auto flag = flag_of_word(*text);
            json value = n ? json(*n) : x ? json(*x) : flag ? json(*flag) : json(*text);
            if (const json list = json::parse(*text, nullptr, false); list.is_array()) value = list;
            if (key.starts_with("/model/") && !d_.model_preset.empty() && !s_.last(key)->key.empty())
                continue;
            place_of(d_, key) = value;
        }
        // Without mixed precision the weights are in the type of the products, and are their own master copy.
        json& t = d_.training;
        if (t.value("compute", json()) == "fp32")
            t.emplace("parameters", "fp32"), t.emplace("master_weights", "none");
        if (t.value("compute", json()) == "fp16") t.emplace("parameters", "fp16");
    }

    void world(const Launch* launch) {
        const auto all = s_.integer("gpus", "/cluster/gpus"), nodes = s_.integer("nodes", "/cluster/gpus"),
                   each = s_.integer("gpus_per_node", "/cluster/gpus");
        if (d_.gpus == 0 && launch) d_.gpus = launch->gpus;
        const auto times = [](std::int64_t a, std::int64_t b) { return b > kMost / a ? kMost : a * b; };
        const auto degree = [](std::int64_t n) { return std::clamp<std::int64_t>(n, 1, kMost); };
        if (d_.gpus == 0) d_.gpus = all.value_or(each ? times(degree(*each), degree(nodes.value_or(1))) : 0);
        const auto at = [&](const char* axis) {
            const auto it = d_.layout.find(axis);
            const bool whole = it != d_.layout.end() && it->is_number_integer();
            const std::int64_t n = whole ? std::clamp<std::int64_t>(it->get<std::int64_t>(), 0, kMost) : 0;
            if (whole && n < 1) d_.layout.erase(axis);  // -1, 0: what is left
            return n;
        };
        shard_ = at("dp_shard");
        replicate_ = at("dp_replicate");
        const std::int64_t inner = times(times(degree(at("tp")), degree(at("cp"))), degree(at("pp")));
        const std::int64_t said = times(degree(shard_), degree(replicate_));
        ep_is_rest_ = d_.layout.value("ep", json()) == -1;
        ask_for_gpus(s_, d_, std::max(times(inner, said), times(degree(at("ep")), degree(at("pp")))));
        dp_ = std::max<std::int64_t>(1, d_.gpus / inner);
        if (d_.gpus % inner != 0 || dp_ % said != 0
            || (all && *all != d_.gpus && s_.last("gpus")->key.empty())
            || (shard_ > 0 && replicate_ > 0 && dp_ != said))
            s_.refusal("world-not-divisible", dialect_.value("called", "it"),
                       " refuses: the degrees do not "
                       "divide ",
                       d_.gpus, " GPUs", degrees());
    }

    // Returns ": tp_size 3, fsdp_size 2", as the text writes them.
    std::string degrees() {
        std::string out;
        for (const char* key :
             {"/layout/tp", "/layout/cp", "/layout/pp", "/layout/dp_shard", "/layout/dp_replicate"})
            if (parse_integer(s_.value_of(key)).value_or(1) > 1)
                out += (out.empty() ? ": " : ", ") + s_.written(key) + " " + s_.value_of(key);
        return out;
    }

    void split(const Presets& presets) {
        const std::int64_t zero = whole_of(d_.layout, "zero", 0);
        if (zero == 0) shard_ = 1;
        if (shard_ == 0) shard_ = std::max<std::int64_t>(dp_ / std::max<std::int64_t>(replicate_, 1), 1);
        d_.layout["dp_shard"] = shard_;
        if (ep_is_rest_) d_.layout["ep"] = shard_;
        d_.layout["dp_replicate"] = std::max<std::int64_t>(dp_ / shard_, 1);
        const std::int64_t pp = degree(d_, "pp");
        std::int64_t layers = whole_of(d_.model, "layers", 0);
        if (layers == 0 && !d_.model_preset.empty()) layers = presets.model(d_.model_preset).layers;
        const auto first = s_.integer("first_layers", "/layout/stage_layers"),
                   last = s_.integer("last_layers", "/layout/stage_layers");
        const std::int64_t rest = layers - first.value_or(0) - last.value_or(0),
                           parts = pp - (first ? 1 : 0) - (last ? 1 : 0);
        if (!(dialect_.contains("left_over_layers") || first || last) || pp < 2 || pp > layers) return;
        if (rest < parts || (parts == 0 && rest != 0))
            return s_.refusal("stage-layers", dialect_.value("called", "it"),
                              " refuses: the stages do not hold ", layers, " layers");
        json out = json::array();  // what is left goes to the first stages
        for (std::int64_t i = 0; i < parts; ++i) out.push_back(rest / parts + (i < rest % parts ? 1 : 0));
        if (first) out.insert(out.begin(), *first);
        if (last) out.push_back(*last);
        d_.layout["stage_layers"] = out;
    }

    void batch() {
        json& t = d_.training;
        const std::int64_t micro = std::max<std::int64_t>(whole_of(t, "micro_batch", 1), 1);
        const bool open = s_.value_of("accumulation") == "auto";
        if (open) s_.map("accumulation", "/training/global_batch");
        const std::int64_t calls =
            open ? 0 : s_.integer("accumulation", "/training/global_batch").value_or(0);
        const std::int64_t rows = std::clamp<std::int64_t>(calls, 1, kMost) * dp_;
        // It counts GPUs of all axes: where several share a sequence it is a part of one.
        const auto each = s_.number("batch_per_gpu", "/training/global_batch");
        if (each) {
            const auto all = std::llround(std::clamp(*each * static_cast<double>(d_.gpus), 1.0, 1e9));
            t["global_batch"] = all * std::clamp<std::int64_t>(calls, 1, kMost);
            t["micro_batch"] = std::max<std::int64_t>(all / dp_, 1);
        } else if (t.contains("global_batch")) {
            const std::int64_t all = whole_of(t, "global_batch", 0);
            const bool one_call =
                dialect_.contains("batch_is_one_call") && !open;  // unless the text says more
            if ((calls > 0 || one_call) && !t.contains("micro_batch"))
                t["micro_batch"] = std::max<std::int64_t>(all / rows, 1);
            else
                t["micro_batch"] = micro;
            if (calls > 0 && all != whole_of(t, "micro_batch", micro) * rows)
                s_.refusal("batch-not-divisible", dialect_.value("called", "it"),
                           " refuses: the global batch is not micro-batch x accumulation x ", dp_,
                           " data-parallel ranks");
        } else if (t.contains("micro_batch") && open) {
            ask_for_batch(s_, d_, micro, dp_);
        } else if (t.contains("micro_batch")) {
            t["micro_batch"] = micro;
            t["global_batch"] = micro * rows;
        } else {
            ask_for_batch(s_, d_, 1, dp_ * std::max<std::int64_t>(calls, 1));
        }
        if (!t.contains("sequence_length"))
            s_.problem(Severity::warning, "sequence-missing",
                       "The text does not say how long sequences are: ", Training{}.sequence_length,
                       " stands in for it; set /training/sequence_length.");
    }

    static constexpr std::int64_t kMost = std::int64_t{1} << 20;  // hostile degrees multiply to no more
    Sheet& s_;
    Draft& d_;
    const json& dialect_;
    std::int64_t shard_ = 0, replicate_ = 0, dp_ = 1;
    bool ep_is_rest_ = false;  // the experts take all that share a replica's weights
};

}  // namespace

void read_fields(Sheet& sheet, Draft& draft, const Presets& presets, const Launch* launch,
                 const json& dialect) {
    FieldReader(sheet, draft, dialect).read(presets, launch);
}

}  // namespace pentamesh::interop
