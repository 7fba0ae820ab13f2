// Runner of commands on a store that a test keeps open.

import { commandsOf } from '../../src/cli/commands.ts'
import { createDeployment } from '../../src/cli/deployment.ts'
import { translateEarlier } from '../../src/cli/earlier-spellings.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import type { Open } from '../../src/command-line/admin-client.ts'
import type { CommandDeployment } from '../../src/command-line/command-deployment.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { Clock } from '../../src/lib/time.ts'
import { MODULES } from '../../src/modules.ts'
import { recordOutput } from './recorded-output.ts'

interface WordsPlace {
  readonly open: Open
  readonly clock: Clock
  readonly user?: string
  readonly folder?: string
  readonly deployment?: Partial<CommandDeployment>
  readonly ask?: (question: string) => Promise<boolean>
}

export const deploymentAt = (
  folder: string,
  clock: Clock,
  environment: Readonly<Record<string, string>> = {},
): CommandDeployment =>
  createDeployment({
    config: loadConfig({ arguments: [], environment: { COUNTERSIGN_DATA_DIR: folder, ...environment } }, MODULES),
    configFile: null,
    clock,
    user: 'anna',
    override: null,
  })

export const runWords = async (
  [word = '', ...words]: readonly string[],
  { open, clock, user = 'anna', folder = '/nowhere', deployment = {}, ask }: WordsPlace,
) => {
  const { output, printed } = recordOutput()
  const [noun, ...args] = translateEarlier([word, ...words], commandsOf)
  const code = await runCommand(commandsOf(noun), args, {
    output,
    open,
    clock,
    user,
    deployment: { ...deploymentAt(folder, clock), ...deployment },
    openRemote: () => {
      throw new Error('not reached')
    },
    url: null,
    ask: ask ?? null,
  })
  return { code, ...printed }
}
