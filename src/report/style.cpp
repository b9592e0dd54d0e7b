// What the page looks like. Colours are variables, so that dark is one block.
#include "report/html.h"

namespace mtmc {

const char* const kReportStyle = R"css(
:root {
  --bg: #f7f7f5; --card: #ffffff; --ink: #1b1c1f; --soft: #62666d; --faint: #9a9da3; --line: #e5e5e1; --edge: #c9cac6;
  --accent: #1f5fd0; --accent-soft: #e4edfc; --good: #18794e; --good-soft: #ddf3e4; --bad: #c0392b; --bad-soft: #fbe6e3;
  --warn: #9a6700; --warn-soft: #fff3cf; --code: #fafaf8; --add: #e3f5e8; --cut: #fce9e7; --bar: #8fb3ee;
  --kw: #8a2fa8; --str: #1d6f42; --num: #a05a00; --com: #7a7f87; --fun: #1f5fd0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #131417; --card: #1b1d21; --ink: #e7e8ea; --soft: #a0a4ab; --faint: #71757d; --line: #2c2f35; --edge: #474b53;
    --accent: #79aaff; --accent-soft: #1d2c48; --good: #5fd49a; --good-soft: #16352a; --bad: #ff8a7d; --bad-soft: #42211e;
    --warn: #f0c24b; --warn-soft: #3a2f12; --code: #17191c; --add: #17332380; --cut: #45232080; --bar: #3f6bb0;
    --kw: #cf9bf0; --str: #83cf9f; --num: #e5b567; --com: #838992; --fun: #8fb8ff;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--bg); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 40px 20px 80px; }
h1 { font-size: clamp(28px, 5vw, 40px); line-height: 1.15; letter-spacing: -.02em; margin: 4px 0 10px; overflow-wrap: anywhere; }
h2 { font-size: 20px; letter-spacing: -.01em; margin: 0 0 4px; }
h3 { font-size: 15px; margin: 22px 0 8px; }
p { margin: 0 0 14px; } a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
section { margin-top: 40px; }
.lead { font-size: 18px; color: var(--soft); max-width: 46em; } .lead b { color: var(--ink); font-weight: 600; }
.eyebrow { color: var(--faint); font-size: 13px; letter-spacing: .04em; }
.note { color: var(--soft); font-size: 14px; max-width: 52em; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px; }
.scroll { overflow-x: auto; } .tall { max-height: 640px; overflow-y: auto; } .card > h3:first-child { margin-top: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(205px, 1fr)); gap: 14px; margin-top: 24px; }
.tile .label { font-size: 13px; color: var(--soft); } .tile .figure { font-size: 34px; font-weight: 650;
  letter-spacing: -.02em; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile .detail { font-size: 13px; color: var(--soft); } .tile.main .figure { color: var(--good); } .tile.bad .figure { color: var(--bad); }
.meter { height: 6px; border-radius: 3px; background: var(--line); margin: 8px 0 6px; overflow: hidden; }
.meter i { display: block; height: 100%; background: var(--accent); border-radius: 3px; }
.badge { display: inline-block; font-size: 12px; font-weight: 600; padding: 1px 8px; border-radius: 10px; white-space: nowrap;
  background: var(--line); color: var(--soft); }
.badge.good { background: var(--good-soft); color: var(--good); } .badge.bad { background: var(--bad-soft); color: var(--bad); }
.badge.warn { background: var(--warn-soft); color: var(--warn); } .badge.info { background: var(--accent-soft); color: var(--accent); }
.seal { font-size: 14px; padding: 3px 12px; border-radius: 14px; vertical-align: middle; }
code, pre, .mono { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 13px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; } th { text-align: left; font-weight: 500; color: var(--soft); }
th, td { padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; } tr:last-child td { border-bottom: 0; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.use { margin: 0; padding: 0; list-style: none; counter-reset: use; }
.use li { counter-increment: use; display: grid; grid-template-columns: 26px minmax(0, 5fr) minmax(0, 6fr); gap: 4px 14px; padding: 7px 0;
  border-bottom: 1px solid var(--line); } .use li:last-child { border: 0; }
.use li::before { content: counter(use); color: var(--faint); font-variant-numeric: tabular-nums; }
.use code { overflow-wrap: anywhere; } .use span { color: var(--soft); font-size: 14px; }
/* tree */
.tree { padding: 10px 12px; } .tree a.row { display: flex; align-items: center; gap: 10px; color: inherit; border-radius: 6px; padding-right: 8px; min-height: 32px; }
.tree a.row:hover { background: var(--accent-soft); text-decoration: none; }
.tree svg { flex: none; display: block; } .tree .what { flex: 1; min-width: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-size: 14px; }
.tree .on .what { font-weight: 600; } .tree .off .what { color: var(--soft); } .tree .gain { width: 62px; text-align: right; font-size: 14px; font-variant-numeric: tabular-nums; }
.tree .track { width: 130px; height: 6px; border-radius: 3px; background: transparent; } .tree .track i { display: block; height: 100%; border-radius: 3px; background: var(--bar); }
.tree .on .track i { background: var(--good); } .tree .badge { min-width: 0; }
.edge { stroke: var(--edge); stroke-width: 2; fill: none; } .edge.on { stroke: var(--good); stroke-width: 3; }
.dot { stroke: var(--card); stroke-width: 2; fill: var(--faint); } .dot.best, .dot.good { fill: var(--good); } .dot.passed { fill: var(--bar); }
.dot.refused { fill: var(--bad); } .dot.none { fill: var(--faint); } .ring { fill: none; stroke: var(--good); stroke-width: 2; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; color: var(--soft); margin: 10px 0 0; } .legend svg { vertical-align: -2px; margin-right: 5px; }
/* chart */
.chart svg { display: block; width: 100%; min-width: 560px; height: auto; } .chart text { font-size: 12.5px; fill: var(--soft); }
.chart .grid { stroke: var(--line); } .chart .axis { stroke: var(--faint); } .chart .ref { stroke: var(--warn); stroke-dasharray: 5 4; }
.chart .refname { fill: var(--warn); } .chart .path { fill: none; stroke: var(--good); stroke-width: 2.5; stroke-linejoin: round; } .chart .value { fill: var(--ink); font-weight: 600; }
/* bars */
.bars { display: grid; grid-template-columns: minmax(0, 15em) minmax(0, 1fr) auto; gap: 7px 14px; align-items: center; font-size: 14px; }
.bars .item { display: contents; } .bars .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; } .bars .num { font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; color: var(--soft); }
.bars .track { height: 18px; position: relative; } .bars .est { position: absolute; left: 0; top: 0; bottom: 0; background: var(--bar); opacity: .55; border-radius: 3px; min-width: 2px; }
.bars .roof { position: absolute; left: 0; top: 0; bottom: 0; background: var(--accent); border-radius: 3px; min-width: 2px; } .bars .lib .est { background: var(--faint); } .bars .lib .roof { background: var(--soft); }
/* code */
details { border: 1px solid var(--line); border-radius: 10px; background: var(--card); margin-top: 10px; } details details { background: none; margin: 10px 14px 14px; }
summary { cursor: pointer; padding: 11px 16px; display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 12px; list-style: none; } summary::-webkit-details-marker { display: none; }
summary::before { content: "▸"; color: var(--faint); width: 10px; } details[open] > summary::before { content: "▾"; }
summary .grow { flex: 1; min-width: 12em; } summary .right { display: inline-flex; align-items: baseline; gap: 12px; white-space: nowrap; } summary .step { color: var(--faint); font-variant-numeric: tabular-nums; } .inside { padding: 0 16px 14px; }
:target > details, details:target { outline: 2px solid var(--accent); }
pre.code { margin: 0; padding: 10px 0; background: var(--code); border-top: 1px solid var(--line); overflow-x: auto; line-height: 1.5; tab-size: 4; }
pre.code.boxed { border: 1px solid var(--line); border-radius: 8px; max-height: 640px; overflow: auto; }
pre.code .l { display: block; min-width: max-content; padding-right: 16px; } pre.code .l::before { content: attr(data-n); display: inline-block; width: 4em; padding-right: 1em; text-align: right; color: var(--faint); user-select: none; }
pre.diff .l::before { content: attr(data-o); width: 3.2em; } pre.diff .l .m { display: inline-block; width: 4.4em; padding-right: 1em; color: var(--faint); user-select: none; } pre.diff .m::before { content: attr(data-n); display: inline-block; width: 2.8em; text-align: right; }
pre.diff .m::after { content: attr(data-s); display: inline-block; width: 1.2em; text-align: right; } .l.add { background: var(--add); } .l.cut { background: var(--cut); }
pre.diff .gap { display: block; color: var(--faint); padding: 2px 0 2px 4em; user-select: none; }
.k { color: var(--kw); } .s { color: var(--str); } .d { color: var(--num); } .c { color: var(--com); font-style: italic; } .f { color: var(--fun); }
.checks { list-style: none; padding: 0; margin: 8px 0; columns: 2; column-gap: 32px; font-size: 14px; } .checks li { break-inside: avoid; padding: 3px 0 3px 24px; position: relative; }
.checks li::before { content: "✓"; position: absolute; left: 2px; color: var(--good); font-weight: 700; } .checks li.no::before { content: "–"; color: var(--warn); }
.verdicts { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 12px; margin: 14px 0; } .verdicts p { margin: 2px 0 0; font-size: 13px; color: var(--soft); }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 5px 20px; font-size: 14px; margin: 0; } .facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }
.used { display: inline-block; width: 90px; height: 6px; background: var(--line); border-radius: 3px; vertical-align: 2px; margin-right: 8px; overflow: hidden; } .used i { display: block; height: 100%; background: var(--good); } .used i.hot { background: var(--bad); }
@media (max-width: 640px) {
  main { padding: 24px 14px 60px; } .card { padding: 14px; } .tree { padding: 6px; } .tree .track { display: none; } .use li { grid-template-columns: 20px minmax(0, 1fr); } .use span { grid-column: 2; }
  .bars { display: block; } .bars .item { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 2px 10px; margin-bottom: 10px; }
  .bars .track { grid-column: 1 / -1; grid-row: 2; height: 14px; } .chart svg { min-width: 520px; overflow: visible; } .chart text { font-size: 17px; } .checks { columns: 1; } .tile .figure { font-size: 28px; } .tiles { grid-template-columns: 1fr 1fr; gap: 10px; }
}
@media print { details { break-inside: avoid; } body { background: #fff; } }
)css";

// Opens the details that a link of the tree or the chart points to.
const char* const kReportScript = R"js(
function reveal() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  target.scrollIntoView({block: 'start'});
}
addEventListener('hashchange', reveal);
reveal();
)js";

}  // namespace mtmc
