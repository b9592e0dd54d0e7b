"""Times generated kernels beside torch on a GPU, one run, cold L2:

    ninja -C build/release bench_kernels && build/release/bench_kernels OUT bench/kernels/*.t && python3 bench/kernels.py OUT [NAME ...]

Every version is checked against float64 first; one that errs more than twice as much as eager (rule (a) of docs/JUDGE.md) is out. Columns: the best version's time, its error and eager's, how often it is
as fast as eager and torch.compile, the share of the memory roofline, and TFLOP/s of products. OUT/results.json has it
all; `kernels.py --markdown OUT/results.json` prints it as the table of docs/results.
"""

import importlib.util
import json
import math
import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from clock import Clock

BANDWIDTH = 4.3e12  # bytes per second of an H200 that a copy reaches
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64}
ROUNDS = 20
UNITS = {torch.float32: 2**-21 + 2**-24, torch.float16: 2**-11, torch.bfloat16: 2**-9}  # as in docs/JUDGE.md, rule (a)
FLOPS = {  # of products, by program: 2 * M * N * K
    "matmul_f32": 2 * 4096**3, "matmul_bf16": 2 * 4096**3, "linear_f32_gelu": 2 * 4096 * 1024 * 4096,
    "linear_deep_f32": 2 * 256 * 65536 * 256, "linear_deep_bf16": 2 * 512 * 16384 * 512,
    "conv3x3_64": 2 * 64 * 112 * 112 * 64 * 64 * 9, "conv3x3_128": 2 * 64 * 56 * 56 * 128 * 128 * 9,
    "conv3x3_256": 2 * 64 * 28 * 28 * 256 * 256 * 9, "conv5x5_128": 2 * 32 * 56 * 56 * 128 * 128 * 25,
    "attention": 2 * 2 * 32 * 4096 * 4096 * 128 // 2, "attention_f32": 2 * 2 * 192 * 1024 * 1024 * 64,
}  # fmt: skip


def load(path):
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ModelNew()


def draw(type_text):
    dtype, _, shape = type_text.partition("[")
    shape = [int(n) for n in shape.rstrip("]").split(",") if n]
    if dtype == "i64":
        return torch.randint(0, 1000, shape, device="cuda")
    return torch.randn(shape, device="cuda").to(DTYPES[dtype])


def truth_of(folder, inputs):
    wide = [x.double() if x.is_floating_point() else x for x in inputs]
    text = (folder / "eager.py").read_text()
    for narrow in ("torch.float32", "torch.bfloat16", "torch.float16"):
        text = text.replace(narrow, "torch.float64")
    path = folder / "truth.py"
    path.write_text(text)
    return load(path)(*wide)


def error_of(result, truth):
    return ((result.double() - truth).norm() / truth.norm()).item()


def bench(folder, clock):
    given = json.loads((folder / "versions.json").read_text())
    inputs = [draw(text) for text in given["inputs"]]
    eager = load(folder / "eager.py")
    compiled = torch.compile(eager)
    calls, rows = {"eager": lambda: eager(*inputs), "compile": lambda: compiled(*inputs)}, {}
    truth = truth_of(folder, inputs)
    paths = [folder / f"v{i}.py" for i in range(len(given["versions"]))]
    for i, path in enumerate(paths):
        model = load(path)
        calls[f"v{i}"] = lambda model=model: model(*inputs)
    for name, call in list(calls.items()):
        try:
            result = call()
            torch.cuda.synchronize()
            error = error_of(result, truth)
            if name.startswith("v") and not error <= 2 * rows["eager"]["error"] + UNITS[result.dtype]:
                raise ArithmeticError(f"error {error:.1e}, eager's {rows['eager']['error']:.1e}")
            rows[name] = {"error": error, "ms": []}
            if name.startswith("v"):
                rows[name]["numbers"] = given["versions"][int(name[1:])]
        except Exception as failure:  # a version that does not build is a row that says so
            rows[name] = {"failure": f"{type(failure).__name__}: {str(failure)[:300]}"}
            del calls[name]
    with torch.no_grad():
        for _ in range(ROUNDS):
            for name, call in calls.items():
                rows[name]["ms"].append(clock.ms(call))
    size = sum(x.numel() * x.element_size() for x in inputs)
    out = eager(*inputs)
    size += out.numel() * out.element_size()
    for row in rows.values():
        if "ms" in row:
            row["ms"] = statistics.median(row["ms"])
    return {"bytes": size, "rows": rows}


def precompile(folder):
    """In a process of its own, on another core: fills Triton's cache."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import kernels; kernels.warm({str(folder)!r})"
    )
    return os.system(f'{sys.executable} -c "{code}" > {folder}/warm.log 2>&1')


def warm(folder):
    folder = Path(folder)
    given = json.loads((folder / "versions.json").read_text())
    inputs = [draw(text) for text in given["inputs"]]
    for i in range(len(given["versions"])):
        try:
            load(folder / f"v{i}.py")(*inputs)
        except Exception as failure:
            print(i, failure)


def best_of(rows):
    own = {k: v for k, v in rows.items() if k.startswith("v") and "ms" in v}
    return min(own, key=lambda k: own[k]["ms"]) if own else None


def markdown(results):
    """One line a kernel; shares of the roofline count every input and output byte once."""
    print(
        "| kernel | ms | eager | torch.compile | x eager | x compile | error | of eager | share of 4.3 TB/s | TFLOP/s | numbers |"
    )
    print("|" + " --- |" * 11)
    for name, result in results.items():
        rows = result["rows"]
        best = best_of(rows)
        if best is None:
            print(f"| {name} | no version ran |")
            continue
        row, eager, compiled = rows[best], rows["eager"], rows["compile"].get("ms", math.nan)
        flops = f"{FLOPS[name] / row['ms'] / 1e9:.0f}" if name in FLOPS else ""
        numbers = " ".join(f"{key} {value}" for key, value in row["numbers"].items())
        print(
            f"| {name} | {row['ms']:.3f} | {eager['ms']:.3f} | {compiled:.3f} | {eager['ms'] / row['ms']:.2f} | {compiled / row['ms']:.2f} "
            f"| {row['error']:.1e} | {eager['error']:.1e} | {result['bytes'] / BANDWIDTH * 1e3 / row['ms']:.0%} | {flops} | {numbers} |"
        )


def main():
    if sys.argv[1] == "--markdown":
        markdown(json.loads(Path(sys.argv[2]).read_text()))
        return
    out = Path(sys.argv[1])
    names = sys.argv[2:] or sorted(p.name for p in out.iterdir() if (p / "versions.json").exists())
    with ThreadPoolExecutor(14) as pool:
        list(pool.map(lambda name: precompile(out / name), names))
    clock, results, failed = Clock("cuda", ahead=True), {}, []
    print(
        f"{'kernel':18} {'ms':>8} {'error':>8} {'eager ms':>9} {'error':>8} {'x eager':>8} {'x compile':>9} {'roofline':>8} {'TFLOP/s':>8}"
    )
    for name in names:
        torch._dynamo.reset()
        try:
            result = results[name] = bench(out / name, clock)
        except Exception as failure:
            print(f"{name:18} failed: {type(failure).__name__}: {str(failure)[:200]}")
            failed.append(name)
            continue
        rows = result["rows"]
        best = best_of(rows)
        if best is None:
            print(name, rows)
            failed.append(name)
            continue
        row, eager = rows[best], rows["eager"]
        flops = FLOPS.get(name, math.nan)
        print(
            f"{name:18} {row['ms']:8.3f} {row['error']:8.1e} {eager['ms']:9.3f} {eager['error']:8.1e} "
            f"{eager['ms'] / row['ms']:8.2f} {rows['compile'].get('ms', math.nan) / row['ms']:9.2f} "
            f"{result['bytes'] / BANDWIDTH * 1e3 / row['ms']:8.2f} {flops / row['ms'] / 1e9:8.0f}  {best} {row['numbers']}",
            flush=True,
        )
        for k, v in rows.items():
            if k.startswith("v"):
                print(
                    "    ", k, f"{v['ms']:.3f} {v['error']:.1e}" if "ms" in v else v["failure"][:160], given_numbers(v)
                )
        (out / "results.json").write_text(json.dumps(results, indent=1))
        torch.cuda.empty_cache()
    if failed:
        sys.exit("no version to time: " + ", ".join(failed))


def given_numbers(row):
    return json.dumps(row.get("numbers", {}))


if __name__ == "__main__":
    main()
