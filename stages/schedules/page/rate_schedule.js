// Schedules of lab/optim/schedules.py with the settings of stages/schedules/measure/by_schedule.py; t is
// in epochs, and the rates are those of each step.
const EPOCHS = 20, STEPS_PER_EPOCH = 10, FINAL = 0.01, PEAK = 6, HIGHEST = 0.55

const schedules = {
  constant: base => () => base,
  square_root: base => t => base * (t + 1) ** -0.5,
  factor: base => t => Math.max(FINAL, base * 0.9 ** t),
  multi_step: base => t => base * 0.5 ** ((t >= 10) + (t >= 15)),
  cosine(base, warmup) {
    const end = EPOCHS - warmup
    return t => FINAL + (base - FINAL) * (1 + Math.cos(Math.PI * Math.min(t, end) / end)) / 2
  },
  inverse_sqrt(base, warmup) {
    const length = Math.max(warmup, 1) // it falls from the end of a warm-up, or of the first epoch
    return t => base * Math.min(1, (length / Math.max(t, 1e-12)) ** 0.5)
  },
  one_cycle: base => t => t < PEAK
    ? base * (0.1 + 0.9 * t / PEAK)
    : base + (FINAL - base) * Math.min((t - PEAK) / (EPOCHS - PEAK), 1),
}

// A rise from 0 over `length` epochs, then the schedule: from its start if `shift`, else where it is.
const warmUp = (schedule, length, shift) => t => t >= length
  ? schedule(shift ? t - length : t)
  : schedule(shift ? 0 : length) * t / length

function compute({ kind, base, warmup, when }) {
  const own = schedules[kind](base, warmup)
  const schedule = kind === "one_cycle" ? own : warmUp(own, warmup, kind !== "inverse_sqrt")
  const steps = Array.from({ length: EPOCHS * STEPS_PER_EPOCH }, (_, step) => step)
  const epochs = Array.from({ length: EPOCHS }, (_, epoch) => schedule(epoch))
  const rates = {
    // read before each step, for the middle of its time
    step: steps.map(step => schedule((step + 0.5) / STEPS_PER_EPOCH)),
    // set after each epoch t to schedule(t): late by an epoch, and the first one has the highest rate
    epoch: steps.map(step => Math.floor(step / STEPS_PER_EPOCH)).map(t => t ? epochs[t - 1] : Math.max(...epochs)),
  }
  const chosen = rates[when]
  return {
    first: chosen[0],
    highest: Math.max(...chosen),
    last: chosen.at(-1),
    mean: chosen.reduce((sum, rate) => sum + rate, 0) / chosen.length,
    rates,
    unused: kind === "one_cycle" ? ["warmup"] : [],
  }
}

function draw(picture, { rates, mean }, { kind, base, warmup, when }, words) {
  const colours = { step: "var(--c0)", epoch: "var(--c3)" } // as figures.py has the cosine and the book's loop
  const colour = each => colours[each]
  const above = picture.key(Object.keys(colours).map(each => ({ name: words[each], stroke: colour(each), bold: each === when })))
  const plot = picture.axes({ from: 0, to: EPOCHS, label: words.time }, { from: 0, to: Math.max(HIGHEST, 1.1 * base), label: words.rate }, picture.panels(1, above)[0])
  const edges = rates.step.flatMap((_, step) => [step, step + 1].map(at => at / STEPS_PER_EPOCH))
  const stairs = each => rates[each].flatMap(rate => [rate, rate])
  const other = when === "step" ? "epoch" : "step"
  plot.line([0, ...edges, EPOCHS], [0, ...stairs(when), 0], { fill: colour(when), "fill-opacity": 0.15, stroke: "none" })
  plot.line([0, EPOCHS], [mean, mean], { stroke: "var(--soft)", "stroke-width": 1, "stroke-dasharray": "5 4" })
  plot.text(EPOCHS, mean, words.mean, { dx: -6, dy: -5, "text-anchor": "end" })
  plot.line(edges, stairs(other), { stroke: colour(other), "stroke-width": 1.2 })
  plot.line(edges, stairs(when), { stroke: colour(when), "stroke-width": 2.5 })
  plot.dots([kind === "one_cycle" ? PEAK : warmup], [base], { r: 8, fill: "var(--tint)", stroke: "var(--ink)", "stroke-width": 2.5 })
  plot.drag()
}

explore("rate_schedule", compute, draw, (warmup, base) => ({ warmup, base }))
