"""Other values for all entries of a module's state: as load_state_dict puts them there, whoever has a say in it."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch

from mtmc.wire.entries import load, own_entries, registered


def network() -> torch.nn.Module:
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(4, 2))
    model.register_buffer("steps", torch.tensor(3))
    model.register_buffer("transient", torch.ones(2), persistent=False)
    return model


def other(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: torch.rand(value.shape).mul(9).to(value.dtype) for name, value in model.state_dict().items()}


def calls_of_load_state_dict(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    seen: list[Any] = []
    plain = torch.nn.Module.load_state_dict

    def watched(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        seen.append(self)
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(torch.nn.Module, "load_state_dict", watched)
    return seen


def test_registered_is_what_state_dict_holds() -> None:
    model = network()
    found, wanted = registered(model), model.state_dict()
    assert list(found) == list(wanted) == list(own_entries(model))
    assert all(found[name].data_ptr() == wanted[name].data_ptr() for name in wanted)
    assert not any(value.requires_grad for value in found.values())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_all_entries_are_put_there_without_load_state_dict(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    model = network()
    model[0].to(dtype)
    given, versions = other(network()), {name: value._version for name, value in registered(model).items()}
    seen = calls_of_load_state_dict(monkeypatch)
    load(model, given)
    assert not seen
    for name, value in registered(model).items():
        assert torch.equal(value, given[name].to(value.dtype)), name
        assert value._version > versions[name], name  # who keeps something for a version makes it again
    load(model, {"0.weight": given["0.weight"] + 1}, strict=False)
    assert not seen and torch.equal(model[0].weight, (given["0.weight"] + 1).to(dtype))


def test_of_two_names_of_one_tensor_the_last_value_stays() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    model[1].weight = model[0].weight
    load(model, other(model) | {"0.weight": torch.zeros(2, 2), "1.weight": torch.ones(2, 2)})
    assert torch.equal(model[0].weight, torch.ones(2, 2))


def test_who_has_a_say_in_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Doubles(torch.nn.Linear):
        def _load_from_state_dict(self, state: Any, prefix: str, *rest: Any) -> None:
            super()._load_from_state_dict({k: v * 2 for k, v in state.items()}, prefix, *rest)

    class Wrapped(torch.nn.Linear):
        @functools.wraps(torch.nn.Module._load_from_state_dict)  # and with it the name of torch's module
        def _load_from_state_dict(self, state: Any, prefix: str, *rest: Any) -> None:
            super()._load_from_state_dict({k: v * 2 for k, v in state.items()}, prefix, *rest)

    class Renames(torch.nn.Linear):
        def state_dict(self, *args: Any, **kwargs: Any) -> Any:
            return {"other": self.weight}

    seen = calls_of_load_state_dict(monkeypatch)
    model = torch.nn.Sequential(Doubles(2, 2))
    load(model, {"0.weight": torch.ones(2, 2), "0.bias": torch.ones(2)})
    assert torch.equal(model[0].weight, torch.full((2, 2), 2.0)) and len(seen) == 1
    wrapped = Wrapped(2, 2)
    load(wrapped, {"weight": torch.ones(2, 2), "bias": torch.ones(2)})
    assert torch.equal(wrapped.weight, torch.full((2, 2), 2.0)) and len(seen) == 2
    assert list(registered(Renames(2, 2))) == ["other"]
    hooked = torch.nn.Linear(2, 2)

    def forget_bias(module: Any, _: Any) -> None:
        module.bias.data.zero_()

    hooked.register_load_state_dict_post_hook(forget_bias)
    load(hooked, {"weight": torch.ones(2, 2), "bias": torch.ones(2)})
    assert not hooked.bias.any() and len(seen) == 3


def test_what_does_not_fit_is_refused_as_torch_does() -> None:
    model = network()
    with pytest.raises(RuntimeError, match="size mismatch for 2.bias"):
        load(model, other(model) | {"2.bias": torch.ones(1)})
    with pytest.raises(RuntimeError, match="Missing key"):
        load(model, {"2.bias": torch.ones(2)})
    with pytest.raises(RuntimeError, match="Unexpected key"):
        load(model, other(model) | {"more": torch.ones(1)})


def test_what_does_not_lie_in_memory_as_usual_numbers_is_left_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    model = torch.nn.Linear(2, 2)
    model.register_buffer("turned", torch.tensor([1 + 2j, 3 - 1j]).conj())
    model.register_buffer("less", torch.tensor([1 + 2j, 3 - 1j]).conj().imag)
    model.register_buffer("whole", torch.tensor([1, 2], dtype=torch.uint16))
    seen = calls_of_load_state_dict(monkeypatch)
    given = {name: value.clone() for name, value in model.state_dict().items()}
    given |= {"turned": torch.tensor([2j, 1 + 0j]), "less": torch.ones(2)}
    load(model, given)
    assert torch.equal(model.turned, given["turned"]) and torch.equal(model.less, given["less"]) and len(seen) == 1
    sparse = torch.nn.Module()
    sparse.register_buffer("entries", torch.eye(2).to_sparse())
    load(sparse, {"entries": (2 * torch.eye(2)).to_sparse()})
    assert torch.equal(sparse.entries.to_dense(), 2 * torch.eye(2)) and len(seen) == 2
