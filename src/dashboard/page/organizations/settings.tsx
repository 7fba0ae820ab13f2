// The settings of an organization.
import { useEffect } from 'preact/hooks'
import { call } from '../api/client.ts'
import { SecondPersonCard } from '../approvals/second-person-card.tsx'
import { knownQuery, useRead } from '../data/use-query.ts'
import { useSession, useWorkplace } from '../shell/session.ts'
import { Copyable } from '../ui/copy.tsx'
import { Facts, Page } from '../ui/parts.tsx'
import { Notice } from '../ui/problem.tsx'
import { SettingsCard } from '../ui/settings-card.tsx'
import { Time } from '../ui/time.tsx'
import { BrandCard } from './brand.tsx'
import { LEVELS } from './levels.ts'
import { MinimumAgeCard } from './minimum-age.tsx'
import { RetentionCard } from './retention.tsx'
import { ScreeningCard } from './screening.tsx'
import { OrganizationSecondFactor } from './second-factor.tsx'
import { SessionPolicyCard } from './session-policy.tsx'
import { TrustCard } from './trust.tsx'

interface CardProps {
  readonly mayChange: boolean
}

const rank = (level: string): number => Object.keys(LEVELS).indexOf(level)

const OrganizationCard = ({ mayChange }: CardProps) => {
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

const SecondPerson = ({ mayChange }: CardProps) => {
  const { params } = useWorkplace()
  return (
    <SecondPersonCard
      label="Require another admin’s approval for changes to what is signed"
      covers="This applies to live policies, projects, contracts, lists, members and the verification level."
      query={useRead('GET /organizations/{organization}/settings', { params })}
      mayChange={mayChange}
      change={(body) => call('PATCH /organizations/{organization}/settings', { params, body })}
    />
  )
}

const CARDS = [
  OrganizationCard,
  TrustCard,
  BrandCard,
  ScreeningCard,
  MinimumAgeCard,
  SessionPolicyCard,
  RetentionCard,
  OrganizationSecondFactor,
  SecondPerson,
]

export const Settings = () => {
  const mayChange = useWorkplace().may('organization-admin')
  // The command palette links to single cards.
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView(), [])
  return (
    <Page title="Settings">
      {CARDS.map((Each, index) => (
        <Each key={index} mayChange={mayChange} />
      ))}
    </Page>
  )
}
