"""Calls of torch with their results, for tests/ops/torch_test.cpp.

torch_cases.py make CASES.json              every case: overload, arguments, operands, results in float64, and the
                                            types that float32, float16 and bfloat16 operands give
torch_cases.py check CASES.json TEXTS.json  evaluates the text that each operator prints; lists those that differ
"""

import json
import math
import sys

import torch
import torch.nn.functional as F  # noqa: F401 - the texts use it

from cases import all_cases

aten = torch.ops.aten
NAMES = {
    torch.bool: "b1", torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
    torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64",
}  # fmt: skip


def number(value):
    value = float(value)
    return value if math.isfinite(value) else str(value)


def packed(tensor):
    values = [number(v) for v in tensor.reshape(-1).tolist()]
    return {"type": type_text(tensor), "values": values, "known": hasattr(tensor, "known")}


def type_text(tensor):
    return f"{NAMES[tensor.dtype]}[{','.join(map(str, tensor.shape))}]"


def overload_of(name):
    packet, overload = name.split(".")
    return getattr(getattr(aten, packet), overload)


def named_arguments(overload, args, kwargs, leaves):
    """By schema name, those that differ from their default; tensors become {"v": index of the leaf}."""

    def plain(value):
        if isinstance(value, torch.Tensor):
            leaves.append(value)
            return {"v": len(leaves) - 1}
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        if isinstance(value, torch.dtype):
            return {"dtype": NAMES[value]}
        if isinstance(value, float):
            return {"float": str(value)}
        return value

    named = {}
    for i, argument in enumerate(overload._schema.arguments):
        if i >= len(args) and argument.name not in kwargs:
            continue
        value = args[i] if i < len(args) else kwargs[argument.name]
        if (
            argument.has_default_value()
            and type(value) is type(argument.default_value)
            and value == argument.default_value
        ):
            continue
        named[argument.name] = plain(value)
    return named


def results_of(overload, args, kwargs):
    result = overload(*args, **kwargs)
    return list(result) if isinstance(result, (tuple, list)) else [result]


def in_dtype(value, dtype):
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    return [in_dtype(item, dtype) for item in value] if isinstance(value, (list, tuple)) else value


def make(path):
    records = []
    for name, args, kwargs in all_cases():
        overload, leaves = overload_of(name), []
        named = named_arguments(overload, args, kwargs, leaves)
        record = {
            "overload": f"aten.{name}",
            "args": named,
            "leaves": [packed(leaf) for leaf in leaves],
            "results": [packed(result) for result in results_of(overload, args, kwargs)],
            "types": {},
        }
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            try:
                narrow = results_of(overload, [in_dtype(arg, dtype) for arg in args], kwargs)
            except RuntimeError:  # torch has no kernel for this type on the CPU
                continue
            record["types"][NAMES[dtype]] = [type_text(result) for result in narrow]
        records.append(record)
    with open(path, "w") as file:
        json.dump(records, file)


def check(cases, texts):
    """Writes the list of texts whose value differs from torch's over the file that held them."""
    dtypes = {name: dtype for dtype, name in NAMES.items()}
    with open(cases) as file:
        records = json.load(file)
    with open(texts) as file:
        spelled = json.load(file)
    wrong = []
    for record, text in zip(records, spelled, strict=True):
        leaves = []
        for leaf in record["leaves"]:
            dtype, shape = leaf["type"].rstrip("]").split("[")
            values = torch.tensor([float(v) for v in leaf["values"]], dtype=torch.float64)
            leaves.append(values.to(dtypes[dtype]).reshape([int(n) for n in shape.split(",") if n]))
        try:
            result = eval(text, {"torch": torch, "F": F, **{f"x{i}": leaf for i, leaf in enumerate(leaves)}})
            results = list(result) if isinstance(result, (tuple, list)) else [result]
            for got, wanted in zip(results, record["results"], strict=False):
                if type_text(got) != wanted["type"]:
                    raise ValueError(f"{type_text(got)} instead of {wanted['type']}")
                expected = torch.tensor([float(v) for v in wanted["values"]], dtype=torch.float64)
                torch.testing.assert_close(
                    got.to(torch.float64).reshape(-1), expected, rtol=1e-9, atol=1e-9, equal_nan=True
                )
        except Exception as error:  # whatever a wrong text does is this test's finding
            wrong.append(f"{record['overload']}: {text}: {error}")
    with open(texts, "w") as file:
        json.dump(wrong, file)


if __name__ == "__main__":
    make(sys.argv[2]) if sys.argv[1] == "make" else check(sys.argv[2], sys.argv[3])
