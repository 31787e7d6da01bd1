"""What a report says, in the order in which it is read: the verdict comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.benchmark.drawing import baseline_section, run_section
from scripts.consistency.table import rows
from scripts.parity.verdict import notes
from scripts.questions import summary
from scripts.report.document import Document, Section, Table
from scripts.report.words import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bundle.model import Slo
    from bundle.served_by import ServedBy
    from scripts.accuracy.result import Accuracy
    from scripts.benchmark.result import Benchmark
    from scripts.consistency.result import Consistency
    from scripts.parity.result import Result as Parity
    from scripts.questions import Score
    from scripts.report.document import Row
    from scripts.report.form import Environment, NpuFacts, Report
    from scripts.report.words import Language, Say


def document(report: Report, language: Language = "en") -> Document:
    """Turn `report` into sections, its own words in `language`."""
    word = say(language)
    parts = (
        _verdicts(report, word),
        _environment(report.environment, word),
        _benchmark(report.benchmark, word),
        baseline_section(report.reference, word) if report.reference else None,
        _accuracy(report.accuracy, word),
        _questions(report.questions, word),
        _consistency(report.consistency, word),
        _parity(report.parity, word),
        _not_run(report, word),
    )
    return Document(
        title=f"{report.environment.model.title}: {word(report.verdict)}",
        lead=f"{word('Suite')} {report.suite}, {word('made')} {report.made_at}.",
        sections=tuple(part for part in parts if part),
        language=language,
    )


def _verdicts(report: Report, word: Say) -> Section:
    rows = tuple(
        (word(one.name), word(one.verdict), one.found, one.required)
        for one in report.checks
    )
    heads = _words(word, "check", "verdict", "found", "required")
    return Section(word("Verdict"), (Table(heads, rows),))


def _environment(environment: Environment, word: Say) -> Section:
    server, machine = environment.server, environment.machine
    rows = [
        (word("server"), server.url),
        (word("engine version"), server.version or word("the server does not tell")),
        (word("served models"), ", ".join(server.models)),
        *_served_by(environment.served_by, word),
        *_npu(environment.npu, word),
        *_model(environment, word),
        (word("machine that checked"), f"{machine.platform}, Python {machine.python}"),
        (word("its CPU"), f"{machine.cpu}, {machine.cpu_count}"),
        (word("its memory"), f"{machine.memory_bytes / 1024**3:.1f} GiB"),
        *environment.settings.items(),
    ]
    heads = _words(word, "what", "value")
    return Section(word("Environment"), (Table(heads, tuple(rows)),))


def _model(environment: Environment, word: Say) -> Iterator[Row]:
    model, licence = environment.model, environment.model.licence
    use = f"commercial use {'' if licence.commercial_use else 'not '}allowed"
    yield word("model"), model.title
    yield word("source"), model.source
    yield word("licence"), f"{licence.name}, {word(use)}, {licence.url}"


def _served_by(served: ServedBy | None, word: Say) -> Iterator[Row]:
    if served is None:
        return
    yield word("device"), served.family
    packages = (f"{name} {one}" for name, one in sorted(served.packages.items()))
    yield word("engine packages"), ", ".join(packages)
    if served.cann:
        yield "CANN", served.cann
    yield word("manifest of the weights"), f"sha256 {served.manifest_sha256}"
    yield word("engine command"), served.command


def _npu(npu: NpuFacts | None, word: Say) -> Iterator[Row]:
    if npu is None:
        return
    yield word("driver"), npu.driver or word("not told")
    yield word("cards"), ", ".join(npu.cards)


def _benchmark(result: Benchmark | None, word: Say) -> Section | None:
    if result is None:
        return None
    section = run_section(result, word)
    objectives = f"{word('Goodput counts requests within')}: {_objectives(result.slo)}."
    return Section(section.title, (*section.blocks, objectives))


def _objectives(slo: Slo) -> str:
    return f"TTFT {slo.ttft_seconds:g} s, TPOT {slo.tpot_seconds:g} s"


def _questions(score: Score | None, word: Say) -> Section | None:
    if score is None:
        return None
    rows = tuple(
        (word(one.verdict), one.question.ask, one.text, " / ".join(one.question.any_of))
        for one in score.answers
    )
    heads = _words(word, "verdict", "question", "answer", "right is")
    return Section(word("Questions"), (f"{summary(score)}.", Table(heads, rows)))


def _accuracy(found: Accuracy | None, word: Say) -> Section | None:
    if found is None:
        return None
    published = found.reference
    rows = [
        (word("right, flexible"), str(found.flexible)),
        (word("right, strict"), str(found.strict)),
        (word("unparseable"), f"{found.unparseable}"),
        (word("truncated"), f"{found.truncated}"),
    ]
    if published:
        rows.append((word("published"), f"{published.value}%, {published.source}"))
    heads = _words(word, "metric", "value")
    lead = f"{found.title}, {found.label}."
    return Section(word("Accuracy"), (lead, Table(heads, tuple(rows))))


def _consistency(found: Consistency | None, word: Say) -> Section | None:
    if found is None:
        return None
    rates = tuple((word(name), text) for name, text in rows(found))
    parted = tuple(
        (pair.ask, f"{pair.divergence.kind}", pair.reference, pair.candidate)
        for pair in found.pairs
        if pair.divergence
    )
    heads = _words(word, "question", "difference", "reference", "answer")
    blocks = [Table(_words(word, "metric", "value"), rates)]
    if parted:
        blocks.append(Table(heads, parted))
    return Section(word("Consistency"), tuple(blocks))


def _parity(found: Parity | None, word: Say) -> Section | None:
    if found is None:
        return None
    judged = tuple(
        (
            row.name,
            f"{row.value:.6g}",
            f"{row.sense} {row.limit:g}",
            word("pass" if row.passed else "fail"),
        )
        for row in found.rows
    )
    lead = f"{found.form}, {found.dtype}, {found.figures.positions} positions."
    heads = _words(word, "metric", "value", "required", "verdict")
    return Section(word("Numeric parity"), (lead, Table(heads, judged), *notes(found)))


def _not_run(report: Report, word: Say) -> Section | None:
    if not report.not_run:
        return None
    rows = tuple((one.part, one.reason) for one in report.not_run)
    return Section(word("Not run"), (Table(_words(word, "part", "why"), rows),))


def _words(word: Say, *texts: str) -> Row:
    return tuple(map(word, texts))
