// The organization itself: its name and look, how closely it has people checked and how long it keeps what they hand in,
// and whether live policies need a second person.
import { useEffect } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Organization } from '../api/types.ts'
import { SecondPersonSwitch } from '../approvals/second-person-switch.tsx'
import { useForm } from '../data/use-form.ts'
import { useRead } from '../data/use-query.ts'
import { useSession, useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { RadioField, TextField } from '../ui/field.tsx'
import { Card, Facts, Page } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { BrandCard } from './brand.tsx'
import { MinimumAgeCard } from './minimum-age.tsx'
import { RetentionCard } from './retention.tsx'
import { ScreeningCard } from './screening.tsx'
import { OrganizationSecondFactor } from './second-factor.tsx'
import { SessionPolicyCard } from './session-policy.tsx'
import { TrustCard } from './trust.tsx'

export type Level = Organization['level']

export const LEVELS: readonly { readonly value: Level; readonly label: string; readonly hint: string }[] = [
  {
    value: 'basic',
    label: 'Basic',
    hint: 'People state name, birth date and country; businesses add their registration.',
  },
  { value: 'standard', label: 'Standard', hint: 'People also send an identity document and a photo.' },
  { value: 'enhanced', label: 'Enhanced', hint: 'People also prove their address; businesses name their owners.' },
]

const rank = (level: string): number => LEVELS.findIndex(({ value }) => value === level)

const Identity = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { organization, params } = useWorkplace()
  const { refresh } = useSession()
  const form = useForm({
    initial: { name: organization.name, level: organization.level },
    check: ({ name }) => (name.trim() === '' ? { name: 'Give it a name.' } : {}),
    submit: async ({ name, level }): Promise<void> => {
      await call('PATCH /organizations/{organization}', { params, body: { name: name.trim(), level } })
      await refresh()
      say('Organization changed')
    },
  })
  return (
    <Card id="organization" title="Organization">
      <Facts
        items={[
          ['Id', <Copyable key="id" text={organization.id} label="organization id" />],
          ['Short name', <code key="slug">{organization.slug}</code>],
          ['Made', <Time key="made" at={organization.created_at} full />],
          ...(mayChange ? [] : ([['Verification level', organization.level]] as const)),
        ]}
      />
      {mayChange && (
        <form {...form.attributes} class="form">
          <TextField {...form.text('name')} label="Name" input={{ maxLength: 100 }} />
          <RadioField
            legend="Verification level"
            name="level"
            value={form.values.level}
            onValue={(value) => form.set('level', value as Level)}
            choices={LEVELS}
          />
          {rank(form.values.level) > rank(organization.level) && (
            <Notice tone="warn" title="Raising the level">
              <p>Wallets that were verified at a lower level are no longer verified, within a second of the change.</p>
            </Notice>
          )}
          <Problem error={form.failure} />
          <div class="form-actions">
            <Button kind="primary" submit busy={form.busy}>
              Save
            </Button>
          </div>
        </form>
      )}
    </Card>
  )
}

const SecondPerson = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params } = useWorkplace()
  const settings = useRead('GET /organizations/{organization}/settings', { params })
  if (mayChange) {
    return (
      <SecondPersonSwitch
        label="What changes who gets signed for needs another admin’s approval"
        covers="Live policies, projects and contracts, lists, members and the organization’s level change what is signed."
        settings={settings}
        change={(wanted) =>
          call('PATCH /organizations/{organization}/settings', { params, body: { second_person: wanted } })
        }
      />
    )
  }
  return (
    <Card id="second-person" title="Second person">
      <Problem error={settings.error} retry={settings.reload} />
      {settings.value !== null && (
        <p>
          {settings.value.second_person
            ? 'A policy becomes live only when another admin approves.'
            : 'No second person is asked.'}
        </p>
      )}
    </Card>
  )
}

export const Settings = () => {
  const { may } = useWorkplace()
  const mayChange = may('organization-admin')
  // The search leads to one of the cards.
  useEffect(() => document.getElementById(location.hash.slice(1))?.scrollIntoView(), [])
  return (
    <Page title="Settings">
      <Identity mayChange={mayChange} />
      <TrustCard mayChange={mayChange} />
      <BrandCard mayChange={mayChange} />
      <ScreeningCard mayChange={mayChange} />
      <MinimumAgeCard mayChange={mayChange} />
      <SessionPolicyCard mayChange={mayChange} />
      <RetentionCard mayChange={mayChange} />
      <OrganizationSecondFactor mayChange={mayChange} />
      <SecondPerson mayChange={mayChange} />
    </Page>
  )
}
