// `countersign account-key`: rotates the key that encrypts the secrets of one-time codes.

import type { AccountKeyRotation } from '../setup/account-key-rotation.ts'
import type { Store } from '../store/store.ts'
import { type CommandOutput, findVerb, parseCommand, UsageError, type Verbs } from './output.ts'
import { runToExitCode } from './print-error.ts'

const USAGE = `Usage: countersign account-key rotate [--json]

Seals the secrets of all one-time codes with another key while the service runs. The next key is read from the file of the
present one with .next at its end, made where it is missing, and takes that file's place at the end. On several machines
put the same FILE.next beside it on each first. Interrupted, run it again.

Exit codes: 0 done, 1 it can't be done, 2 the call or a setting is wrong.
`

export interface AccountKeyCommandInput {
  readonly output: CommandOutput
  readonly openStore: () => Promise<Store>
  readonly rotate: (store: Store) => Promise<AccountKeyRotation>
}

const VERBS: Verbs<(input: AccountKeyCommandInput, store: Store) => Promise<AccountKeyRotation>> = {
  rotate: { run: ({ rotate }, store) => rotate(store), words: 0 },
}

export const runAccountKey = (commandArguments: readonly string[], input: AccountKeyCommandInput): Promise<number> =>
  runToExitCode(input.output, USAGE, commandArguments, async () => {
    const options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
    const command = parseCommand(commandArguments, options, VERBS)
    const { output } = input
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    const run = findVerb(VERBS, command)
    if (run === undefined) throw new UsageError('say rotate')
    const store = await input.openStore()
    try {
      const rotated = await run(input, store)
      if (command.flag('json')) {
        output.stdout(`${JSON.stringify(rotated)}\n`)
        return 0
      }
      const { secrets, unreadable, file, inPlace } = rotated
      output.stdout(`sealed anew: ${secrets} secrets; the key is in ${file}\n`)
      if (unreadable > 0)
        output.stdout(`${unreadable} secrets open by neither key: those accounts need a recovery link\n`)
      if (!inPlace)
        output.stdout(`put its content in the place of ${file.replace(/\.next$/, '')} before you remove it\n`)
      return 0
    } finally {
      await store.close()
    }
  })
