// What needs someone, as sentences with a link each: what waits, what fails, what ends soon. The most urgent first.

import { counted } from '../../../lib/counted.ts'
import type { Overview } from '../api/types.ts'
import { ageTone, ageWord } from '../reviews/age.ts'
import { VERIFIED_HITS } from '../reviews/queue.ts'
import type { Tone } from '../ui/problem.tsx'
import { relativeTime } from '../ui/relative-time.ts'

export interface Attention {
  readonly tone: Tone | 'plain'
  /** One word, before the text. */
  readonly label: string
  readonly text: string
  /** Null: not for this account to open. */
  readonly href: string | null
}

export interface AttentionContext {
  readonly nowMs: number
  /** Address of a page of the organization. */
  readonly path: (rest: string) => string
  readonly mayReview: boolean
  readonly hasSecondFactor: boolean
}

const DAY_MS = 86_400_000
const ENDS_VERY_SOON_MS = 7 * DAY_MS
const URGENCY: readonly (Tone | 'plain')[] = ['bad', 'warn', 'info', 'plain', 'good']

/** A receiver's path may hold a token. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

const listText = ({ name, of, failure, confirmed_at: confirmed }: Overview['lists'][number], nowMs: number): string => {
  const age = confirmed === null ? 'was never read' : `was last read ${relativeTime(confirmed, nowMs)}`
  return `${of === 'people' ? 'Sanctions list' : 'List'} ${name} ${age}${failure === null ? '' : `: ${failure}`}`
}

export const attentionOf = (
  { reviews, hits, approvals, keys, lists, webhooks }: Overview,
  { nowMs, path, mayReview, hasSecondFactor }: AttentionContext,
): readonly Attention[] => {
  const { waiting, exact, oldest_at: oldest } = reviews
  const items: readonly Attention[] = [
    ...(waiting === 0 || oldest === null
      ? []
      : [
          {
            tone: ageTone(oldest, nowMs) === 'plain' ? ('info' as const) : ageTone(oldest, nowMs),
            label: 'Waits',
            text: `${exact ? '' : 'Over '}${counted(waiting, 'review waits', 'reviews wait')}, the oldest for ${ageWord(oldest, nowMs)}`,
            href: mayReview ? path('/reviews') : null,
          },
        ]),
    ...(hits.verified === 0
      ? []
      : [
          {
            tone: 'warn' as const,
            label: 'Found',
            text: `${hits.exact ? '' : 'Over '}${counted(hits.verified, 'verified session has', 'verified sessions have')} a hit on a list that nobody has decided`,
            href: mayReview ? path(VERIFIED_HITS) : null,
          },
        ]),
    ...(approvals === 0
      ? []
      : [
          {
            tone: 'info' as const,
            label: 'Waits',
            text: `${counted(approvals, 'change waits', 'changes wait')} for a second person`,
            href: path('/approvals'),
          },
        ]),
    ...(webhooks ?? []).map(({ url, failed, since }) => ({
      tone: 'bad' as const,
      label: 'Fails',
      text: `Webhook ${hostOf(url)} fails: ${counted(failed, 'message', 'messages')} not taken, the first ${relativeTime(since, nowMs)}`,
      href: path('/webhooks'),
    })),
    ...lists.map((list) => ({
      tone: 'warn' as const,
      label: 'Grows old',
      text: listText(list, nowMs),
      // The deployment’s lists of people are its administrator’s, on the machine.
      href: list.of === 'people' ? null : path(`/lists/${list.name}`),
    })),
    ...keys.map(({ name, expires_at: expires }) => ({
      tone: Date.parse(expires) - nowMs < ENDS_VERY_SOON_MS ? ('warn' as const) : ('plain' as const),
      label: 'Ends',
      text: `Key ${name} ends ${relativeTime(expires, nowMs)}`,
      href: path('/keys'),
    })),
    ...(hasSecondFactor
      ? []
      : [
          {
            tone: 'plain' as const,
            label: 'To do',
            text: 'Add a second factor to your account, so that a stolen password is not enough',
            href: '/account',
          },
        ]),
  ]
  return [...items].sort((left, right) => URGENCY.indexOf(left.tone) - URGENCY.indexOf(right.tone))
}
