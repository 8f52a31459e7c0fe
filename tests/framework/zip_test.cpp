#include "framework/data/formats/zip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/support/process.h"
#include "tests/support/refusals.h"

namespace imprint::zip_test {
namespace {

namespace fs = std::filesystem;

/// What a hand-made zip file of one member "m" says of it.
struct Claim {
  std::string packed;
  uint32_t size = 0, crc = 0;
  uint16_t method = 0, flags = 0;
};

std::string little(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 255);
  return text;
}

std::string zip_of(const Claim& claim, int copies = 1) {
  const auto shared = little(claim.flags, 2) + little(claim.method, 2) + little(0, 4) +
                      little(claim.crc, 4) + little(claim.packed.size(), 4) +
                      little(claim.size, 4) + little(1, 2) + little(0, 2);
  const auto local = "PK\3\4" + little(20, 2) + shared + "m" + claim.packed;
  std::string directory;
  for (int i = 0; i < copies; ++i)
    directory += "PK\1\2" + little(20, 2) + little(20, 2) + shared + little(0, 14) +
                 std::string(1, static_cast<char>('m' + i));
  return local + directory + "PK\5\6" + little(0, 4) + little(static_cast<uint64_t>(copies), 2) +
         little(static_cast<uint64_t>(copies), 2) + little(directory.size(), 4) +
         little(local.size(), 4) + little(0, 2);
}

uint32_t crc_of(const std::string& text) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

std::string deflated(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

class ZipTest : public testing::Test {
 protected:
  fs::path file() const { return temp_.path() / "a.zip"; }

  std::string refused(const std::string& bytes) const {
    put_file(file(), bytes);
    return refusal(temp_.path(), [&] { ZipReader(file()).text("m", 1 << 20); });
  }

 private:
  TempFolder temp_;
};

TEST_F(ZipTest, ReadsBackWhatItWroteAligned) {
  const std::string large(3'000'000, 'L');
  ZipWriter writer(file());
  writer.add("a", {"small", "", "er"}, 64);
  writer.add("b/large", {large}, 64);
  writer.add("empty", {}, 64);
  writer.close();
  const ZipReader zip(file());
  EXPECT_EQ(zip.members().size(), 3U);
  EXPECT_EQ(zip.text("a", 100), "smaller");
  EXPECT_EQ(zip.text("b/large", large.size()), large);
  EXPECT_EQ(zip.text("empty", 0), "");
  const auto bytes = file_text(file());
  EXPECT_EQ(bytes.find("smaller") % 64, 0U);
  EXPECT_EQ(bytes.find(large) % 64, 0U);
}

TEST_F(ZipTest, ReadsWhatPythonWroteInEveryWay) {
  IMPRINT_NEEDS_PYTHON();
  const auto result = run_python(R"(
import sys, zipfile
class Pipe:  # cannot seek: sizes come after the contents
    def __init__(self, f): self.f = f
    def write(self, data): return self.f.write(data)
    def flush(self): self.f.flush()
with open(sys.argv[1], 'wb') as f, zipfile.ZipFile(Pipe(f), 'w') as z:
    z.comment = b'PK\x05\x06 is not the end'
    z.writestr('stored', b'abc' * 1000)
    z.writestr('deflated', b'0123456789' * 100000, zipfile.ZIP_DEFLATED)
    z.writestr('nothing', b'', zipfile.ZIP_DEFLATED)
    with z.open('64', 'w', force_zip64=True) as m: m.write(b'x' * 70000)
)",
                                 {file()});
  ASSERT_EQ(result.code, 0) << result.err;
  const ZipReader zip(file());
  EXPECT_EQ(zip.text("stored", 3000).substr(2997), "abc");
  EXPECT_EQ(zip.text("deflated", 1'000'000).substr(999'990), "0123456789");
  EXPECT_EQ(zip.text("nothing", 0), "");
  EXPECT_EQ(zip.text("64", 70'000), std::string(70'000, 'x'));
}

TEST_F(ZipTest, ReadsInPieces) {
  const std::string text = "one two three";
  put_file(file(), zip_of({deflated(text), 13, crc_of(text), 8}));
  const ZipReader zip(file());
  ZipStream stream(zip, "m");
  std::string piece(4, ' ');
  stream.read(piece.data(), 4);
  EXPECT_EQ(piece, "one ");
  EXPECT_EQ(stream.left(), 9U);
  EXPECT_EQ(refusal(file().parent_path(), [&] { stream.read(piece.data(), 10); }),
            "a.zip: truncated: 'm' in it lacks 1 bytes");
}

TEST_F(ZipTest, RefusesWhatCannotBeRight) {
  const std::string text = "abcdefgh";
  EXPECT_EQ(refused(zip_of({text, 8, crc_of(text)})), "(accepted)");
  EXPECT_EQ(refused(zip_of({text, 8, 1})), "a.zip: damaged: the checksum of 'm' is wrong");
  EXPECT_EQ(refused(zip_of({text, 9, crc_of(text)})),
            "a.zip: damaged: 'm' in it cannot have 9 bytes, since it takes 8");
  EXPECT_EQ(refused(zip_of({text, 4'000'000'000, crc_of(text), 8})),
            "a.zip: damaged: 'm' in it cannot have 4000000000 bytes, since it takes 8");
  EXPECT_EQ(refused(zip_of({deflated(text), 9, crc_of(text), 8})),
            "a.zip: damaged: 'm' in it does not decompress");
  EXPECT_EQ(refused(zip_of({text, 8, crc_of(text), 8})),
            "a.zip: damaged: 'm' in it does not decompress");
  EXPECT_EQ(refused(zip_of({text, 8, crc_of(text), 0, 1})), "a.zip: 'm' in it is encrypted");
  EXPECT_EQ(refused(zip_of({text, 8, crc_of(text), 14})),
            "a.zip: 'm' in it is compressed by method 14; only deflate can be read");
  EXPECT_EQ(refused(zip_of({text, 8, crc_of(text)}, 2)),
            "a.zip: damaged: 'm' in it has no room for its bytes");
  EXPECT_EQ(refused("hello"), "a.zip: is no zip file, or truncated: it has no directory");
  EXPECT_EQ(refused(""), "a.zip: is no zip file, or truncated: it has no directory");
}

TEST_F(ZipTest, RefusesMissingFilesAndFolders) {
  EXPECT_EQ(refusal(file().parent_path(), [&] { ZipReader zip(file()); }),
            "a.zip: cannot be read: No such file or directory");
  fs::create_directory(file());
  EXPECT_EQ(refusal(file().parent_path(), [&] { ZipReader zip(file()); }),
            "a.zip: is a folder, expected a file");
}

}  // namespace
}  // namespace imprint::zip_test
