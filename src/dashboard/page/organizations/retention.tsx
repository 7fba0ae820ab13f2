import { call } from '../api/client.ts'
import { useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Notice } from '../ui/problem.tsx'
import { SettingsCard } from '../ui/settings-card.tsx'

const days = (label: string, value: number, hint: string) => ({ label, value, hint, number: [0, 36_500] }) as const

export const RetentionCard = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params } = useWorkplace()
  return (
    <SettingsCard
      id="evidence"
      title="Evidence retention"
      text="Days for which documents and form data are kept. Verification results are never erased."
      mayChange={mayChange}
      query={useRead('GET /organizations/{organization}/evidence-retention', { params })}
      fields={(value) => ({
        completed_days: days('Completed sessions', value.completed_days, 'Days after the decision.'),
        rejected_days: days('Rejected sessions', value.rejected_days, 'Days after the decision.'),
        abandoned_days: days('Abandoned sessions', value.abandoned_days, 'Days after the last activity.'),
      })}
      notice={(values, before) =>
        (Object.keys(values) as (keyof typeof values)[]).some((name) => values[name] < before[name]) && (
          <Notice tone="warn" title="Shorter retention">
            <p>Evidence that is older than the new limit is permanently erased within an hour.</p>
          </Notice>
        )
      }
      save={(body) => call('PATCH /organizations/{organization}/evidence-retention', { params, body })}
      done="Retention saved"
    />
  )
}
