"""Which files say that they bring kernels along."""

from __future__ import annotations

import ctypes

import pytest

from mtmc.guest.unplug import DriverLaunches, claims_kernels, cuda_names


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


def test_kernels_of_cuda_have_names_in_code_only() -> None:
    text = 'extern "C" __global__ void __launch_bounds__(256) scale(float* x) {}\n__global__ void relu(float* x) {}\n'
    assert cuda_names(f"SOURCE = r'''{text}'''") == {"scale", "relu"}
    assert cuda_names('"""__global__ void told(float* x)"""\nx = 1  # __global__ void told(float* x)') == set()


def test_launches_through_the_driver_do_nothing_and_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ctypes.CDLL(None)
    monkeypatch.setattr(ctypes.CDLL, "__getitem__", ctypes.CDLL.__getitem__)  # put back afterwards
    launches = DriverLaunches()
    launches.pull()
    assert library.cuLaunchKernel(None, 1, 1, 1, 32, 1, 1, 0, None, None, None) == 0 and launches.met == 1
    assert library.abs(-3) == 3 and launches.met == 1
