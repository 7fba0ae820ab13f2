/** Scores a name that contains all letters in order, lower for better matches; null if it doesn't match. */
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

const SHOWN_MAX = 30
/** At this score or higher, only scattered letters or the group match. */
const WEAK_SCORE = 3

/** Returns commands that contain the text, then server results, then weaker matches. */
export const rankCommands = <Command extends { readonly label: string; readonly group: string }>(
  commands: readonly Command[],
  things: readonly Command[],
  text: string,
): readonly Command[] => {
  const wanted = text.trim().toLowerCase()
  const matches = commands
    .flatMap((command) => {
      const score =
        matchScore(command.label, wanted) ?? (matchScore(command.group, wanted) === 0 ? WEAK_SCORE + 1 : null)
      return score === null ? [] : [{ command, score }]
    })
    .sort((left, right) => left.score - right.score)
    .slice(0, SHOWN_MAX)
  const isWeak = ({ score }: { readonly score: number }): boolean => score >= WEAK_SCORE
  return [
    ...matches.filter((match) => !isWeak(match)).map(({ command }) => command),
    ...things,
    ...matches.filter(isWeak).map(({ command }) => command),
  ]
}
