#include "framework/data/torch_file.h"

#include <gtest/gtest.h>

#include "framework/data/npz_reader.h"
#include "framework/data/safetensors.h"
#include "framework/data/weights.h"
#include "framework/data/zip.h"
#include "tests/support/process.h"
#include "tests/support/refusals.h"

namespace imprint::torch_file_test {
namespace {

namespace fs = std::filesystem;
using Named = std::vector<std::pair<std::string, Tensor>>;

// NumPy has no bfloat16: its tensors travel as int16 under a name that ends in "as_int16".
void expect_same(const std::map<std::string, Tensor>& tensors,
                 const std::map<std::string, Tensor>& arrays) {
  EXPECT_EQ(tensors.size(), arrays.size());
  for (const auto& [name, array] : arrays) {
    const bool brain = name.ends_with("as_int16");
    const auto found = tensors.find(brain ? name.substr(0, name.size() - 8) : name);
    ASSERT_NE(found, tensors.end()) << name;
    const auto& tensor = found->second;
    EXPECT_EQ(tensor.scalar_type(), brain ? torch::kBFloat16 : array.scalar_type()) << name;
    EXPECT_EQ(tensor.sizes(), array.sizes()) << name;
    EXPECT_TRUE(torch::equal(brain ? tensor.contiguous().view(torch::kInt16) : tensor, array))
        << name;
  }
}

Named one_of_each_type() {
  torch::manual_seed(1);
  Named tensors;
  for (const auto type :
       {torch::kFloat32, torch::kFloat64, torch::kFloat16, torch::kBFloat16, torch::kInt64,
        torch::kInt32, torch::kInt16, torch::kInt8, torch::kUInt8, torch::kBool})
    tensors.emplace_back(std::string("b.") + c10::toString(type),
                         torch::randn({2, 3, 1}).mul(3).abs().to(type));
  tensors.emplace_back("a scalar", torch::tensor(int64_t{-1} << 40));
  tensors.emplace_back("none", torch::empty({0, 5}));
  tensors.emplace_back("turned", torch::arange(12).reshape({3, 4}).t());
  return tensors;
}

class TorchFileTest : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return temp_.path() / name; }

  template <typename Call>
  std::string refused(const Call& call) const {
    return refusal(temp_.path(), call);
  }
  std::string refused_file(const std::string& name) const {
    return refused([&] { load_weights(at(name)); });
  }

  /// A file of PyTorch whose data.pkl and only storage "0" (of bytes) are these.
  std::string refused_pickle(const std::string& pickle, const std::string& storage = "12345678") {
    ZipWriter zip(at("p.pt"));
    zip.add("p/data.pkl", {pickle});
    zip.add("p/data/0", {storage});
    zip.close();
    return refused_file("p.pt");
  }

 private:
  TempFolder temp_;
};

// A convolution, a batch norm with its running statistics and int64 counter, a linear layer; every
// element type; views; under "state_dict" beside what is no tensor; a parameter.
TEST_F(TorchFileTest, ReadsWhatPythonSaved) {
  IMPRINT_NEEDS_PYTHON();
  const auto result = run_python(R"(
import sys, numpy, torch
from torch import nn
torch.manual_seed(0)
def save(name, tensors, whole=None):
    torch.save(tensors if whole is None else whole, f'{sys.argv[1]}/{name}.pt')
    arrays = {}
    for key, t in tensors.items():
        if not isinstance(t, torch.Tensor): continue
        t = t.detach()
        brain = t.dtype == torch.bfloat16
        arrays[key + 'as_int16' * brain] = (t.contiguous().view(torch.int16) if brain else t).numpy()
    numpy.savez(f'{sys.argv[1]}/{name}.npz', **arrays)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 5))
net(torch.randn(2, 3, 4, 4)); net(torch.randn(2, 3, 4, 4))
save('net', net.state_dict())
types = dict(f4='float32', f8='float64', f2='float16', bf='bfloat16', i8='int64', i4='int32',
             i2='int16', i1='int8', u1='uint8', b1='bool')
tensors = {k: (torch.randn(3, 2) * 3).abs().to(getattr(torch, t)) for k, t in types.items()}
tensors.update(scalar=torch.tensor(2.5), none=torch.empty(0, 4), one=torch.ones(1, 1))
save('types', tensors, {'epoch': 3, 'state_dict': tensors, 'lr': [0.1], 'note': 'x', 'none': None})
base = torch.arange(24.).reshape(4, 6)
save('views', dict(whole=base, turned=base.t(), part=base[1:3, ::2], row=base[3], parameter=nn.Parameter(base),
                   last=base[3, 5], steps=7), {'model': dict(whole=base, turned=base.t(), part=base[1:3, ::2],
                   row=base[3], parameter=nn.Parameter(base), last=base[3, 5], steps=7)})
torch.save(net.state_dict(), sys.argv[1] + '/old.pt', _use_new_zipfile_serialization=False)
torch.save(net, sys.argv[1] + '/module.pt')
torch.save(torch.ones(3), sys.argv[1] + '/single.pt')
)",
                                 {at("")});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const auto* const name : {"net", "types", "views"})
    expect_same(load_weights(at(std::string(name) + ".pt")),
                read_npz(at(std::string(name) + ".npz")));
  EXPECT_EQ(load_weights(at("net.pt")).at("1.num_batches_tracked").item<int64_t>(), 2);
  const auto views = load_weights(at("views.pt"));
  EXPECT_TRUE(views.at("whole").is_alias_of(views.at("part")));
  EXPECT_EQ(refused_file("old.pt"),
            "old.pt: is in PyTorch's format before 1.6; convert it in Python: "
            "torch.save(torch.load(path, weights_only=True), path)");
  EXPECT_EQ(refused_file("module.pt"),
            "module.pt: uses '__builtin__.set', which plain weights do not need and which is not "
            "run; save model.state_dict()");
  EXPECT_EQ(refused_file("single.pt"),
            "single.pt: holds no dict of tensors; save model.state_dict()");
}

TEST_F(TorchFileTest, PythonReadsWhatIsWritten) {
  IMPRINT_NEEDS_PYTHON();
  const auto tensors = one_of_each_type();
  save_weights(at("w.pt"), tensors);
  const auto result = run_python(R"(
import sys, numpy, torch
for mmap in (False, True):
    loaded = torch.load(sys.argv[1] + '/w.pt', weights_only=True, mmap=mmap)
    print(type(loaded).__name__, all(t.is_contiguous() for t in loaded.values()), *loaded)
arrays = {}
for key, t in loaded.items():
    brain = t.dtype == torch.bfloat16
    arrays[key + 'as_int16' * brain] = (t.view(torch.int16) if brain else t).numpy()
numpy.savez_compressed(sys.argv[1] + '/w.npz', **arrays)
)",
                                 {at("")});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string line =
      "OrderedDict True b.Float b.Double b.Half b.BFloat16 b.Long b.Int b.Short b.Char b.Byte "
      "b.Bool a scalar none turned\n";
  EXPECT_EQ(result.out, line + line);
  expect_same({tensors.begin(), tensors.end()}, read_npz(at("w.npz")));
}

TEST_F(TorchFileTest, RoundTripsInBothFormatsWhateverTheName) {
  const auto tensors = one_of_each_type();
  for (const auto* const name : {"w.pt", "w.pth", "w.safetensors"}) {
    save_weights(at(name), tensors);
    fs::rename(at(name), at("weights"));
    const auto back = load_weights(at("weights"));
    ASSERT_EQ(back.size(), tensors.size());
    for (const auto& [key, tensor] : tensors) {
      EXPECT_EQ(back.at(key).scalar_type(), tensor.scalar_type()) << key;
      EXPECT_TRUE(torch::equal(back.at(key), tensor)) << key;
    }
  }
  EXPECT_EQ(refused([&] { save_weights(at("w.bin"), tensors); }),
            "w.bin: weights are written as .pt or .pth (PyTorch) or .safetensors");
  for (const auto* const name : {"v.pt", "v.safetensors"}) {
    EXPECT_THROW(save_weights(at(name), {{"a", torch::ones(1)}, {"a", torch::ones(1)}}),
                 std::runtime_error);
    EXPECT_THROW(save_weights(at(name), {{"a", torch::ones(1, torch::kComplexFloat)}}),
                 std::runtime_error);
    EXPECT_FALSE(fs::exists(at(name)));
  }
}

TEST_F(TorchFileTest, SameTensorsGiveSameBytes) {
  save_weights(at("a.pt"), one_of_each_type());
  save_weights(at("b.pt"), one_of_each_type());
  EXPECT_EQ(file_text(at("a.pt")), file_text(at("b.pt")));
}

// Damage anywhere is refused, or (in padding and dates) changes nothing; never a crash.
TEST_F(TorchFileTest, DamageAnywhereIsRefusedOrHarmless) {
  const std::map<std::string, Tensor> original{{"w", torch::arange(6.).reshape({2, 3})},
                                               {"n", torch::tensor(3)}};
  for (const auto* const name : {"d.pt", "d.safetensors"}) {
    save_weights(at(name), {original.begin(), original.end()});
    const auto bytes = file_text(at(name));
    const bool checked = name == std::string("d.pt");  // safetensors have no checksum
    for (size_t length = 0; length < bytes.size(); ++length) {
      write_file(at("cut"), bytes.substr(0, length));
      EXPECT_NE(refused_file("cut"), "(accepted)") << length;
    }
    for (size_t i = 0; i < bytes.size(); ++i) {
      auto flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ 1 << i % 8);
      write_file(at("flipped"), flipped);
      std::map<std::string, Tensor> read;
      if (refused([&] { read = load_weights(at("flipped")); }) != "(accepted)" || !checked)
        continue;
      ASSERT_EQ(read.size(), original.size()) << i;
      for (const auto& [key, tensor] : original)
        EXPECT_TRUE(torch::equal(read.at(key), tensor)) << i;
    }
  }
}

// Hand-made pickles: a dict of one tensor "t".

std::string integer(int32_t value) {
  return "J" + std::string(reinterpret_cast<const char*>(&value), 4);
}
std::string word(const std::string& text) {
  return std::string("\x8c") + static_cast<char>(text.size()) + text;
}

struct Pickled {
  std::string key = "0", storage_class = "FloatStorage";
  int32_t elements = 2, offset = 0;
  std::string sizes = integer(2), strides = integer(1);

  std::string text() const {
    return "\x80\x02}" + word("t") + "ctorch._utils\n_rebuild_tensor_v2\n((" + word("storage") +
           "ctorch\n" + storage_class + "\n" + word(key) + word("cpu") + integer(elements) + "tQ" +
           integer(offset) + "(" + sizes + "t(" + strides + "t\x89)tRs.";
  }
};

TEST_F(TorchFileTest, RefusesTensorsOutsideTheirStorage) {
  EXPECT_EQ(refused_pickle(Pickled{}.text()), "(accepted)");
  const std::string outside = "p.pt: damaged: tensor 't' reaches outside its storage";
  const auto refused = [&](const Pickled& pickled) { return refused_pickle(pickled.text()); };
  EXPECT_EQ(refused({.offset = 1}), outside);
  EXPECT_EQ(refused({.offset = -1}), outside);
  EXPECT_EQ(refused({.sizes = integer(-2)}), outside);
  EXPECT_EQ(refused({.strides = integer(2)}), outside);
  EXPECT_EQ(refused({.strides = integer(-1)}), outside);
  EXPECT_EQ(refused({.strides = ""}), outside);
  EXPECT_EQ(refused({.sizes = integer(2'000'000'000) + integer(2'000'000'000) + integer(1 << 30),
                     .strides = integer(0) + integer(0) + integer(0)}),
            outside);
  EXPECT_EQ(refused({.sizes = integer(2) + integer(2),
                     .strides = "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"
                                "\x8a\x08\xff\xff\xff\xff"
                                "\xff\xff\xff\x7f"}),
            outside);
  EXPECT_EQ(refused({.sizes = integer(2'000'000'000), .strides = integer(0)}),
            "p.pt: tensor 't' is larger than its storage; save it after .contiguous()");
}

TEST_F(TorchFileTest, RefusesStoragesThatAreNotThere) {
  const auto refused = [&](const Pickled& pickled) { return refused_pickle(pickled.text()); };
  EXPECT_EQ(refused({.key = "9"}), "p.pt: damaged: 'p/data/9' is missing in it");
  EXPECT_EQ(refused({.elements = 3}),
            "p.pt: damaged: tensor 't' has a storage of 8 bytes, which is not 3 elements");
  EXPECT_EQ(refused({.elements = -2}),
            "p.pt: damaged: tensor 't' has a storage of 8 bytes, which is not -2 elements");
  EXPECT_EQ(refused({.storage_class = "ComplexFloatStorage"}),
            "p.pt: uses 'torch.ComplexFloatStorage', which plain weights do not need and which is "
            "not run; save model.state_dict()");
}

TEST_F(TorchFileTest, RefusesWhatPythonWouldRun) {
  EXPECT_EQ(refused_pickle("\x80\x02}" + word("t") + "cos\nsystem\n" + word("true") + "\x85Rs."),
            "p.pt: uses 'os.system', which plain weights do not need and which is not run; save "
            "model.state_dict()");
  EXPECT_EQ(refused_pickle("(cos\nsystem\n" + word("true") + "o."),
            "p.pt: damaged, or no pickle of plain values: opcode OBJ is not known here (at byte "
            "18)");
  EXPECT_EQ(refused_pickle("}" + word("t") + "ctorch._utils\n_rebuild_tensor_v2\n)Rs."),
            "p.pt: damaged: tensor 't' is not described as PyTorch does");
  EXPECT_EQ(refused_pickle("}" + word("t") + "ctorch._utils\n_rebuild_parameter\n)Rs."),
            "p.pt: damaged: tensor 't' is a parameter without a tensor");
  EXPECT_EQ(refused_pickle("}."), "p.pt: holds no tensors; save model.state_dict()");
  EXPECT_EQ(refused_pickle("N."), "p.pt: holds no dict of tensors; save model.state_dict()");
}

TEST_F(TorchFileTest, NamesInMessagesArePresentable) {
  EXPECT_EQ(presentable("größe"), "größe");
  EXPECT_EQ(presentable("a\x01\nb\xff\xc3+\xed\xa0\x80"), "a??b??+???");
  EXPECT_EQ(presentable(std::string(5000, 'x')), std::string(1000, 'x') + " ...");
  EXPECT_EQ(refused_pickle("cos\x1b[31m\nsystem\xff\n."),
            "p.pt: uses 'os?[31m.system?', which plain weights do not need and which is not run; "
            "save model.state_dict()");
}

TEST_F(TorchFileTest, TurnsBytesOfOtherMachinesRound) {
  ZipWriter zip(at("big.pt"));
  zip.add("big/data.pkl", {Pickled{}.text()});
  zip.add("big/byteorder", {"big"});
  zip.add("big/data/0", {std::string_view("\x3f\x80\0\0\xc0\0\0\0", 8)});
  zip.close();
  EXPECT_TRUE(torch::equal(load_weights(at("big.pt")).at("t"), torch::tensor({1.F, -2.F})));
}

TEST_F(TorchFileTest, RefusesOtherFiles) {
  ZipWriter zip(at("z.pt"));
  zip.add("readme", {"hello"});
  zip.close();
  EXPECT_EQ(refused_file("z.pt"), "z.pt: is a zip file, but no PyTorch file: it has no data.pkl");
  write_file(at("text.pt"), "hello, this is no such file at all");
  EXPECT_EQ(refused_file("text.pt"), "text.pt: is no safetensors file, or truncated");
  EXPECT_EQ(refused_file("missing.pt"), "missing.pt: cannot be read: No such file or directory");
  EXPECT_EQ(
      refusal(at("").parent_path().parent_path(), [&] { load_weights(at("").parent_path()); }),
      at("").parent_path().filename().string() + ": is a folder, expected a file");
}

TEST_F(TorchFileTest, RefusesHostileHeadersOfSafetensors) {
  const auto refused_header = [&](const std::string& header, uint64_t length = 0) {
    if (length == 0) length = header.size();
    write_file(at("s"),
               std::string(reinterpret_cast<const char*>(&length), 8) + header + "12345678");
    return refused_file("s");
  };
  const auto with = [&](const std::string& entry) {
    return refused_header("{\"t\": " + entry + "}");
  };
  const std::string bad = "s: damaged: tensor 't' ";
  EXPECT_EQ(with(R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 8]})"), "(accepted)");
  EXPECT_EQ(refused_header("{}", 1 << 20), "s: is no safetensors file, or truncated");
  EXPECT_EQ(refused_header("{}", ~uint64_t{0}), "s: is no safetensors file, or truncated");
  EXPECT_EQ(refused_header("[1]"), "s: is no safetensors file: its header is no JSON object");
  EXPECT_EQ(refused_header("{\"t\""), "s: is no safetensors file: its header is no JSON object");
  EXPECT_EQ(refused_header(std::string(100'000, '[')),
            "s: is no safetensors file: its header is no JSON object");
  for (const auto* const entry :
       {"3", "[]", "{}", R"({"dtype": 1, "shape": [2], "data_offsets": [0, 8]})",
        R"({"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]})",
        R"({"dtype": "F32", "shape": [2.0], "data_offsets": [0, 8]})",
        R"({"dtype": "F32", "shape": "2", "data_offsets": [0, 8]})",
        R"({"dtype": "F32", "shape": [2], "data_offsets": [0]})",
        R"({"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]})",
        R"({"dtype": "F32", "shape": [2], "data_offsets": {"0": 8}})"})
    EXPECT_EQ(with(entry), bad + "needs a dtype, a shape and two data_offsets") << entry;
  EXPECT_EQ(with(R"({"dtype": "F31", "shape": [2], "data_offsets": [0, 8]})"),
            bad + "has the unknown dtype \"F31\"");
  EXPECT_EQ(with(R"({"dtype": "F32", "shape": [2], "data_offsets": [4, 12]})"),
            bad + "lies at 4 to 12 of 8 bytes");
  EXPECT_EQ(with(R"({"dtype": "F32", "shape": [2], "data_offsets": [8, 0]})"),
            bad + "lies at 8 to 0 of 8 bytes");
  EXPECT_EQ(with(R"({"dtype": "F32", "shape": [3], "data_offsets": [0, 8]})"),
            bad + "has 8 bytes, which its shape [3] does not need");
  EXPECT_EQ(with(R"({"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]})"),
            bad + "has 0 bytes, which its shape [4294967296,4294967296] does not need");
  EXPECT_EQ(with(R"({"dtype": "U8", "shape": [8], "data_offsets": [0, 8]},
                 "u": {"dtype": "U8", "shape": [4], "data_offsets": [4, 8]})"),
            "s: damaged: tensors 't' and 'u' share bytes");
}

}  // namespace
}  // namespace imprint::torch_file_test
