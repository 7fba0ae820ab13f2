import type { ModuleParts } from '../../../dashboard/page/module-pages.ts'
import { Comparison } from './comparison.tsx'
import { describeCheck } from './describe-check.ts'
import { MinimumAgeCard } from './minimum-age.tsx'

export const PARTS: ModuleParts = {
  settings: { tab: 'checks', Card: MinimumAgeCard },
  review: { describeCheck, Comparison },
}
