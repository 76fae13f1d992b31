"""The exception of the package."""

from __future__ import annotations


class Error(Exception):
    """What the program reports when it cannot go on, with the remedy.

    Attributes:
        kind: "deck", "usage", "file", "content" (a file or values that do not fit), "damaged" (a file),
            "state" (particles that cannot be continued), "device", or "bug".
        remedy: what to do; None if the message has one for each of several mistakes.
    """

    def __init__(self, message: str, kind: str = "usage", remedy: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.remedy = remedy

    def __reduce__(self):
        return type(self), (self.args[0], self.kind, self.remedy)


def refusal(message: str, remedy: str, kind: str = "usage") -> Error:
    """Returns an error in the form of the program's own."""
    return Error(f"{message}\n  help: {remedy}", kind, remedy)
