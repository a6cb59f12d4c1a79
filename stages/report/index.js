// Links to sections and claims of the page that was one before lead on to the pages of today.
const place = location.hash.slice(1)
const chinese = document.documentElement.lang === "zh" ? ".zh" : ""
if (place.startsWith("claim-")) location.replace(`pages/claims${chinese}.html#${place}`)
else if (place === "claims") location.replace(`pages/claims${chinese}.html`)
else if (document.querySelector(`.questions [id="${CSS.escape(place)}"]`))
  location.replace(`pages/${place}${chinese}.html`)
