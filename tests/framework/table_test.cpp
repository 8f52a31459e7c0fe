#include "framework/data/formats/table.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "framework/config/problems.h"
#include "tests/support/archives.h"
#include "tests/support/process.h"

namespace imprint::table_test {
namespace {

/// A file called t.csv with some text in it.
class TextFile {
 public:
  explicit TextFile(const std::string& text, bool gzip = false) {
    write_bytes(folder_.path() / "t.csv", text, gzip);
  }
  std::unique_ptr<ByteSource> open() const { return open_file(folder_.path() / "t.csv"); }
  /// The message that reading fails with, from the file's name on.
  template <class Read>
  std::string refused(Read read) const {
    try {
      read(*open());
    } catch (const ConfigError& error) {
      return std::string(error.what()).substr(folder_.path().string().size() + 1);
    }
    return "(accepted)";
  }

 private:
  TempFolder folder_;
};

std::vector<std::string> lines_of(ByteSource& source) {
  std::vector<std::string> lines;
  LineReader reader(source);
  while (const auto line = reader.next()) lines.emplace_back(*line);
  return lines;
}

std::vector<std::string> lines_of(const std::string& text) {
  return lines_of(*TextFile(text).open());
}

/// All cells, those of a row between bars: "a|b".
std::vector<std::string> cells_of(ByteSource& source, char delimiter = ',') {
  std::vector<std::string> rows;
  TableReader reader(source, delimiter);
  while (auto* row = reader.next()) {
    rows.emplace_back();
    for (bool first = true; row->next(); first = false)
      rows.back() += (first ? "" : "|") + std::string(row->cell().text);
  }
  return rows;
}

std::vector<std::string> cells_of(const std::string& text, char delimiter = ',') {
  return cells_of(*TextFile(text).open(), delimiter);
}

std::string refused_cells(const std::string& text) {
  return TextFile(text).refused([](ByteSource& source) { cells_of(source); });
}

using Texts = std::vector<std::string>;

TEST(LineReader, GivesLinesWithoutTheirEnds) {
  EXPECT_EQ(lines_of("a\nb\n"), (Texts{"a", "b"}));
  EXPECT_EQ(lines_of("a\r\n\r\nb"), (Texts{"a", "", "b"}));
  EXPECT_EQ(lines_of("\xef\xbb\xbf"
                     "a\n\n"),
            (Texts{"a", ""}));
  EXPECT_EQ(lines_of("\n"), (Texts{""}));
  EXPECT_EQ(lines_of(""), Texts{});
}

TEST(LineReader, GivesLinesOfAnyLengthPlainOrCompressed) {
  Texts lines;
  std::string text;
  for (const size_t length : {0, 1, 300'000, 1'048'575, 1'048'576, 1'048'577, 5'000'000, 2, 0, 7}) {
    lines.emplace_back(length, static_cast<char>('a' + lines.size()));
    text += lines.back() + "\n";
  }
  for (const bool gzip : {false, true}) EXPECT_EQ(lines_of(*TextFile(text, gzip).open()), lines);
}

TEST(LineReader, RefusesWhatIsNoText) {
  const TextFile endless("ok\n" + std::string(65 << 20, 'a'), true);
  EXPECT_EQ(endless.refused([](ByteSource& source) { lines_of(source); }),
            "t.csv: line 2 is longer than 64 MB");
  EXPECT_EQ(TextFile(std::string("\xff\xfe"
                                 "a\0\n\0",
                                 6))
                .refused([](ByteSource& source) { lines_of(source); }),
            "t.csv: is UTF-16 text, expected UTF-8");
}

TEST(Excerpt, IsShortAndPrintable) {
  EXPECT_EQ(excerpt("größe"), "'größe'");
  EXPECT_EQ(excerpt("a\tb\xff\xc3"), "'a\\x09b\\xff\\xc3'");
  EXPECT_EQ(excerpt("\xed\xa0\x80\xe2\x82\xac"), "'\\xed\\xa0\\x80€'");  // a surrogate; a euro
  EXPECT_EQ(excerpt(std::string(1000, 'x')), "'" + std::string(40, 'x') + "...'");
}

TEST(Table, ReadsQuotedAndUnquotedCells) {
  EXPECT_EQ(cells_of("\"1\",0, 1 ,\"a \"\"b\"\", c\" ,\"\"\r\n,,x y,\"\"\"\",\n"),
            (Texts{"1|0|1|a \"b\", c|", "||x y|\"|"}));
  EXPECT_EQ(cells_of("a;\"b\";c,d", ';'), (Texts{"a|b|c,d"}));
  EXPECT_EQ(cells_of("a\t b \t\n\t\t", '\t'), (Texts{"a|b|", "||"}));
}

TEST(Table, AllowsBlankLinesAtTheEndOnly) {
  EXPECT_EQ(cells_of("a,b\n\n \r\n\n"), Texts{"a|b"});
  EXPECT_EQ(refused_cells("a,b\n\n\nc,d\n"), "t.csv:2: is blank, and the table goes on after it");
}

TEST(Table, SaysWhereAQuoteIsWrong) {
  EXPECT_EQ(refused_cells("a,b\nc, \"d\n\"\n"), "t.csv:2:4: a quote is not closed on its line");
  EXPECT_EQ(refused_cells("a,\"b\"c,d"), "t.csv:1:3: 'c' follows on a closing quote");
}

TEST(Number, EqualsTheLibrarysEverywhere) {
  uint32_t x = 3;
  const auto random = [&](uint32_t below) { return ((x = x * 1664525 + 1013904223) >> 8) % below; };
  for (int i = 0; i < 100'000; ++i) {
    std::string text = random(3) == 0 ? "-" : random(9) == 0 ? "+" : "";
    const auto digits = 1 + random(random(4) == 0 ? 25 : 8), point = random(12);
    for (uint32_t k = 0; k < digits; ++k)
      text += k == point ? '.' : static_cast<char>('0' + random(10));
    if (random(5) == 0) text += fmt::format("e{}", static_cast<int>(random(700)) - 350);
    char* end = nullptr;
    const double expected = std::strtod(text.c_str(), &end);
    const auto value = number_in(text);
    ASSERT_EQ(value.has_value(), *end == '\0') << text;
    ASSERT_EQ(value.value_or(expected), expected) << text;
  }
}

TEST(Number, IsTheWholeCellOrNone) {
  for (const auto* text : {"", "-", ".", "1x", "1 ", "0x10", "inf", "-inf", "nan", "1.2.3", "1e",
                           "--1", "+-1", "1,5", "e5"})
    EXPECT_FALSE(number_in(text)) << text;
  EXPECT_EQ(number_in("1."), 1);
  EXPECT_EQ(number_in("-.5"), -0.5);
  EXPECT_TRUE(std::isinf(*number_in("1e400")));
  EXPECT_EQ(number_in("1e-400"), 0);
  EXPECT_TRUE(std::signbit(*number_in("-0")));
}

// Against one bit after the other, whatever stands round the cells.
TEST(Pack, EqualsBitByBit) {
  uint32_t x = 5;
  const auto random = [&](uint32_t below) { return ((x = x * 1664525 + 1013904223) >> 8) % below; };
  const Texts zero{"0", "0", "0", "0", " 0", "\"0\"", "0.0", "00"};
  const Texts one{"1", "1", "1", "1", "1 ", "\"1\"", "1.0", "1e0"};
  for (uint32_t i = 0; i < 300; ++i) {
    const uint32_t kinds = i % 2 == 0 ? 4 : 8, cells = 1 + random(100);
    std::string text;
    std::vector<uint8_t> expected((cells + 7) / 8), packed(expected.size());
    for (uint32_t k = 0; k < cells; ++k) {
      const auto bit = random(2);
      text += (k == 0 ? "" : ",") + (bit == 1 ? one : zero)[random(8) == 0 ? random(kinds) : 0];
      expected[k / 8] = static_cast<uint8_t>(expected[k / 8] | bit << k % 8);
    }
    const auto source = TextFile(text).open();
    TableReader reader(*source);
    auto* row = reader.next();
    ASSERT_EQ(row->pack(packed.data(), cells), cells) << text;
    EXPECT_EQ(packed, expected) << text;
    EXPECT_FALSE(row->next());
  }
}

TEST(Pack, StopsAtItsCountAndAtTheEnd) {
  std::array<uint8_t, 2> bits{};
  const auto source = TextFile("1,1,1,1,1,1,1,1,1,1,1,1,1\n1,0,1,\n").open();
  TableReader reader(*source);
  auto* row = reader.next();
  EXPECT_EQ(row->pack(bits.data(), 9), 9);
  EXPECT_EQ(bits, (std::array<uint8_t, 2>{255, 1}));
  EXPECT_EQ(row->pack(bits.data(), 100), 4);
  EXPECT_EQ(row->pack(bits.data(), 100), 0);
}

TEST(Pack, SaysWhereACellIsNotBinary) {
  std::array<uint8_t, 8> bits{};
  const auto refused = [&](const std::string& text) {
    return TextFile(text).refused([&](ByteSource& source) {
      TableReader reader(source);
      while (auto* row = reader.next()) row->pack(bits.data(), 64);
    });
  };
  EXPECT_EQ(refused("0,1,0,1,0,1,0,1,0,1\n0,1,0,1,0,1,2,1,0,1\n"),
            "t.csv:2:13: '2' is no binary feature, expected 0 or 1");
  EXPECT_EQ(refused("0,1,,1"), "t.csv:1:5: '' is no binary feature, expected 0 or 1");
  EXPECT_EQ(refused("0,yes"), "t.csv:1:3: 'yes' is no binary feature, expected 0 or 1");
  EXPECT_EQ(refused("0,1,0,1,0,1,0,1,"), "t.csv:1:17: '' is no binary feature, expected 0 or 1");
  EXPECT_EQ(refused("0,1," + std::string(100, '7')),
            "t.csv:1:5: '" + std::string(40, '7') + "...' is no binary feature, expected 0 or 1");
}

}  // namespace
}  // namespace imprint::table_test
