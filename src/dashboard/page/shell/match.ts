// How well a few letters fit a name.

/** All letters in their order; those that begin a word come first. Null: no match. */
export const matchScore = (label: string, wanted: string): number | null => {
  const text = label.toLowerCase()
  const at = text.indexOf(wanted)
  if (at === 0) return 0
  if (at > 0) return text[at - 1] === ' ' ? 1 : 2
  let from = 0
  for (const letter of wanted) {
    const found = text.indexOf(letter, from)
    if (found === -1) return null
    from = found + 1
  }
  return 3
}
