"""The classes of all errors that are sentences for the user."""


class InputError(ValueError):
    """Something that the user gave and that cannot be used, with what is expected, what was given and what to do.

    The command line prints such an error as it stands. Any other exception is reported as unexpected.
    """


class InputTypeError(InputError, TypeError):
    """Something of the wrong type."""
