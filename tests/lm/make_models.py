"""Makes tests/lm/data: a tiny random model of each family that `lm` loads, as transformers (5.23.0 with torch 2.13.0 made the
committed files) saves it, what transformers computes with it, and a LoRA adapter with the gradients that autograd finds:

    python tests/lm/make_models.py
"""

import json
import shutil
import struct
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch.func import functional_call
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

HERE = Path(__file__).parent
TOKENIZERS = HERE.parent / "checkpoint/data"
COMMON = {
    "vocab_size": 424,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 1000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
# name: (class, config, tokenizer, shards, the spelling of transformers 4)
MODELS = {
    "llama": (LlamaForCausalLM, LlamaConfig(**COMMON, rope_parameters=LLAMA3), "llama", "40KB", False),
    "qwen": (Qwen2ForCausalLM, Qwen2Config(**COMMON, tie_word_embeddings=True), "qwen", "1GB", False),
    "deepseek": (
        LlamaForCausalLM,
        LlamaConfig(**COMMON, rope_parameters={"rope_type": "linear", "factor": 4.0, "rope_theta": 100000.0}),
        "deepseek",
        "1GB",
        True,
    ),
    "smollm": (
        LlamaForCausalLM,
        LlamaConfig(**COMMON | {"hidden_size": 32, "intermediate_size": 32}, tie_word_embeddings=True),
        "smollm",
        "1GB",
        False,
    ),
}
RANK, ALPHA = 2, 6
PROMPT, ACTIONS = list(range(3, 40, 2)), [[50, 51, 52], [60], [70, 71, 72, 73]]
WEIGHTS = [1.0, -0.5, 0.25]


def old_spelling(folder):
    """config.json as transformers 4 wrote it."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = {"type": rope.pop("rope_type"), **rope}
    config["torch_dtype"] = config.pop("dtype")
    path.write_text(json.dumps(config, indent=2) + "\n")


def randomise(model):
    for name, weight in model.named_parameters():
        spread = 1.0 if "embed" in name else 0.3
        torch.nn.init.normal_(weight, mean=1.0 if "norm" in name else 0.0, std=spread)


def adapter_of(model):
    """A, B of every projection by the names that PEFT gives them."""
    adapter = {}
    for name, module in model.named_modules():
        if not name.endswith("_proj"):
            continue
        rows, columns = module.weight.shape
        adapter[f"base_model.model.{name}.lora_A.weight"] = torch.randn(RANK, columns) * 0.3
        adapter[f"base_model.model.{name}.lora_B.weight"] = torch.randn(rows, RANK) * 0.3
    return {name: tensor.requires_grad_() for name, tensor in adapter.items()}


def adapted(model, adapter):
    weights = dict(model.named_parameters())
    for name in [name for name in adapter if "lora_A" in name]:
        plain = name.removeprefix("base_model.model.").replace("lora_A.weight", "weight")
        b = adapter[name.replace("lora_A", "lora_B")]
        weights[plain] = weights[plain] + ALPHA / RANK * (b @ adapter[name])
    return weights


def scores_of(model, weights):
    scores = []
    for action in ACTIONS:
        logits = functional_call(model, weights, (torch.tensor([PROMPT + action]),), {"use_cache": False}).logits[0]
        each = logits.log_softmax(-1)[len(PROMPT) - 1 : -1]
        scores.append(each.gather(1, torch.tensor(action)[:, None]).sum())
    return torch.stack(scores)


def write_adapter(model, folder):
    adapter = adapter_of(model)
    scores = scores_of(model, adapted(model, adapter))
    (scores * torch.tensor(WEIGHTS)).sum().backward()
    folder.mkdir()
    save_file(
        {name: tensor.detach() for name, tensor in adapter.items()},
        folder / "adapter_model.safetensors",
        {"format": "pt"},
    )
    config = {
        "peft_type": "LORA",
        "r": RANK,
        "lora_alpha": ALPHA,
        "bias": "none",
        "target_modules": sorted({name.split(".")[-3] for name in adapter}),
    }
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n")
    save_file({name: tensor.grad for name, tensor in adapter.items()}, folder / "gradients.safetensors")
    save_file({"scores": scores.detach()}, folder / "scores.safetensors")


def gguf_value(value):
    """A value with its type, as https://github.com/ggml-org/ggml/blob/master/docs/gguf.md has them."""
    if isinstance(value, str):
        return 8, struct.pack("<Q", len(value.encode())) + value.encode()
    if isinstance(value, float):
        return 6, struct.pack("<f", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    kinds, parts = zip(*map(gguf_value, value), strict=True)
    return 9, struct.pack("<IQ", kinds[0], len(value)) + b"".join(parts)


def quantise(weight, kind):
    """(bytes, the numbers that they stand for); GGML's types 0 F32, 1 F16, 3 Q4_1, 8 Q8_0."""
    flat = weight.numpy().astype(np.float32)
    if kind < 2:
        stored = flat.astype([np.float32, np.float16][kind])
        return stored.tobytes(), stored.astype(np.float32)
    blocks = flat.reshape(-1, 32)
    least = blocks.min(1, keepdims=True).astype(np.float16)
    if kind == 3:
        scale = ((blocks.max(1, keepdims=True) - least) / 15).astype(np.float16)
        levels = np.clip(np.rint((blocks - least) / scale.astype(np.float32)), 0, 15).astype(np.uint8)
        packed = levels[:, :16] | levels[:, 16:] << 4
        stored = np.concatenate([scale.view(np.uint8), least.view(np.uint8), packed], 1)
        numbers = levels * scale.astype(np.float32) + least
    else:
        scale = (np.abs(blocks).max(1, keepdims=True) / 127).astype(np.float16)
        levels = np.clip(np.rint(blocks / scale.astype(np.float32)), -127, 127).astype(np.int8)
        stored = np.concatenate([scale.view(np.uint8), levels.view(np.uint8)], 1)
        numbers = levels * scale.astype(np.float32)
    return stored.tobytes(), numbers.reshape(flat.shape).astype(np.float32)


GGUF_NAMES = {
    "model.embed_tokens": ("token_embd", 8),
    "model.norm": ("output_norm", 0),
    "input_layernorm": ("attn_norm", 0),
    "post_attention_layernorm": ("ffn_norm", 0),
    "self_attn.q_proj": ("attn_q", 3),
    "self_attn.k_proj": ("attn_k", 8),
    "self_attn.v_proj": ("attn_v", 1),
    "self_attn.o_proj": ("attn_output", 3),
    "mlp.gate_proj": ("ffn_gate", 3),
    "mlp.up_proj": ("ffn_up", 8),
    "mlp.down_proj": ("ffn_down", 1),
}


def write_gguf(model, tokenizer, path):
    """Writes a Llama as llama.cpp's converter does, rotary pairs beside each other, and rounds its weights to what is written."""
    config, tensors = model.config, []
    for name, weight in model.state_dict().items():
        if name == "lm_head.weight":
            continue
        plain = name.removesuffix(".weight")
        layer = plain.split(".")[2] if plain.startswith("model.layers") else None
        gguf, kind = GGUF_NAMES[plain.split(".", 3)[3] if layer else plain]
        heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}.get(gguf)
        pairs = lambda w, a, b: w.reshape(heads, a, b, -1).transpose(1, 2).reshape(w.shape)  # noqa: E731, B023
        half = config.hidden_size // config.num_attention_heads // 2
        written = pairs(weight, 2, half) if heads else weight
        stored, numbers = quantise(written, kind)
        numbers = torch.from_numpy(numbers)
        weight.copy_(pairs(numbers, half, 2) if heads else numbers)
        tensors.append((f"blk.{layer}.{gguf}.weight" if layer else f"{gguf}.weight", weight.shape, kind, stored))
    vocabulary = sorted(tokenizer["model"]["vocab"].items(), key=lambda item: item[1])
    tokens = [token for token, _ in vocabulary] + [
        t["content"] for t in tokenizer["added_tokens"] if t["id"] >= len(vocabulary)
    ]
    tokens += [f"[PAD{i}]" for i in range(len(tokens), config.vocab_size)]
    special = {token["content"]: 3 if token["special"] else 4 for token in tokenizer["added_tokens"]}
    keys = {
        "general.architecture": "llama",
        "llama.context_length": config.max_position_embeddings,
        "llama.embedding_length": config.hidden_size,
        "llama.feed_forward_length": config.intermediate_size,
        "llama.block_count": config.num_hidden_layers,
        "llama.attention.head_count": config.num_attention_heads,
        "llama.attention.head_count_kv": config.num_key_value_heads,
        "llama.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "llama.rope.freq_base": float(config.rope_parameters["rope_theta"]),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [special.get(token, 1) for token in tokens],
        "tokenizer.ggml.merges": [" ".join(merge) for merge in tokenizer["model"]["merges"]],
        "tokenizer.ggml.eos_token_id": 2,
    }
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for key, value in keys.items():
        kind, stored = gguf_value(value)
        out += gguf_value(key)[1] + struct.pack("<I", kind) + stored
    data = b""
    for name, shape, kind, stored in tensors:
        out += gguf_value(name)[1] + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
        out += struct.pack("<IQ", kind, len(data))
        data += stored + b"\0" * (-len(stored) % 32)
    path.write_bytes(out + b"\0" * (-len(out) % 32) + data)


def write_expected(model, path):
    tokens = torch.randint(0, COMMON["vocab_size"], (1, 40))
    logits = model(tokens).logits[0]
    save_file({"tokens": tokens[0].float(), "logits": logits[::8].contiguous()}, path)


@torch.no_grad()
def write_quantised(model, tokenizer, data):
    write_gguf(model, tokenizer, data / "smollm.gguf")
    write_expected(model, data / "smollm.gguf.expected.safetensors")


def main():
    shutil.rmtree(HERE / "data", ignore_errors=True)
    torch.manual_seed(15)
    for name, (kind, config, tokenizer, shards, old) in MODELS.items():
        folder = HERE / "data" / name
        model = kind(config).eval()
        randomise(model)
        model.save_pretrained(folder, max_shard_size=shards)
        (folder / "generation_config.json").unlink(missing_ok=True)
        shutil.copy(TOKENIZERS / f"{tokenizer}.tokenizer.json", folder / "tokenizer.json")
        if old:
            old_spelling(folder)
        with torch.no_grad():
            write_expected(model, HERE / f"data/{name}.expected.safetensors")
        if name == "llama":
            write_adapter(model, HERE / "data/adapter")
        if name == "smollm":
            write_quantised(model, json.loads((folder / "tokenizer.json").read_text()), HERE / "data")


if __name__ == "__main__":
    main()
