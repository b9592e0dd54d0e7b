"""Makes tests/checkpoint/data: a small tokenizer in the style of each family that `lm` loads, trained on this checkout's
sources by Hugging Face's `tokenizers` (0.23.3 made the committed files), and what that library says of some texts:

    python tests/checkpoint/make_tokenizers.py
"""

import json
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).parent / "data"
SIZE = 420

LLAMA = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN = LLAMA.replace("{1,3}", "")

TEXTS = [
    "",
    " ",
    "fuse linear and max in lines 15-20",
    "x = tl.load(a_ptr + offs, mask=m, other=0.0)\n\n\n    return 12345.678e-9\r\n\tif x:\r",
    "I'll we've IT'S don'T o'clock 'sup ''re",
    "<|endoftext|>a<|im_start|> user<|im_end|>\n<|endoftext|><|endoftext|>",
    " <mark>  word <mark>x <wide>  a  <wide>b<alone> <alone>, c<alone>d",
    "Grüße, naïve café — “quotes” … ﬁ ﷺ",
    "e\u0301 a\u0308\u0323 \u1100\u1161\u11a8 \u212b \u0f71\u0f72",
    "汉字かな交じり文 한국어 ไทย हिन्दी العربية ١٢٣ Ⅷ ½ ²",
    "\u00a0\u2003\u3000 \u200b\u180e\u0085\u2028x\u2029",
    "🙂👩‍👩‍👧 🇩🇪 \U0001f9d1\U0001f3fd‍🚀",
    "a    b\t\tc \n  \n   d    ",
    "1 22 333 4444 55555 ３３ 0x1F",
    "__init__(self, *, a: int=3) -> None: # ok?!",
    "\x00\x01\x7f\u0080\ufffd\ufeff",
]


def isolated(pattern):
    return pre_tokenizers.Split(Regex(pattern), "isolated")


def byte_level(use_regex=False):
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)


PRE = {
    "smollm": [pre_tokenizers.Digits(individual_digits=True), byte_level(True)],
    "llama": [isolated(LLAMA), byte_level()],
    "qwen": [isolated(QWEN), byte_level()],
    "deepseek": [
        isolated("[\r\n]"),
        isolated(r"\s?\p{L}+"),
        isolated(r"\s?\p{P}+"),
        isolated("[一-龥ࠀ-一가-퟿]+"),
        pre_tokenizers.Digits(individual_digits=True),
        byte_level(),
    ],
}


def train(style):
    tokenizer = Tokenizer(models.BPE(ignore_merges=style == "llama"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(PRE[style])
    tokenizer.decoder = decoders.ByteLevel()
    if style == "qwen":
        tokenizer.normalizer = normalizers.NFC()
    files = [
        str(ROOT / name)
        for name in ("docs/WORDS.md", "docs/JUDGE.md", "examples/gelu_mlp.py", "python/mtmc/trace/trace.py")
    ]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer.train(
        files,
        trainers.BpeTrainer(vocab_size=SIZE, initial_alphabet=alphabet, special_tokens=special, show_progress=False),
    )
    tokenizer.add_tokens(
        [
            AddedToken("<mark>", lstrip=True, normalized=False),
            AddedToken("<wide>", rstrip=True, normalized=True),
            AddedToken("<alone>", single_word=True, normalized=False),
            AddedToken("  ", normalized=False) if style == "deepseek" else AddedToken("é", normalized=True),
        ]
    )
    if style in ("llama", "deepseek"):
        template = processors.TemplateProcessing(single="<|im_start|> $A", special_tokens=[("<|im_start|>", 1)])
        tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    return tokenizer


def main():
    DATA.mkdir(exist_ok=True)
    for style in PRE:
        tokenizer = train(style)
        tokenizer.save(str(DATA / f"{style}.tokenizer.json"), pretty=False)
        cases = []
        for text in TEXTS:
            plain = tokenizer.encode(text, add_special_tokens=False).ids
            whole = tokenizer.encode(text).ids
            cases.append(
                {
                    "text": text,
                    "plain": plain,
                    "whole": whole,
                    "decoded": tokenizer.decode(whole, skip_special_tokens=True),
                    "broken": tokenizer.decode(plain[::2], skip_special_tokens=False),
                }
            )
        (DATA / f"{style}.cases.json").write_text(json.dumps(cases, ensure_ascii=True, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
