"use strict"
// A button on each box of code that copies it, or marks it where a browser forbids that.
for (const boxes of document.querySelectorAll("[data-copy]")) {
  const { copy, copied } = boxes.dataset
  for (const box of boxes.querySelectorAll("pre")) {
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
}
