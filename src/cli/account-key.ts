// `countersign account-key rotate`: rotates the encryption key of one-time code secrets.
import type { Command } from '../command-line/command.ts'
import { printRotation, rotationDescription } from './rotation.ts'

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
