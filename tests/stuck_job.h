// Makes dumps of a job of 8 ranks, tp 2 within dp 4, in which a reduction stands still.
#pragma once

#include <cstdint>
#include <string>

namespace pentamesh::test {

// Returns a rank's dump. Ranks 0, 2, 4 and 6 reduce, which nobody finishes; one that has not `come` has no
// call open. The others have ended their reduction and are in a call of all ranks.
inline std::string stuck_dump(std::int64_t rank, bool come = true) {
    const auto entry = [](int id, const std::string& number, const std::string& description, int sequence,
                          const std::string& call) {
        return R"({"record_id":)" + std::to_string(id) + R"(,"pg_id":)" + number + R"(,"process_group":[")"
               + number + R"(",")" + description + R"("],"collective_seq_id":)" + std::to_string(sequence)
               + R"(,"p2p_seq_id":0,"op_id":1,"profiling_name":"nccl:)" + call
               + R"(","time_created_ns":1770000000507805748,"input_sizes":[[64]],"input_dtypes":["Float"],)"
               + R"("output_sizes":[[16]],"output_dtypes":["Float"],"state":"started",)"
               + R"("time_discovered_started_ns":0,"time_discovered_completed_ns":0,"retired":false,)"
               + R"("timeout_ms":600000,"is_p2p":false})";
    };
    const bool reduces = rank % 2 == 0;
    const std::string entries = !reduces ? entry(9, "0", "default_pg", 31, "all_reduce")
                                : come
                                    ? entry(8, "1", "DATA_PARALLEL_GROUP_WITH_CP", 81, "_reduce_scatter_base")
                                    : "";
    const std::int64_t first = rank / 2 * 2;
    return R"({"version":"2.7","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1, 2, 3, 4, 5, 6, 7]"},)"
           R"("1":{"name":"1","desc":"DATA_PARALLEL_GROUP_WITH_CP","ranks":")"
           + std::string(reduces ? "[0, 2, 4, 6]" : "[1, 3, 5, 7]")
           + R"("},"2":{"name":"2","desc":"TENSOR_MODEL_PARALLEL_GROUP","ranks":"[)" + std::to_string(first)
           + ", " + std::to_string(first + 1) + R"(]"}},"nccl_version":"2.27.3","pg_status":{},"entries":[)"
           + entries + "]}";
}

}  // namespace pentamesh::test
