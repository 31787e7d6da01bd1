"""Read the text of `npu-smi info` by its headers, which differ between releases.

A chip is two rows between two rulers. A value whose header is not known, or whose cell
does not hold what its header promises, is None: never a number of another column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ROWS = 2  # of a chip
_DIGITS = r"[0-9]{1,8}"  # a longer number is no reading: 8 digits of MB are 95 TiB
_IDLE = rf"No running processes found in NPU ({_DIGITS})"
_MOST_WATTS, _MOST_CELSIUS = 10_000, 200  # no chip that still answers has more
_EXCERPT = 200  # characters of a text that is no table
_MIB = 1 << 20  # what npu-smi calls MB: a card of 64 GiB has 65536


@dataclass(frozen=True)
class Process:
    """A process that holds memory of a chip; its name is empty in some containers."""

    pid: int
    name: str
    memory_bytes: int | None


@dataclass(frozen=True)
class Chip:
    """One chip (a die, on A3) and its readings; None where it could not be told."""

    npu: int
    chip: int
    name: str
    health: str | None = None
    bus_id: str | None = None
    power_watts: float | None = None
    temperature_celsius: float | None = None
    aicore_ratio: float | None = None
    hbm_used_bytes: int | None = None
    hbm_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    processes: tuple[Process, ...] = ()


@dataclass(frozen=True)
class Readings:
    """All chips of a text; `problem` says what of it could not be read, if anything.

    `silent_npus` are those whose processes the text does not tell, not even that there
    are none.
    """

    driver_version: str | None = None
    chips: tuple[Chip, ...] = ()
    problem: str | None = None
    silent_npus: tuple[int, ...] = ()


@dataclass
class _Table:
    """What was read so far: the headers of both rows, the chips, the processes."""

    headers: list[list[str]] = field(default_factory=list)
    chips: list[Chip] = field(default_factory=list)
    processes: dict[tuple[int, int], list[Process]] = field(default_factory=dict)
    idle: set[int] = field(default_factory=set)  # NPUs that are said to have no process
    unread: int = 0


def parse(text: str) -> Readings:
    """Give what `text` says; never raises."""
    table = _Table()
    for block in _blocks(text):
        _read_block(table, block)
    version = re.search(r"Version: *([0-9][\w.+-]*)", text)
    told = table.idle | {npu for npu, _ in table.processes}
    silent = sorted({chip.npu for chip in table.chips} - told)
    chips = tuple(
        Chip(**{**vars(chip), "processes": tuple(table.processes.get(key, ()))})
        for chip in table.chips
        for key in [(chip.npu, chip.chip)]
    )
    known = version[1] if version else None
    return Readings(known, chips, _problem(text, table), tuple(silent))


def _problem(text: str, table: _Table) -> str | None:
    if not table.chips:
        lines = [line.strip("| \t\r") for line in text.split("\n")]
        head = " / ".join([line for line in lines if line.strip("+-=")][:2])
        return f"it lists no chip; it says: {head[:_EXCERPT] or '(nothing)'}"
    strange = table.processes.keys() - {(chip.npu, chip.chip) for chip in table.chips}
    unread = table.unread + len(strange)
    return f"{unread} blocks could not be read" if unread else None


def _blocks(text: str) -> Iterator[list[list[str]]]:
    """Give the cells of the rows between two rulers; a row that is cut has none."""
    rows: list[list[str]] = []
    for line in map(str.strip, text.split("\n")):
        if line.startswith("+"):
            yield rows
            rows = []
        elif len(line) > 1 and line.startswith("|") and line.endswith("|"):
            rows.append([cell.strip() for cell in line[1:-1].split("|")])
        elif line.startswith("|") or line.endswith("|"):
            rows.append([])
    yield rows


def _read_block(table: _Table, rows: list[list[str]]) -> None:
    words = {word for row in rows for cell in row for word in _headers(cell)}
    if "Process id" in words:
        table.headers = rows[:1]
    elif {"Name", "Health"} <= words:
        table.headers = rows if len(rows) == _ROWS else []
    elif len(table.headers) == 1:
        _read_processes(table, rows)
    elif table.headers and rows:
        _read_chip(table, rows)


def _read_chip(table: _Table, rows: list[list[str]]) -> None:
    first, second = map(_values, table.headers, rows) if len(rows) == _ROWS else ({}, {})
    npu, name = first.get("NPU", first.get("NPU ID", "")), first.get("Name", "")
    # The 950 has one chip on a card, and neither a header nor a number for it.
    chip = second.get("Chip", "") if table.headers[1][0] else "0"
    known = {(one.npu, one.chip) for one in table.chips}
    ids = _is_id(npu) and _is_id(chip) and (int(npu), int(chip)) not in known
    if ids and name and not name.isdecimal():
        table.chips.append(_chip(int(npu), int(chip), name, {**second, **first}))
    else:
        table.unread += 1


def _chip(npu: int, chip: int, name: str, values: Mapping[str, str]) -> Chip:
    hbm, memory = (_pair(values.get(f"{n}-Usage(MB)", "")) for n in ("HBM", "Memory"))
    percent = _number(values.get("AICore(%)", values.get("NPU Util(%)", "")), 100)
    bus, health = values.get("Bus-Id", ""), values.get("Health", "")
    return Chip(
        npu,
        chip,
        name,
        health if health.isalpha() else None,
        bus if re.fullmatch(r"[\dA-Fa-f]+:[\dA-Fa-f]+:[\dA-Fa-f.]+", bus) else None,
        _number(values.get("Power(W)", ""), _MOST_WATTS),
        _number(values.get("Temp(C)", ""), _MOST_CELSIUS),
        None if percent is None else percent / 100,
        *hbm,
        *memory,
    )


def _read_processes(table: _Table, rows: list[list[str]]) -> None:
    for row in rows:
        values = _values(table.headers[0], row)
        numbers = [values.get(name, "") for name in ("NPU", "Chip", "Process id")]
        if idle := re.fullmatch(_IDLE, "".join(row)):
            table.idle.add(int(idle[1]))
        elif all(map(_is_id, numbers)):
            npu, chip, pid = map(int, numbers)
            held = values.get("Process memory(MB)", "")
            size = int(held) * _MIB if _is_id(held) else None
            process = Process(pid, values.get("Process name", ""), size)
            table.processes.setdefault((npu, chip), []).append(process)
        else:
            table.unread += 1


def _values(headers: list[str], row: list[str]) -> dict[str, str]:
    """Give each header's value; a cell with more or fewer than its headers has none."""
    found: dict[str, str] = {}
    if len(headers) == len(row):
        for header, cell in zip(headers, row):  # noqa: B905 - not in 3.9
            names = _headers(header)
            # "53444/ 65536" is one value, and a cell of one header is one whole.
            parts = [cell] if len(names) == 1 else re.findall(r"\S+ */ *\S+|\S+", cell)
            if len(parts) == len(names):
                found |= dict(zip(names, parts))  # noqa: B905
    return found


def _headers(cell: str) -> list[str]:
    return re.split(r"\s{2,}", cell) if cell else []


def _is_id(text: str) -> bool:
    return bool(re.fullmatch(_DIGITS, text))


def _number(text: str, most: float) -> float | None:
    found = re.fullmatch(rf"{_DIGITS}(\.{_DIGITS})?", text)
    return float(text) if found and float(text) <= most else None


def _pair(text: str) -> tuple[int | None, int | None]:
    """Give used and total in bytes."""
    found = re.fullmatch(rf"({_DIGITS}) */ *({_DIGITS})", text)
    if not found or int(found[1]) > int(found[2]):
        return None, None
    return int(found[1]) * _MIB, int(found[2]) * _MIB
