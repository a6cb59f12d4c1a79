// Update rules on f(x) = l1 u1^2 + l2 u2^2, u being x turned by an angle: the formulas, and the
// order of their operations, are those of lab/optim/update_rules.py and lab/optim/objectives.py.
const EDGE = 6 // of the plane, on all sides
const LEVELS = [120, 80, 50, 30, 18, 10, 5, 2.5, 1, 0.3, 0.05] // of the contours

// What a rule subtracts from a coordinate whose gradient is g. `s` is that coordinate's state, at
// first zeros: leaky averages or sums of gradients `v`, of squared gradients `s` and of squared
// steps `d`, and a clock `t`.
const rules = {
  sgd: (g, s, { rate }) => rate * g,
  momentum(g, s, { rate, beta }) {
    s.v = beta * s.v + g
    return rate * s.v
  },
  nesterov(g, s, { rate, beta }) {
    s.v = beta * s.v + g
    return rate * (g + beta * s.v)
  },
  adagrad(g, s, { rate }) {
    s.s += g * g
    return rate * g / Math.sqrt(s.s + 1e-6)
  },
  rmsprop(g, s, { rate }) {
    s.s = 0.9 * s.s + (1 - 0.9) * g * g
    return rate * g / Math.sqrt(s.s + 1e-6)
  },
  adadelta(g, s, { rate }) {
    s.s = 0.9 * s.s + (1 - 0.9) * g * g
    const step = Math.sqrt((s.d + 1e-5) / (s.s + 1e-5)) * g
    s.d = 0.9 * s.d + (1 - 0.9) * step * step
    return rate * step
  },
  adam(g, s, { rate }) {
    s.s = 0.999 * s.s + (1 - 0.999) * g * g
    return rate * corrected(g, s, 1e-6)
  },
  yogi(g, s, { rate }) {
    s.s += (1 - 0.999) * Math.sign(g * g - s.s) * g * g
    return rate * corrected(g, s, 1e-3)
  },
}

// Adam's step: averages without the bias of their start at 0, epsilon beside the root.
function corrected(g, s, epsilon) {
  s.t += 1
  s.v = 0.9 * s.v + (1 - 0.9) * g
  return s.v / (1 - 0.9 ** s.t) / (Math.sqrt(s.s / (1 - 0.999 ** s.t)) + epsilon)
}

// The highest rate times curvature at which a rule is stable; adaptive rules have none.
const bounds = {
  sgd: () => 2,
  momentum: beta => 2 + 2 * beta,
  nesterov: beta => (2 + 2 * beta) / (1 + 2 * beta),
}

function turn([x1, x2], angle) {
  const cos = Math.cos(angle), sin = Math.sin(angle)
  return [cos * x1 + sin * x2, cos * x2 - sin * x1]
}

// Where an optimizer goes from a start, how high it is there, and how near its bound it is.
function descend(rule, rate, { beta, condition, angle, steps, x1, x2 }) {
  const [l1, l2] = [2 / condition, 2]
  const radians = angle * (Math.PI / 180)
  const path = [[x1, x2]]
  const states = [0, 1].map(() => ({ v: 0, s: 0, d: 0, t: 0 }))
  for (let step = 0; step < steps; step++) {
    const x = path.at(-1)
    const [u1, u2] = turn(x, radians)
    const gradient = turn([2 * l1 * u1, 2 * l2 * u2], -radians)
    path.push(x.map((each, i) => each - rules[rule](gradient[i], states[i], { rate, beta })))
  }
  const heights = path.map(x => {
    const [u1, u2] = turn(x, radians)
    const height = l1 * u1 ** 2 + l2 * u2 ** 2
    return Number.isNaN(height) ? Infinity : height // beyond all numbers
  })
  return { rule, rate, path, heights, value: heights.at(-1), of_bound: rate * 2 * l2 / (bounds[rule]?.(beta) ?? NaN) }
}

function compute(values, facts) {
  const first = descend(values.rule, values.rate, values)
  const alone = values.rule2 === "none"
  const second = alone ? undefined : descend(values.rule2, values.rate2, values)
  const descents = [first, ...alone ? [] : [second]]
  const takesBeta = descents.some(({ rule }) => rule === "momentum" || rule === "nesterov")
  return {
    value: first.value,
    value2: second?.value ?? NaN,
    of_bound: first.of_bound,
    of_bound2: second?.of_bound ?? NaN,
    descents: descents.map(each => ({ ...each, colour: `var(--c${facts.colours[each.rule]})` })),
    unused: [...takesBeta ? [] : ["beta"], ...alone ? ["rate2"] : []],
  }
}

function draw(picture, { descents }, { angle, condition, steps }, words) {
  // the second one's line is dashed and its dots are hollow: it may be of the same colour
  const looks = descents.map(({ colour, ...each }, i) => ({
    ...each,
    line: { stroke: colour, ...i ? { "stroke-dasharray": "5 3" } : {} },
    dots: { r: 2.6, stroke: colour, fill: i ? "var(--tint)" : colour },
  }))
  const above = picture.key(looks.map(({ rule, rate, line }) => ({ name: `${words[rule]} (${exactly(rate)})`, ...line, bold: true })))
  const [left, right] = picture.panels(2, above, 0, [0.72, 0.48])
  const middle = (left[0] + left[2] - (left[3] - left[1])) / 2 // square, on a phone as well
  const span = { from: -EDGE, to: EDGE, ticks: [-4, -2, 0, 2, 4] }
  const plane = picture.axes({ ...span, label: "x₁" }, { ...span, label: "x₂" }, [middle, left[1], middle + left[3] - left[1], left[3]])
  const cx = plane.across(0), cy = plane.up(0), unit = plane.across(1) - cx
  for (const level of LEVELS) {
    plane.add("ellipse", {
      cx, cy, rx: unit * Math.sqrt(level * condition / 2), ry: unit * Math.sqrt(level / 2), transform: `rotate(${-angle} ${cx} ${cy})`,
      fill: "var(--c0)", "fill-opacity": 0.07, stroke: "var(--c0)", "stroke-opacity": 0.45, "stroke-width": 0.8,
    })
  }
  plane.line([-0.2, 0.2], [0, 0], { stroke: "var(--ink)" })
  plane.line([0, 0], [-0.2, 0.2], { stroke: "var(--ink)" })
  for (const { path, line, dots } of looks) {
    const [xs, ys] = [0, 1].map(i => path.map(x => x[i]))
    plane.line(xs, ys, { ...line, "stroke-width": 1.5 })
    plane.dots(xs, ys, dots)
  }
  const [x1, x2] = descents[0].path[0]
  plane.dots([x1], [x2], { fill: "var(--tint)", stroke: "var(--ink)", "stroke-width": 2.5, r: 8 })
  plane.text(-EDGE, -EDGE, words.drag, { dx: 6, dy: -8 })
  plane.drag()

  const heights = descents.flatMap(each => each.heights)
  const least = Math.min(...heights.filter(height => height > 0))
  const most = Math.max(...heights)
  const y = {
    from: [1e-2, 1e-4, 1e-8].find(floor => floor <= least) ?? 1e-16,
    to: [100, 1e4].find(top => top >= most) ?? 1e8,
    log: true,
    label: "f(x)",
  }
  const descent = picture.axes({ from: 0, to: steps, label: words.step }, y, right)
  for (const { heights, line, dots } of looks) {
    const at = heights.map((_, step) => step)
    descent.line(at, heights, { ...line, "stroke-width": 1.5 })
    if (steps <= 60) descent.dots(at, heights, dots)
  }
}

explore("quadratic", compute, draw, (x1, x2) => ({ x1, x2 }))
