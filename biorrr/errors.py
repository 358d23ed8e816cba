"""The classes of all errors that are sentences for the user.

The command line prints an error of these classes as it stands. Any other exception is reported as
unexpected.
"""


class BiorrrError(Exception):
    """An error whose text is a sentence for the user: what is expected, what was given and what to
    do.
    """


class InputError(BiorrrError, ValueError):
    """Something that the user gave and that cannot be used."""


class InputTypeError(InputError, TypeError):
    """Something of the wrong type."""


class RunError(BiorrrError, RuntimeError):
    """Something other than the input that keeps a computation from being carried out."""


class DivergenceError(BiorrrError, FloatingPointError):
    """Numbers that grew without bound."""
