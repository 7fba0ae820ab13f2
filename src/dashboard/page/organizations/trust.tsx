// Whose verifications the organization relies on beside its own.
import { call } from '../api/client.ts'
import type { VerificationTrust } from '../api/types.ts'
import { useForm } from '../data/use-form.ts'
import { useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { RadioField, TextArea } from '../ui/field.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card, Facts } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'

type Trusts = VerificationTrust['trusts']

const WORDS: Readonly<Record<Trusts, string>> = {
  all: 'Every organization of this deployment',
  listed: 'These organizations',
  none: 'Nobody else: only its own verifications count',
}

const CHOICES: readonly { readonly value: Trusts; readonly label: string; readonly hint: string }[] = [
  {
    value: 'all',
    label: 'Everyone',
    hint: 'A wallet that any organization here has verified at your level, and whose owner agreed to share it, is verified for you.',
  },
  { value: 'listed', label: 'Some organizations', hint: 'The same, from the organizations that you name.' },
  { value: 'none', label: 'Nobody', hint: 'Only your own verifications count.' },
]

const linesOf = (text: string): string[] => text.split(/[\s,]+/).filter((line) => line !== '')

const toValues = ({ trusts, organizations }: VerificationTrust) => ({
  trusts: trusts as string,
  organizations: organizations.map(({ id }) => id).join('\n'),
})

/** Whom it relies on, by name. */
const Trusted = ({ trust }: { readonly trust: VerificationTrust }) => (
  <Facts
    items={[
      ['Relies on', WORDS[trust.trusts]] as const,
      ...trust.organizations.map(
        ({ id, slug, name }) => [name, <Copyable key={id} text={id} label={`id of ${slug}`} />] as const,
      ),
    ]}
  />
)

interface TrustFormProps {
  readonly trust: VerificationTrust
  readonly onChange: (trust: VerificationTrust) => void
}

const TrustForm = ({ trust, onChange }: TrustFormProps) => {
  const { params } = useWorkplace()
  const form = useForm({
    initial: toValues(trust),
    check: ({ trusts, organizations }) =>
      trusts === 'listed' && linesOf(organizations).length === 0
        ? { organizations: 'Name at least one organization.' }
        : {},
    submit: async ({ trusts, organizations }): Promise<void> => {
      const changed = await call('PUT /organizations/{organization}/verification-trust', {
        params,
        body: {
          trusts: trusts as Trusts,
          ...(trusts === 'listed' ? { organizations: linesOf(organizations) } : {}),
        },
      })
      onChange(changed)
      form.reset(toValues(changed))
      say('Trust changed')
    },
  })
  const { trusts } = form.values
  return (
    <form {...form.attributes} class="form">
      <RadioField
        legend="Rely on verifications of"
        name="trusts"
        value={trusts}
        onValue={(value) => form.set('trusts', value)}
        choices={CHOICES}
      />
      {trusts === 'listed' && (
        <TextArea
          {...form.text('organizations')}
          label="Organizations"
          mono
          rows={4}
          hint="One id a line. Each organization sees its own under Settings and can give it to you."
        />
      )}
      {trusts !== 'all' && trusts !== trust.trusts && (
        <Notice tone="warn" title="Fewer verifications count">
          <p>Wallets that only others have verified are no longer verified here, within a second of the change.</p>
        </Notice>
      )}
      <Problem error={form.failure} />
      <div class="form-actions">
        <Button kind="primary" submit busy={form.busy}>
          Save the trust
        </Button>
      </div>
    </form>
  )
}

export const TrustCard = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params } = useWorkplace()
  const trust = useRead('GET /organizations/{organization}/verification-trust', { params })
  return (
    <Card
      id="trust"
      title="Verifications of others"
      text="Whose completed verifications verify a wallet here as well, for the identity API and for policies."
    >
      <Loaded query={trust}>
        {(value) => (
          <>
            <Trusted trust={value} />
            {mayChange && <TrustForm trust={value} onChange={trust.set} />}
          </>
        )}
      </Loaded>
    </Card>
  )
}
