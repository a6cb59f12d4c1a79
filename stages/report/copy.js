"use strict"
// A button on each box of code that copies it, or selects it if the browser forbids copying.
for (const box of document.querySelectorAll("pre")) {
  const { copy, copied } = document.body.dataset
  const button = document.createElement("button")
  button.className = "copy"
  button.textContent = copy
  button.addEventListener("click", () => {
    getSelection().selectAllChildren(box)
    navigator.clipboard.writeText(box.textContent).then(() => {
      button.textContent = copied
      setTimeout(() => { button.textContent = copy }, 2000)
    })
  })
  box.after(button)
}
