// Runs words of the command line over a store that a test holds open.
import type { Open } from '../../src/cli/admin-client.ts'
import { commandsOf, nounOf } from '../../src/cli/commands.ts'
import type { CommandOutput } from '../../src/cli/output.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import type { Clock } from '../../src/lib/time.ts'
import { recordOutput } from './recorded-output.ts'

export interface WordsPlace {
  readonly open: Open
  readonly clock: Clock
  readonly user?: string
  readonly ask?: (question: string) => Promise<boolean>
}

export const runWordsTo = (
  [noun = '', ...args]: readonly string[],
  output: CommandOutput,
  { open, clock, user = 'anna', ask }: WordsPlace,
): Promise<number> =>
  runCommand(commandsOf(nounOf(noun)), args, {
    output,
    open,
    clock,
    user,
    openRemote: () => {
      throw new Error('not reached')
    },
    url: null,
    ask: ask ?? null,
  })

export const runWords = async (words: readonly string[], place: WordsPlace) => {
  const { output, printed } = recordOutput()
  const code = await runWordsTo(words, output, place)
  return { code, ...printed }
}
