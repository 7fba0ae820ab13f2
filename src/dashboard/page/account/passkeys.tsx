import { call } from '../api/client.ts'
import type { Passkey } from '../api/types.ts'
import { useList } from '../data/use-pages.ts'
import { makePasskey, passkeysPossible } from '../entry/passkey.ts'
import { useSession } from '../shell/session.ts'
import { action } from '../ui/actions.tsx'
import { ResourceCard } from '../ui/resource.tsx'
import { time } from '../ui/table.tsx'

const ADD = action({
  label: 'Add passkey',
  submit: 'Add',
  fields: {
    name: { label: 'Name', hint: 'Where the passkey is stored, such as “laptop” or “security key”.', maxLength: 100 },
  },
  run: ({ name }) => makePasskey(name),
  done: 'Passkey added. Your other sessions have ended.',
})

export const Passkeys = () => {
  const { refresh } = useSession()
  const possible = passkeysPossible()
  return (
    <ResourceCard<Passkey>
      title="Passkeys"
      text="Sign in with one touch, without a password or code."
      pages={useList('GET /me/passkeys')}
      rowKey={({ id }) => id}
      name={({ name }) => name}
      columns={{ Name: ({ name }) => <strong>{name}</strong>, 'Last used': time('last_used_at') }}
      onChange={() => void refresh()}
      {...(possible ? { create: ADD } : {})}
      actions={({ id: passkey, name }) => [
        {
          label: 'Delete',
          icon: 'trash',
          danger: true,
          title: `Delete ${name}?`,
          submit: 'Delete passkey',
          text: 'You will no longer be able to sign in with this passkey, and your other sessions end. Delete the passkey from your device too.',
          run: () => call('DELETE /me/passkeys/{passkey}', { params: { passkey } }),
          done: 'Passkey deleted. Your other sessions have ended.',
        },
      ]}
      empty={[
        'fingerprint',
        'No passkeys',
        possible
          ? 'A passkey is the fastest way to sign in.'
          : 'Passkeys require a current browser, and a dashboard URL with HTTPS and a hostname, or localhost.',
      ]}
    />
  )
}
