// Commands of modules, imported when their noun is used.
import type { Command } from '../command-line/command.ts'

/** Imports of the module's commands, by noun. */
export type ModuleCommands = Readonly<Record<string, () => Promise<readonly Command[]>>>

interface CommandModule {
  readonly name: string
  readonly commands?: ModuleCommands
}

export const loadCommands = async (modules: readonly CommandModule[], noun?: string): Promise<readonly Command[]> => {
  const loaded = modules.flatMap(({ name, commands = {} }) =>
    Object.entries(commands)
      .filter(([each]) => noun === undefined || each === noun)
      .map(async ([, load]) => (await load()).map((command) => ({ ...command, module: name }))),
  )
  return (await Promise.all(loaded)).flat()
}
