"""The status page as HTML: one file, no script; the header `Refresh` renews it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from monitoring.page.form import NONE, clock, count, duration, ms, number, numbers, table
from monitoring.page.sparkline import sparkline
from monitoring.page.style import STYLE

if TYPE_CHECKING:
    from monitoring.history import Probe
    from monitoring.page.chips import Chip
    from monitoring.page.status import Latency, Status
    from monitoring.page.words import Words

GIB = 2**30
_COLORS = {"up": "good", "silent": "warn", "wrong": "bad", "down": "bad"}
_PAGE = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,"><style>{style}</style></head>
<body><main>{body}</main></body></html>
"""


def page(status: Status, words: Words) -> str:
    """Give the whole page."""
    state = getattr(words, status.state)
    cards = "".join(
        [
            _latency("TTFT", status.ttft, status, words),
            _latency("TPOT", status.tpot, status, words),
            _requests(status, words),
            _throughput(status, words),
        ]
    )
    body = [
        _head(status, words, state),
        f'<div class="cards">{cards}</div>',
        _npu(status, words),
        _canary(status, words),
        _smoke(status, words),
        _foot(status, words),
    ]
    title = escape(f"{state} · {status.model.title}")
    return _PAGE.format(
        lang=words.lang, title=title, style=STYLE, body="\n".join(filter(None, body))
    )


def _head(status: Status, words: Words, state: str) -> str:
    engine = f"vLLM {status.version}" if status.version else NONE
    since = ""
    if status.since and status.state != "down":
        span = duration(status.now - status.since, words)
        since = f"{words.since} {clock(status.since)} ({span}) · "
    failing = "".join(
        f'<p class="warn">{escape(name)} {words.failing}</p>' for name in status.failing
    )
    return (
        f"<header><h1>{escape(status.model.title)}</h1>"
        f'<p class="state {_COLORS[status.state]}">{state}</p>'
        f'<p class="soft">{since}{words.engine} {escape(engine)}</p>{failing}</header>'
    )


def _latency(name: str, latency: Latency, status: Status, words: Words) -> str:
    if latency.p50 is None or latency.p90 is None:
        return _card(name, words.last_hour, number(words.no_probe))
    color = "" if latency.p90 <= latency.objective else "bad"
    both = (
        number(ms(latency.p50), "p50"),
        number(ms(latency.p90), "p90", color),
    )
    title = f"{name}, {words.last_hour}"
    line = sparkline(latency.points, status.now, latency.objective, title)
    limit = f'<p class="soft">{words.objective} {ms(latency.objective)}</p>'
    return _card(name, words.last_hour, numbers(*both) + line + limit)


def _requests(status: Status, words: Words) -> str:
    running = number(count(status.running), words.running)
    waiting = number(count(status.waiting), words.waiting)
    return _card(words.requests, "", numbers(running, waiting))


def _throughput(status: Status, words: Words) -> str:
    rate = status.tokens_per_second
    shown = NONE if rate is None else f"{rate:.1f}"
    return _card(words.throughput, "", number(shown, words.per_second))


def _npu(status: Status, words: Words) -> str:
    if not status.chips:
        return ""
    state = (words.health, words.memory, words.aicore, words.temperature, words.power)
    heads = ("NPU", *state)
    rows = [_chip(chip, words) for chip in status.chips]
    return _section(words.npu, table(heads, rows))


def _chip(chip: Chip, words: Words) -> list[str]:
    color, text = {
        1: ("good", words.healthy),
        0: ("bad", words.unhealthy),
    }.get(int(chip.healthy if chip.healthy is not None else -1), ("warn", words.unknown))
    used, size = chip.memory_used, chip.memory_size
    memory = NONE
    if used is not None and size:
        share = f'<meter value="{used / size:.3f}" high="0.97"></meter>'
        memory = f"{share} {used / GIB:.1f} / {size / GIB:.1f} GiB"
    return [
        f"<td>{escape(chip.place)} {escape(chip.name)}",
        f'<td class="{color}">{text}',
        f"<td>{memory}",
        f"<td>{NONE if chip.aicore is None else f'{chip.aicore:.0%}'}",
        f"<td>{NONE if chip.celsius is None else f'{chip.celsius:.0f} °C'}",
        f"<td>{NONE if chip.watts is None else f'{chip.watts:.0f} W'}",
    ]


def _canary(status: Status, words: Words) -> str:
    if not status.answers:
        return _section(words.canary, f'<p class="soft">{words.no_answer}</p>')
    rows = [_answer(probe, status.now, words) for probe in status.answers]
    return _section(
        words.canary, table(("", "", words.question, words.answer), rows, "stack")
    )


def _answer(probe: Probe, now: float, words: Words) -> list[str]:
    color = "good" if probe.verdict == "right" else "bad"
    text = probe.text if len(probe.text) <= 120 else probe.text[:120] + "…"  # noqa: PLR2004 - a line or two
    return [
        f"<th>{duration(now - probe.time, words, ago=True)}",
        f'<td class="{color}">{words.verdicts[probe.verdict]}',
        f'<td class="said soft">{escape(probe.question)}',
        f'<td class="said">{escape(text)}',
    ]


def _smoke(status: Status, words: Words) -> str:
    if not (smoke := status.smoke):
        return _section(words.smoke, f'<p class="soft">{words.no_smoke}</p>')
    color = "good" if smoke.verdict == "pass" else "bad"
    age = duration(status.now - smoke.time, words, ago=True)
    return _section(
        words.smoke,
        f'<p><b class="{color}">{words.smoke_verdicts[smoke.verdict]}</b> '
        f'{age} · <a href="/report">{words.report}</a></p>',
    )


def _foot(status: Status, words: Words) -> str:
    return (
        f'<footer class="soft"><a href="/metrics">{words.metrics}</a>'
        f'<a href="/runbook">{words.runbook}</a>'
        f"{words.refreshed} {clock(status.now)}</footer>"
    )


def _card(title: str, note: str, inner: str) -> str:
    soft = f' <span class="soft">{note}</span>' if note else ""
    return f"<section><h2>{title}{soft}</h2>{inner}</section>"


def _section(title: str, inner: str) -> str:
    return f"<section><h2>{title}</h2>{inner}</section>"
