import type { ModuleParts } from '../../../dashboard/page/module-pages.ts'
import { describeCheck } from './describe-check.ts'
import { ListChecks } from './list-checks.tsx'
import { QUEUE } from './queue.tsx'
import { ScreeningCard } from './settings-card.tsx'

export const PARTS: ModuleParts = {
  settings: { tab: 'checks', Card: ScreeningCard },
  review: { describeCheck, Section: ListChecks },
  queue: QUEUE,
}
