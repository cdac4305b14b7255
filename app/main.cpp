#include "app/cli/run.h"

int main(int argc, char** argv) {
    return pentamesh::cli::run(argc, argv);
}
