// Writes the lines that nccl-tests prints before its rows.
#pragma once

#include <string>

namespace pentamesh::test {

inline std::string nccl_head(int hosts, int each) {
    std::string s =
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor)\n#\n# Using devices\n";
    for (int r = 0; r < hosts * each; ++r)
        s += "#  Rank " + std::to_string(r) + " Group  0 Pid " + std::to_string(1000 + r) + " on   worker-"
             + std::to_string(r / each) + " device  " + std::to_string(r % each)
             + " [0x8d] NVIDIA H100 80GB HBM3\n";
    return s
           + "#       size         count      type   redop    root     time   algbw   busbw #wrong     time  "
             " algbw   busbw #wrong\n#        (B)    (elements)                               (us)  (GB/s)  "
             "(GB/s)\n";
}

}  // namespace pentamesh::test
