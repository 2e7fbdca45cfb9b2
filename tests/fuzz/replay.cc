// Runs a fuzz target over its committed corpus as an ordinary test: every file of every folder
// named on the command line is fed once. Fails when a folder is missing or holds nothing.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void feed(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

std::size_t feed_folder(const char* folder) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    feed(entry.path());
    ++files;
  }
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i]) || feed_folder(argv[i]) == 0) {
      std::fprintf(stderr, "no corpus in %s\n", argv[i]);
      return 1;
    }
  }
  return argc > 1 ? 0 : 1;
}
