"""A metric that has no value on the given data, and why."""


class Undefined(ValueError):  # noqa: N818 - it is a value as much as an error
    """The data give this metric no value; the message is the reason that tables show beside the null.

    It never holds text of a document.
    """

    @property
    def reason(self) -> str:
        """Why there is no value."""
        return str(self)
