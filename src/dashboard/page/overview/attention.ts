// Items that are waiting, failing or expiring soon, most urgent first.

import { counted } from '../../../lib/counted.ts'
import type { Overview } from '../api/types.ts'
import type { ModulePages } from '../module-pages.ts'
import { ageTone, ageWord } from '../reviews/age.ts'
import type { Tone } from '../ui/problem.tsx'
import { relativeTime } from '../ui/relative-time.ts'

export interface Attention {
  readonly tone: Tone | 'plain'
  readonly label: string
  readonly text: string
  readonly href: string | null
}

export interface AttentionContext {
  readonly nowMs: number
  readonly path: (rest: string) => string
  readonly mayReview: boolean
  readonly hasSecondFactor: boolean
}

const DAY_MS = 86_400_000
const ENDS_VERY_SOON_MS = 7 * DAY_MS
const URGENCY: readonly (Tone | 'plain')[] = ['bad', 'warn', 'info', 'plain', 'good']

/** Returns only the host, because a receiver's path may contain a token. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

/** @param kind noun at the beginning of the text */
export const listAttention = (
  kind: string,
  { name, failure, confirmed_at: confirmed }: Overview['lists'][number],
  nowMs: number,
  href: string | null,
): Attention => {
  const age = confirmed === null ? 'was never read' : `was last read ${relativeTime(confirmed, nowMs)}`
  return {
    tone: 'warn',
    label: 'Outdated',
    text: `${kind} ${name} ${age}${failure === null ? '' : `: ${failure}`}`,
    href,
  }
}

export const attentionOf = (
  overview: Overview,
  context: AttentionContext,
  modules: readonly Pick<ModulePages, 'attention'>[],
): readonly Attention[] => {
  const { reviews, approvals, keys, lists, webhooks } = overview
  const { nowMs, path, mayReview, hasSecondFactor } = context
  const { waiting, exact, oldest_at: oldest } = reviews
  const items: readonly Attention[] = [
    ...(waiting === 0 || oldest === null
      ? []
      : [
          {
            tone: ageTone(oldest, nowMs) === 'plain' ? ('info' as const) : ageTone(oldest, nowMs),
            label: 'Waiting',
            text: `${exact ? '' : 'Over '}${counted(waiting, 'review', 'reviews')} waiting, the oldest for ${ageWord(oldest, nowMs)}`,
            href: mayReview ? path('/reviews') : null,
          },
        ]),
    ...modules.flatMap(({ attention }) => attention?.(overview, context) ?? []),
    ...(approvals === 0
      ? []
      : [
          {
            tone: 'info' as const,
            label: 'Waiting',
            text: `${counted(approvals, 'change', 'changes')} awaiting approval`,
            href: path('/approvals'),
          },
        ]),
    ...(webhooks ?? []).map(({ url, failed, since }) => ({
      tone: 'bad' as const,
      label: 'Failing',
      text: `Webhook ${hostOf(url)} is failing: ${counted(failed, 'message', 'messages')} not delivered, the first ${relativeTime(since, nowMs)}`,
      href: path('/webhooks'),
    })),
    ...lists
      .filter(({ of }) => of === 'addresses')
      .map((list) => listAttention('List', list, nowMs, path(`/lists/${list.name}`))),
    ...keys.map(({ name, expires_at: expires }) => ({
      tone: Date.parse(expires) - nowMs < ENDS_VERY_SOON_MS ? ('warn' as const) : ('plain' as const),
      label: 'Expiring',
      text: `Key ${name} expires ${relativeTime(expires, nowMs)}`,
      href: path('/keys'),
    })),
    ...(hasSecondFactor
      ? []
      : [
          {
            tone: 'plain' as const,
            label: 'To do',
            text: 'Add a second factor to your account, so that a stolen password is not enough to sign in',
            href: '/account',
          },
        ]),
  ]
  return [...items].sort((left, right) => URGENCY.indexOf(left.tone) - URGENCY.indexOf(right.tone))
}
