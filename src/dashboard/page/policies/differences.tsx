// What is different between two policies in the words of their documents, as the service tells it: spelling and comments
// don't count, an order that changed does.
interface DifferencesProps {
  readonly differences: readonly Readonly<Record<string, unknown>>[]
}

const words = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value))

const sentence = (difference: Readonly<Record<string, unknown>>): string => {
  const { kind, rule, test, place } = difference
  switch (kind) {
    case 'rule-added':
      return `Rule ${words(rule)} is new, in place ${words(place)}`
    case 'rule-removed':
      return `Rule ${words(rule)} is gone`
    case 'test-added':
      return `Test “${words(test)}” is new`
    case 'test-removed':
      return `Test “${words(test)}” is gone`
    case 'test-changed':
      return `Test “${words(test)}” is another`
    case 'rules-reordered':
      return 'The rules come in another order'
    default:
      return words(difference['what'])
  }
}

const Value = ({ sign, value }: { readonly sign: 'removed' | 'added'; readonly value: unknown }) =>
  value === null || value === undefined ? null : (
    <span class={`difference-value difference-${sign}`}>
      <span class="sr-only">{sign === 'removed' ? 'before: ' : 'now: '}</span>
      <code>{words(value)}</code>
    </span>
  )

export const Differences = ({ differences }: DifferencesProps) =>
  differences.length === 0 ? (
    <p class="soft">They decide, read and say the same.</p>
  ) : (
    <ul class="differences">
      {differences.map((difference) => (
        <li key={JSON.stringify(difference)}>
          {sentence(difference)}
          <Value sign="removed" value={difference['from']} />
          <Value sign="added" value={difference['to']} />
        </li>
      ))}
    </ul>
  )
