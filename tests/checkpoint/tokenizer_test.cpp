// Against what Hugging Face's tokenizers said of the same texts (make_tokenizers.py).
#include "checkpoint/tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "support/source_dir.h"

namespace mtmc {
namespace {

std::string data(const std::string& name) { return source_dir() + "/tests/checkpoint/data/" + name; }

Json read_json(const std::string& name) { return Json::parse(read_file(data(name)).value()); }

class TokenizerOf : public ::testing::TestWithParam<const char*> {};

TEST_P(TokenizerOf, AgreesWithTheLibrary) {
  const auto tokenizer = Tokenizer::from_file(data(std::string(GetParam()) + ".tokenizer.json"));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message();
  const Json cases = read_json(std::string(GetParam()) + ".cases.json");
  ASSERT_GT(cases.size(), 10u);
  for (const Json& given : cases) {
    const std::string text = given["text"];
    const std::vector<TokenId> plain = given["plain"], whole = given["whole"];
    EXPECT_EQ(tokenizer->encode(text, false).value(), plain) << text;
    EXPECT_EQ(tokenizer->encode(text, true).value(), whole) << text;
    EXPECT_EQ(tokenizer->decode(whole, true), given["decoded"]) << text;
    std::vector<TokenId> every_second;
    for (size_t i = 0; i < plain.size(); i += 2) every_second.push_back(plain[i]);
    EXPECT_EQ(tokenizer->decode(every_second, false), given["broken"]) << text;
  }
}
INSTANTIATE_TEST_SUITE_P(Styles, TokenizerOf, ::testing::Values("smollm", "llama", "qwen", "deepseek"),
                         [](const auto& style) { return std::string(style.param); });

std::string refusal(const Json& json) {
  const auto tokenizer = Tokenizer::from_json(json);
  return tokenizer.ok() ? "accepted" : tokenizer.error().message();
}

TEST(Tokenizer, RefusesWhatItWouldGetWrong) {
  const Json good = read_json("smollm.tokenizer.json");
  Json bad = good;
  bad["model"]["type"] = "Unigram";
  EXPECT_EQ(refusal(bad), R"(reading a tokenizer: unknown model: got "Unigram", wanted byte-level BPE)");
  bad = good;
  bad["pre_tokenizer"] = {{"type", "Whitespace"}};
  EXPECT_NE(refusal(bad).find("wanted one with ByteLevel"), std::string::npos) << refusal(bad);
  bad = good;
  bad["normalizer"] = {{"type", "Lowercase"}};
  EXPECT_NE(refusal(bad).find("unknown normalizer"), std::string::npos) << refusal(bad);
  bad = good;
  bad["model"]["merges"].push_back({"no such", "token"});
  EXPECT_NE(refusal(bad).find("a token that the vocabulary lacks"), std::string::npos) << refusal(bad);
  bad["model"].erase("vocab");
  EXPECT_NE(refusal(bad).find("vocab"), std::string::npos) << refusal(bad);
  EXPECT_NE(refusal(Json::object()).find("model"), std::string::npos);
}

TEST(Tokenizer, WantsTextsInUtf8) {
  const auto tokenizer = Tokenizer::from_file(data("qwen.tokenizer.json")).value();
  EXPECT_EQ(tokenizer.encode("ab\xFFz", false).error().message(), "tokenising a text: not UTF-8: got byte 2");
}

// The arrays of a GGUF file hold the same tokenizer.
TEST(Tokenizer, ComesFromTheArraysOfGguf) {
  const Json json = read_json("smollm.tokenizer.json");
  std::vector<std::string> tokens(json["model"]["vocab"].size()), merges;
  std::vector<int32_t> types(tokens.size(), 1);
  for (const auto& [token, id] : json["model"]["vocab"].items()) tokens[id.get<size_t>()] = token;
  for (const char* special : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"})
    types[json["model"]["vocab"][special].get<size_t>()] = 3;
  for (const Json& merge : json["model"]["merges"])
    merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  const auto made = tokenizer_json("smollm", tokens, types, merges);
  ASSERT_TRUE(made.ok()) << made.error().message();
  const auto tokenizer = Tokenizer::from_json(*made);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message();
  const auto whole = Tokenizer::from_file(data("smollm.tokenizer.json")).value();
  for (const std::string text : {"fuse 12 a\n  b<|im_end|>", "naïve 汉字 x"})
    EXPECT_EQ(tokenizer->encode(text, false).value(), whole.encode(text, false).value());
  EXPECT_NE(tokenizer_json("falcon", tokens, types, merges).error().message().find("wanted smollm"), std::string::npos);
}

}  // namespace
}  // namespace mtmc
