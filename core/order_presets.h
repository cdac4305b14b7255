#pragma once
#include "core/plan.h"
#include <vector>
#include <string>
namespace pentamesh { struct OrderPreset { std::string name; std::array<Axis,kAxisCount> order; }; inline std::vector<OrderPreset> order_presets(){ return {{"Megatron",{Axis::tp,Axis::cp,Axis::ep,Axis::dp_shard,Axis::dp_replicate,Axis::pp}}}; } }
