// Reads tokenizer.json, and writes a GGUF file's arrays as one.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "checkpoint/tokenizer_parts.h"

namespace mtmc {
namespace {

constexpr const char* kReading = "reading a tokenizer";
constexpr const char* kWords =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";  // GPT-2's

Error unknown(const std::string& what, const Json& got, const std::string& wanted) {
  return Error{kReading, "unknown " + what, got.dump().substr(0, 200), wanted};
}

Status add_splitter(const std::string& pattern, Splitter::Keep keep, std::vector<PreTokenizer>& steps) {
  MTMC_TRY(Splitter splitter, Splitter::make(pattern, keep));
  steps.push_back({{std::move(splitter)}, false});
  return ok_status();
}

std::string escape(const std::string& text) {
  std::string escaped;
  for (const char c : text)
    escaped += fmt::format("{}{}", std::string_view("\\^$.|?*+()[]{}").find(c) < 14 ? "\\" : "", c);
  return escaped;
}

Status read_split(const Json& json, std::vector<PreTokenizer>& steps) {
  const Json& pattern = json.at("pattern");
  const std::string regex = pattern.contains("Regex") ? pattern.at("Regex").get<std::string>()
                                                      : escape(pattern.at("String").get<std::string>());
  const std::string behavior = json.at("behavior");
  if (behavior == "Isolated") return add_splitter(regex, Splitter::Keep::both, steps);
  if (behavior == "Removed")
    return add_splitter(regex, json.value("invert", false) ? Splitter::Keep::matches : Splitter::Keep::gaps, steps);
  return unknown("behaviour of a Split", json, "Isolated or Removed");
}

Status read_pre(const Json& json, std::vector<PreTokenizer>& steps) {
  if (json.is_null()) return ok_status();
  const std::string type = json.at("type");
  if (type == "Sequence") {
    for (const Json& step : json.at("pretokenizers")) MTMC_RETURN_IF_ERROR(read_pre(step, steps));
    return ok_status();
  }
  if (type == "Split") return read_split(json, steps);
  if (type == "Digits")
    return add_splitter(json.at("individual_digits").get<bool>() ? R"(\p{N})" : R"(\p{N}+)", Splitter::Keep::both,
                        steps);
  if (type != "ByteLevel") return unknown("pre-tokenizer", json, "Sequence, Split, Digits or ByteLevel");
  if (json.value("add_prefix_space", true)) {
    if (!steps.empty()) return unknown("place of a prefix space", json, "add_prefix_space in the first step only");
    steps.push_back({{}, true});
  }
  if (json.value("use_regex", true)) return add_splitter(kWords, Splitter::Keep::both, steps);
  return ok_status();
}

bool uses_bytes(const Json& json) {
  if (!json.is_object()) return false;
  if (json.value("type", "") == "ByteLevel") return true;
  const Json steps = json.value("pretokenizers", Json::array());
  return std::any_of(steps.begin(), steps.end(), uses_bytes);
}

Status read_normalizer(const Json& json, bool& nfc) {
  if (json.is_null()) return ok_status();
  if (json.at("type") == "NFC") {
    nfc = true;
    return ok_status();
  }
  if (json.at("type") != "Sequence") return unknown("normalizer", json, "NFC or none");
  for (const Json& step : json.at("normalizers")) MTMC_RETURN_IF_ERROR(read_normalizer(step, nfc));
  return ok_status();
}

Status read_vocabulary(const Json& model, const Json& added, TokenizerParts& parts) {
  TokenId size = 0;
  for (const auto& [token, id] : model.at("vocab").items()) {
    parts.ids.emplace(token, id.get<TokenId>());
    size = std::max(size, id.get<TokenId>() + 1);
  }
  for (const Json& token : added) size = std::max(size, token.at("id").get<TokenId>() + 1);
  parts.tokens.resize(static_cast<size_t>(size));
  parts.special.resize(static_cast<size_t>(size));
  for (const auto& [token, id] : parts.ids) {
    if (id < 0) return Error{kReading, "a negative id", token, ""};
    parts.tokens[static_cast<size_t>(id)] = token;
  }
  for (size_t byte = 0; byte < 256; ++byte) {
    const auto found = parts.ids.find(byte_alphabet()[byte]);
    parts.bytes[byte] = found == parts.ids.end() ? -1 : found->second;
  }
  for (const Json& json : added) {
    AddedToken token{json.at("content"),
                     json.at("id").get<TokenId>(),
                     json.value("special", false),
                     json.value("normalized", false),
                     json.value("single_word", false),
                     json.value("lstrip", false),
                     json.value("rstrip", false)};
    if (token.id < 0) return Error{kReading, "a negative id", token.text, ""};
    parts.tokens[static_cast<size_t>(token.id)] = token.text;
    parts.special[static_cast<size_t>(token.id)] = token.special;
    parts.ids[token.text] = token.id;
    if (token.normalized) token.text = parts.normalize(token.text);
    (token.normalized ? parts.normalized : parts.plain).add(std::move(token));
  }
  return ok_status();
}

Status read_merges(const Json& merges, TokenizerParts& parts) {
  int32_t rank = 0;
  const auto id_of = [&](const std::string& token) {
    const auto found = parts.ids.find(token);
    return found == parts.ids.end() ? -1 : found->second;
  };
  for (const Json& merge : merges) {
    std::string left, right;
    if (merge.is_array()) {
      left = merge.at(0), right = merge.at(1);
    } else {
      const std::string line = merge;
      const size_t space = line.find(' ');
      left = line.substr(0, space), right = space == std::string::npos ? "" : line.substr(space + 1);
    }
    const TokenId a = id_of(left), b = id_of(right), made = id_of(left + right);
    if (a < 0 || b < 0 || made < 0)
      return Error{kReading, fmt::format("merge {} has a token that the vocabulary lacks", rank), merge.dump(), ""};
    parts.merges.emplace(static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b), Merge{rank, made});
    ++rank;
  }
  return ok_status();
}

// `single` of a TemplateProcessing: special tokens before and after the text.
Status read_template(const Json& json, TokenizerParts& parts) {
  if (json.is_null() || json.at("type") == "ByteLevel") return ok_status();
  if (json.at("type") == "Sequence") {
    for (const Json& step : json.at("processors")) MTMC_RETURN_IF_ERROR(read_template(step, parts));
    return ok_status();
  }
  if (json.at("type") != "TemplateProcessing")
    return unknown("post-processor", json, "TemplateProcessing or ByteLevel");
  bool text = false;
  for (const Json& piece : json.at("single")) {
    if (piece.contains("Sequence")) {
      text = true;
      continue;
    }
    const std::string name = piece.at("SpecialToken").at("id");
    for (const Json& id : json.at("special_tokens").at(name).at("ids"))
      (text ? parts.after : parts.before).push_back(id.get<TokenId>());
  }
  return ok_status();
}

Result<std::shared_ptr<TokenizerParts>> read_parts(const Json& json) {
  auto parts = std::make_shared<TokenizerParts>();
  const Json& model = json.at("model");
  if (model.value("type", "BPE") != "BPE" || model.value("byte_fallback", false))
    return unknown("model", model.value("type", Json("byte_fallback")), "byte-level BPE");
  for (const char* option : {"continuing_subword_prefix", "end_of_word_suffix", "dropout"})
    if (model.contains(option) && !model[option].is_null() && model[option] != "" && model[option] != 0.0)
      return unknown(option, model[option], "none");
  const Json pre = json.value("pre_tokenizer", Json());
  const Json decoder = json.value("decoder", Json());
  if (!uses_bytes(pre)) return unknown("pre-tokenizer", pre, "one with ByteLevel");
  if (!decoder.is_object() || decoder.value("type", "") != "ByteLevel") return unknown("decoder", decoder, "ByteLevel");
  parts->whole_words_first = model.value("ignore_merges", false);
  MTMC_RETURN_IF_ERROR(read_normalizer(json.value("normalizer", Json()), parts->nfc));
  MTMC_RETURN_IF_ERROR(read_vocabulary(model, json.value("added_tokens", Json::array()), *parts));
  MTMC_RETURN_IF_ERROR(read_merges(model.at("merges"), *parts));
  MTMC_RETURN_IF_ERROR(read_pre(pre, parts->pre));
  MTMC_RETURN_IF_ERROR(read_template(json.value("post_processor", Json()), *parts));
  return parts;
}

Json split(const std::string& regex) {
  return {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}};
}

Json bytes(bool use_regex) { return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", use_regex}}; }

// The pre-tokenizers that llama.cpp gives these names to, as the models' own tokenizer.json have them.
Json named_pre(const std::string& name) {
  const auto sequence = [](Json steps) { return Json{{"type", "Sequence"}, {"pretokenizers", std::move(steps)}}; };
  const std::string newer =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  const auto digits = [&](const std::string& count) {
    std::string regex = newer;
    return regex.replace(regex.find('%'), 1, count);
  };
  const Json digit = {{"type", "Digits"}, {"individual_digits", true}};
  if (name == "gpt-2") return bytes(true);
  if (name == "smollm") return sequence({digit, bytes(true)});
  if (name == "llama-bpe") return sequence({split(digits("{1,3}")), bytes(false)});
  if (name == "qwen2") return sequence({split(digits("")), bytes(false)});
  if (name == "deepseek-coder")
    return sequence({split("[\r\n]"), split(R"(\s?\p{L}+)"), split(R"(\s?\p{P}+)"),
                     split("[\xE4\xB8\x80-\xE9\xBE\xA5\xE0\xA0\x80-\xE4\xB8\x80\xEA\xB0\x80-\xED\x9F\xBF]+"), digit,
                     bytes(false)});
  return {};
}

}  // namespace

Result<Tokenizer> Tokenizer::from_json(const Json& json) {
  try {
    MTMC_TRY(auto parts, read_parts(json));
    Tokenizer tokenizer;
    tokenizer.parts_ = std::move(parts);
    return tokenizer;
  } catch (const Json::exception& error) {
    return Error{kReading, error.what(), "", "tokenizer.json of Hugging Face's tokenizers"};
  }
}

Result<Tokenizer> Tokenizer::from_file(const std::filesystem::path& path) {
  MTMC_TRY(const std::string text, read_file(path));
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Error{kReading, "not JSON", path.string(), "tokenizer.json"};
  auto tokenizer = from_json(json);
  if (!tokenizer.ok()) {
    Error error = tokenizer.error();
    error.doing += " " + path.string();
    return error;
  }
  return tokenizer;
}

Result<Json> tokenizer_json(const std::string& pre, const std::vector<std::string>& tokens,
                            const std::vector<int32_t>& types, const std::vector<std::string>& merges) {
  const Json steps = named_pre(pre);
  if (steps.is_null())
    return Error{kReading, "unknown pre-tokenizer of a GGUF file", pre,
                 "smollm, llama-bpe, qwen2, deepseek-coder or gpt-2"};
  if (types.size() != tokens.size())
    return Error{kReading, "not a type for each token", std::to_string(types.size()), std::to_string(tokens.size())};
  Json vocabulary = Json::object(), added = Json::array();
  for (size_t id = 0; id < tokens.size(); ++id) {
    const bool control = types[id] == 3;
    if (control || types[id] == 4)
      added.push_back({{"id", id}, {"content", tokens[id]}, {"special", control}, {"normalized", false}});
    else
      vocabulary[tokens[id]] = id;
  }
  Json model = {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}, {"ignore_merges", pre == "llama-bpe"}};
  return Json{{"added_tokens", added},
              {"normalizer", pre == "qwen2" ? Json{{"type", "NFC"}} : Json()},
              {"pre_tokenizer", steps},
              {"decoder", {{"type", "ByteLevel"}}},
              {"model", model}};
}

}  // namespace mtmc
