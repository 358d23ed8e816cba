"""A small table that says what an object is: text in a terminal, HTML in a notebook."""

from __future__ import annotations

from html import escape


class Tabled:
    """Base of what shows itself as a table."""

    def table(self) -> tuple[str, dict[str, str]]:
        """Return a title, and the rows of the table by name."""
        raise NotImplementedError

    def __repr__(self) -> str:
        title, rows = self.table()
        width = max(map(len, rows))
        return "\n".join([title, *(f"  {name:<{width}}  {said}" for name, said in rows.items())])

    def _repr_html_(self) -> str:
        title, rows = self.table()
        cells = "".join(
            f'<tr><th style="text-align:left">{escape(name)}</th><td'
            f' style="text-align:left">{escape(said)}</td></tr>'
            for name, said in rows.items()
        )
        return f"<table><caption>{escape(title)}</caption>{cells}</table>"


class Text(str):
    """Text of several lines that a terminal and a notebook show as it stands."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


def regression(s: float) -> str:
    """Return the regression that ``s`` stands for, in words."""
    name = {0.0: " (RRMSE)", 1.0: " (CCA)"}.get(s, "")
    return f"s = {s:g}{name}"


def ridge_in_words(ridge: tuple[float, float]) -> str:
    """Return the ridge on Cxx and Cyy in words."""
    said = zip(ridge, ("on Cxx, by replay", "on Cyy"), strict=True)
    return "; ".join(f"{size:g} {where}" for size, where in said if size) or "none"
