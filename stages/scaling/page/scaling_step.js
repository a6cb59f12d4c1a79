// A step's time by stages/scaling/model.py and the formulas of lab/parallel/cost_model.py.

// the devices of the curves: whole numbers, each at most doubled by the next
const COUNTS = [...new Set(Array.from({ length: 51 }, (_, i) => Math.round(2 ** (i / 5))))]

// The time to sum gradients, `allreduce_s` there, of the star and the ring: one device has none.
function summing(algorithm, n, tensors, bytes, link) {
  const ring = algorithm === "ring"
  let messages = 2 * (n - 1)
  let sent = ring ? 2 * (n - 1) / n : 2 * (n - 1) // vectors; half as many are added to others
  if (link.shared) { // everything that any rank does follows one another
    messages *= ring ? n : 1
    sent = 2 * (n - 1)
  }
  return tensors * messages * link.alpha_s + (sent * link.s_per_byte + sent / 2 * link.add_s_per_byte) * bytes
}

// A step of n devices with so many images each: computing, communicating, and the bounds of both.
function stepOf(n, images, net, link, [algorithm, bucket], overlap) {
  const t1 = net.fixed_s + net.per_image_s * images
  const t2 = n === 1 ? 0 : summing(algorithm, n, bucket ? 1 : net.tensors, net.bytes, link)
  const [hidden, none] = [Math.max(t1, t2), t1 + t2] // `step_bounds`
  return { t1, t2, hidden, none, step: none - overlap * (none - hidden) }
}

function compute({ net, link, allreduce, batch, devices, images, overlap }, facts) {
  const [ofNet, ofLink, way] = [facts.nets[net], facts.links[link], facts.allreduces[allreduce]]
  const each = batch === "each"
  // one device alone takes the whole batch; n would take an n-th of its time, or as long
  const alone = stepOf(1, images, ofNet, ofLink, way, 0).t1
  const at = n => {
    const found = stepOf(n, each ? images : images / n, ofNet, ofLink, way, overlap)
    const efficiency = seconds => 100 * alone / (each ? seconds : n * seconds)
    return { ...found, efficiency: efficiency(found.step), least: efficiency(found.none), most: efficiency(found.hidden) }
  }
  const chosen = at(devices)
  return {
    ...chosen,
    images_per_s: (each ? devices * images : images) / chosen.step,
    lines: COUNTS.map(at),
    measured: facts.measured.filter(one => link === "here" && one.net === net && one.allreduce === allreduce)
      .map(one => ({ ...one, same: one.images === (each ? images : images / one.devices) })),
  }
}

function draw(picture, found, { devices }, words) {
  const { lines, measured } = found
  const above = picture.key([
    { name: words.computing, stroke: "var(--c0)" },
    { name: words.communicating, stroke: "var(--c1)" },
    { name: words.step, stroke: "var(--c2)", bold: true },
    { name: words.bounds, stroke: "var(--c2)", "stroke-width": 12, opacity: 0.25 },
    ...measured.length ? [{
      name: words.measured.replace("{images}", measured.map(each => each.images).join(", ")), dot: true, fill: "var(--ink)",
    }] : [],
  ])
  const [left, right] = picture.panels(2, above, 18)
  const of = name => lines.map(each => each[name])
  const x = { from: 1, to: COUNTS.at(-1), log: true, ticks: [1, 4, 16, 64, 256, 1024], label: words.devices }
  const times = [...of("t1"), ...of("none"), ...of("t2").slice(1), ...measured.map(each => each.seconds)]
  const y = decades(times)
  const both = [
    [picture.axes(x, { ...y, unit: "s", title: words.time }, left), "step", "hidden", "none"],
    [picture.axes(x, { from: 0, to: 105, ticks: [0, 25, 50, 75, 100], title: words.efficiency }, right), "efficiency", "least", "most"],
  ]
  for (const [axes, line, low, high] of both) {
    const there = [...COUNTS, ...[...COUNTS].reverse()]
    axes.line(there, [...of(low), ...of(high).reverse()], { fill: "var(--c2)", opacity: 0.25, stroke: "none" })
    axes.line([devices, devices], [axes.y.from, axes.y.to], { stroke: "var(--faint)", "stroke-width": 1, "stroke-dasharray": "4 3" })
    axes.line(COUNTS, of(line), { stroke: "var(--c2)", "stroke-width": 5 })
    if (line === "step") { // often as long as one of both, which is to be seen
      axes.line(COUNTS, of("t1"))
      axes.line(COUNTS.slice(1), of("t2").slice(1), { stroke: "var(--c1)" })
    }
    axes.dots([devices], [found[line]], { r: 8, fill: "none", stroke: "var(--ink)", "stroke-width": 2 })
  }
  const [axes] = both[0]
  for (const one of measured) { // hollow where the curves are those of another batch
    axes.dots([one.devices], [one.seconds], { r: 4.5, fill: one.same ? "var(--ink)" : "var(--tint)", stroke: "var(--ink)", "stroke-width": 1.5 })
  }
}

explore("scaling_step", compute, draw, undefined, { t1: "s", t2: "s", step: "s" })
