"""The models that nobody here wrote, at sizes for a CPU and for a GPU: names, and the task file of each.

Every model is built from a config, so nothing is downloaded. `real` sizes have the widths and lengths of the published
models; their depth is at most 4 layers, since more of the same layers tells a judge nothing new.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOKENS = "torch.randint(0, {vocab}, ({batch}, {length}))"
IMAGES = "torch.randn({batch}, 3, {side}, {side})"
SEQUENCE = "torch.randn({batch}, {length}, {width})"


@dataclass(frozen=True)
class Spec:
    """How a task file is made: import lines, the expression of the module, forward's body over `self.model` and its
    parameters, and what they are drawn as. {names} are filled from the sizes; {config} is all of `config` as arguments."""

    imports: str
    build: str
    inputs: tuple[str, ...]
    call: str
    small: dict[str, Any]
    real: dict[str, Any]
    config: dict[str, Any] = field(default_factory=dict)  # keyword of the config -> a size's name or a literal
    mode: str = "eval"
    parameters: tuple[str, ...] = ("x",)

    def source(self, name: str, size: str) -> str:
        sizes = self.small if size == "small" else self.real
        config = ", ".join(f"{key}={filled(value, sizes)}" for key, value in self.config.items())
        values = {**sizes, "config": config}
        drawn = ", ".join(text.format(**values) for text in self.inputs)
        parameters = ", ".join(self.parameters)
        return (
            f'"""{name} at its {size} size. Written by bench/models.py."""\n\nimport torch\n{self.imports}\n\n'
            f'MODE = "{self.mode}"\n\n\nclass Model(torch.nn.Module):\n    def __init__(self):\n'
            f"        super().__init__()\n        self.model = {self.build.format(**values)}\n\n"
            f"    def forward(self, {parameters}):\n        return {self.call.format(**values)}\n\n\n"
            f"def get_inputs():\n    return [{drawn}]\n\n\ndef get_init_inputs():\n    return []\n"
        )


def filled(value: Any, sizes: dict[str, Any]) -> str:
    return value.format(**sizes) if isinstance(value, str) else repr(value)


SMALL_TEXT = {"vocab": 512, "width": 64, "inner": 128, "layers": 2, "heads": 4, "groups": 2, "batch": 2, "length": 32}
REAL_TEXT = {
    "vocab": 32000,
    "width": 1024,
    "inner": 2816,
    "layers": 4,
    "heads": 16,
    "groups": 4,
    "batch": 1,
    "length": 512,
}
BASE_TEXT = {
    "vocab": 30522,
    "width": 768,
    "inner": 3072,
    "layers": 4,
    "heads": 12,
    "groups": 12,
    "batch": 2,
    "length": 256,
}


def transformer(
    model: str, config: str, names: dict[str, Any], call: str, real: dict[str, Any], **changes: Any
) -> Spec:
    return Spec(
        imports=f"from transformers import {config}, {model}",
        build=f"{model}({config}({{config}}))",
        inputs=(TOKENS,),
        call=call,
        small=SMALL_TEXT | changes.get("small", {}),
        real=real,
        config=names,
    )


LLAMA = {
    "vocab_size": "{vocab}",
    "hidden_size": "{width}",
    "intermediate_size": "{inner}",
    "num_hidden_layers": "{layers}",
    "num_attention_heads": "{heads}",
    "num_key_value_heads": "{groups}",
    "max_position_embeddings": "{length}",
    "use_cache": False,
}
BERT = {k: v for k, v in LLAMA.items() if k not in ("num_key_value_heads", "use_cache")}
LOGITS = "self.model(x, use_cache=False).logits"
HIDDEN = "self.model(x).last_hidden_state"
TIED = {"tie_word_embeddings": True}
HEAD_DIM = {"head_dim": "{width} // {heads}"}


def decoder(name: str, names: dict[str, Any] | None = None, real: dict[str, Any] | None = None) -> Spec:
    return transformer(f"{name}ForCausalLM", f"{name}Config", names or LLAMA, LOGITS, real or REAL_TEXT)


def encoder(name: str, names: dict[str, Any], call: str = HIDDEN) -> Spec:
    return transformer(f"{name}Model", f"{name}Config", names, call, BASE_TEXT)


def transformers_models() -> dict[str, Spec]:
    gpt2 = {
        "vocab_size": "{vocab}",
        "n_embd": "{width}",
        "n_layer": "{layers}",
        "n_head": "{heads}",
        "n_positions": "{length}",
    }
    ungrouped = {k: v for k, v in LLAMA.items() if k != "num_key_value_heads"}
    opt = {k: v for k, v in ungrouped.items() if k != "intermediate_size"}
    opt |= {"ffn_dim": "{inner}", "word_embed_proj_dim": "{width}"}
    distil = {
        "vocab_size": "{vocab}",
        "dim": "{width}",
        "hidden_dim": "{inner}",
        "n_layers": "{layers}",
        "n_heads": "{heads}",
    }
    distil |= {"max_position_embeddings": "{length}"}
    electra = BERT | {"embedding_size": "{width}"}
    roberta = BERT | {"max_position_embeddings": "{length} + 2"}
    t5 = {
        "vocab_size": "{vocab}",
        "d_model": "{width}",
        "d_ff": "{inner}",
        "num_layers": "{layers}",
        "num_heads": "{heads}",
    }
    t5 |= {"d_kv": "{width} // {heads}", "use_cache": False}
    bart = {"vocab_size": "{vocab}", "d_model": "{width}", "max_position_embeddings": "{length}", "use_cache": False}
    for side in ("encoder", "decoder"):
        bart |= {f"{side}_layers": "{layers}", f"{side}_attention_heads": "{heads}", f"{side}_ffn_dim": "{inner}"}
    experts = {"num_experts_per_tok": 2}
    qwen_moe = {"num_experts": 4, "moe_intermediate_size": "{inner}", "shared_expert_intermediate_size": "{inner}"}
    mamba = {"vocab_size": "{vocab}", "hidden_size": "{width}", "num_hidden_layers": "{layers}", "use_cache": False}
    few = REAL_TEXT | {"length": 256}
    two = ("self.model(input_ids=x, decoder_input_ids=y, use_cache=False).logits", ("x", "y"))
    found = {
        "gpt2": transformer("GPT2LMHeadModel", "GPT2Config", gpt2, LOGITS, BASE_TEXT | {"vocab": 50257, "length": 512}),
        "llama": decoder("Llama"),
        "qwen2": decoder("Qwen2", LLAMA | TIED),
        "qwen3": decoder("Qwen3", LLAMA | TIED | HEAD_DIM),
        "gemma": decoder("Gemma", LLAMA | HEAD_DIM),
        "mistral": decoder("Mistral", LLAMA | {"sliding_window": None}),
        "phi": decoder("Phi", ungrouped),
        "opt": decoder("OPT", opt),
        "gpt_neox": decoder("GPTNeoX", ungrouped),
        "bert": encoder("Bert", BERT),
        "roberta": encoder("Roberta", roberta),
        "distilbert": encoder("DistilBert", distil),
        "electra": encoder("Electra", electra),
        "albert": encoder("Albert", BERT | {"embedding_size": "{width}"}),
        "t5_encoder": transformer("T5EncoderModel", "T5Config", t5, HIDDEN, BASE_TEXT),
        "t5": transformer("T5ForConditionalGeneration", "T5Config", t5, two[0], BASE_TEXT),
        "bart": transformer("BartForConditionalGeneration", "BartConfig", bart, two[0], BASE_TEXT),
        "mixtral": decoder("Mixtral", LLAMA | experts | {"num_local_experts": 4}, few),
        "qwen2_moe": decoder("Qwen2Moe", LLAMA | experts | qwen_moe, few),
        "mamba": transformer("MambaForCausalLM", "MambaConfig", mamba, LOGITS, few),
    }
    for name in ("t5", "bart"):
        found[name] = changed(found[name], inputs=(TOKENS, TOKENS), parameters=two[1])
    return found


def changed(spec: Spec, **fields: Any) -> Spec:
    return Spec(**{**vars(spec), **fields})


SMALL_IMAGE = {"batch": 2, "side": 64, "patch": 16, "width": 64, "inner": 128, "layers": 2, "heads": 4}
REAL_IMAGE = {"batch": 8, "side": 224, "patch": 16, "width": 768, "inner": 3072, "layers": 4, "heads": 12}


def vision_models() -> dict[str, Spec]:
    """Vision towers of transformers."""
    names = {key: value for key, value in BERT.items() if key not in ("vocab_size", "max_position_embeddings")}
    names |= {"image_size": "{side}", "patch_size": "{patch}"}

    def tower(model: str, config: str) -> Spec:
        imports, build = f"from transformers import {config}, {model}", f"{model}({config}({{config}}))"
        return Spec(imports, build, (IMAGES,), HIDDEN, SMALL_IMAGE, REAL_IMAGE, names)

    return {
        "clip_vision": tower("CLIPVisionModel", "CLIPVisionConfig"),
        "hf_vit": tower("ViTModel", "ViTConfig"),
        "dinov2": tower("Dinov2Model", "Dinov2Config"),
    }


def image_model(library: str, build: str, mode: str, side: int, batch: int = 2) -> Spec:
    sizes = {"batch": batch, "side": side, "more": "", "model": "tiny"}
    return Spec(
        f"import {library}", build, (IMAGES,), "self.model(x)", sizes, sizes | {"batch": 16, "side": 224}, mode=mode
    )


def timm_models() -> dict[str, Spec]:
    def named(
        model: str, real: str = "", mode: str = "eval", side: int = 64, sized: bool = False, batch: int = 2
    ) -> Spec:
        size = ", img_size={side}" if sized else ""
        build = 'timm.create_model("{model}", pretrained=False' + size + ")"
        spec = image_model("timm", build, mode, side, batch)
        return changed(spec, small=spec.small | {"model": model}, real=spec.real | {"model": real or model})

    return {
        "timm_vit": named("vit_tiny_patch16_224", "vit_small_patch16_224", sized=True),
        "timm_deit": named("deit_tiny_patch16_224", "deit_small_patch16_224", sized=True),
        "timm_swin": named("swin_tiny_patch4_window7_224", side=224, batch=1),
        "timm_mixer": named("mixer_s32_224", "mixer_b16_224", side=224, batch=1),
        "timm_resnet10t": named("resnet10t", "resnet50"),
        "timm_regnet": named("regnetx_002", "regnety_016"),
        "timm_efficientnet_b0": named("efficientnet_b0"),
        "timm_convnext": named("convnext_atto", "convnext_tiny"),
        "timm_mobilenetv3": named("mobilenetv3_small_050", "mobilenetv3_large_100"),
        "timm_resnet10t_train": named("resnet10t", "resnet50", mode="train", batch=4),
        "timm_mobilenetv3_train": named("mobilenetv3_small_050", "mobilenetv3_large_100", mode="train", batch=4),
    }


def torchvision_models() -> dict[str, Spec]:
    def named(model: str, mode: str = "eval", side: int = 64, batch: int = 2, more: str = "") -> Spec:
        return image_model("torchvision", f"torchvision.models.{model}(weights=None{more})", mode, side, batch)

    return {
        "resnet18": named("resnet18"),
        "resnet18_train": named("resnet18", "train", batch=4),
        "regnet_y": named("regnet_y_400mf"),
        "regnet_y_train": named("regnet_y_400mf", "train", batch=4),
        "efficientnet_b0": named("efficientnet_b0"),
        "efficientnet_b0_train": named("efficientnet_b0", "train", batch=4),
        "mobilenet_v2": named("mobilenet_v2"),
        "mobilenet_v3_train": named("mobilenet_v3_small", "train", batch=4),
        "convnext_tiny": named("convnext_tiny", side=32, batch=1),
        "densenet121": named("densenet121"),
        "densenet121_train": named("densenet121", "train", batch=4),
        "squeezenet": named("squeezenet1_1"),
        "shufflenet": named("shufflenet_v2_x0_5"),
        "vgg11_bn": named("vgg11_bn", side=32, batch=1),
        "swin_t": named("swin_t"),
        "vit_b_16": changed(
            named("vit_b_16", side=32, batch=1),
            build="torchvision.models.VisionTransformer(image_size={side}, patch_size=16, num_layers={layers}, "
            "num_heads={heads}, hidden_dim={width}, mlp_dim={inner})",
            small=SMALL_IMAGE,
            real=REAL_IMAGE,
        ),
    }


NN_SMALL = {"batch": 2, "length": 16, "width": 32, "inner": 64, "layers": 2, "heads": 4}
NN_REAL = {"batch": 16, "length": 512, "width": 512, "inner": 2048, "layers": 4, "heads": 8}


def torch_models() -> dict[str, Spec]:
    def module(build: str, call: str = "self.model(x)", mode: str = "eval", inputs: int = 1) -> Spec:
        names = ("x", "y")[:inputs]
        return Spec("", build, (SEQUENCE,) * inputs, call, NN_SMALL, NN_REAL, mode=mode, parameters=names)

    layer = "d_model={width}, nhead={heads}, dim_feedforward={inner}, batch_first=True"
    recurrent = "({width}, {width}, num_layers={layers}, batch_first=True"
    unet = (Path(__file__).parent / "unet.py").read_text().strip()
    unet = Spec(
        unet, "UNet({width})", (IMAGES,), "self.model(x)", SMALL_IMAGE | {"width": 8}, REAL_IMAGE | {"width": 64}
    )

    def encoder(more: str = "") -> str:
        one = f"torch.nn.TransformerEncoderLayer({layer}{more})"
        return f"torch.nn.TransformerEncoder({one}, num_layers={{layers}})"

    return {
        "nn_lstm": module("torch.nn.LSTM" + recurrent + ")"),
        "nn_lstm_bidirectional": module("torch.nn.LSTM" + recurrent + ", bidirectional=True)"),
        "nn_gru": module("torch.nn.GRU" + recurrent + ")"),
        "nn_rnn": module("torch.nn.RNN" + recurrent + ")"),
        "nn_transformer_encoder": module(encoder()),
        "nn_transformer_encoder_train": module(encoder(", dropout=0.0"), mode="train"),
        "nn_transformer": module(
            "torch.nn.Transformer(num_encoder_layers={layers}, num_decoder_layers={layers}, " + layer + ")",
            "self.model(x, y)",
            inputs=2,
        ),
        "nn_attention": module(
            "torch.nn.MultiheadAttention({width}, {heads}, batch_first=True)",
            "self.model(x, x, x, need_weights=False)[0]",
        ),
        "nn_attention_weights": module(
            "torch.nn.MultiheadAttention({width}, {heads}, batch_first=True)", "self.model(x, y, y)", inputs=2
        ),
        "unet": unet,
        "unet_train": changed(unet, mode="train"),
    }


MODELS: dict[str, Spec] = {
    **transformers_models(),
    **vision_models(),
    **timm_models(),
    **torchvision_models(),
    **torch_models(),
}
