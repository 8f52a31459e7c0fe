#include "tests/support/archives.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"

namespace imprint::csv_test {
namespace {

/// Reads a table with further keys, such as ", label: 0".
Dataset table(const std::string& text, const std::string& keys = "", bool gzip = false) {
  const TempFolder folder;
  const auto file = folder.path() / "t.csv";
  write_bytes(file, text, gzip);
  return dataset_of(fmt::format("{{name: csv, path: \"{}\"{}}}", file.string(), keys));
}

/// The message that it is refused with, from the file's name on.
std::string refused(const std::string& text, const std::string& keys = "") {
  try {
    table(text, keys);
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    return message.substr(std::min(message.find("t.csv"), message.size()));
  }
  return "(accepted)";
}

void expect_features(const Dataset& data, const std::vector<std::vector<double>>& rows) {
  ASSERT_EQ(data.size(), static_cast<int64_t>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_TRUE(torch::allclose(data.x.as_numbers()[static_cast<int64_t>(i)],
                                torch::tensor(rows[i]).to(torch::kFloat)))
        << "record " << i;
}

void expect_labels(const Dataset& data, const std::vector<int64_t>& labels) {
  EXPECT_TRUE(torch::equal(data.y, torch::tensor(labels, torch::kLong)));
}

TEST(Csv, ReadsNumbersAndCategoriesInOrder) {
  const auto data = table("age,city,label\n20,rome,no\n30.5,oslo,yes\n-1,rome,no\n");
  // age, city oslo, city rome
  expect_features(data, {{20, 0, 1}, {30.5, 1, 0}, {-1, 0, 1}});
  expect_labels(data, {0, 1, 0});
  EXPECT_EQ(data.classes, 2);
  EXPECT_EQ(data.x.type(), torch::kFloat);
}

TEST(Csv, KeepsBinaryTablesAsBits) {
  const auto data = table("1,0,a\n0,0,b\n1,1,a\n", ", label: 2");
  EXPECT_EQ(data.x.packed_features(), 2);
  expect_features(data, {{1, 0}, {0, 0}, {1, 1}});
  const auto words = table("x,1,a\ny,0,b\nz,1,a\n");
  EXPECT_EQ(words.x.packed_features(), 4);
  expect_features(words, {{1, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 1}});
}

TEST(Csv, ReadsEveryDelimiterQuotesAndGzip) {
  const std::string rows = "\"a\",b,l\n\"1,5\",2,x\n3,4,y\n";
  const auto expected = table(rows, ", categorical: [b]");
  EXPECT_EQ(expected.x.shape(), std::vector<int64_t>{4});
  EXPECT_EQ(table(rows, ", categorical: [b]", true).digest(), expected.digest());
  expect_features(table("a;b;l\r\n1;2;x\r\n3;4;y"), {{1, 2}, {3, 4}});
  expect_features(table("a\tb\tl\n1\t2\tx\n3\t4\ty\n\n"), {{1, 2}, {3, 4}});
  expect_features(table("a|b;l\n1,0;x\n", ", delimiter: \";\", header: no"), {{0, 1}, {1, 0}});
}

TEST(Csv, KnowsAHeader) {
  EXPECT_EQ(table("a,b\n1,x\n2,y\n").size(), 2);  // a word above a number
  EXPECT_EQ(table("1,x\n2,y\n").size(), 2);       // numbers above numbers
  EXPECT_EQ(table("u,x\nv,y\n").size(), 2);       // words above words
  EXPECT_EQ(table("u,l\nv,x\nw,y\n", ", header: yes").size(), 2);
  EXPECT_EQ(table("0,1\n5,1\n6,2\n", ", header: yes").size(), 2);
  EXPECT_EQ(table("a,1\n1,2\n", ", header: no").x.shape(), std::vector<int64_t>{2});
}

TEST(Csv, TakesColumnsByNameOrNumber) {
  const std::string rows = "id,a,label,b\n7,1,x,2\n8,3,y,4\n";
  expect_features(table(rows, ", label: label, drop: [id]"), {{1, 2}, {3, 4}});
  expect_features(table(rows, ", label: 2, drop: [0, b]"), {{1}, {3}});
  expect_features(table(rows, ", label: label, drop: [id], categorical: [a]"),
                  {{1, 0, 2}, {0, 1, 4}});
  EXPECT_EQ(refused(rows, ", label: lable"),
            "t.csv: has no column 'lable'; did you mean 'label'? (columns: id, a, label, b)");
  EXPECT_EQ(refused(rows, ", label: 4"), "t.csv: has no column '4' (columns: id, a, label, b)");
  EXPECT_EQ(refused(rows, ", drop: [3]"), "t.csv: column '3' is the label and cannot be dropped");
  EXPECT_EQ(refused("a,a,b\n1,2,x\n", ", drop: [a]"),
            "t.csv: has 2 columns called 'a'; use a number from 0 to 2");
}

TEST(Csv, NumbersClassesInTheirOrder) {
  const auto integers = table("1,10\n2,9\n3,-1\n4,9.0\n");
  expect_labels(integers, {2, 1, 0, 1});
  EXPECT_EQ(integers.classes, 3);
  expect_labels(table("1,10\n2,9\n3,x\n"), {0, 1, 2});  // words, and in their order
  EXPECT_EQ(refused("1,0.5\n2,1\n"),
            "t.csv: label '0.5' in line 1 is neither a word nor a whole number; values to be "
            "predicted (regression) are no classes");
  EXPECT_EQ(refused("1,5\n2,5\n"), "t.csv: all records have the same label in column '1'");
}

TEST(Csv, RefusesAColumnThatIsNoLabel) {
  std::string rows;
  for (int i = 0; i < 10'001; ++i) rows += fmt::format("1,{}\n", i);
  EXPECT_EQ(refused(rows),
            "t.csv:10001: column '1' has more than 10000 classes up to here, expected labels");
}

TEST(Csv, RefusesTooManyCategories) {
  std::string rows = "name,label\n";
  for (int i = 0; i < 1001; ++i) rows += fmt::format("n{},{}\n", i, i % 2);
  EXPECT_EQ(
      refused(rows),
      "t.csv:1002: column 'name' is categorical (its first word: 'n0' in line 2) and has more "
      "than 1000 categories up to here; leave it out with drop: [name]");
  EXPECT_EQ(refused("a,b\n1,0\n" + std::string(1001, 'x') + ",1\n"),
            "t.csv:3: column 'a' is categorical (its first word: '" + std::string(40, 'x') +
                "...' in line 3) and has a cell of 1001 bytes; leave it out with drop: [a]");
  EXPECT_EQ(table(rows.substr(0, rows.size() - 8)).x.packed_features(), 1000);
}

// Numbers first, a word last: the numbers are categories, too.
TEST(Csv, FindsCategoriesThatShowLate) {
  expect_features(table("2,0\n1,1\n2,0\nx,1\n"), {{0, 1, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
}

TEST(Csv, FillsOrRefusesMissingCells) {
  const std::string rows = "a,b,l\n1,5,x\n,6,y\n4,NA,x\n4,?,y\n";
  EXPECT_EQ(refused(rows),
            "t.csv:3:1: a number of column 'a' is missing; choose missing: mean, zero or "
            "drop_record");
  expect_features(table(rows, ", missing: mean"), {{1, 5}, {3, 6}, {4, 5.5}, {4, 5.5}});
  expect_features(table(rows, ", missing: zero"), {{1, 5}, {0, 6}, {4, 0}, {4, 0}});
  EXPECT_EQ(refused(rows, ", missing: drop_record"),
            "t.csv: all records have the same label in column 'l'");
  const auto kept = table(rows + "9,9,y\n", ", missing: drop_record");
  expect_features(kept, {{1, 5}, {9, 9}});
  expect_features(table(rows, ", missing: zero, drop: [b]"), {{1}, {0}, {4}, {4}});
}

TEST(Csv, CountsMissingCellsOfWordsAsACategory) {
  const std::string rows = "u,x\nNaN,y\nv,x\n?,x\n";
  expect_features(table(rows), {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}, {1, 0, 0}});
  expect_features(table("u,x\nNaN,y\nv,y\n", ", missing: drop_record"), {{1, 0}, {0, 1}});
}

TEST(Csv, RefusesMissingLabels) {
  EXPECT_EQ(refused("1,x\n2,\n3,y\n"),
            "t.csv:2:3: the label is missing; missing: drop_record leaves such records out");
  EXPECT_EQ(table("1,x\n2,\n3,y\n", ", missing: drop_record").size(), 2);
}

TEST(Csv, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refused(""), "t.csv: holds no records");
  EXPECT_EQ(refused("a,b\n", ", header: yes"), "t.csv: holds no records");
  EXPECT_EQ(refused("1,x\n2\n"), "t.csv:2: has 1 cells, expected 2 as in line 1");
  EXPECT_EQ(refused("1\n2\n"), "t.csv: has no features: a column beside the label is needed");
  EXPECT_EQ(refused("1,x\n1e39,y\n"), "t.csv:2:1: '1e39' is no number that float32 can hold");
  EXPECT_EQ(refused("?,1,x\n?,2,y\n", ", missing: mean"),
            "t.csv: column '0' holds nothing; leave it out with drop: [0]");
  EXPECT_EQ(refused("\"a,1\n"), "t.csv:1:1: a quote is not closed on its line");
}

TEST(Csv, NeedsItsFile) {
  expect_config_error(
      "dataset", "{name: csv}",
      "dataset 'csv' needs the key 'path' (the table: .csv, .tsv, either with .gz)");
  EXPECT_THROW(dataset_of("{name: csv, path: no/such/file.csv}"), ConfigError);
}

// A path in a file is relative to that file.
TEST(Csv, FindsItsFileBesideTheOneThatNamesIt) {
  const TempFolder folder;
  write_bytes(folder.path() / "t.csv", "1,x\n2,y\n");
  Problems problems;
  const auto file = (folder.path() / "sub/e.yaml").string();
  const auto value = parse_yaml("{name: csv, path: ../t.csv}", file);
  const auto source = build(SourceRegistry::instance(), "dataset", value, problems, {});
  problems.raise();
  EXPECT_EQ(source.component->files(), std::vector{folder.path() / "t.csv"});
  EXPECT_EQ(source.component->load().size(), 2);
}

TEST(Csv, ReadsTheTableOfItsExample) {
  const auto data = dataset_of("{name: csv, path: " IMPRINT_SOURCE "/configs/datasets/csv.csv}");
  EXPECT_EQ(data.x.shape(), std::vector<int64_t>{6});  // three numbers and three plans
  EXPECT_TRUE(torch::equal(data.y.bincount(), torch::tensor({60, 90, 90}, torch::kLong)));
}

// Whatever the bytes are, a table is read or refused.
TEST(Csv, SurvivesNoise) {
  uint32_t x = 9;
  const auto random = [&](size_t below) { return ((x = x * 1664525 + 1013904223) >> 8) % below; };
  const std::string alphabet("0123,,,\n\n\r\"'?;\t .xe-\0\xff", 23);
  int accepted = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    for (size_t k = random(60); k > 0; --k) text += alphabet[random(alphabet.size())];
    const auto answer =
        refused(text, i % 2 == 0 ? ", missing: zero" : ", missing: drop_record, header: no");
    accepted += answer == "(accepted)" ? 1 : 0;
    EXPECT_TRUE(answer == "(accepted)" || answer.starts_with("t.csv")) << answer;
  }
  // Neither all nor nothing is a table: both ways out were taken.
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 1000);
}

}  // namespace
}  // namespace imprint::csv_test
