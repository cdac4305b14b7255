#include "core/runs/values.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace pentamesh::runs {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

}  // namespace

void Values::clear() {
    for (std::size_t i = 0; i < used_; ++i) {
        containers_[i].items.clear();
        containers_[i].levels = 1;
        containers_[i].held = false;
    }
    // A file far larger than the others leaves no memory behind.
    constexpr std::size_t kKeptContainers = std::size_t{1} << 16;
    if (containers_.size() > kKeptContainers) containers_ = {};
    constexpr std::size_t kKeptBlocks = 64;
    if (blocks_.size() > kKeptBlocks) blocks_.clear();
    long_texts_.clear();
    used_ = count_ = block_ = block_used_ = 0;
    root = {};
}

void Values::count_value() {
    if (++count_ > kMostValues) refuse("more than 50 million values");
}

Value Values::make(ValueKind kind) {
    count_value();
    if (used_ == containers_.size()) containers_.emplace_back();
    Value v;
    v.kind = kind, v.container = used_++;
    return v;
}

void Values::append(const Value& container, const Value& item) {
    Container& to = containers_[container.container];
    if (to.held) refuse("a container is changed after it was put into another one");
    if (item.kind == ValueKind::list || item.kind == ValueKind::dict) {
        Container& in = containers_[item.container];
        if (&in == &to) refuse("a container holds itself");
        in.held = true;
        to.levels = std::max(to.levels, in.levels + 1);
        if (to.levels > kMostValueLevels) refuse("more than 64 levels");
    }
    to.items.push_back(item);
}

Value Values::text_in_place(std::string_view text) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) refuse("a text of more than 4 GB");
    Value v;
    v.kind = ValueKind::text, v.size = static_cast<std::uint32_t>(text.size()), v.text = text.data();
    return v;
}

Value Values::copied_text(std::string_view text) {
    if (text.empty()) return text_in_place("");
    char* at = nullptr;
    if (text.size() > kBlockBytes / 4) {
        long_texts_.push_back(std::make_unique<char[]>(text.size()));
        at = long_texts_.back().get();
    } else {
        if (!blocks_.empty() && block_used_ + text.size() > kBlockBytes) ++block_, block_used_ = 0;
        if (block_ == blocks_.size()) blocks_.push_back(std::make_unique<char[]>(kBlockBytes));
        at = blocks_[block_].get() + block_used_;
        block_used_ += text.size();
    }
    std::memcpy(at, text.data(), text.size());
    return text_in_place({at, text.size()});
}

std::span<const Value> Values::items(const Value& container) const {
    if (container.kind != ValueKind::list && container.kind != ValueKind::dict) return {};
    return containers_[container.container].items;
}

const Value* Values::find(const Value& dict, std::string_view key) const {
    if (dict.kind != ValueKind::dict) return nullptr;
    const std::span<const Value> all = items(dict);
    for (std::size_t i = 0; i + 1 < all.size(); i += 2)
        if (all[i].view() == key && all[i].kind == ValueKind::text) return &all[i + 1];
    return nullptr;
}

}  // namespace pentamesh::runs
