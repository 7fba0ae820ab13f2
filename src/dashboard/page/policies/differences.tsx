// Differences reported by the service. Formatting and comments don't count; order does.
import { sentence, words } from './difference-words.ts'

interface DifferencesProps {
  readonly differences: readonly Readonly<Record<string, unknown>>[]
}

const Value = ({ sign, value }: { readonly sign: 'removed' | 'added'; readonly value: unknown }) =>
  value === null || value === undefined ? null : (
    <span class={`difference-value difference-${sign}`}>
      <span class="sr-only">{sign === 'removed' ? 'before: ' : 'now: '}</span>
      <code class="difference-text">{words(value)}</code>
    </span>
  )

export const Differences = ({ differences }: DifferencesProps) =>
  differences.length === 0 ? (
    <p class="soft">No changes in meaning.</p>
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
