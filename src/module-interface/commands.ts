// The commands of modules. Each noun's commands are imported when the noun is used.
import type { Command } from '../command-line/command.ts'
import { CommandFailedError } from '../command-line/output.ts'

export class ModuleLeftOutError extends CommandFailedError {
  constructor(module: string) {
    super(`this deployment runs without the module ${module}: see --without`, 'NOT_FOUND')
  }
}

/** Noun → import of the module's commands of that noun. */
export type ModuleCommands = Readonly<Record<string, () => Promise<readonly Command[]>>>

interface CommandModule {
  readonly name: string
  readonly commands?: ModuleCommands
}

/** Refuses the command if the deployment of this machine runs without the module. */
const withModule = (module: string, command: Command): Command => ({
  ...command,
  run: (context) => {
    if (!context.isRemote && !context.deployment.config.modules.has(module)) {
      throw new ModuleLeftOutError(module)
    }
    return command.run(context)
  },
})

/** @param noun undefined: the commands of all nouns */
export const loadCommands = async (modules: readonly CommandModule[], noun?: string): Promise<readonly Command[]> => {
  const loaded = modules.flatMap(({ name, commands = {} }) =>
    Object.entries(commands)
      .filter(([each]) => noun === undefined || each === noun)
      .map(async ([, load]) => (await load()).map((command) => withModule(name, command))),
  )
  return (await Promise.all(loaded)).flat()
}
