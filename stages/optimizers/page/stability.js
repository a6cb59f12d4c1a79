// Momentum on a parabola of curvature l: v <- beta v + a x, x <- x - v, where a = rate times l; the
// rule `momentum` of lab/optim/update_rules.py at rate 1 on the gradient a x.
const STEPS = 40
const LEVELS = [3, 2, 1.5, 1.2, 1, 0.9, 0.8, 0.6, 0.4, 0.2] // of equal growth

// From one step to the next (x, v) is multiplied by a matrix whose eigenvalues r solve
// r^2 - (1 + beta - a) r + beta = 0; in the long run it grows by the larger one.
function compute({ curvature, beta }) {
  const trace = 1 + beta - curvature
  const discriminant = trace ** 2 - 4 * beta
  const xs = [1]
  let v = 0
  for (let step = 0; step < STEPS; step++) {
    v = beta * v + curvature * xs[step]
    xs.push(xs[step] - v)
  }
  const ofBound = beta < 1 ? curvature / (2 + 2 * beta) : Math.max(1, curvature / 4) // undamped, it never ends
  return {
    growth: discriminant < 0 ? Math.sqrt(beta) : (Math.abs(trace) + Math.sqrt(discriminant)) / 2,
    fate: ofBound < 1 ? "shrinks" : ofBound > 1 ? "grows" : "stays",
    last: xs[STEPS],
    xs,
  }
}

// Corners [a, beta] of where the growth is at most g: on its sides g or -g is an eigenvalue, and at
// its top beta = g^2 both are complex.
function within(g) {
  const side = (sign, beta) => [1 + beta + sign * (g + beta / g), beta]
  const top = Math.min(g * g, 1)
  return [side(-1, 0), side(-1, top), side(1, top), side(1, 0)]
}

function draw(picture, { growth, fate, xs }, { curvature, beta }, words) {
  const [left, right] = picture.panels(2, 0, 18, [0.75, 0.45])
  const across = { from: 0, to: 4.5, label: words.curvature, ticks: [0, 1, 2, 3, 4] }
  const map = picture.axes(across, { from: 0, to: 1, label: "β", title: words.growth }, left)
  const shade = (tag, shape, colour, share) => {
    map.add(tag, { ...shape, fill: "var(--tint)" })
    map.add(tag, { ...shape, fill: colour, "fill-opacity": share })
  }
  shade("rect", map.box(), "var(--c1)", 0.6)
  LEVELS.forEach((g, i) => {
    const points = within(g).map(([a, b]) => `${map.across(a)},${map.up(b)}`).join(" ")
    if (g > 1) shade("polygon", { points }, "var(--c1)", 0.48 - 0.12 * i)
    else shade("polygon", { points }, "var(--c0)", 0.1 * (i - 3))
  })
  for (const g of [0.9, 0.8, 0.6, 0.4]) map.text(1 + g * g, g * g, g, { dy: 12, "text-anchor": "middle" })
  for (const g of [1, 1.5, 2]) map.text(1 + g, 0, g, { dx: 10, dy: -6, "text-anchor": "middle" })
  map.line([2, 4], [0, 1], { stroke: "var(--ink)", "stroke-dasharray": "6 4" })
  map.text(3.3, 0.65, "2 + 2β", { dx: 8, dy: 4 })
  map.text(1.25, 0.235, words.shrinks, { "text-anchor": "middle", "font-weight": 700 })
  map.text(3.7, 0.3, words.grows, { "text-anchor": "middle", "font-weight": 700 })
  map.line([curvature, curvature], [0, 1], { stroke: "var(--ink)", "stroke-width": 1 })
  map.line([0, 4.5], [beta, beta], { stroke: "var(--ink)", "stroke-width": 1 })
  map.dots([curvature], [beta], { r: 7, fill: "var(--tint)", stroke: "var(--ink)", "stroke-width": 2.5 })
  map.drag()

  const highest = Math.max(...xs.map(Math.abs))
  const to = [1.2, 2, 5, 10].find(most => most >= highest) ?? 30
  const path = picture.axes({ from: 0, to: STEPS, label: words.step }, { from: -to, to, title: "x" }, right)
  const steps = xs.map((_, step) => step)
  for (const sign of [1, -1]) path.line(steps, steps.map(t => sign * growth ** t), { stroke: "var(--soft)", "stroke-width": 1, "stroke-dasharray": "3 3" })
  const colour = fate === "grows" ? "var(--c1)" : "var(--c0)"
  path.line(steps, xs, { stroke: colour, "stroke-width": 1.5 })
  path.dots(steps, xs, { fill: colour, r: 2.6 })
}

explore("stability", compute, draw, (curvature, beta) => ({ curvature, beta }))
