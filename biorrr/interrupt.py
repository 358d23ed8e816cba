"""Ctrl-C of a program that ends by it, such as the ``biorrr`` command."""

import threading

# Set for good: a library's bare ``except:``, around an import for example, may swallow the
# KeyboardInterrupt. What takes long looks here before it begins.
PRESSED = threading.Event()
