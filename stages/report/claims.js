"use strict"
// The claims: filtered by the reader's choices, opened by links to one of them, all open in print.
const filters = document.querySelector(".filters")
const claims = [...document.querySelectorAll(".claim")]

function showChosen() {
  const { verdict, chapter, device, words } = Object.fromEntries(new FormData(filters))
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  let shown = 0
  for (const claim of claims) {
    const { dataset } = claim
    const text = claim.textContent.toLowerCase()
    claim.hidden = !(
      (!verdict || dataset.verdict === verdict)
      && (!chapter || dataset.chapter === chapter)
      && (!device || dataset.device === device)
      && wanted.every(word => text.includes(word))
    )
    shown += !claim.hidden
  }
  filters.shown.value = filters.shown.dataset.message.replace("{n}", shown)
}

function openLinked() {
  const name = location.hash.slice(1)
  if ([...filters.verdict.options].some(option => option.value && option.value === name)) {
    filters.verdict.value = name
    showChosen()
    return filters.scrollIntoView()
  }
  const linked = document.getElementById(name)
  if (linked?.tagName !== "DETAILS") return
  if (linked.hidden) {
    filters.reset()
    showChosen()
  }
  linked.open = true
  linked.scrollIntoView()
}

if (filters && claims.length) {
  filters.hidden = false
  filters.addEventListener("input", showChosen)
  filters.addEventListener("submit", event => event.preventDefault())
  addEventListener("hashchange", openLinked)
  showChosen()
  openLinked()
}

addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true
})
