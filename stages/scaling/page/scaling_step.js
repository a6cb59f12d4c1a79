// A step's time by the formulas of lab/parallel/cost_model.py, for numbers that the reader chooses.

const FORWARD = 1 / 3 // of the computing: a backward pass takes twice as long
const RULES = { none: "var(--c1)", buckets: "var(--c2)", hidden: "var(--c0)" } // by their colours

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

// Gradients become ready evenly during the backward pass, in `count` buckets of equal size. Each
// bucket is summed in `each` seconds once it is full and the link is free. Either the link is busy
// from the first bucket on, or it waits for the last one.
function inBuckets(t1, count, each) {
  const first = t1 * (FORWARD + (1 - FORWARD) / count)
  return Math.max(first + count * each, t1 + each)
}

// The devices of the curves: whole numbers, each at most doubled by the next, up to a power of ten.
function countsAround(devices) {
  const decades = Math.max(4, Math.ceil(Math.log10(devices)))
  return [...new Set(Array.from({ length: 16 * decades + 1 }, (_, i) => Math.round(10 ** (i / 16))))]
}

function compute(values, facts) {
  const { per_image, fixed, images, bytes, tensors, bucket, batch, devices } = values
  const [algorithm, oneBucket] = facts.allreduces[values.allreduce]
  const own = { alpha_s: values.latency, s_per_byte: 1 / values.bandwidth, add_s_per_byte: 0 }
  const link = facts.links[values.link] ?? own
  const divided = batch === "divided"
  const count = oneBucket ? Math.ceil(bytes / bucket) : tensors // of parts that can be summed before the last one
  const alone = fixed + per_image * images // one device's time for the images of one, or of all
  const at = n => {
    const time = (tensors, bytes) => n === 1 ? 0 : summing(algorithm, n, tensors, bytes, link)
    const t1 = fixed + per_image * (divided ? images / n : images)
    const t2 = time(oneBucket ? 1 : tensors, bytes)
    const steps = { none: t1 + t2, buckets: inBuckets(t1, count, time(1, bytes / count)), hidden: Math.max(t1, t2) }
    const efficiency = Object.fromEntries(
      Object.entries(steps).map(([rule, step]) => [rule, 100 * alone / (divided ? n * step : step)]))
    return { t1, t2, steps, efficiency }
  }
  const { t1, t2, steps, efficiency } = at(devices)
  const unused = [oneBucket ? "tensors" : "bucket", ...values.link in facts.links ? ["latency", "bandwidth"] : []]
  const counts = countsAround(devices)
  return { t1, t2, ...steps, efficiency, counts, lines: counts.map(at), unused }
}

function draw(picture, found, { devices }, words) {
  const { counts, lines, efficiency } = found
  const parts = { t1: "4 3", t2: "1 3" } // by their dashes
  const above = picture.key([
    ...Object.entries(RULES).map(([rule, stroke]) => ({ name: `${words[rule]}: ${number(efficiency[rule])}%`, stroke, bold: true })),
    ...Object.entries(parts).map(([part, dashes]) => ({ name: words[part], stroke: "var(--ink)", "stroke-dasharray": dashes })),
  ])
  const [left, right] = picture.panels(2, above, 18)
  const x = { from: 1, to: counts.at(-1), log: true, label: words.devices }
  const times = lines.flatMap(({ t1, t2, steps }) => [t1, t2, ...Object.values(steps)])
  const time = picture.axes(x, { ...decades(times), unit: "s", title: words.time }, left)
  const share = picture.axes(x, { from: 0, to: 105, ticks: [0, 25, 50, 75, 100], title: words.efficiency }, right)
  for (const axes of [time, share]) {
    axes.line([devices, devices], [axes.y.from, axes.y.to], { stroke: "var(--faint)", "stroke-width": 1 })
  }
  for (const [part, dashes] of Object.entries(parts)) {
    time.line(counts, lines.map(each => each[part]), { stroke: "var(--ink)", "stroke-width": 1.2, "stroke-dasharray": dashes })
  }
  for (const [rule, stroke] of Object.entries(RULES)) {
    time.line(counts, lines.map(each => each.steps[rule]), { stroke, "stroke-width": 3 })
    share.line(counts, lines.map(each => each.efficiency[rule]), { stroke, "stroke-width": 3 })
    share.dots([devices], [efficiency[rule]], { r: 5, fill: "var(--tint)", stroke, "stroke-width": 2.5 })
    time.dots([devices], [found[rule]], { r: 5, fill: "var(--tint)", stroke, "stroke-width": 2.5 })
  }
}

explore("scaling_step", compute, draw, undefined, { t1: "s", t2: "s", none: "s", buckets: "s", hidden: "s" })
