// Code that the page's explorables share: controls, a picture with axes, and output numbers.
//
// A script calls `explore(name, compute, draw, drag, units)`. `compute(values, facts)` returns all
// numbers, with the outputs under their names (or the name of a word to show instead), and the
// controls without effect as `unused`. `draw(picture, found, values, words)` shows them.
// `drag(x, y)` returns the controls' values for a point in the draggable axes. `units` has the
// outputs' units.
const explorables = {}

function explore(name, compute, draw, drag, units = {}) {
  explorables[name] = { compute, draw, drag, units }
}

// Write a computed number as the pages do: two digits, 1.7, 12,000, 4.2×10⁻⁸; a count is whole, and
// a number below the rounding error of 1 is 0.
function number(value, digits = 2, fewest = digits) {
  if (value === null || Number.isNaN(value)) return "–"
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞"
  const size = Math.abs(value)
  if (size < Number.EPSILON) return "0"
  const form = how => new Intl.NumberFormat("en", how).format(value)
  const rounded = { minimumSignificantDigits: fewest, maximumSignificantDigits: digits }
  const [mantissa, power] = form({ ...rounded, notation: "scientific" }).split("E")
  const counted = Number.isInteger(value) && size < 1e6
  const text = counted ? form({}) : -4 < power && power < 6 ? form(rounded) : `${mantissa}×${tenToThe(power)}`
  return text.replace("-", "−")
}

// `chosen` writes an axis number with up to three digits; `exactly` writes a control's number with
// all digits that it is computed with.
const chosen = value => number(value, 3, 1)
const exactly = value => number(value, 15, 1)

function tenToThe(power) {
  return `10${[...String(power)].map(each => "⁰¹²³⁴⁵⁶⁷⁸⁹"[each] ?? "⁻").join("")}`
}

// Scientific units have a prefix: 16 MB, 250 µs.
const PREFIXES = ["n", "µ", "m", "", "k", "M", "G", "T", "P"]
const takesPrefix = unit => /^(s|B|FLOP|)(\/s)?$/.test(unit)

function withUnit(value, unit, tell = number) {
  if (!takesPrefix(unit)) return `${tell(value)} ${unit}`
  const thousands = Math.floor(Math.log10(Math.abs(value)) / 3 + 1e-9)
  const [least, most] = unit === "s" ? [-3, 0] : [0, 5]
  const power = Number.isFinite(thousands) ? Math.max(least, Math.min(most, thousands)) : 0
  return `${tell(value / 1000 ** power)} ${PREFIXES[power + 3]}${unit}`.trim()
}

const POWERS = { n: -9, µ: -6, μ: -6, u: -6, m: -3, "": 0, k: 3, K: 3, M: 6, G: 9, T: 12, P: 15 }
// The prefix and name allowed after a typed number, by the field's unit. Nobody means thousandths
// of a byte, or thousands of seconds.
const TYPED = {
  "": /^()()$/,
  s: /^([nµμum]?)(s?)$/,
  B: /^((?:[kKMGTP]i?)?)(B|bytes?|b|bits?|)$/,
  "B/s": /^((?:[kKMGTP]i?)?)(?:(B|bytes?|b|bits?)(?:\/s|ps)|)$/,
  "FLOP/s": /^([kKMGTP]?)(?:FLOP\/s|FLOPS|)$/,
}

// Parse a typed number: 26, 26 ms, 1e9, 1×10⁹, 400 Gb/s (50 GB/s). Without a power or letters it is
// in the unit that was shown. Return NaN if any of it is not understood.
function typedNumber(text, unit, shown) {
  const plain = text.replace("−", "-").replace(/×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/, (_, power) =>
    `e${[...power].map(each => each === "⁻" ? "-" : "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(each)).join("")}`)
  const [, digits = "", power, typed] = plain.match(/^\s*([+-]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d*)(?:\.\d*)?)(?:e([+-]?\d+))?(.*)$/i) ?? []
  const behind = typed?.replace(/\s/g, "") || (power ? "" : shown.split(" ")[1] ?? "")
  const [, prefix, name = ""] = behind.match(TYPED[unit]) ?? []
  if (prefix === undefined) return NaN
  const thousands = POWERS[prefix[0] ?? ""]
  const [decimal, binary] = prefix[1] ? [0, 1024 ** (thousands / 3)] : [thousands, 1]
  const value = Number(`${digits.replaceAll(",", "")}e${Number(power ?? 0) + decimal}`)
  return value * binary / (/^b(?!y)/.test(name) ? 8 : 1)
}

// Return whether formulas hold for a number: any plausible one, above 0 on a logarithmic slider.
function makesSense({ dataset }, value) {
  if ("log" in dataset && value < 1e-15 || "whole" in dataset && !Number.isInteger(value)) return false
  return Math.abs(value) <= 1e21 && !(value < dataset.least || value > dataset.most)
}

// A slider holds a number, or its decimal logarithm if its stops are factors apart.
function numberOf(slider) {
  const place = Number(slider.value)
  const value = "log" in slider.dataset ? Number((10 ** place).toPrecision(slider.step === "any" ? 3 : 6)) : place
  return "whole" in slider.dataset ? Math.round(value) : value
}

function moveTo(slider, value) {
  slider.value = "log" in slider.dataset ? Math.log10(value) : value
}

function startExplorable(root) {
  const { compute, draw, drag, units } = explorables[root.dataset.explore]
  const facts = JSON.parse(root.dataset.facts)
  const words = JSON.parse(root.dataset.words)
  const controls = [...root.querySelectorAll("[name]")]
  const presets = [...root.querySelectorAll("[data-sets]")]
  const picture = new Picture(root.querySelector("svg"))
  const sliders = controls.filter(control => control.type === "range")
  // exact numbers that hold until their slider is moved: typed, of a preset, of the address
  const standing = Object.fromEntries(sliders.filter(slider => "log" in slider.dataset).map(
    slider => [slider.name, Number((10 ** slider.value).toPrecision(6))]))
  const values = () => Object.fromEntries(controls.map(
    control => [control.name, standing[control.name] ?? (control.type === "range" ? numberOf(control) : control.value)]))

  let now, found

  const partOf = (control, part) => control.parentElement.querySelector(part)

  // Say next to a field that its text is not accepted and which number stays; "" clears this.
  function refuse(slider, message) {
    const field = partOf(slider, ".typed")
    if (message) field.setAttribute("aria-invalid", "true")
    else field.removeAttribute("aria-invalid")
    partOf(slider, ".refused").textContent = message
  }

  // Set a control to a value; return whether the value makes sense.
  function put(control, value) {
    if (control.type !== "range") {
      if ([...control.options].some(option => option.value === value)) control.value = value
      return true
    }
    if (!makesSense(control, value)) return false
    standing[control.name] = value
    moveTo(control, value)
    refuse(control, "")
    return true
  }

  function moved(slider) {
    delete standing[slider.name]
    refuse(slider, "")
  }

  function show() {
    picture.clear()
    draw(picture, found, now, words)
  }

  function update() {
    now = values()
    found = compute(now, facts)
    for (const slider of sliders) {
      const value = now[slider.name], { unit } = slider.dataset
      const text = unit ? withUnit(value, unit, exactly) : exactly(value)
      const field = partOf(slider, ".typed")
      if (!field.hasAttribute("aria-invalid")) field.value = text
      slider.setAttribute("aria-valuetext", text)
      slider.dataset.number = value
    }
    for (const preset of presets) {
      const sets = Object.entries(JSON.parse(preset.dataset.sets))
      preset.setAttribute("aria-pressed", sets.every(([name, value]) => value === now[name]))
    }
    for (const control of controls) control.parentElement.hidden = found.unused?.includes(control.name) ?? false
    for (const output of root.querySelectorAll("output")) {
      const told = found[output.dataset.out]
      const unit = units[output.dataset.out]
      output.textContent = typeof told !== "number" ? words[told] ?? told : unit ? withUnit(told, unit) : number(told)
      output.dataset.number = told
      output.closest("div").hidden = Number.isNaN(told) // it does not apply
    }
    show()
  }

  // Keep the choices in the page's address, for sharing: #explore-NAME?control=value&...
  const keep = () => history.replaceState(null, "", `#${root.id}?${new URLSearchParams(values())}`)

  function choose(those) {
    for (const control of controls) if (control.name in those) put(control, those[control.name])
    update()
  }

  function restore() {
    const [id, kept] = location.hash.slice(1).split("?")
    if (id !== root.id || !kept) return
    const those = Object.fromEntries(new URLSearchParams(kept))
    for (const { name } of sliders) if (name in those) those[name] = typedNumber(those[name], "", "")
    choose(those)
    for (let at = root; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true
    root.scrollIntoView()
  }

  root.addEventListener("input", event => {
    if (!event.target.name) return
    if (sliders.includes(event.target)) moved(event.target)
    update()
  })
  root.addEventListener("change", ({ target }) => {
    if (!target.name) { // typed
      const slider = partOf(target, "[name]"), stays = slider.getAttribute("aria-valuetext")
      const taken = put(slider, typedNumber(target.value, slider.dataset.unit, stays))
      if (taken) update()
      else refuse(slider, root.dataset.refused.replace("{value}", stays.replace(" ", "\u00a0")))
    }
    keep()
  })
  for (const preset of presets) {
    preset.addEventListener("click", () => {
      choose(JSON.parse(preset.dataset.sets))
      keep()
    })
  }
  addEventListener("resize", show) // also as a phone brings its keyboard up
  addEventListener("hashchange", restore)
  if (drag) {
    picture.onDrag((x, y) => {
      for (const [name, value] of Object.entries(drag(x, y))) {
        const slider = sliders.find(each => each.name === name)
        moveTo(slider, value)
        moved(slider)
      }
      update()
    })
    picture.svg.addEventListener("pointerup", keep)
  }
  root.hidden = false
  update()
  restore()
}

const SVG = "http://www.w3.org/2000/svg"
const WIDTH = 640, HEIGHT = 380

// A picture of panels, each with its own axes.
class Picture {
  constructor(svg) {
    this.svg = svg
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`)
    svg.style.touchAction = "auto"
  }

  clear() {
    // as wide as on the page, so that letters keep their size
    this.width = Math.max(270, Math.min(704, this.svg.getBoundingClientRect().width || WIDTH))
    this.svg.replaceChildren()
    this.dragged = null
  }

  add(tag, attributes, text, parent = this.svg) {
    const element = document.createElementNS(SVG, tag)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    if (text !== undefined) element.textContent = text
    if (tag === "text" && attributes.fill) element.style.fill = attributes.fill // over the page's own
    element.style.pointerEvents = "none" // else a redraw would end a touch that began on it
    parent.append(element)
    return element
  }

  // Write names of lines and dots after their marks, in rows above the axes; return their height.
  key(entries) {
    const texts = entries.map(({ name, bold }) => this.add("text", { "font-weight": bold ? 700 : 400 }, name))
    const lengths = texts.map(text => 24 + text.getComputedTextLength())
    let x = 12, y = 14
    entries.forEach(({ name, dot, bold, ...look }, i) => {
      if (x > 12 && x + lengths[i] > this.width) [x, y] = [12, y + 18]
      if (dot) this.add("circle", { cx: x + 9, cy: y - 4, r: 4, ...look })
      else this.add("line", { x1: x, x2: x + 18, y1: y - 4, y2: y - 4, "stroke-width": bold ? 4 : 2, ...look })
      texts[i].setAttribute("x", x + 24)
      texts[i].setAttribute("y", y)
      x += lengths[i] + 16
    })
    return y + 4
  }

  // Return boxes for axes: side by side where there is room, several ones square; on a phone below
  // each other, each as high as its share of the width, so that the controls stay in sight. `above`
  // is kept free for a key, and `title` above each box for its title.
  panels(count, above = 0, title = 0, onPhone = count > 1 ? Array(count).fill(0.5) : [0.7]) {
    const { width } = this
    const narrow = width < 540
    const each = narrow ? width : Math.min(width / count, count > 1 ? 352 : 704)
    const heights = onPhone.map(share => (narrow ? share * each : Math.min(each - 10, 350)) + title)
    const whole = narrow ? heights.reduce((sum, height) => sum + height) : heights[0]
    this.svg.setAttribute("viewBox", `0 0 ${width} ${above + whole}`)
    let top = above
    return heights.map((height, i) => {
      const left = narrow ? 0 : each * i
      const box = [left + 56, top + title + 14, left + each - 18, top + height - 46]
      if (narrow) top += height
      return box
    })
  }

  // Draw axes in a box [left, top, right, bottom]; x and y: {from, to, log, label, ticks, unit,
  // title}.
  axes(x, y, box = this.panels(1)[0]) {
    return new Axes(this, x, y, box)
  }

  onDrag(told) {
    let dragging = false
    const tell = event => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse())
      const inside = this.dragged?.holds(point.x, point.y)
      if (event.type === "pointerdown") dragging = inside
      this.svg.style.cursor = inside ? "crosshair" : ""
      if (dragging && event.buttons) told(...this.dragged.numbersAt(point.x, point.y))
    }
    this.svg.addEventListener("pointerdown", event => {
      this.svg.setPointerCapture(event.pointerId)
      tell(event)
    })
    this.svg.addEventListener("pointermove", tell)
    // a dragging finger must not also scroll the page
    this.svg.addEventListener("touchstart", event => {
      if (dragging && this.svg.style.touchAction === "auto") event.preventDefault()
    }, { passive: false })
  }
}

class Axes {
  constructor(picture, x, y, [left, top, right, bottom]) {
    Object.assign(this, { picture, x, y, left, top, right, bottom })
    for (const at of x.ticks ?? ticks(x)) {
      const place = this.across(at)
      picture.add("line", { x1: place, x2: place, y1: top, y2: bottom, stroke: "var(--line)" })
      picture.add("text", { x: place, y: bottom + 16, "text-anchor": "middle" }, tickText(at, x))
    }
    for (const at of y.ticks ?? ticks(y)) {
      const place = this.up(at)
      picture.add("line", { x1: left, x2: right, y1: place, y2: place, stroke: "var(--line)" })
      picture.add("text", { x: left - 6, y: place + 4, "text-anchor": "end" }, tickText(at, y))
    }
    const beside = left - 44, middle = (top + bottom) / 2
    picture.add("text", { x: (left + right) / 2, y: bottom + 34, "text-anchor": "middle" }, x.label ?? "")
    picture.add("text", { x: beside, y: middle, "text-anchor": "middle", transform: `rotate(-90 ${beside} ${middle})` }, y.label ?? "")
    if (y.title) picture.add("text", { x: left - 44, y: top - 10, "font-weight": 700 }, y.title)
    // clip the drawing to the axes
    const edge = picture.add("clipPath", { id: `axes-${++axesSoFar}` })
    picture.add("rect", this.box(), undefined, edge)
    this.inside = picture.add("g", { "clip-path": `url(#${edge.id})` })
  }

  box() {
    return { x: this.left, y: this.top, width: this.right - this.left, height: this.bottom - this.top }
  }

  holds(across, up) {
    return across >= this.left - 1 && across <= this.right + 1 && up >= this.top - 1 && up <= this.bottom + 1
  }

  add(tag, attributes) {
    return this.picture.add(tag, attributes, undefined, this.inside)
  }

  across(number) {
    return this.left + share(number, this.x) * (this.right - this.left)
  }

  up(number) {
    return this.bottom - share(number, this.y) * (this.bottom - this.top)
  }

  numbersAt(across, up) {
    return [
      numberAt((across - this.left) / (this.right - this.left), this.x),
      numberAt((this.bottom - up) / (this.bottom - this.top), this.y),
    ]
  }

  // Draw a line through points, as far as they lie in the picture.
  line(xs, ys, attributes = {}) {
    const points = xs.map((x, i) => [this.across(x), this.up(ys[i])])
    const shown = points.filter(each => each.every(Number.isFinite))
      .map(([a, b]) => `${clip(a).toFixed(1)},${clip(b).toFixed(1)}`)
    this.add("polyline", { points: shown.join(" "), fill: "none", stroke: "var(--c0)", "stroke-width": 2, ...attributes })
  }

  dots(xs, ys, attributes = {}) {
    xs.forEach((x, i) => {
      const [cx, cy] = [this.across(x), this.up(ys[i])]
      if (this.holds(cx, cy)) {
        this.picture.add("circle", { cx, cy, r: 3.5, fill: "var(--c0)", ...attributes })
      }
    })
  }

  text(x, y, words, attributes = {}) {
    this.picture.add("text", { x: this.across(x), y: this.up(y), ...attributes }, words)
  }

  // Let the reader drag in these axes; with "pan-y" a finger drags only sideways and still scrolls.
  drag(touch = "auto") {
    this.picture.dragged = this
    this.picture.svg.style.touchAction = touch
  }
}

let axesSoFar = 0
const clip = place => Math.max(-1e5, Math.min(1e5, place))

// Write a number far from 1 as a power of ten, unless the axis has a unit ("": only prefixes).
function tickText(at, { log, unit }) {
  if (unit !== undefined) return withUnit(at, unit, chosen)
  const power = Math.round(Math.log10(at))
  if (!log || Math.abs(power) < 4) return chosen(at)
  return tenToThe(power)
}

function share(number, { from, to, log }) {
  return log ? Math.log(number / from) / Math.log(to / from) : (number - from) / (to - from)
}

function numberAt(place, { from, to, log }) {
  const inside = Math.max(0, Math.min(1, place))
  return log ? from * (to / from) ** inside : from + inside * (to - from)
}

// Return a logarithmic axis between powers of ten, around all numbers above 0.
function decades(numbers) {
  const powers = numbers.filter(number => number > 0).map(Math.log10)
  const [from, to] = [Math.floor(Math.min(...powers)), Math.ceil(Math.max(...powers))]
  return { from: 10 ** from, to: 10 ** Math.max(to, from + 1), log: true }
}

// Return round numbers between the ends of an axis: powers of ten, or about six steps of 1, 2 or 5.
function ticks({ from, to, log }) {
  const found = []
  if (log) {
    const every = Math.max(1, Math.ceil(Math.log10(to / from) / 7))
    for (let power = Math.ceil(Math.log10(from) - 1e-9); power <= Math.log10(to) + 1e-9; power += every) found.push(10 ** power)
    return found
  }
  const rough = (to - from) / 6
  const unit = 10 ** Math.floor(Math.log10(rough))
  const step = unit * [1, 2, 5, 10].find(n => n * unit >= rough)
  for (let n = Math.ceil(from / step - 1e-9); n <= to / step + 1e-9; n++) found.push(Number((n * step).toPrecision(12)))
  return found
}
