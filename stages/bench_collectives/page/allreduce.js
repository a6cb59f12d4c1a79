// An all-reduce's time by the formulas of lab/parallel/cost_model.py.
const ALGORITHMS = ["star", "ring", "tree", "halving-doubling"]
const SIZES = Array.from({ length: 61 }, (_, i) => 4 * (1e9 / 4) ** (i / 60))
const bitLength = n => 32 - Math.clz32(n)

// What follows one another, `allreduce_path` there: messages, bytes sent, bytes added to others.
function pathOf(algorithm, n, tensors, bytes, shared) {
  const levels = bitLength(n - 1) // of the tree
  const k = bitLength(n) - 1
  // ranks beyond this power of two hand over what they have first, and get the result last
  const m = 2 ** k
  const fold = Number(n > m)
  // messages of all ranks; on the path: messages, vectors sent, vectors added
  let [ofAll, messages, sent, added] = {
    star: [2 * (n - 1), 2 * (n - 1), 2 * (n - 1), n - 1],
    ring: [2 * n * (n - 1), 2 * (n - 1), 2 * (n - 1) / n, (n - 1) / n],
    tree: [2 * (n - 1), 2 * levels, 2 * levels, levels],
    "halving-doubling": [2 * m * k + 2 * (n - m), 2 * (k + fold), 2 * (1 - 1 / m + fold), 1 - 1 / m + fold],
  }[algorithm]
  // one link for all: whatever any rank does follows one another
  if (shared) [messages, sent, added] = [ofAll, 2 * (n - 1), n - 1]
  return { messages: tensors * messages, sent: sent * bytes, added: added * bytes }
}

// Bytes that the busiest rank sends, `bytes_sent` there.
function busiestSends(algorithm, n, bytes) {
  const m = 2 ** (bitLength(n) - 1)
  if (algorithm === "halving-doubling") return (2 * (1 - 1 / m) + (n > m)) * bytes
  const { sent } = pathOf(algorithm, n, 1, bytes, false)
  return algorithm === "ring" ? sent : sent / 2
}

function compute({ algorithm, link, ranks, bytes, tensors, latency, bandwidth }, facts) {
  const secondsOf = path => path.messages * latency + path.sent / bandwidth + path.added * facts.add_s_per_byte
  const path = pathOf(algorithm, ranks, tensors, bytes, link === "shared")
  const time = secondsOf(path)
  return {
    time,
    messages: path.messages,
    sent: busiestSends(algorithm, ranks, bytes),
    latency_share: 100 * path.messages * latency / time,
    lines: ALGORITHMS.map(name => SIZES.map(size => secondsOf(pathOf(name, ranks, tensors, size, link === "shared")))),
    measured: facts.measured.filter(each => each.ranks === ranks && each.tensors === tensors),
  }
}

function draw(picture, { time, lines, measured }, { algorithm, bytes }, words) {
  const looks = ALGORITHMS.map((name, i) => ({ name, stroke: `var(--c${i})`, chosen: name === algorithm }))
  const above = picture.key([
    ...looks.map(({ name, stroke, chosen }) => ({ name: words[name], stroke, bold: chosen })),
    ...measured.length ? [{ name: words.measured, dot: true, fill: "var(--soft)" }] : [],
    ...measured.some(each => each.algorithm === "library")
      ? [{ name: words.library, dot: true, fill: "none", stroke: "var(--soft)", "stroke-width": 1.5 }] : [],
  ])
  const y = decades([...lines.flat(), ...measured.map(each => each.seconds), time])
  const axes = picture.axes(
    { from: SIZES[0], to: SIZES.at(-1), log: true, unit: "B", label: words.bytes },
    { ...y, unit: "s", title: words.time },
    picture.panels(1, above, 18)[0],
  )
  axes.line([bytes, bytes], [y.from, time], { stroke: "var(--faint)", "stroke-width": 1, "stroke-dasharray": "4 3" })
  // the chosen one last, above the others
  for (const { name, stroke, chosen } of [...looks].sort((a, b) => a.chosen - b.chosen)) {
    axes.line(SIZES, lines[ALGORITHMS.indexOf(name)], { stroke, "stroke-width": chosen ? 4 : 1.5 })
  }
  for (const one of measured) {
    const look = looks.find(({ name }) => name === one.algorithm)
    const fill = look
      ? { fill: look.stroke, stroke: "var(--tint)", "stroke-width": 1.5, r: look.chosen ? 6 : 4 }
      : { fill: "none", stroke: "var(--soft)", "stroke-width": 1.5, r: 4 }
    axes.dots([one.bytes], [one.seconds], fill)
  }
  axes.dots([bytes], [time], { r: 8, fill: "none", stroke: "var(--ink)", "stroke-width": 2 })
  axes.drag("pan-y")
}

explore("allreduce", compute, draw, bytes => ({ bytes }), { time: "s", sent: "B" })
