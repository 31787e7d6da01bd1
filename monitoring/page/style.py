"""How the page looks: light and dark, wide and narrow, without any other file."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #f5f6f8; --card: #fff; --ink: #1c2430; --soft: #5d6878; --rule: #e2e6ec;
  --good: #147a4a; --bad: #c02626; --warn: #a15c00; --line: #2563c9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161c; --card: #1b212a; --ink: #e7ebf0; --soft: #98a3b3; --rule: #2d3540;
    --good: #4cc38a; --bad: #ff7b72; --warn: #e5a84b; --line: #6ea8ff;
  }
}
* { box-sizing: border-box }
body {
  margin: 0; padding: 1.5rem 1rem 3rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, "Noto Sans CJK SC", sans-serif;
}
main { max-width: 68rem; margin: 0 auto }
h1 { font-size: 1.35rem; margin: 0 }
h2 { font-size: .9rem; margin: 0; color: var(--soft); font-weight: 600 }
p { margin: .25rem 0 }
.soft { color: var(--soft); font-size: .875rem }
.state { font-size: 1.9rem; font-weight: 700; margin: .5rem 0 0 }
.good { color: var(--good) } .bad { color: var(--bad) } .warn { color: var(--warn) }
.cards {
  display: grid; gap: 1rem; margin: 1.25rem 0;
  grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr));
}
section {
  background: var(--card); border: 1px solid var(--rule); border-radius: .6rem;
  padding: 1rem; min-width: 0;
}
.cards + section, section + section { margin-top: 1rem } .cards section { margin: 0 }
.numbers { display: flex; flex-wrap: wrap; gap: 0 1rem }
.number {
  font-size: 1.5rem; font-weight: 650; font-variant-numeric: tabular-nums;
  white-space: nowrap;
}
.number small { font-size: .875rem; font-weight: 400; color: var(--soft) }
svg {
  display: block; width: 100%; height: 3rem; margin-top: .5rem; overflow: visible;
  border-bottom: 1px solid var(--rule);
}
polyline { fill: none; stroke: var(--line); stroke-width: 2 }
polyline, .limit { vector-effect: non-scaling-stroke }
.limit { stroke: var(--bad); stroke-width: 1; stroke-dasharray: 4 4 }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; margin-top: .5rem }
th, td {
  text-align: left; padding: .4rem .75rem .4rem 0; border-top: 1px solid var(--rule);
  vertical-align: top; font-variant-numeric: tabular-nums;
}
th, td { white-space: nowrap }
th { color: var(--soft); font-weight: 500; font-size: .875rem }
td.said { white-space: normal; overflow-wrap: anywhere }
meter { width: 5rem; vertical-align: middle }
a { color: var(--line) }
@media (max-width: 36rem) {
  .stack tr { display: block; padding: .4rem 0; border-top: 1px solid var(--rule) }
  .stack tr:first-child { display: none }
  .stack th, .stack td { display: inline; border: 0; padding: 0 .5rem 0 0 }
  .stack td.said { display: block }
}
footer { margin-top: 1.5rem } footer a { margin-right: 1rem }
"""
