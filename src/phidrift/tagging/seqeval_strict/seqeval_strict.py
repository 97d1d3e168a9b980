"""Strict IOB2 scores of seqeval (Nakayama, 2018) for Hugging Face evaluate: a second opinion on phidrift's own."""

# evaluate reads the imports line by line: one a line.
import datasets
import evaluate
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

_DESCRIPTION = """
Precision, recall and F1 of entities in IOB2 label sequences, micro over all types, each 0 to 1, higher is better. Mode
and scheme are both stated: in mode strict without a scheme, seqeval counts leniently and doesn't say so. What is
undefined is 0, as seqeval has it.
"""
_INPUTS = """
Args:
    predictions: for each sequence, a list of labels: O, B-TYPE, I-TYPE.
    references: the gold labels, of the same lengths.
Returns:
    precision, recall, f1.
Example:
    >>> metric.compute(predictions=[["B-X", "O"]], references=[["B-X", "B-X"]])["recall"]
    0.5
"""


class SeqevalStrict(evaluate.Metric):  # type: ignore[misc]
    """See the module's text."""

    def _info(self) -> evaluate.MetricInfo:
        labels = datasets.List(datasets.Value("string"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": labels, "references": labels}),
        )

    def _compute(self, predictions: list[list[str]], references: list[list[str]]) -> dict[str, float]:
        scores = {"precision": precision_score, "recall": recall_score, "f1": f1_score}
        return {
            name: float(score(references, predictions, mode="strict", scheme=IOB2, zero_division=0))
            for name, score in scores.items()
        }
