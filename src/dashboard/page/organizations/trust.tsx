// Organizations whose verifications are accepted.
import { call } from '../api/client.ts'
import { useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Copyable } from '../ui/copy.tsx'
import { Facts } from '../ui/parts.tsx'
import { Notice } from '../ui/problem.tsx'
import { SettingsCard } from '../ui/settings-card.tsx'

const CHOICES = {
  all: [
    'All organizations',
    'Wallets that any organization has verified at your level, if the owner agreed to share the verification.',
  ],
  listed: ['Selected organizations', 'Wallets that the listed organizations have verified, under the same conditions.'],
  none: ['None', 'Only your own verifications count.'],
} as const

export const TrustCard = ({ mayChange }: { readonly mayChange: boolean }) => {
  const { params } = useWorkplace()
  return (
    <SettingsCard
      id="trust"
      title="Shared verifications"
      text="Organizations whose completed verifications also count here, in the identity API and in policies."
      mayChange={mayChange}
      query={useRead('GET /organizations/{organization}/verification-trust', { params })}
      intro={({ trusts, organizations }) => (
        <Facts
          items={[
            ['Accepted from', CHOICES[trusts][0]],
            ...organizations.map(
              ({ id, slug, name }) => [name, <Copyable key={id} text={id} label={`ID of ${slug}`} />] as const,
            ),
          ]}
        />
      )}
      view={() => null}
      fields={({ trusts, organizations }) => ({
        trusts: { label: 'Accept verifications from', radio: true, choices: CHOICES, value: trusts },
        organizations: {
          label: 'Organizations',
          hint: 'One ID per line. Each organization can find its ID under Settings.',
          rows: 4,
          mono: true,
          when: { trusts: 'listed' },
          value: organizations.map(({ id }) => id).join('\n'),
        },
      })}
      notice={({ trusts }, before) =>
        trusts !== 'all' &&
        trusts !== before.trusts && (
          <Notice tone="warn" title="Fewer verifications count">
            <p>Wallets that only other organizations have verified lose their verification here within a second.</p>
          </Notice>
        )
      }
      save={({ trusts, organizations }) =>
        call('PUT /organizations/{organization}/verification-trust', {
          params,
          body: { trusts, organizations: organizations?.split(/[\s,]+/).filter((id) => id !== '') },
        })
      }
      done="Shared verifications saved"
    />
  )
}
