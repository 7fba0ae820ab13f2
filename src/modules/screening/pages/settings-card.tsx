import { call } from '../../../dashboard/page/api/client.ts'
import { useRead } from '../../../dashboard/page/data/use-query.ts'
import type { SettingsCardProps } from '../../../dashboard/page/module-pages.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { ButtonLink } from '../../../dashboard/page/ui/button.tsx'
import { Notice } from '../../../dashboard/page/ui/problem.tsx'
import { SettingsCard } from '../../../dashboard/page/ui/settings-card.tsx'

export const ScreeningCard = ({ mayChange }: SettingsCardProps) => {
  const { params, path, may } = useWorkplace()
  const choices = useRead('GET /organizations/{organization}/screening/choices', { params }).value
  return (
    <SettingsCard
      id="screening"
      title="Screening"
      text="Names and wallets are screened when a session is submitted, and again when a list changes."
      actions={
        may('reviewer') && (
          <ButtonLink small href={path('/settings/thresholds')}>
            Compare thresholds
          </ButtonLink>
        )
      }
      mayChange={mayChange}
      query={useRead('GET /organizations/{organization}/screening', { params })}
      fields={(settings) => ({
        on_new_hit: {
          label: 'New hit for a verified person',
          radio: true,
          value: settings.on_new_hit,
          choices: {
            review: ['Wait for a review', 'The person stays verified. The overview shows the hit until it is decided.'],
            retry: [
              'Send the person back',
              'The person is not verified until they submit again and a reviewer completes the session.',
            ],
            revoke: ['Revoke immediately', 'The session is rejected permanently, even if the hit is wrong.'],
          },
        },
        threshold: {
          label: 'Hit threshold',
          hint: 'A name with this score or higher is a hit: 60 to 100.',
          number: [60, 100],
          value: settings.threshold,
        },
        screener_score: {
          label: 'Screener threshold',
          hint: 'A wallet with this score or higher is a hit.',
          nullable: true,
          number: [-999_999_999_999_999, 999_999_999_999_999],
          value: settings.screener_score,
        },
        address_lists: {
          label: 'Wallet lists',
          nullable: true,
          several: choices?.address_lists ?? [],
          value: settings.address_lists,
          none: 'The shared sanctions lists and the deny list',
        },
        screeners: {
          label: 'Wallet screeners',
          nullable: true,
          several: choices?.screeners ?? [],
          value: settings.screeners,
          none: 'All configured screeners',
        },
        screeners_again: {
          label: 'Query screeners again when a list changes',
          hint: 'Each change then sends one request per verified wallet.',
          check: true,
          value: settings.screeners_again,
        },
      })}
      notice={({ on_new_hit: action, address_lists: lists }) =>
        action !== 'review' &&
        lists === null && (
          <Notice tone="warn" title="All shared lists apply">
            <p>
              Select the wallet lists to use. Otherwise, a match on any shared list, such as a partner list, revokes the
              session.
            </p>
          </Notice>
        )
      }
      save={(_values, changes) => call('PUT /organizations/{organization}/screening', { params, body: changes })}
      done="Screening saved"
    />
  )
}
