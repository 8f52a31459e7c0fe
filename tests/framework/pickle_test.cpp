#include "framework/data/formats/pickle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/process.h"
#include "tests/support/refusals.h"

namespace imprint::pickle_test {
namespace {

using Kind = PickleValue::Kind;

std::string shown(const PickleValue& value);

std::string shown_items(const PickleValue& value) {
  std::string text;
  for (const auto* const item : value.items) text += (text.empty() ? "" : " ") + shown(*item);
  return text;
}

std::string shown(const PickleValue& value) {
  switch (value.kind) {
    case Kind::none:
      return "none";
    case Kind::boolean:
      return value.integer != 0 ? "true" : "false";
    case Kind::integer:
      return std::to_string(value.integer);
    case Kind::number:
      return fmt::format("{:.3f}", value.number);
    case Kind::bytes:
      return fmt::format("b'{}'", value.text);
    case Kind::text:
      return fmt::format("'{}'", value.text);
    case Kind::tuple:
      return "(" + shown_items(value) + ")";
    case Kind::list:
      return "[" + shown_items(value) + "]";
    case Kind::dict:
      return "{" + shown_items(value) + "}";
    case Kind::global:
      return fmt::format("<{}>", value.text);
    case Kind::object:
      return shown(*value.callable) + shown(*value.argument) + "{" + shown_items(value) + "}" +
             (value.state != nullptr ? "+" + shown(*value.state) : "");
    case Kind::persistent:
      return "@" + shown(*value.argument);
  }
  return "?";
}

std::string read(const std::string& bytes) {
  std::string text;
  const auto refused = refusal("", [&] { text = shown(Pickle(bytes, "p").top()); });
  return refused == "(accepted)" ? text : refused;
}

std::string damaged(const std::string& why) {
  return "p: damaged, or no pickle of plain values: " + why;
}

TEST(Pickle, ReadsPlainValuesOfEveryProtocol) {
  IMPRINT_NEEDS_PYTHON();
  const TempFolder folder;
  const auto result = run_python(R"(
import sys, pickle
from collections import OrderedDict
shared = ['a', 'a\\ö\n€𝄞']
value = {'int': [0, 255, 256, 65535, 70000, -1, -70000, 2**40, -2**63], 'float': (1.5, -0.25),
         'flags': (True, False, None), 'shared': [shared, shared], 'empty': [(), [], {}],
         'tuple': (1, (2,), (3, 4, 5, 6)), 7: 8,
         'ordered': OrderedDict(x=1)}
for protocol in range(6):
    with open(f'{sys.argv[1]}/{protocol}', 'wb') as f: pickle.dump(value, f, protocol)
    with open(f'{sys.argv[1]}/{protocol}.long', 'wb') as f: pickle.dump(['x'] * 5000, f, protocol)
)",
                                 {folder.path()});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string shared = "['a' 'a\\ö\n€𝄞']";
  for (int protocol = 0; protocol <= 5; ++protocol) {
    const auto file = folder.path() / std::to_string(protocol);
    EXPECT_EQ(read(file_text(file)),
              "{'int' [0 255 256 65535 70000 -1 -70000 1099511627776 -9223372036854775808] "
              "'float' (1.500 -0.250) 'flags' (true false none) 'shared' [" +
                  shared + " " + shared +
                  "] 'empty' [() [] {}] 'tuple' (1 (2) (3 4 5 6)) 7 8 "
                  "'ordered' <collections.OrderedDict>(){'x' 1}}")
        << protocol;
    const Pickle list(file_text(file.string() + ".long"), "p");
    EXPECT_EQ(list.top().items.size(), 5000U) << protocol;
  }
}

TEST(Pickle, ReadsTheStringsOfPython2) {
  EXPECT_EQ(read("S'a\\x41\\'\\n'\n."), "b'aA'\n'");
  EXPECT_EQ(read("U\x03"
                 "abc."),
            "b'abc'");
  EXPECT_EQ(read(std::string("T\x02\0\0\0ab.", 8)), "b'ab'");
  EXPECT_EQ(read("I01\n."), "true");
  EXPECT_EQ(read("L-12L\n."), "-12");
}

TEST(Pickle, NotesCallsAndRunsNothing) {
  const Pickle pickle(
      "\x80\x02"
      "cos\nsystem\nX\x04" +
          std::string(3, '\0') + "true\x85R.",
      "p");
  EXPECT_EQ(shown(pickle.top()), "<os.system>('true'){}");
  EXPECT_EQ(pickle.globals(), std::set<std::string>{"os.system"});
  EXPECT_EQ(read("ca\nb\n)R}b."), "<a.b>(){}+{}");
  EXPECT_EQ(read("(K\x01tQ."), "@(1)");
}

TEST(Pickle, FindsByTextOrBytesAndTheLastOneCounts) {
  const Pickle pickle(
      "}U\x01"
      "aK\x01s\x8c\x01"
      "aK\x02s.",
      "p");
  ASSERT_NE(pickle.top().find("a"), nullptr);
  EXPECT_EQ(pickle.top().find("a")->integer, 2);
  EXPECT_EQ(pickle.top().find("b"), nullptr);
}

TEST(Pickle, RefusesWhatIsNoPickle) {
  EXPECT_EQ(read(""), damaged("ends too early (at byte 0)"));
  EXPECT_EQ(read("N"), damaged("ends too early (at byte 1)"));
  EXPECT_EQ(read("N.N"), damaged("goes on after its end (at byte 1)"));
  EXPECT_EQ(read("."), damaged("leaves other than one value (at byte 0)"));
  EXPECT_EQ(read("NN."), damaged("leaves other than one value (at byte 2)"));
  EXPECT_EQ(read("\x80\x06."), damaged("has protocol 6, known are 0 to 5 (at byte 0)"));
  EXPECT_EQ(read("]\x8f."), damaged("opcode EMPTY_SET is not known here (at byte 1)"));
  EXPECT_EQ(read("!."), damaged("opcode 0x21 is not known here (at byte 0)"));
  EXPECT_EQ(read("X\xff\xff\xff\xff."), damaged("ends too early (at byte 0)"));
  EXPECT_EQ(read("h\x01."), damaged("recalls what it has not remembered (at byte 0)"));
  EXPECT_EQ(read("K\x01(a."), damaged("lacks a value (at byte 3)"));
  EXPECT_EQ(read("t."), damaged("lacks a mark (at byte 0)"));
  EXPECT_EQ(read("}(Nu."), damaged("has a key without a value (at byte 3)"));
  EXPECT_EQ(read("NNa."), damaged("adds items to what is no list (at byte 2)"));
  EXPECT_EQ(read("N)R."), damaged("calls what is no global (at byte 2)"));
  EXPECT_EQ(read("N}b."), damaged("gives a state to what is no object (at byte 2)"));
  EXPECT_EQ(read("\x8a\x09"
                 "123456789."),
            damaged("has an integer of more than 64 bits (at byte 0)"));
  EXPECT_EQ(read("S'\\q'\n."), damaged("has a bad escape (at byte 0)"));
  EXPECT_EQ(read("c" + std::string(300, 'm') + "\nn\n."),
            damaged("has a global with too long a name (at byte 0)"));
}

TEST(Pickle, RefusesValuesWithoutEnd) {
  EXPECT_EQ(read("]q\x01h\x01"
                 "a."),
            damaged("has a value that contains itself (at byte 6)"));
  EXPECT_EQ(read(std::string(100, ']') + std::string(99, 'a') + "."),
            std::string(100, '[') + std::string(100, ']'));
  EXPECT_EQ(read(std::string(101, ']') + std::string(100, 'a') + "."),
            damaged("is nested too deep (at byte 201)"));
  EXPECT_EQ(read(std::string(5'000'000, 'N')), damaged("has too many values (at byte 3999999)"));
}

// A list of two of a list of two of ...: 2^90 values for whoever walks it, 91 here.
TEST(Pickle, SharesWhatIsRecalled) {
  std::string bytes = "]";
  for (int i = 0; i < 90; ++i) bytes += "2\x86";
  EXPECT_EQ(Pickle(bytes + ".", "p").top().items.size(), 2U);
}

}  // namespace
}  // namespace imprint::pickle_test
