// Accepting an invitation requires the admin's link. Its code is in the URL fragment, which browsers don't send.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { OwnOffer } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { useRead } from '../data/use-query.ts'
import { ROLE_WORDS, useSession } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { Card } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'

/** Returns the offer's id and code from the fragment; null for any other URL. */
const readLink = (hash: string): { readonly id: string; readonly code: string } | null => {
  const [, id, code] = /^#(offer_[0-9A-Za-z]+)\.([\w-]+)$/.exec(hash) ?? []
  return id === undefined || code === undefined ? null : { id, code }
}

export const Offers = () => {
  const { account, refresh } = useSession()
  const [link, setLink] = useState(() => readLink(location.hash))
  const query = useRead('GET /me/offers')
  const offers = query.value?.data ?? null
  const done = async (text: string): Promise<void> => {
    setLink(null)
    history.replaceState(null, '', location.pathname)
    say(text)
    query.reload()
    await refresh()
  }
  const accept = useAction(async ({ id, organization_name: name }: OwnOffer, code: string) => {
    await call('POST /me/offers/{offer}/accept', { params: { offer: id }, body: { code } })
    await done(`You are a member of ${name}`)
  })
  const decline = useAction(async ({ id }: OwnOffer) => {
    await call('POST /me/offers/{offer}/decline', { params: { offer: id } })
    await done('Invitation declined')
  })
  if (offers === null) return <Problem error={query.error} retry={query.reload} />
  const lost = link !== null && offers.every(({ id }) => id !== link.id)
  return (
    <>
      {lost && (
        <Notice tone="warn" title="This link doesn’t work for this account">
          <p>
            You are signed in as {account.email}. The link is for another account, was revoked, or has expired. Ask its
            sender for a new one.
          </p>
        </Notice>
      )}
      <Problem error={accept.failure ?? decline.failure} />
      {offers.map((offer) => (
        <Card
          key={offer.id}
          title={`${offer.organization_name} invited you`}
          text={
            <>
              {ROLE_WORDS[offer.role]}. Invited by {offer.asked_by_name} <Time at={offer.created_at} />, expires{' '}
              <Time at={offer.expires_at} />.
            </>
          }
          actions={
            <>
              <Button busy={decline.busy} onClick={() => decline.run(offer)}>
                Decline
              </Button>
              {link?.id === offer.id && (
                <Button kind="primary" busy={accept.busy} onClick={() => accept.run(offer, link.code)}>
                  Accept
                </Button>
              )}
            </>
          }
        >
          {link?.id !== offer.id && (
            <p class="soft">To accept, stay signed in and open the link from {offer.organization_name}.</p>
          )}
        </Card>
      ))}
    </>
  )
}
