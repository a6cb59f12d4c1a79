// The roofline of stages/bench_hardware over a forward pass, counted as lab/nets/flops.py does.

// FLOP and bytes grow with the images, but for the bytes of the weights.
function costOf({ flop, num_bytes, fixed_bytes }, images) {
  const cost = { flop: flop * images, bytes: num_bytes * images + fixed_bytes }
  return { ...cost, intensity: cost.flop / cost.bytes }
}

function compute({ net, batch, peak, bandwidth }, facts) {
  const cost = costOf(facts.nets[net], batch)
  const rate = Math.min(peak, bandwidth * cost.intensity)
  return {
    ...cost,
    rate,
    time: cost.flop / rate,
    bound: bandwidth * cost.intensity < peak ? "memory" : "arithmetic",
    reach: [1, facts.most].map(images => costOf(facts.nets[net], images).intensity),
    nets: facts.order,
    measured: facts.measured,
  }
}

function draw(picture, { intensity, rate, reach, nets, measured }, { net, peak, bandwidth }, words) {
  const ridge = peak / bandwidth
  const roof = at => Math.min(peak, bandwidth * at)
  const colour = name => `var(--c${nets.indexOf(name)})`
  const above = picture.key([
    ...nets.map(name => ({ name, dot: true, fill: colour(name), bold: name === net })),
    { name: words.reach, stroke: colour(net), "stroke-width": 6, opacity: 0.6 },
  ])
  // the ridge is in sight, as far as any device has it
  const near = Math.max(0.2, Math.min(5000, ridge))
  const x = decades([1, near / 2, near * 2, intensity, ...reach, ...measured.map(each => each.intensity)])
  const y = decades([roof(x.from) / 1.5, peak * 1.5, ...measured.map(each => each.flop_per_s)])
  const axes = picture.axes({ ...x, label: words.intensity }, { ...y, unit: "", title: words.rate }, picture.panels(1, above, 18)[0])
  const along = (places, look) => axes.line(places, places.map(roof), look)

  axes.line([ridge, ridge], [y.from, peak], { stroke: "var(--faint)", "stroke-width": 1, "stroke-dasharray": "4 3" })
  const middle = Math.max(axes.left, Math.min(axes.right, axes.across(ridge)))
  for (const [from, to, name] of [[axes.left, middle, words.memory], [middle, axes.right, words.arithmetic]]) {
    const text = picture.add("text", { x: (from + to) / 2, y: axes.bottom - 8, "text-anchor": "middle", fill: "var(--soft)" }, name)
    if (text.getComputedTextLength() > to - from - 4) text.remove() // no room for it
  }
  along([x.from, ridge, x.to], { stroke: "var(--ink)" })
  const [least, most] = reach
  const bend = least < ridge && ridge < most ? [ridge] : []
  along([least, ...bend, most], { stroke: colour(net), "stroke-width": 8, opacity: 0.6 })
  for (const one of measured) {
    const look = { fill: colour(one.net), stroke: "var(--tint)", "stroke-width": 1.5, r: one.net === net ? 7 : 5 }
    axes.dots([one.intensity], [one.flop_per_s], look)
  }
  axes.dots([intensity], [rate], { r: 8, fill: "none", stroke: "var(--ink)", "stroke-width": 2 })
}

explore("roofline", compute, draw, undefined, { flop: "FLOP", bytes: "B", time: "s", rate: "FLOP/s" })
