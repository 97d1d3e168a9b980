"""The `transformers` engine: batches with a shared, cached prompt head, drawn under a regular expression."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from phidrift.core.errors import PhidriftError
from phidrift.core.models import describe, load_causal_lm
from phidrift.generation.engine import Answer, Request

DIGITS = ("1", "2", "3", "4", "5")


class TransformersEngine:
    """A causal language model in this process, on the GPU where there is one."""

    def __init__(self, model: str) -> None:
        weights = describe(model)["sha256"] or "unversioned"
        self.identity = f"transformers {model} {weights}"
        self._name = model
        self._grammar_tokenizer: Any = None

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        # At the first batch that isn't in the answer store: a run that finds all of them needs no model.
        return load_causal_lm(self._name)

    @property
    def _model(self) -> Any:
        return self._loaded[0]

    @property
    def _tokenizer(self) -> Any:
        return self._loaded[1]

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        """Answers one batch. A row draws from random numbers of its own seed.

        The answers are a function of the whole batch: in bf16 its shape can move a logit's last bit.

        Raises:
            PhidriftError: a constraint is no regular expression that llguidance takes.
        """
        import torch

        from phidrift.generation.kv import start_rows
        from phidrift.generation.sampling import draw, uniforms

        room = max(request.sampling.max_tokens for request in requests)
        numbers = torch.stack([uniforms(request.seed, room) for request in requests])
        temperature, top_p, top_k = self._settings(requests)
        constraints = _Constraints(self._constraint_tokenizer(requests), requests)
        produced: list[list[int]] = [[] for _ in requests]
        reasons = [""] * len(requests)
        ends = self._end_ids()
        with torch.inference_mode():
            prompts = [self._encode(request.prompt) for request in requests]
            rows, logits = start_rows(self._model, prompts, [request.head for request in requests], room)
            for step in range(room):
                constraints.forbid(logits)
                chosen = draw(logits, numbers[:, step], temperature, top_k, top_p)
                for row, token in enumerate(chosen.tolist()):
                    if not reasons[row]:
                        reasons[row] = self._take(row, token, requests[row], produced, constraints, ends)
                if all(reasons):
                    break
                logits = rows.feed(chosen[:, None], torch.ones_like(chosen[:, None], dtype=torch.bool))
        texts = self._tokenizer.batch_decode(
            produced, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return [
            Answer(text, reason or "length", len(tokens))
            for text, reason, tokens in zip(texts, reasons, produced, strict=True)
        ]

    def digit_scores(self, head: str, texts: Sequence[str], questions: Sequence[str]) -> list[list[float]]:
        """[texts, questions] expected ratings: sum of k p(k) over the digits 1 to 5 at the answer's position.

        The head is computed once, each text once, and every question goes on from the text's cached keys.
        """
        import torch

        from phidrift.generation.kv import start_rows

        digit_ids = self._digit_ids()
        ratings = torch.arange(1, len(DIGITS) + 1, dtype=torch.float64)
        mark = "\n\n"
        start, _ = self._split_template()
        endings = [self._question_ids(question) for question in questions]
        with torch.inference_mode():
            prompts = [self._ids(start + head + text + mark) for text in texts]
            rows, _ = start_rows(self._model, prompts, [head] * len(texts), max(len(ids) for ids in endings))
            width, lengths, columns = rows.width, rows.lengths, []
            for ending in endings:
                ids = torch.tensor(ending, device=self._model.device).expand(len(texts), -1)
                logits = rows.feed(ids, torch.ones_like(ids, dtype=torch.bool))
                rows.rewind(width, lengths)
                columns.append(logits[:, digit_ids].double().softmax(1).cpu() @ ratings)
        scores: list[list[float]] = torch.stack(columns, dim=1).tolist()
        return scores

    def _take(
        self,
        row: int,
        token: int,
        request: Request,
        produced: list[list[int]],
        constraints: "_Constraints",
        ends: set[int],
    ) -> str:
        """Adds a row's token; returns why the row is finished, or nothing."""
        if token in ends:
            constraints.release(row)
            return "stop"
        produced[row].append(token)
        if constraints.finished_after(row, token):
            return "stop"
        return "length" if len(produced[row]) >= request.sampling.max_tokens else ""

    def _settings(self, requests: Sequence[Request]) -> tuple[Any, Any, list[int]]:
        import torch

        own = self._model.generation_config
        temperature, top_p, top_k = [], [], []
        for sampling in (request.sampling for request in requests):
            temperature.append(_first(sampling.temperature, own.temperature, 1.0))
            top_p.append(_first(sampling.top_p, own.top_p, 1.0))
            top_k.append(int(_first(sampling.top_k, own.top_k, 0)))
        device = self._model.device
        return torch.tensor(temperature, device=device), torch.tensor(top_p, device=device), top_k

    def _constraint_tokenizer(self, requests: Sequence[Request]) -> Any:
        if self._grammar_tokenizer is None and any(request.constraint for request in requests):
            from llguidance.hf import from_tokenizer

            self._grammar_tokenizer = from_tokenizer(self._tokenizer, n_vocab=self._model.config.vocab_size)
        return self._grammar_tokenizer

    def _end_ids(self) -> set[int]:
        own = self._model.generation_config.eos_token_id
        ids = own if isinstance(own, list) else [own]
        return {int(i) for i in (*ids, self._tokenizer.eos_token_id) if i is not None}

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _encode(self, prompt: str) -> list[int]:
        start, end = self._split_template()
        return self._ids(start + prompt + end)

    def _split_template(self) -> tuple[str, str]:
        """What the model's chat template puts before and after a user's message; nothing where it has none."""
        if not self._tokenizer.chat_template:
            return "", "\n"
        hole = "\u241f"
        text: str = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": hole}], tokenize=False, add_generation_prompt=True
        )
        start, _, end = text.partition(hole)
        return start, end

    def _question_ids(self, question: str) -> list[int]:
        """A criterion's question, the end of the user's turn, and the start of an answer that needs a digit."""
        _, end = self._split_template()
        return self._ids(question + end + "Rating:")

    def _digit_ids(self) -> list[int]:
        found = []
        for digit in DIGITS:
            ids = self._ids("Rating:" + digit)[len(self._ids("Rating:")) :]
            if len(ids) != 1:
                raise PhidriftError(
                    f"the judge's tokenizer has no single token for {digit!r}",
                    mend="name another judge model",
                )
            found.append(ids[0])
        return found


class _Constraints:
    """The regular expressions of a batch, one automaton a row."""

    def __init__(self, tokenizer: Any, requests: Sequence[Request]) -> None:
        import numpy as np

        self._matchers: dict[int, Any] = {}
        grammars: dict[str, Any] = {}
        for row, request in enumerate(requests):
            if request.constraint is None:
                continue
            if request.constraint not in grammars:
                grammars[request.constraint] = _matcher(tokenizer, request.constraint)
            self._matchers[row] = grammars[request.constraint].deep_copy()
        if self._matchers:
            from llguidance import LLExecutor

            self._executor = LLExecutor()
            self._bits = np.full((len(requests), (tokenizer.vocab_size + 31) // 32), -1, dtype=np.int32)

    def forbid(self, logits: Any) -> None:
        """Sets to -inf, in place, the logits of all tokens that would leave a row's expression."""
        import numpy as np
        import torch

        if not self._matchers:
            return
        from llguidance.numpy import fill_next_token_bitmask_par

        running = [(matcher, row) for row, matcher in sorted(self._matchers.items())]
        fill_next_token_bitmask_par(self._executor, running, self._bits)
        allowed = np.unpackbits(self._bits.view(np.uint8), axis=1, bitorder="little")[:, : logits.shape[1]]
        logits.masked_fill_(torch.from_numpy(allowed == 0).to(logits.device), float("-inf"))

    def finished_after(self, row: int, token: int) -> bool:
        """Moves a row's automaton on; True where nothing can follow."""
        matcher = self._matchers.get(row)
        if matcher is None:
            return False
        if not matcher.consume_token(token):
            raise PhidriftError(f"constraint lost at a token of row {row} ({matcher.get_error()})")
        if matcher.is_stopped():
            self.release(row)
            return True
        return False

    def release(self, row: int) -> None:
        """Lets a finished row draw what it may: nothing reads it any more."""
        if self._matchers.pop(row, None) is not None:
            self._bits[row] = -1


def _matcher(tokenizer: Any, expression: str) -> Any:
    from llguidance import LLMatcher

    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_regex(expression))
    if matcher.is_error():
        raise PhidriftError(
            f"the constraint is not accepted ({matcher.get_error()})", mend="correct its regular expression"
        )
    return matcher


def _first(*values: float | int | None) -> float | int:
    return next(value for value in values if value is not None)
