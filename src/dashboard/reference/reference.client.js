// Copies calls, filters the list of operations, and collapses it on narrow screens.
const said = document.getElementById('said')

for (const button of document.querySelectorAll('button.copy')) {
  button.hidden = navigator.clipboard === undefined
  button.addEventListener('click', async () => {
    const text = button.parentElement?.querySelector('code')?.textContent ?? ''
    try {
      await navigator.clipboard.writeText(text)
      said.textContent = 'Copied'
      button.textContent = 'Copied'
    } catch {
      said.textContent = 'The browser does not let the page copy'
    }
    setTimeout(() => {
      button.textContent = 'Copy'
      said.textContent = ''
    }, 1500)
  })
}

const narrow = document.getElementById('narrow')
narrow?.addEventListener('input', () => {
  const words = narrow.value.toLowerCase().split(/\s+/)
  for (const list of document.querySelectorAll('.contents ul')) {
    let shown = 0
    for (const item of list.children) {
      item.hidden = !words.every((word) => item.dataset.words.includes(word))
      if (!item.hidden) shown += 1
    }
    list.hidden = shown === 0
    list.previousElementSibling.hidden = shown === 0
  }
})
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target instanceof HTMLInputElement) return
  event.preventDefault()
  document.querySelector('.contents').open = true
  narrow?.focus()
})

const isNarrow = matchMedia('(max-width: 56rem)')
const contents = document.querySelector('.contents')
if (isNarrow.matches) contents.open = false
contents.addEventListener('click', (event) => {
  if (isNarrow.matches && event.target instanceof HTMLAnchorElement) contents.open = false
})
