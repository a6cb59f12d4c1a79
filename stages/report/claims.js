"use strict"
// The claims: filtered by what the reader chooses, opened by links to one of them, all in print.
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
  const verdict = location.hash.slice(1)
  if ([...filters.verdict.options].some(option => option.value && option.value === verdict)) {
    filters.verdict.value = verdict
    showChosen()
    return filters.scrollIntoView()
  }
  const claim = location.hash.startsWith("#claim-") && document.getElementById(location.hash.slice(1))
  if (!claim) return
  if (claim.hidden) {
    filters.reset()
    showChosen()
  }
  claim.open = true
  claim.scrollIntoView()
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
