// Commands of modules. The commands of a noun are imported when the noun is used.
import type { Command } from '../command-line/command.ts'

/** Noun → import of the module's commands of that noun. */
export type ModuleCommands = Readonly<Record<string, () => Promise<readonly Command[]>>>

interface CommandModule {
  readonly name: string
  readonly commands?: ModuleCommands
}

/** @param noun undefined: the commands of all nouns */
export const loadCommands = async (modules: readonly CommandModule[], noun?: string): Promise<readonly Command[]> => {
  const loaded = modules.flatMap(({ name, commands = {} }) =>
    Object.entries(commands)
      .filter(([each]) => noun === undefined || each === noun)
      .map(async ([, load]) => (await load()).map((command) => ({ ...command, module: name }))),
  )
  return (await Promise.all(loaded)).flat()
}
