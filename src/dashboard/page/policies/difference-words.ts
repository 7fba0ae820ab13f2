/** Parses a list, which is JSON text if it is a member of a document. */
const listOf = (value: unknown): readonly unknown[] | null => {
  if (Array.isArray(value)) return value
  if (typeof value !== 'string' || !value.startsWith('[')) return null
  try {
    const parsed: unknown = JSON.parse(value)
    return Array.isArray(parsed) ? parsed : null
  } catch {
    // The text is not JSON, for example the values of a constant: `[1, 0x…]`.
    return null
  }
}

const itemWords = (item: unknown): string => (typeof item === 'string' ? item : JSON.stringify(item))

export const words = (value: unknown): string => {
  const list = listOf(value)
  if (list === null) return String(value)
  return list.length === 0 ? 'nothing' : list.map(itemWords).join(', ')
}

const MEMBERS: Readonly<Record<string, string>> = {
  name: 'Name',
  description: 'Description',
  default: 'Default verdict',
  quorum: 'Signatures per task',
  requires: 'Required request fields',
  needs: 'Data sources',
}

/** Converts a path to text: `rules/limit/message` → `Rule limit, message`; `constants/limit` → `Constant limit`. */
const memberWords = (what: string): string => {
  const [section = '', name = '', part] = what.split('/')
  if (section === 'rules')
    return part === undefined || ['allow', 'deny', 'require', 'review'].includes(part)
      ? `Rule ${name}`
      : `Rule ${name}, ${part}`
  if (section === 'constants') return `Constant ${name}`
  if (section === 'reads') return `Read ${name}`
  return MEMBERS[what] ?? what
}

export const sentence = (difference: Readonly<Record<string, unknown>>): string => {
  const { kind, rule, test, place } = difference
  switch (kind) {
    case 'rule-added':
      return `Rule ${words(rule)} was added at position ${words(place)}`
    case 'rule-removed':
      return `Rule ${words(rule)} was removed`
    case 'test-added':
      return `Test “${words(test)}” was added`
    case 'test-removed':
      return `Test “${words(test)}” was removed`
    case 'test-changed':
      return `Test “${words(test)}” was changed`
    case 'rules-reordered':
      return 'The rules were reordered'
    default:
      return memberWords(words(difference['what']))
  }
}
