#include "core/runs/dump.h"

#include <algorithm>
#include <charconv>
#include <mutex>

namespace pentamesh::runs {
namespace {

constexpr std::size_t kMostMembers = std::size_t{1} << 26;  // of all groups of a run together

// Reads "[0, 1, 2]"; an empty list: it is no list, or names a rank twice.
std::vector<std::int64_t> parse_ranks(std::string_view text) {
    std::vector<std::int64_t> out;
    const auto skip = [&] {
        while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
    };
    skip();
    if (text.empty() || text.front() != '[') return {};
    text.remove_prefix(1);
    for (;;) {
        skip();
        std::int64_t n = -1;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
        if (error != std::errc() || n < 0 || n > kMostRank) return {};
        out.push_back(n);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        skip();
        if (text.empty()) return {};
        const char sign = text.front();
        text.remove_prefix(1);
        if (sign == ']') break;
        if (sign != ',') return {};
    }
    std::vector<std::int64_t> sorted = out;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() ? out
                                                                            : std::vector<std::int64_t>{};
}

}  // namespace

int RunNames::number_of(std::string_view text) {
    {
        const std::shared_lock lock(mutex_);
        if (const auto at = number_of_text_.find(text); at != number_of_text_.end()) return at->second;
    }
    const std::unique_lock lock(mutex_);
    const auto [at, fresh] = number_of_text_.emplace(text, static_cast<int>(texts_.size()));
    if (fresh) texts_.emplace_back(text);
    return at->second;
}

int RunNames::list_of(std::string_view ranks) {
    {
        const std::shared_lock lock(mutex_);
        if (const auto at = list_of_text_.find(ranks); at != list_of_text_.end()) return at->second;
    }
    std::vector<std::int64_t> list = parse_ranks(ranks);
    const std::unique_lock lock(mutex_);
    int number = -1;
    if (!list.empty()) {
        const auto [at, fresh] = list_numbers_.emplace(list, static_cast<int>(lists_.size()));
        if (fresh) lists_.push_back(std::move(list));
        number = at->second;
    }
    list_of_text_.emplace(ranks, number);
    return number;
}

int RunNames::group(std::string_view description, std::string_view ranks, int twin) {
    const int list = list_of(ranks);
    if (list < 0) return -1;
    const ProcessGroup key{number_of(description), list, twin};
    {
        const std::shared_lock lock(mutex_);
        if (const auto at = group_numbers_.find(key); at != group_numbers_.end()) return at->second;
    }
    const std::unique_lock lock(mutex_);
    const std::size_t more = lists_[static_cast<std::size_t>(list)].size();
    if (members_ + more > kMostMembers) return -1;
    const auto [at, fresh] = group_numbers_.emplace(key, static_cast<int>(groups_.size()));
    if (fresh) {
        groups_.push_back(key);
        members_ += more;
    }
    return at->second;
}

std::int64_t RunNames::member(int group, std::int64_t index) {
    const std::shared_lock lock(mutex_);
    const std::vector<std::int64_t>& list = ranks(group);
    return index >= 0 && index < static_cast<std::int64_t>(list.size())
               ? list[static_cast<std::size_t>(index)]
               : -1;
}

}  // namespace pentamesh::runs
