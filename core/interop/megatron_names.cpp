// Finds flags of Megatron-LM that are misspelt.
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/interop/flags.h"
#include "core/interop/known_settings.h"
#include "core/interop/launch.h"
#include "core/interop/megatron.h"
#include "core/interop/words.h"

#include <algorithm>

namespace pentamesh::interop {
namespace {

// Returns true if `key` is `known` without one of its words. A longer name is another setting.
bool lacks_a_word(std::string_view key, std::string_view known) {
    const std::vector<std::string_view> x = split(key, '_'), y = split(known, '_');
    if (y.size() != x.size() + 1 || x.size() < 2) return false;
    std::size_t i = 0;
    for (const std::string_view word : y)
        if (i < x.size() && x[i] == word) ++i;
    return i == x.size();
}

std::string_view near_miss(std::string_view key) {
    for (const std::string_view known : megatron_keys()) {
        if (key == known) continue;
        const std::size_t off = known.size() > 8 ? 2 : 1;
        const std::size_t longer = std::max(key.size(), known.size()) - std::min(key.size(), known.size());
        if (longer <= off && edit_distance(key, known) <= off) return known;
        if (lacks_a_word(key, known)) return known;
    }
    return {};
}

}  // namespace

const std::vector<std::string>& megatron_keys() {
    static const std::vector<std::string> names = [] {
        auto out = words("megatron_also_read").get<std::vector<std::string>>();
        for (const SpelledField& f : flags_of(Framework::megatron)) out.push_back(flag_key(f.name));
        return out;
    }();
    return names;
}

void refuse_misspelt(Sheet& s, const KnownSettings& known) {
    if (s.printed) return;
    int strange = 0;  // settings of no known name
    for (const std::string& key : s.open_keys()) {
        if (known.knows(key)
            || std::find(megatron_keys().begin(), megatron_keys().end(), key) != megatron_keys().end()
            || ++strange > kMostStrange)
            continue;
        std::string flag(near_miss(key));
        if (flag.empty()) continue;
        std::replace(flag.begin(), flag.end(), '_', '-');
        s.error("setting-unknown", s.written(key), " is no setting of Megatron; the closest is --", flag);
    }
    if (strange > kMostStrange)
        s.problem(Severity::warning, "many-unknown", strange,
                  " settings are none of Megatron's; of the first ", kMostStrange,
                  " only it was looked whether one is misspelled.");
}

}  // namespace pentamesh::interop
