import { call } from '../../../dashboard/page/api/client.ts'
import { useRead } from '../../../dashboard/page/data/use-query.ts'
import type { ModuleParts, SettingsCardProps } from '../../../dashboard/page/module-pages.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { SettingsCard } from '../../../dashboard/page/ui/settings-card.tsx'
import { Comparison } from './comparison.tsx'
import { describeCheck } from './describe-check.ts'

const age = (label: string, value: number | null) => ({ label, value, nullable: true, number: [1, 99] }) as const

const MinimumAgeCard = ({ mayChange }: SettingsCardProps) => {
  const { params } = useWorkplace()
  return (
    <SettingsCard
      id="minimum-age"
      title="Minimum age"
      text="In years. Younger people fail the age check. An age for a level overrides the age for all levels. Without a minimum age, people under 18 are flagged for review."
      mayChange={mayChange}
      query={useRead('GET /organizations/{organization}/minimum-age', { params })}
      fields={({ years, levels }) => ({
        years: age('All levels', years),
        basic: age('Basic', levels.basic),
        standard: age('Standard', levels.standard),
        enhanced: age('Enhanced', levels.enhanced),
      })}
      save={({ years, ...levels }) =>
        call('PUT /organizations/{organization}/minimum-age', { params, body: { years, levels } })
      }
      done="Minimum age saved"
    />
  )
}

export const PARTS: ModuleParts = {
  settings: { tab: 'checks', Card: MinimumAgeCard },
  review: { describeCheck, Comparison },
}
