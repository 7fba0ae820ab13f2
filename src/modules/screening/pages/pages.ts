import type { ModulePages } from '../../../dashboard/page/module-pages.ts'
import { listAttention } from '../../../dashboard/page/overview/attention.ts'
import { counted } from '../../../lib/counted.ts'

/** Verified sessions with an open hit. */
export const VERIFIED_HITS = '/reviews?status=completed&hits=open'

export const verifiedHits = ({ exact, verified }: { readonly exact: boolean; readonly verified: number }): string =>
  `${exact ? '' : 'Over '}${counted(verified, 'verified session has', 'verified sessions have')} an undecided hit`

export const screeningPages: ModulePages = {
  module: 'screening',
  pages: [
    {
      path: '/o/{organization}/settings/thresholds',
      title: 'Thresholds',
      needs: 'reviewer',
      load: async () => (await import('./thresholds.tsx')).Thresholds,
    },
  ],
  setting: ['Name and wallet screening', 'checks', 'screening'],
  attention: ({ hits, lists }, { nowMs, mayReview, path }) => [
    ...(hits.verified === 0
      ? []
      : [
          {
            tone: 'warn' as const,
            label: 'New hit',
            text: `${verifiedHits(hits)} on a list`,
            href: mayReview ? path(VERIFIED_HITS) : null,
          },
        ]),
    ...lists
      .filter(({ of }) => of === 'people')
      // No link: only administrators of the deployment can manage these lists.
      .map((list) => listAttention('Sanctions list', list, nowMs, null)),
  ],
  load: async () => (await import('./parts.tsx')).PARTS,
}
