import type { ModuleParts } from '../../../dashboard/page/module-pages.ts'
import { NextStep } from './next-step.tsx'
import { PolicyDecisions } from './policy-decisions.tsx'
import { SessionShadow } from './session-shadow.tsx'
import { SessionTrial } from './session-trial.tsx'
import { SessionPolicyCard } from './settings-card.tsx'

export const PARTS: ModuleParts = {
  settings: { tab: 'automation', Card: SessionPolicyCard },
  review: { Section: PolicyDecisions },
  sessionPolicy: { NextStep, Trial: SessionTrial, ShadowResults: SessionShadow },
}
