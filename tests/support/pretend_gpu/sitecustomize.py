"""For tests of what the judge does on a GPU where there is none: in PYTHONPATH, it has the device `cuda` be the CPU under
another name. Nothing of CUDA is tried by it.
"""

import mtmc.device.device
import mtmc.device.triton_seed


class Pretended(mtmc.device.device.Cpu):
    name = "cuda"

    def confine(self) -> None:
        self.flush()


real = mtmc.device.device.device_named
mtmc.device.device.device_named = lambda name: Pretended() if name == "cuda" else real(name)
mtmc.device.triton_seed.fill = lambda _: None
