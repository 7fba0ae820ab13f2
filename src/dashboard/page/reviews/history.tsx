import type { SessionDetail } from '../api/types.ts'
import { Card } from '../ui/parts.tsx'
import { Time } from '../ui/time.tsx'
import { actorWord, eventWord, partWord, type SessionEvent } from './labels.ts'
import { agreementWord } from './reasons.ts'

/** Replaces part names in a text with their labels: `portrait added` → `Portrait added`. */
const inWords = (detail: string): string => detail.replaceAll(/[A-Za-z]+(?:-[a-z]+)*/g, partWord)

const Comments = ({ event }: { readonly event: Gathered }) => {
  // Only the private comment of a status change is written by a person; others are generated.
  if (event.kind !== 'status') {
    if (event.details.length === 0) return null
    return (
      <p class="faint">
        {event.kind.includes('consent') ? agreementWord(event.details[0] ?? '') : event.details.map(inWords).join('; ')}
      </p>
    )
  }
  return (
    <>
      {event.public_comment !== null && (
        <p class="comment">
          <span class="faint">Message to the person</span> {event.public_comment}
        </p>
      )}
      {event.overridden.length > 0 && <p class="faint">Overridden: {event.overridden.map(partWord).join(', ')}</p>}
      {event.private_comment !== null && (
        <p class="comment comment-private">
          <span class="faint">Internal note</span> {event.private_comment}
        </p>
      )}
    </>
  )
}

interface Gathered extends SessionEvent {
  readonly details: readonly string[]
}

/** Joins a person's consecutive submissions into one entry. */
const gather = (events: readonly SessionEvent[]): readonly Gathered[] => {
  const gathered: Gathered[] = []
  for (const event of [...events].reverse()) {
    const details = event.private_comment === null ? [] : [event.private_comment]
    const last = gathered.at(-1)
    if (last?.kind === 'evidence-changed' && event.kind === last.kind && event.actor === last.actor) {
      gathered[gathered.length - 1] = { ...last, details: [...new Set([...details, ...last.details])] }
    } else gathered.push({ ...event, details })
  }
  return gathered
}

export const History = ({ session }: { readonly session: SessionDetail }) => (
  <Card title="History">
    <ol class="history">
      {gather(session.events).map((event) => (
        <li key={event.sequence} class={`event event-${event.kind === 'status' ? event.status : 'other'}`}>
          <p class="event-line">
            <strong>{eventWord(event)}</strong> <span class="soft">by {actorWord(event)}</span> <Time at={event.at} />
          </p>
          <Comments event={event} />
        </li>
      ))}
    </ol>
  </Card>
)
