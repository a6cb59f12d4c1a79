// A button that opens or closes all answers, as they are to be printed.
const button = document.querySelector(".answers")
const answers = [...document.querySelectorAll(".exercise details")]

button.hidden = false
button.addEventListener("click", () => {
  const open = !answers.every(answer => answer.open)
  for (const answer of answers) answer.open = open
})
