// `countersign account recover`: restores an administrator's access. Command users can read the database anyway.

import { type Command, flag } from '../command-line/command.ts'
import { CommandFailedError, print, shortTime } from '../command-line/output.ts'
import { printRotation, rotationDescription } from './rotation.ts'

export const ACCOUNT_COMMANDS: readonly Command[] = [
  {
    noun: 'account',
    verb: 'recover',
    summary: 'Create a recovery link for a person who lost their password or second factor',
    description:
      'The link works once and expires after one day. It sets a new password and ends the sessions of the account. Earlier links stop working.',
    words: [{ name: 'EMAIL', help: 'Email address of the account' }],
    options: [
      flag(
        'remove-second-factors',
        'Also remove the account’s one-time codes, recovery codes and passkeys, and end its sessions now',
      ),
    ],
    isLocal: true,
    run: async ({ command, output, open }) => {
      const { store, admin } = await open()
      const user = await store.users.findByEmail(command.words[0] ?? '')
      if (user === null) throw new CommandFailedError('no account has this email address')
      if (user.disabledAtSeconds !== null) {
        throw new CommandFailedError('the account is disabled: another deployment admin must enable it first')
      }
      const link = await admin.call('POST /users/{user}/recovery', {
        params: { user: user.id },
        body: { remove_second_factors: command.flag('remove-second-factors') },
      })
      const until = shortTime(link.expires_at)
      print(
        { output, command },
        link,
        `${link.url}\nWorks once, until ${until}. Anyone with the link can take over the account: send it over a secure channel.\n`,
      )
      return 0
    },
  },
]

// `countersign account-key rotate`: rotates the key that encrypts one-time code secrets.
export const ACCOUNT_KEY_COMMANDS: readonly Command[] = [
  {
    noun: 'account-key',
    verb: 'rotate',
    summary: 'Re-encrypt the secrets of all one-time codes with a new key',
    description: rotationDescription('key'),
    isLocal: true,
    run: async (context) => {
      const { deployment } = context
      const { rotateAccountKey } = await import('../setup/account-key-rotation.ts')
      const rotated = await deployment.withStore((store) =>
        deployment.rotateAlone(() => rotateAccountKey({ ...deployment, store })),
      )
      const { secrets, unreadable } = rotated
      printRotation(context, rotated, [
        `re-encrypted: ${secrets} secrets`,
        ...(unreadable > 0
          ? [`${unreadable} secrets could not be decrypted: their accounts need a recovery link`]
          : []),
      ])
      return 0
    },
  },
]
