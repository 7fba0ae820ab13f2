import { useRead } from '../../../dashboard/page/data/use-query.ts'
import type { ModuleParts } from '../../../dashboard/page/module-pages.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { ButtonLink } from '../../../dashboard/page/ui/button.tsx'
import { Notice } from '../../../dashboard/page/ui/problem.tsx'
import { PolicyDecisions } from './policy-decisions.tsx'
import { SessionShadow } from './session-shadow.tsx'
import { SessionTrial } from './session-trial.tsx'
import { SessionPolicyCard } from './settings-card.tsx'

const NextStep = ({ policyId }: { readonly policyId: string }) => {
  const { params, path, may } = useWorkplace()
  const { value } = useRead('GET /organizations/{organization}/session-policy', { params })
  if (value === null) return null
  if (value.policy_id === policyId) return <p class="soft">Decides this organization’s sessions.</p>
  if (!may('organization-admin')) return null
  return (
    <Notice
      tone="info"
      title="Next: turn on automatic decisions"
      actions={
        <ButtonLink kind="primary" small href={path('/settings?tab=automation#session-policy')}>
          Open settings
        </ButtonLink>
      }
    >
      <p>
        The policy is live but does not decide sessions yet. Try it on past sessions, then turn it on in the settings.
      </p>
    </Notice>
  )
}

export const PARTS: ModuleParts = {
  settings: { tab: 'automation', Card: SessionPolicyCard },
  review: { Section: PolicyDecisions },
  sessionPolicy: { NextStep, Trial: SessionTrial, ShadowResults: SessionShadow },
}
