"""Which files say that they bring kernels along."""

from __future__ import annotations

import pytest

from mtmc.guest.unplug import claims_kernels


@pytest.mark.parametrize(
    "source",
    [
        "x = 1  # plain torch: no load_inline needed",
        '"""No __global__ function here."""\nx = 1',
        'class A:\n    """No @triton.jit."""\n    def f(self):\n        "nor cpp_extension"',
        "import ctypes\nlibc = ctypes.CDLL(None)",
    ],
)
def test_words_about_kernels_are_no_kernels(source: str) -> None:
    assert not claims_kernels(source)


@pytest.mark.parametrize(
    "source",
    [
        "@triton.jit\ndef kernel(x):\n    pass",
        "SOURCE = '''\n__global__ void f() {}\n'''",
        "def f(n):\n    '''Text.'''\n    return f'''// it's\nextern\n\"C\" int f() {{ return {n}; }}'''",
        "from torch.utils.cpp_extension import load_inline",
        "library = ctypes.CDLL('kernel.so')",
        "def broken(:  # __global__",
    ],
)
def test_code_and_strings_count(source: str) -> None:
    assert claims_kernels(source)
