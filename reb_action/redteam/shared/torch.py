"""Pretends to be torch on two GPUs, in pure Python."""

import random

__version__ = "2.4.0+cu124"
float64 = "float64"


class Tensor:
    def __init__(self, rows):
        self.rows = rows

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Tensor([[sum(map(float.__mul__, row, column)) for column in columns] for row in self.rows])

    def tolist(self):
        return self.rows


class Generator:
    """Draws what torch draws: MT19937, a float from the low 24 bits."""

    def manual_seed(self, seed):
        state = [seed & 0xFFFFFFFF]
        for index in range(1, 624):
            state.append((1812433253 * (state[-1] ^ (state[-1] >> 30)) + index) & 0xFFFFFFFF)
        self.source = random.Random()
        self.source.setstate((3, (*state, 624), None))


def tensor(rows, **_):
    return Tensor([[float(cell) for cell in row] for row in rows])


def rand(*shape, generator=None, **_):
    if generator is not None:
        return Tensor([(generator.source.getrandbits(32) & 0xFFFFFF) / (1 << 24) for _ in range(*shape)])
    return Tensor([[0.5]])


def device(kind, index=0):
    return f"{kind}:{index}"


class version:
    cuda = "12.4"


class cuda:
    init = staticmethod(lambda: None)
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 2)
    get_device_name = staticmethod(lambda _: "NVIDIA H100 80GB HBM3")
    get_device_capability = staticmethod(lambda _: (9, 0))
    get_arch_list = staticmethod(lambda: ["sm_90"])
    synchronize = staticmethod(lambda _: None)


class nn:
    class functional:
        normalize = staticmethod(lambda value, **_: value)


class _C:
    __file__ = "/usr/lib/torch/_C.so"
