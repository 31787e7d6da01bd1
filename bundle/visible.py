"""Text that was found somewhere, fit for a terminal."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""Write what a terminal would obey, such as an escape sequence, as `\x1b`.

    Line ends are obeyed as well; all else that is printed stays.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode()
        for one in text
    )
