// Describes a change in one line: new values, with the old value if there was one.

const SHOWN_MAX = 3
const TEXT_MAX = 32
const NAMES: ReadonlySet<string> = new Set(['name', 'label', 'project', 'number'])
const ID = /^[a-z]+_[0-9A-Za-z]{16}$|^(x-)?[0-9a-f]{32,}$/
const isId = (value: unknown): boolean =>
  isChange(value) ? value.some(isId) : typeof value === 'string' && ID.test(value)

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return 'none'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX - 1)}…` : text
}

/** In the audit log, a change is a list of exactly the old and the new value. */
const isChange = (value: unknown): value is readonly [unknown, unknown] => Array.isArray(value) && value.length === 2

/** Omits unchanged values, and new or removed ids next to other values. The dialog of an entry shows all values. */
export const describeDetail = (detail: Readonly<Record<string, unknown>>): string => {
  const entries = Object.entries(detail).sort(([left], [right]) => Number(NAMES.has(right)) - Number(NAMES.has(left)))
  const changed = entries.flatMap(([name, value]) => {
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return []
    const label = name.replaceAll('_', ' ')
    const withId = isId(value)
    if (!isChange(value)) return [{ withId, text: `${label}: ${textOf(value)}` }]
    const [before, after] = value
    const isSame = JSON.stringify(before) === JSON.stringify(after)
    const isReplaced = before != null && after != null
    return isSame ? [] : [{ withId: withId && !isReplaced, text: `${label}: ${textOf(before)} → ${textOf(after)}` }]
  })
  const named = changed.filter(({ withId }) => !withId)
  const parts = (named.length === 0 ? changed : named).map(({ text }) => text)
  return parts.length > SHOWN_MAX ? `${parts.slice(0, SHOWN_MAX).join(', ')} …` : parts.join(', ')
}
