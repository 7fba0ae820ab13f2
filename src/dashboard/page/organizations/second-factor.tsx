// Whether people need a second factor: in the organization, or everywhere. Switched by somebody who has one.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { SecondFactorRule } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { type Query, useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { CheckField } from '../ui/field.tsx'
import { Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'

interface SwitchProps<Rule extends SecondFactorRule> {
  readonly label: string
  readonly hint: string
  readonly rule: Query<Rule>
  /** Null: they may only read it. */
  readonly change: ((required: boolean) => Promise<Rule>) | null
}

const SecondFactorSwitch = <Rule extends SecondFactorRule>({ label, hint, rule, change }: SwitchProps<Rule>) => {
  // Shown as wanted while it is on its way, and then as it is.
  const [pending, setPending] = useState<boolean | null>(null)
  const action = useAction(async (wanted: boolean) => {
    if (change === null) return
    setPending(wanted)
    try {
      rule.set(await change(wanted))
      say(wanted ? 'A second factor is required from now on' : 'A second factor is no longer required')
    } finally {
      setPending(null)
    }
  })
  return (
    <Card id="second-factor" title="Second factor">
      {rule.value === null ? (
        <Problem error={rule.error} retry={rule.reload} />
      ) : change === null ? (
        <p>{rule.value.required ? 'A second factor is required here.' : 'A second factor is not required here.'}</p>
      ) : (
        <CheckField
          label={label}
          hint={hint}
          checked={pending ?? rule.value.required}
          onChecked={(checked) => action.run(checked)}
        />
      )}
      <Problem error={action.failure} />
    </Card>
  )
}

const OWN_FIRST = 'Your own account has to have one before you can switch this on.'

export const OrganizationSecondFactor = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params } = useWorkplace()
  const rule = useRead('GET /organizations/{organization}/second-factor-rule', { params })
  return (
    <SecondFactorSwitch
      label="Members need one-time codes or a passkey"
      hint={
        rule.value?.required_everywhere === true
          ? 'The deployment requires a second factor of everybody, whatever is set here.'
          : `Whoever has neither is let in only to add one. ${OWN_FIRST}`
      }
      rule={rule}
      change={
        mayChange
          ? (required) => call('PUT /organizations/{organization}/second-factor-rule', { params, body: { required } })
          : null
      }
    />
  )
}

export const DeploymentSecondFactor = () => {
  const rule = useRead('GET /deployment/second-factor-rule')
  return (
    <SecondFactorSwitch
      label="Everybody needs one-time codes or a passkey"
      hint={`In every organization. Whoever has neither is let in only to add one. ${OWN_FIRST}`}
      rule={rule}
      change={(required) => call('PUT /deployment/second-factor-rule', { body: { required } })}
    />
  )
}
