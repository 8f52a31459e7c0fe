// Build tool: digest_sources OUT.cpp PREFIX LABEL FILE...
// Writes a C++ file that records the digest of every FILE, comments and white space aside, under
// LABEL and its path relative to PREFIX. Reformatting a component must not retrain anything.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "framework/config/digest.h"

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Position after a quoted literal that starts at `at`; raw strings end with their own delimiter.
size_t after_literal(const std::string& text, size_t at) {
  const char quote = text[at];
  const bool raw = quote == '"' && at > 0 && text[at - 1] == 'R';
  if (raw) {
    const auto open = text.find('(', at);
    const auto close = ")" + text.substr(at + 1, open - at - 1) + "\"";
    const auto end = text.find(close, open);
    return end == std::string::npos ? text.size() : end + close.size();
  }
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == quote)
      return i + 1;
  }
  return text.size();
}

// A ' between digits separates thousands and opens no literal.
bool opens_literal(const std::string& text, size_t at) {
  if (text[at] == '"') return true;
  return text[at] == '\'' &&
         (at == 0 || std::isxdigit(static_cast<unsigned char>(text[at - 1])) == 0);
}

std::string bare(const std::string& text) {
  std::string out;
  bool gap = false;
  const auto put = [&](const std::string& piece) {
    if (gap && !out.empty() && is_word(out.back()) && is_word(piece.front())) out += ' ';
    gap = false;
    out += piece;
  };
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
      gap = true;
    } else if (text.compare(i, 2, "/*") == 0) {
      const auto end = text.find("*/", i + 2);
      i = end == std::string::npos ? text.size() : end + 2;
      gap = true;
    } else if (opens_literal(text, i)) {
      const auto end = after_literal(text, i);
      put(text.substr(i, end - i));
      i = end;
    } else if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      gap = true;
      ++i;
    } else {
      put(std::string(1, text[i++]));
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: digest_sources OUT.cpp PREFIX LABEL FILE...\n";
    return 2;
  }
  std::ostringstream out;
  out << "#include \"framework/registry/sources.h\"\n\nnamespace {\nconst imprint::SourceDigests "
         "digests(std::map<std::string, std::string>{\n";
  for (int i = 4; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
      std::cerr << "digest_sources: cannot read " << argv[i] << "\n";
      return 1;
    }
    out << "    {\"" << argv[3] << std::filesystem::relative(argv[i], argv[2]).generic_string()
        << "\", \"" << imprint::sha256(bare(text.str())) << "\"},\n";
  }
  out << "});\n}  // namespace\n\n"
         "#ifdef IMPRINT_PLUGIN\n"
         "extern \"C\" const char* imprint_plugin_version() { return IMPRINT_BUILD_VERSION; }\n"
         "#endif\n";
  std::ofstream(argv[1], std::ios::binary) << out.str();
  return 0;
}
