import { useEffect } from 'preact/hooks'
import { call } from '../api/client.ts'
import { SecondPersonCard } from '../approvals/second-person-card.tsx'
import { knownQuery, useRead } from '../data/use-query.ts'
import { SETTINGS_TABS, type SettingsCardProps, type SettingsPart, useModuleParts } from '../module-pages.ts'
import { useSession, useWorkplace } from '../shell/session.ts'
import { Copyable } from '../ui/copy.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Facts, Page } from '../ui/parts.tsx'
import { Notice } from '../ui/problem.tsx'
import { SettingsCard } from '../ui/settings-card.tsx'
import { Tabs, useTab } from '../ui/tabs.tsx'
import { Time } from '../ui/time.tsx'
import { BrandCard } from './brand.tsx'
import { LEVELS } from './levels.ts'
import { OrganizationSecondFactor } from './second-factor.tsx'
import { TrustCard } from './trust.tsx'

const rank = (level: string): number => Object.keys(LEVELS).indexOf(level)

const OrganizationCard = ({ mayChange }: SettingsCardProps) => {
  const { organization, params } = useWorkplace()
  const { refresh } = useSession()
  return (
    <SettingsCard
      id="organization"
      title="Organization"
      mayChange={mayChange}
      query={knownQuery(organization, () => void refresh())}
      intro={({ id, slug, created_at: at }) => (
        <Facts
          items={[
            ['ID', <Copyable key="id" text={id} label="organization ID" />],
            ['Slug', <code key="slug">{slug}</code>],
            ['Created', <Time key="created" at={at} full />],
          ]}
        />
      )}
      fields={({ name, level }) => ({
        name: { label: 'Name', maxLength: 100, value: name },
        level: { label: 'Verification level', radio: true, choices: LEVELS, value: level },
      })}
      notice={({ level }, before) =>
        rank(level) > rank(before.level) && (
          <Notice tone="warn" title="Higher verification level">
            <p>Wallets that were verified at a lower level lose their verification within a second.</p>
          </Notice>
        )
      }
      save={(body) => call('PATCH /organizations/{organization}', { params, body })}
      done="Organization saved"
    />
  )
}

const SecondPerson = ({ mayChange }: SettingsCardProps) => {
  const { params } = useWorkplace()
  return (
    <SecondPersonCard
      label="Require another admin’s approval for changes that affect signing"
      covers="This applies to live policies, projects, contracts, lists, members and the verification level."
      query={useRead('GET /organizations/{organization}/settings', { params })}
      mayChange={mayChange}
      change={(body) => call('PATCH /organizations/{organization}/settings', { params, body })}
    />
  )
}

const days = (label: string, value: number, hint: string) => ({ label, value, hint, number: [0, 36_500] }) as const

const RetentionCard = ({ mayChange }: { readonly mayChange: boolean }) => {
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

const CARDS: readonly SettingsPart[] = [
  { tab: 'organization', Card: OrganizationCard },
  { tab: 'organization', Card: TrustCard },
  { tab: 'page', Card: BrandCard },
  { tab: 'retention', Card: RetentionCard },
  { tab: 'security', Card: OrganizationSecondFactor },
  { tab: 'security', Card: SecondPerson },
]

export const Settings = () => {
  const ofModules = useModuleParts('settings')
  return (
    <Page title="Settings">
      <Loaded query={ofModules}>{(cards) => <SettingsTabs cards={[...CARDS, ...cards]} />}</Loaded>
    </Page>
  )
}

const SettingsTabs = ({ cards }: { readonly cards: readonly SettingsPart[] }) => {
  const mayChange = useWorkplace().may('organization-admin')
  const tabs = Object.entries(SETTINGS_TABS)
    .filter(([id]) => cards.some(({ tab }) => tab === id))
    .map(([id, label]) => ({ id, label }))
  const [current] = useTab(tabs)
  // The command palette links to individual cards.
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView(), [current])
  return (
    <>
      <Tabs label="Settings" tabs={tabs} current={current} />
      {cards.map(({ tab, Card }, index) => tab === current && <Card key={index} mayChange={mayChange} />)}
    </>
  )
}
